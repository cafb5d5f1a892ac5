//! Files that are not a profile: each is named for what it is, with the command that helps.

use std::path::Path;

use rooflint::ingest::{self, Input, Options};

/// What is said of a file of this name, and the next step.
fn refused(name: &str, bytes: &[u8]) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let error = ingest::read(&[Input::Named(path)], &Options::default()).expect_err(name);
    let shown = format!("{}/", folder.path().display());
    let next = error.next_step().unwrap_or_default().replace(&shown, "");
    (error.to_string().replace(&shown, ""), next)
}

/// A tar archive names its kind after the first header.
fn tar() -> Vec<u8> {
    let mut bytes = b"run.csv".to_vec();
    bytes.resize(257, 0);
    bytes.extend(b"ustar\0");
    bytes.resize(1024, 0);
    bytes
}

const RECORD: &str = "ncu --set full --csv --page raw --print-units base --log-file run.csv";

/// A file, what it is said to be, and a part of the next step.
type Case = (&'static str, Vec<u8>, &'static str, &'static str);

fn binary() -> Vec<Case> {
    vec![
        (
            "a.ncu-rep",
            b"\x05\x01\0\0".to_vec(),
            "a damaged Nsight Compute report (.ncu-rep)",
            "ncu --import a.ncu-rep --csv --page raw --print-units base > a.csv",
        ),
        (
            "my run.ncu-rep",
            b"\x05\x01\0\0".to_vec(),
            "a damaged Nsight Compute report (.ncu-rep)",
            "ncu --import '",
        ),
        (
            "a.nsys-rep",
            b"\x05\x01\0\0".to_vec(),
            "a Nsight Systems report (.nsys-rep)",
            "nsys export --type sqlite --output a.sqlite a.nsys-rep",
        ),
        (
            "a.qdrep",
            b"\x05\x01\0\0".to_vec(),
            "an old Nsight Systems report (.qdrep)",
            "nsys export --type sqlite --output a.sqlite a.qdrep",
        ),
        (
            "a.qdstrm",
            b"\x05\x01\0\0".to_vec(),
            "an unfinished Nsight Systems capture (.qdstrm)",
            "QdstrmImporter -i a.qdstrm",
        ),
        (
            "a.xlsx",
            b"PK\x03\x04\x14\0xl/workbook.xml".to_vec(),
            "an Excel workbook (.xlsx)",
            "save the sheet as CSV",
        ),
        (
            "a.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0".to_vec(),
            "an Excel workbook (.xls)",
            "save the sheet as CSV",
        ),
        (
            "a.pt",
            b"PK\x03\x04\0archive/data.pkl".to_vec(),
            "a PyTorch checkpoint",
            "python TRAIN.py",
        ),
        ("a.zip", b"PK\x03\x04\0run.csv".to_vec(), "a zip archive", "unzip a.zip"),
        ("a.tar", tar(), "a tar archive", "tar -xf a.tar"),
        ("a.csv.xz", b"\xfd7zXZ\0\0".to_vec(), "compressed with xz", "xz -d a.csv.xz"),
        ("a.csv.bz2", b"BZh91AY\0".to_vec(), "compressed with bzip2", "bzip2 -d a.csv.bz2"),
        ("a.pdf", b"%PDF-1.7\n".to_vec(), "a PDF document", RECORD),
        ("a.png", b"\x89PNG\r\n\x1a\n\0".to_vec(), "a picture", RECORD),
        ("a.jpg", b"\xff\xd8\xff\xe0\0".to_vec(), "a picture", RECORD),
        ("a.out", b"\x7fELF\x02\x01\x01\0".to_vec(), "a program", "a.out"),
        (
            "events.out.tfevents.1",
            b"\x18\0\0\0brain.Event:2".to_vec(),
            "a TensorBoard event file",
            RECORD,
        ),
        (
            "a.xplane.pb",
            b"\n\x10\x08\0/device:GPU:0".to_vec(),
            "an XProf (TensorBoard profiler) trace",
            "Kernel Stats is read, as CSV",
        ),
        ("a.pkl", b"\x80\x04\x95\0\0".to_vec(), "a Python pickle", "python TRAIN.py"),
        ("a.bin", b"\x01\x02\0\x03garbage".to_vec(), "a binary file", RECORD),
    ]
}

fn text(name: &'static str, text: &str, what: &'static str, help: &'static str) -> Case {
    (name, text.as_bytes().to_vec(), what, help)
}

fn json() -> Vec<Case> {
    vec![
        text(
            "trace.json",
            r#"[{"ph": "X", "ts": 1, "name": "a"}]"#,
            "a Chrome trace (JSON)",
            RECORD,
        ),
        text(
            "vm.trace.json",
            r#"{"displayTimeUnit":"ns","traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}}]}"#,
            "a trace of XProf, as JAX and TensorFlow write it",
            "Kernel Stats is read, as CSV",
        ),
        text(
            "stats.json",
            r#"{"cols": [{"id": "rank"}], "rows": []}"#,
            "a table of XProf (TensorBoard profiler) as JSON",
            "Kernel Stats",
        ),
        text(
            "report.json",
            r#"{"schema": "rooflint/report/3", "kernels": []}"#,
            "a rooflint report (JSON)",
            "rooflint diff report.json NEW.csv",
        ),
        text(
            "run.json",
            r#"{"schema": "rooflint/run/2"}"#,
            "a saved rooflint run (JSON)",
            "rooflint diff run.json",
        ),
        text(
            "gate.json",
            r#"{"schema": "rooflint/gate/2"}"#,
            "an output of rooflint (JSON)",
            "export that it was made from",
        ),
        text("a.ipynb", r#"{"nbformat": 4, "cells": []}"#, "a Jupyter notebook", "python a.py"),
        text("a.json", r#"{"a": 1}"#, "JSON of an unknown kind", RECORD),
        text(
            "report.html",
            "<!doctype html><title>Roofline report</title><p>rooflint</p>",
            "a rooflint report (HTML)",
            "made from",
        ),
        text(
            "a.html",
            "\n<!DOCTYPE html><title>Sign in</title>",
            "a web page (HTML)",
            "download the file itself",
        ),
    ]
}

fn pages() -> Vec<Case> {
    vec![
        text(
            "details.txt",
            "[686] pairs@127.0.0.1\n  stream_copy(float4 *) (65536, 1, 1)x(256, 1, 1), Context 1\n    Section: GPU Speed Of Light Throughput\n    Metric Name  Metric Unit Metric Value\n",
            "a page of Nsight Compute as text",
            "give the report itself (.ncu-rep)",
        ),
        text(
            "source.csv",
            "\"Kernel Name\",\"stream_copy(float4 *)\",\n\"Address\",\"Source\",\"# Samples\"\n\"0x7f\",\"LDC R1\",\"63\"\n",
            "the source page of Nsight Compute",
            "--page raw",
        ),
        text("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", "a picture (SVG)", "made from"),
        text("a.xml", "<?xml version='1.0'?><testsuites/>", "XML", RECORD),
        text(
            "a.sqlite",
            "version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
            "a Git LFS pointer",
            "git lfs pull --include a.sqlite",
        ),
        text(
            "report.csv",
            "rank,name,full_name,device\n1,a,a,b\n",
            "a rooflint report (CSV)",
            "made from",
        ),
        text(
            "report.md",
            "## Roofline report\n\n| a | b |\n",
            "a rooflint report (Markdown)",
            "made from",
        ),
        text(
            "nvprof.csv",
            "==1== NVPROF is profiling process 1\n\"Device\",\"Kernel\",\"Event Name\"\n",
            "an nvprof table of events",
            "nvprof --csv --metrics",
        ),
        text(
            "nvprof.txt",
            "==1== NVPROF is profiling process 1\n  Time(%)      Time     Calls  Name\n",
            "nvprof output as text",
            "nvprof --csv",
        ),
        text(
            "nvprof.txt",
            "==1== NVPROF is profiling process 1\nNo kernels were profiled.\n",
            "nvprof output without a table",
            RECORD,
        ),
    ]
}

fn tools() -> Vec<Case> {
    vec![
        text(
            "sum.csv",
            "Time (%),Total Time (ns),Count,Avg (ns),Operation\n1.0,2,3,4,a\n",
            "an `nsys stats` table of copies and memsets",
            "nsys stats --report cuda_gpu_trace",
        ),
        text(
            "api.csv",
            "Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1.0,2,3,4,a\n",
            "an `nsys stats` table of calls",
            "nsys stats --report cuda_gpu_trace",
        ),
        text(
            "nsys.txt",
            "SKIPPED: x.sqlite does not contain CUDA kernel data.\n",
            "`nsys stats` output without a table",
            "nsys profile --trace=cuda,nvtx",
        ),
        text(
            "nsys-table.txt",
            " ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n Time (%)  Total Time (ns)  Name\n",
            "an `nsys stats` table as text",
            "--format csv",
        ),
        text(
            "kernel.csv",
            "Kernel Report\nKernel Name,Op ID\na,b\n",
            "a DLProf report without launches",
            "--reports=iteration",
        ),
        text(
            "stats.csv",
            "\"Operation Type\",\"Operation Name\"\n\"1\",\"a\"\n",
            "an XProf (TensorBoard profiler) table without kernels",
            "Kernel Stats",
        ),
        text(
            "v1.csv",
            "\"Index\",\"KernelName\",\"gpu-id\"\n0,\"a\",1\n",
            "a rocprof table",
            "rocprofv3 --kernel-trace",
        ),
        text(
            "marker_api_stats.csv",
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"forward\",1,5,5,100\n",
            "a table of rocprofv3 --stats without kernels",
            "give kernel_stats.csv",
        ),
        text(
            "v3.csv",
            "\"Kind\",\"Agent_Id\",\"Kernel_Name\"\n",
            "a rocprof table",
            "rocprofv3 --kernel-trace",
        ),
        text(
            "pmc_perf.csv",
            "Dispatch_ID,Kernel_Name,GPU_ID\n0,a,0\n",
            "a table of ROCm Compute Profiler (Omniperf)",
            "give its pmc_perf.csv",
        ),
        text(
            "a.txt",
            "Initializing NVTX monkey patches\n",
            "PyProf's start messages",
            "pyprof.prof --csv",
        ),
    ]
}

fn sources() -> Vec<Case> {
    vec![
        text(
            "rooflint.toml",
            "[gate]\nslowdown = 0.05\n",
            "a rooflint configuration",
            "rooflint run.csv --config rooflint.toml",
        ),
        text(
            "map.toml",
            "device = \"L4\"\n[columns]\nkernel = \"a\"\n",
            "a column mapping",
            "rooflint run.csv --map map.toml",
        ),
        text(
            "step.toml",
            "dtype = \"fp16\"\n[sizes]\nn = 1\n[[op]]\nname = \"a\"\n",
            "a model file for `rooflint predict`",
            "predict --model step.toml",
        ),
        text("a.toml", "[package]\nname = \"a\"\n", "a TOML file", RECORD),
        text(
            "a.cu",
            "#include <cstdio>\n__global__ void copy() {}\n",
            "CUDA or C++ source code",
            "compile it",
        ),
        text(
            "train.py",
            "import torch\n\ndef main():\n    pass\n",
            "Python source code",
            "python train.py",
        ),
        text("run.sh", "#!/bin/sh\necho hello\n", "a shell script", "bash run.sh"),
        text(
            "sheet.csv",
            "ID;Kernel Name;Duration\n1;a;2,5\n",
            "a table separated by semicolons",
            "--map MAPPING.toml",
        ),
        text(
            "sheet.tsv",
            "ID\tKernel Name\tDuration\n1\ta\t2.5\n",
            "a table separated by tabs",
            "--map MAPPING.toml",
        ),
        text(
            "app.log",
            "2026-01-01 12:00:00 start\n2026-01-01 12:00:01 stop\n",
            "a program's log",
            RECORD,
        ),
        text("app.log", "[INFO] start\n[INFO] epoch 1\nWARNING: slow\n", "a program's log", RECORD),
        text("notes.txt", "hello\nworld\n", "text without a table", RECORD),
    ]
}

#[test]
fn every_foreign_file_is_named_with_the_next_step() {
    for (name, bytes, what, help) in
        [binary(), json(), pages(), tools(), sources()].into_iter().flatten()
    {
        let (message, next) = refused(name, &bytes);
        assert!(message.starts_with(&format!("{name}: this is {what}")), "{name}: {message}");
        assert!(next.contains(help), "{name}: {next}");
        assert!(!message.contains('\n') && !next.contains('{'), "{name}: {message}; {next}");
    }
}

#[test]
fn empty_files_and_tables_of_another_version_are_named() {
    for (bytes, what) in [("", "the file is empty"), (" \n\t\n", "the file has only blanks")] {
        let (message, next) = refused("run.csv", bytes.as_bytes());
        assert!(message.ends_with(what) && next.contains("--log-file"), "{message}; {next}");
    }
    let table = r#"{"metadata": {"schema": "rooflint/launches/9"}, "launches": []}"#;
    let (message, next) = refused("t.json", table.as_bytes());
    assert!(message.contains("unsupported version: \"rooflint/launches/9\""), "{message}");
    assert!(next.contains("rooflint convert EXPORT.csv"), "{next}");
}

#[test]
fn real_files_of_other_tools_are_named() {
    let Some(folder) = std::env::var_os("ROOFLINT_PROFILES") else { return };
    for (kind, what) in [
        ("nsys", &["Nsight Systems", "DLProf", "nsys stats"][..]),
        ("nvprof", &["nvprof"]),
        ("rocprof", &["rocprof", "ROCm Compute Profiler", "no row is a kernel", "log"]),
        ("xprof", &["XProf"]),
        ("dlprof", &["DLProf"]),
        ("kineto", &["has no GPU work"]),
        ("ncu-rep", &["Nsight Compute report", "separated by tabs"]),
    ] {
        let files = std::fs::read_dir(Path::new(&folder).join(kind)).unwrap();
        for path in files.filter_map(|file| Some(file.ok()?.path())) {
            if path.extension().is_some_and(|ending| ending == "md") {
                continue;
            }
            let shown = path.display().to_string();
            let error = ingest::read(&[Input::Named(path)], &Options::default());
            // A later version may read it.
            let Err(error) = error else { continue };
            let message = error.to_string();
            assert!(what.iter().any(|what| message.contains(what)), "{shown}: {message}");
        }
    }
}
