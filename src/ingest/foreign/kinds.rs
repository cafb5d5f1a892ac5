//! Kinds of files that cannot be read: what each is, and the command that makes a readable export.
//!
//! One entry for each kind, and the first that matches is named. A format that learns to read a kind
//! replaces its entry.

use super::look::Look;
use crate::ingest::steps::IMPORT;

/// A kind of file that cannot be read.
pub(super) struct Foreign {
    /// What the file is, as it follows "this is".
    pub(super) what: &'static str,
    /// Whether a file is of this kind.
    pub(super) is: fn(&Look<'_>) -> bool,
    /// The next step; `{file}` stands for the file and `{name}` for it without its ending.
    pub(super) help: &'static str,
}

/// Reads any other table.
macro_rules! by_mapping {
    () => {
        "rooflint inspect {file} --suggest-map > MAPPING.toml; check it, then: \
            rooflint {file} --map MAPPING.toml"
    };
}

/// Records the counters that a roofline needs, as a table that can be read.
macro_rules! record {
    ($before:literal, $program:literal) => {
        concat!(
            $before,
            "ncu --set full --csv --page raw --print-units base --log-file run.csv ",
            $program
        )
    };
    ($before:literal) => {
        record!($before, "APP")
    };
}

/// How a report of Nsight Compute is read whose page cannot be.
const NSIGHT_PAGE: &str = "give the report itself (.ncu-rep), or its raw page: \
    ncu --import REPORT.ncu-rep --csv --page raw --print-units base > raw.csv";

/// What a trace of XProf lacks, and what of it can be read.
const XPROF: &str = "its table Kernel Stats is read, as CSV (xprof --logdir DIR); counters: \
    ncu --set full -o report APP";

/// What a time-only profile lacks, and how to record it.
const TIMES_ONLY: &str = record!("it has times but no FLOPs or bytes; record them: ");

/// How a report of Nsight Systems becomes a database that is read.
const EXPORT_REPORT: &str = "nsys export --type sqlite --output {name}.sqlite {file}";

/// How a table with launches is printed from a report of Nsight Systems.
const STATS: &str = "print its kernels: nsys stats --report cuda_gpu_trace --format csv \
    --output . REPORT.nsys-rep";

/// Which of AMD's tables can be read.
const ROCPROF: &str = "it has no times of kernels; record them: \
    rocprofv3 --kernel-trace --output-format csv -d out -- APP";

/// Tables of rocprofv3 that have the columns of its table of kernels, and only their names to tell them apart: ranges of
/// roctx are called whatever the program calls them.
const ROCPROF_STATS: Foreign = Foreign {
    what: "a table of rocprofv3 --stats without kernels",
    help: "give kernel_stats.csv; rocprofv3 --kernel-trace --stats writes it",
    is: |file| {
        let name = file.named.trim_end_matches(".gz").trim_end_matches(".zst");
        [
            "hip_api_stats.csv",
            "hip_runtime_api_stats.csv",
            "hip_compiler_api_stats.csv",
            "hip_stream_stats.csv",
            "hsa_api_stats.csv",
            "marker_api_stats.csv",
            "rccl_api_stats.csv",
            "rocdecode_api_stats.csv",
            "rocjpeg_api_stats.csv",
            "memory_copy_stats.csv",
            "memory_allocation_stats.csv",
            "scratch_memory_stats.csv",
            "domain_stats.csv",
        ]
        .iter()
        .any(|ending| name.ends_with(ending))
            && file.line("\"Name\",\"Calls\",\"TotalDurationNs\"")
    },
};

/// The kind of a file whose table is not of kernels, though it has the columns of one.
pub(super) fn beside_kernels(look: &Look<'_>) -> Option<&'static Foreign> {
    (ROCPROF_STATS.is)(look).then_some(&ROCPROF_STATS)
}

/// Which table of a workload can be read.
const OMNIPERF: &str = "give its pmc_perf.csv, or the folder";

/// What to do with an output of our own.
const OWN: &str = "use the profiler's export that it was made from";

/// What to do with an output of our own that can be compared.
const COMPARABLE: &str =
    "compare it: rooflint diff {file} NEW.csv; a report needs the export that it was made from";

/// What to do with a spreadsheet.
const SPREADSHEET: &str = "use the profiler's CSV: a spreadsheet may have changed the numbers; \
    else save the sheet as CSV";

/// What to do with a table in another shape.
const OTHER: &str =
    concat!("use the profiler's CSV as it was written; any other table: ", by_mapping!());

/// What to do with a table of which no format knows the columns.
pub(super) const BY_MAPPING: &str = concat!("name its columns in a mapping: ", by_mapping!());

/// What to do where nothing in the file helps.
const EXPORT: &str = record!("use the profiler's CSV: ");

/// The kinds, those that are surest first.
pub(super) const KINDS: &[Foreign] = &[
    // Binary files, by their first bytes.
    Foreign {
        what: "a damaged Nsight Compute report (.ncu-rep)",
        help: IMPORT,
        is: |file| file.ends(".ncu-rep"),
    },
    Foreign {
        what: "a Nsight Systems report (.nsys-rep)",
        help: EXPORT_REPORT,
        is: |file| file.ends(".nsys-rep"),
    },
    Foreign {
        what: "an old Nsight Systems report (.qdrep)",
        help: EXPORT_REPORT,
        is: |file| file.ends(".qdrep"),
    },
    Foreign {
        what: "an unfinished Nsight Systems capture (.qdstrm)",
        help: "make a report of it with `QdstrmImporter -i {file}`, which comes with nsys, \
            and export that: nsys export --type sqlite REPORT.nsys-rep",
        is: |file| file.ends(".qdstrm"),
    },
    Foreign {
        what: "an Excel workbook (.xlsx)",
        help: SPREADSHEET,
        is: |file| file.is_zip() && (file.has("xl/") || file.ends(".xlsx")),
    },
    Foreign {
        what: "an Excel workbook (.xls)",
        help: SPREADSHEET,
        is: |file| file.begins(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
    },
    Foreign {
        what: "a PyTorch checkpoint",
        help: record!("profile the program that uses it: ", "python TRAIN.py"),
        is: |file| file.is_zip() && file.has("/data.pkl"),
    },
    Foreign {
        what: "a zip archive",
        help: "extract it and use the CSV inside: unzip {file}",
        is: |file| file.is_zip(),
    },
    Foreign {
        what: "a tar archive",
        help: "extract it and use the CSV inside: tar -xf {file}",
        is: |file| file.sample.head.get(257..262) == Some(b"ustar"),
    },
    Foreign {
        what: "compressed with xz",
        help: "decompress it: xz -d {file}",
        is: |file| file.begins(b"\xfd7zXZ\0"),
    },
    Foreign {
        what: "compressed with bzip2",
        help: "decompress it: bzip2 -d {file}",
        is: |file| file.begins(b"BZh"),
    },
    Foreign {
        what: "a Parquet file",
        help: "use the table that `rooflint convert` wrote by its path, or the profiler's CSV",
        is: |file| file.begins(b"PAR1"),
    },
    Foreign { what: "a PDF document", help: EXPORT, is: |file| file.begins(b"%PDF-") },
    Foreign {
        what: "a picture",
        help: EXPORT,
        is: |file| file.begins(b"\x89PNG") || file.begins(b"\xff\xd8\xff") || file.begins(b"GIF8"),
    },
    Foreign {
        what: "a program",
        help: record!("profile it: ", "{file}"),
        is: |file| file.begins(b"\x7fELF") || file.begins(b"MZ") && file.sample.binary,
    },
    Foreign {
        what: "a TensorBoard event file",
        help: record!("it has no GPU counters; record them: "),
        is: |file| {
            file.sample.binary
                && (file.has("brain.Event:") || file.named.contains("events.out.tfevents."))
        },
    },
    Foreign {
        what: "an XProf (TensorBoard profiler) trace",
        help: XPROF,
        is: |file| {
            file.ends(".xplane.pb")
                || file.sample.binary && file.begins(b"\n") && file.has("/device:GPU:")
        },
    },
    Foreign {
        what: "a Python pickle",
        help: record!("profile the program that wrote it: ", "python TRAIN.py"),
        is: |file| matches!(file.sample.head.as_slice(), [0x80, 2..=5, ..]),
    },
    Foreign { what: "a binary file", help: EXPORT, is: |file| file.sample.binary },
    // Pages of Nsight Compute; a process in brackets begins one of them as JSON would.
    Foreign {
        what: "a page of Nsight Compute as text",
        help: NSIGHT_PAGE,
        is: |file| file.line("Section: ") && file.line("Metric Unit") && !file.line("\",\""),
    },
    Foreign {
        what: "the source page of Nsight Compute",
        help: NSIGHT_PAGE,
        is: |file| file.starts("\"Kernel Name\",") && file.line("\"Address\",\"Source\""),
    },
    // JSON, by its keys.
    Foreign {
        what: "a trace without events",
        help: "the profiler recorded nothing: let the work run inside of it, and export the trace after it has stopped",
        is: |file| {
            let text = file.sample.text();
            let after = text.split_once("\"traceEvents\"").map(|(_, rest)| rest);
            file.is_json()
                && after.is_some_and(|rest| {
                    let rest: String =
                        rest.chars().filter(|c| !c.is_whitespace()).take(3).collect();
                    rest == ":[]"
                })
        },
    },
    Foreign {
        what: "a trace of XProf, as JAX and TensorFlow write it",
        help: XPROF,
        is: |file| file.is_json() && file.has("\"traceEvents\"") && file.has("\"/device:GPU:"),
    },
    Foreign {
        what: "a Chrome trace (JSON)",
        help: TIMES_ONLY,
        is: |file| {
            file.is_json()
                && (file.has("\"traceEvents\"") || file.has("\"ph\":") && file.has("\"ts\":"))
        },
    },
    Foreign {
        what: "a table of XProf (TensorBoard profiler) as JSON",
        help: "export the tool Kernel Stats as CSV",
        is: |file| file.is_json() && file.has("\"cols\"") && file.has("\"rank\""),
    },
    Foreign {
        what: "a rooflint report (JSON)",
        help: COMPARABLE,
        is: |file| file.is_json() && file.has("\"rooflint/report/"),
    },
    Foreign {
        what: "a saved rooflint run (JSON)",
        help: COMPARABLE,
        is: |file| file.is_json() && file.has("\"rooflint/run/"),
    },
    Foreign {
        what: "an output of rooflint (JSON)",
        help: OWN,
        is: |file| {
            file.is_json() && (file.has("\"rooflint/") || file.has("\"name\": \"rooflint\""))
        },
    },
    Foreign {
        what: "a Jupyter notebook",
        help: record!("export it as a script and profile that: ", "python {name}.py"),
        is: |file| file.is_json() && file.has("\"nbformat\"") || file.ends(".ipynb"),
    },
    Foreign { what: "JSON of an unknown kind", help: EXPORT, is: |file| file.is_json() },
    // Pages and reports.
    Foreign {
        what: "a rooflint report (HTML)",
        help: OWN,
        is: |file| file.is_html() && file.has("rooflint"),
    },
    Foreign {
        what: "a web page (HTML)",
        help: "was a login page downloaded? download the file itself: curl -L -o run.csv URL",
        is: |file| file.is_html(),
    },
    Foreign {
        what: "a picture (SVG)",
        help: OWN,
        is: |file| file.starts("<svg") || file.starts("<?xml") && file.has("<svg"),
    },
    Foreign { what: "XML", help: EXPORT, is: |file| file.starts("<?xml") },
    Foreign {
        what: "a Git LFS pointer, not the file itself",
        help: "download the file: git lfs pull --include {file}",
        is: |file| file.starts("version https://git-lfs"),
    },
    Foreign {
        what: "a rooflint report (CSV)",
        help: OWN,
        is: |file| file.starts("rank,name,full_name,"),
    },
    Foreign {
        what: "a rooflint report (Markdown)",
        help: OWN,
        is: |file| {
            file.starts("## Roofline report")
                || file.starts("# ") && file.has("rooflint ") && file.has("| kernel |")
        },
    },
    Foreign {
        what: "a rooflint report (text)",
        help: OWN,
        is: |file| file.starts("GPU time  ") || file.starts("Device       not known"),
    },
    // Tables of other profilers, by their headers.
    Foreign {
        what: "nvprof output as text",
        help: "print it as CSV: nvprof --csv --print-gpu-trace --log-file run.csv APP",
        is: |file| {
            file.is_nvprof()
                && (file.line("Time(%)  ") || file.line("Duration  "))
                && !file.line("\",\"")
        },
    },
    Foreign {
        what: "an nvprof table of events, which are not metrics",
        help: "collect metrics: nvprof --csv --metrics flop_count_sp,dram_read_transactions,dram_write_transactions --log-file metrics.csv APP",
        is: |file| file.line("\"Event Name\""),
    },
    Foreign {
        what: "nvprof output without a table of kernels",
        help: record!("no kernel was recorded; nvprof supports GPUs up to Volta, for newer ones: "),
        is: |file| file.is_nvprof(),
    },
    Foreign {
        what: "an `nsys stats` table of copies and memsets, which has no kernels",
        help: STATS,
        is: |file| file.line("Count,") && file.line("Operation") && file.line("Total"),
    },
    Foreign {
        what: "an `nsys stats` table of calls or ranges, which has no kernels",
        help: STATS,
        is: |file| {
            file.line("Total Time (ns),Num Calls")
                || file.line("Total Time (ns),Instances")
                || file.line("API Start (ns)")
        },
    },
    Foreign {
        what: "`nsys stats` output without a table: the report has no kernels",
        help: "trace CUDA: nsys profile --trace=cuda,nvtx -o run APP",
        is: |file| file.line("does not contain CUDA"),
    },
    Foreign {
        what: "an `nsys stats` table as text",
        help: STATS,
        is: |file| file.line("** CUDA ") || file.line("Total Time (ns)  "),
    },
    Foreign {
        what: "a DLProf report without launches",
        help: "give the iteration report: dlprof --reports=iteration python TRAIN.py",
        is: |file| {
            [
                "All Iterations\n",
                "Iteration Report\n",
                "Kernel Report\n",
                "Tensor Core Report\n",
                "Group Op Report\n",
                "Op Type Summary Report\n",
                "Expert Systems Feedback\n",
                "System Config\n",
            ]
            .iter()
            .any(|title| file.starts(title))
        },
    },
    Foreign {
        what: "an XProf (TensorBoard profiler) table without kernels",
        help: "export the tool Kernel Stats as CSV",
        is: |file| {
            file.line("\"Kernel Name\",\"Registers per thread\"")
                || file.line("\"Operation Type\",\"Operation Name\"")
                || file.line("\"HLO op category\"")
                || file.line("\"Step\",\"Rank\",\"Category\",\"Operation\"")
        },
    },
    Foreign {
        what: "a rocprof table",
        help: ROCPROF,
        is: |file| {
            file.line("\"Name\",\"Calls\",\"TotalDurationNs\"")
                || file.line("KernelName\",\"gpu-id")
                || file.line("KernelName,gpu-id")
                || file.line("\"Kind\",\"Agent_Id\"")
                || file.line("\"Correlation_Id\",\"Dispatch_Id\"")
                || file.line("\"Kind\",\"Direction\"")
        },
    },
    Foreign {
        what: "a table of ROCm Compute Profiler (Omniperf)",
        help: OMNIPERF,
        is: |file| {
            file.line("Dispatch_ID,Kernel_Name")
                || file.line("Dispatch_ID,GPU_ID")
                || file.line("device,HBMBw,")
                || file.line("Kernel_Name,Count,Sum(")
                || file.line("workload_name,command,ip_blocks")
        },
    },
    Foreign {
        what: "PyProf's start messages without a table",
        help: "run the second step too: python -m pyprof.prof --csv -c \
            idx,kernel,op,params,sil,tc,flops,bytes NET.dict > NET.csv",
        is: |file| file.has("NVTX monkey patch"),
    },
    // Configuration and sources.
    Foreign {
        what: "a rooflint configuration",
        help: "use it with an export: rooflint run.csv --config {file}",
        is: |file| {
            file.is_toml(&[
                "gate",
                "rules",
                "rule.",
                "waiver",
                "group",
                "analysis",
                "closed-form",
                "custom-rule",
            ])
        },
    },
    Foreign {
        what: "a column mapping",
        help: "use it with a CSV: rooflint run.csv --map {file}",
        is: |file| file.is_toml(&["columns"]),
    },
    Foreign {
        what: "a model file for `rooflint predict`",
        help: "rooflint predict --model {file} --device NAME",
        is: |file| file.is_toml(&["op", "sizes"]),
    },
    Foreign {
        what: "a device file",
        help: "use it with an export: rooflint run.csv --devices {file}",
        is: |file| file.is_toml(&["pipes", "memory", "sources"]),
    },
    Foreign { what: "a TOML file", help: EXPORT, is: |file| file.ends(".toml") },
    Foreign {
        what: "CUDA or C++ source code",
        help: record!("compile it and profile the program: ", "./PROGRAM"),
        is: |file| {
            [".cu", ".cuh", ".cpp", ".cc", ".hip"].iter().any(|end| file.ends(end))
                || file.has("__global__ void")
                || file.line("#include <")
        },
    },
    Foreign {
        what: "Python source code",
        help: record!("profile it: ", "python {file}"),
        is: |file| {
            file.ends(".py")
                || file.starts("#!") && file.has("python")
                || file.line("import ") && file.has("\ndef ")
                || file.starts("import ")
                || file.starts("from ")
        },
    },
    Foreign {
        what: "a shell script",
        help: record!("profile what it runs: ", "bash {file}"),
        is: |file| file.ends(".sh") || file.starts("#!/"),
    },
    // Spreadsheets and logs.
    Foreign {
        what: "a table separated by semicolons, as spreadsheets save it",
        help: OTHER,
        is: |file| file.is_separated_by(';'),
    },
    Foreign {
        what: "a table separated by tabs",
        help: OTHER,
        is: |file| file.is_separated_by('\t'),
    },
    Foreign {
        what: "a table of rocprof without the line that names its columns",
        help: "put that line before the rows (\"Index\",\"KernelName\",\"gpu-id\",…), as rocprof wrote it",
        is: |file| file.has(".kd]\",") || file.has(".kd\","),
    },
    Foreign {
        what: "a program's log without a profiler's table",
        help: record!("let the profiler write a file of its own: "),
        is: |file| file.is_log(),
    },
    Foreign { what: "text without a table", help: EXPORT, is: |file| !file.is_separated_by(',') },
];
