//! A workload of ROCm Compute Profiler: `sysinfo.csv` names the device, `roofline.csv` has the rates that were reached
//! on it, and the report uses both.

use std::path::{Path, PathBuf};

use rooflint::analysis::{self, Analysis, CeilingSet, Options};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input};
use rooflint::model::{MemoryLevel, Pipe, Profile, Quantity};
use rooflint::report::{Report, Style, written};
use rooflint::session::{Judged, Session};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workloads/mi210")
}

fn read(files: &[&str]) -> Result<Profile, String> {
    let inputs: Vec<Input> = files.iter().map(|file| Input::Named(folder().join(file))).collect();
    ingest::read(&inputs, &ingest::Options::default())
        .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))
}

fn judged(files: &[&str], ceilings: Option<CeilingSet>) -> Analysis {
    let options = Options { ceilings, ..Options::default() };
    analysis::analyze(&read(files).unwrap(), &Catalog::builtin(), &options).unwrap()
}

const ALL: [&str; 3] = ["pmc_perf.csv", "roofline.csv", "sysinfo.csv"];

/// Two arrays are read and one written, of 2²⁵ doubles, with a multiply-add each.
const BYTES: f64 = 3.0 * 8.0 * 33_554_432.0;

#[test]
fn a_workload_names_its_device_and_what_was_reached_on_it() {
    let analysis = judged(&ALL, None);
    let [device] = analysis.devices.as_slice() else { panic!("one device") };
    // The series is named, and the architecture with its compute units makes a device of it.
    assert_eq!(device.name(), "Instinct MI210");
    assert!(device.how.starts_with("of gfx90a with 104 compute units, like"), "{}", device.how);
    let how = "roofline.csv, median of 2 GPUs); not used: fp64 tensor 60.1 TFLOP/s, above the peak \
        of 45.3 TFLOP/s";
    assert!(device.how.ends_with(how), "{}", device.how);
    let achievable = &device.device.as_ref().unwrap().achievable;
    assert_eq!(achievable.dram.as_ref().unwrap().value.get(), 1392.0 * 1e9);
    assert_eq!(achievable.l2.as_ref().unwrap().value.get(), 5024.25 * 1e9);
    assert_eq!(achievable.l1.as_ref().unwrap().value.get(), 9233.5 * 1e9);
    assert_eq!(achievable.shared.as_ref().unwrap().value.get(), 17_980.5 * 1e9);
    assert_eq!(achievable.peaks[&Pipe::Fp64Vector].value.get(), 20300.0 * 1e9);
    // Above the peak, and zero for what is not supported.
    for pipe in [Pipe::Fp64Matrix, Pipe::Int8Matrix] {
        let figure = achievable.peaks.get(&pipe).map(|rate| rate.source.clone());
        assert!(!figure.unwrap_or_default().contains("mi210/roofline.csv"), "{pipe:?}");
    }
}

#[test]
fn what_was_reached_is_the_achievable_roof_and_not_the_theoretical_one() {
    let time = 1_928_000.0 * 1e-9;
    for (ceilings, rate) in [(None, 1638.4e9), (Some(CeilingSet::Achievable), 1392.0e9)] {
        let analysis = judged(&ALL, ceilings);
        let kernel = &analysis.kernels[0];
        let headroom = kernel.headroom().unwrap();
        let expected = time / (3.0 * BYTES / rate);
        assert!((headroom / expected - 1.0).abs() < 1e-9, "{headroom} and {expected}");
        // All three arrays pass L1; its bandwidth is known by measurement only.
        let l1 = kernel.levels().iter().find(|traffic| traffic.level == MemoryLevel::L1).unwrap();
        let l1_time = ceilings.map(|_| 3.0 * BYTES / 9233.5e9);
        let found = l1.time.map(|time| (time.get() / l1_time.unwrap() - 1.0).abs() < 1e-9);
        assert_eq!(found, l1_time.map(|_| true));
    }
}

#[test]
fn launches_without_files_beside_them_have_no_device() {
    let analysis = judged(&["pmc_perf.csv"], None);
    assert!(analysis.devices[0].device.is_none());
}

#[test]
fn files_about_a_machine_are_nothing_alone() {
    for file in ["sysinfo.csv", "roofline.csv"] {
        let error = read(&[file]).unwrap_err();
        assert!(error.contains(&format!("{file}: this table of ROCm Compute Profiler")), "{error}");
        assert!(error.contains("| give the folder of the workload, or pmc_perf.csv"), "{error}");
    }
    let elsewhere = folder().join("../../rocprof/v1-results.csv");
    let inputs = [Input::Named(elsewhere), Input::Named(folder().join("roofline.csv"))];
    let profile = ingest::read(&inputs, &ingest::Options::default()).unwrap();
    let note = "roofline.csv is not used: no launches in its folder were read";
    assert!(profile.checks.iter().any(|check| check.ends_with(note)), "{:?}", profile.checks);
    assert!(profile.devices.iter().all(|device| device.reached.is_none()));
}

#[test]
fn bytes_and_operations_are_counted_by_the_published_formulas() {
    let profile = read(&ALL).unwrap();
    assert_eq!(profile.sources.len(), 1);
    for launch in profile.iter() {
        assert_eq!(launch.value(Quantity::DramBytes), Some(BYTES));
        let flops = launch.value(Quantity::Work(Pipe::Fp64Vector));
        assert_eq!(flops, Some(2.0 * 33_554_432.0));
    }
}

/// Some versions write the same start and end for all dispatches of MI300X.
#[test]
fn counters_without_times_ask_for_those_beside_them() {
    let text = std::fs::read_to_string(folder().join("pmc_perf.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let titles = rows.headers().unwrap().clone();
    let at = |title: &str| titles.iter().position(|one| one == title).unwrap();
    let (start, end) = (at("Start_Timestamp"), at("End_Timestamp"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&titles).unwrap();
    for row in rows.records() {
        let row = row.unwrap();
        let cells = row.iter().enumerate();
        writer
            .write_record(cells.map(|(at, cell)| if at == end { &row[start] } else { cell }))
            .unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let checks = |text: &str| {
        let inputs = [Input::text("pmc_perf.csv", text)];
        ingest::read(&inputs, &ingest::Options::default()).unwrap().checks
    };
    let asked = "pmc_perf.csv has no times: give timestamps.csv of the same workload with it, which has them";
    assert!(checks(&text).iter().any(|check| check == asked), "{:?}", checks(&text));
    let whole = std::fs::read_to_string(folder().join("pmc_perf.csv")).unwrap();
    assert!(checks(&whole).iter().all(|check| check != asked));

    // A table of times that has none either is not asked for again, and no counter stands in for time.
    let mut times = "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\",\"wgr\",\"BeginNs\",\"EndNs\"\n".to_owned();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let name = at("Kernel_Name");
    for (index, row) in rows.records().enumerate() {
        let row = row.unwrap();
        times += &format!("{index},\"{}\",1,0,0,1,1,33554432,256,1000,1000\n", &row[name]);
    }
    let inputs = [Input::text("pmc_perf.csv", &text), Input::text("timestamps.csv", &times)];
    let profile = ingest::read(&inputs, &ingest::Options::default()).unwrap();
    let told =
        "pmc_perf.csv has no times, and timestamps.csv, which was given with it, has none either";
    assert!(profile.checks.iter().any(|check| check == told), "{:?}", profile.checks);
    assert!(profile.checks.iter().all(|check| check != asked), "{:?}", profile.checks);
    let judged = Session::default().judge(&profile).unwrap();
    let Judged { analysis, findings, .. } = &judged;
    let report = Report { analysis, findings, top: 10, what_if: &[], command: None };
    let brief = written(&report, "text", &Style::default()).unwrap();
    let missing = "time and the GPU → give the folder of the workload as the profiler wrote it";
    assert!(brief.contains(&format!("Missing      {missing}")), "{brief}");
}

/// A copy of 1 GiB on MI350, whose reads of 128 bytes `TCC_BUBBLE` does not count there: 0.5 GiB of reads instead of 1.
#[test]
fn reads_that_mi350_may_count_as_half_are_a_range_and_said() {
    let vector = ["ADD", "MUL", "TRANS", "FMA"];
    let vector: Vec<String> = ["F16", "F32", "F64"]
        .iter()
        .flat_map(|format| vector.map(|name| format!(",SQ_INSTS_VALU_{name}_{format}")))
        .chain(
            ["I8", "F16", "BF16", "F32", "F64", "F8", "F6F4", "XF32"]
                .map(|format| format!(",SQ_INSTS_VALU_MFMA_MOPS_{format}")),
        )
        .collect();
    let zeros = ",0".repeat(vector.len());
    let table = |more: &str, values: &str| {
        format!(
            "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,TCC_BUBBLE_sum,TCC_EA0_RDREQ_sum,\
             TCC_EA0_RDREQ_32B_sum,TCC_EA0_WRREQ_sum,TCC_EA0_WRREQ_64B_sum{more}{},Start_Timestamp,End_Timestamp\n\
             0,4,33554432,256,copy,0,8388608,0,16777216,16777216{values}{zeros},1000,601000\n",
            vector.concat()
        )
    };
    let system = "workload_name,gpu_model,gpu_arch,cu_per_gpu\ncopy,MI355X,gfx950,256\n";
    let judged = |table: &str, has_system: bool| {
        let mut inputs = vec![Input::text("copy/pmc_perf.csv", table)];
        inputs.extend(has_system.then(|| Input::text("copy/sysinfo.csv", system)));
        let profile = ingest::read(&inputs, &ingest::Options::default()).unwrap();
        let options = Options { device: Some("MI355X".to_owned()), ..Options::default() };
        analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap()
    };
    let headrooms = |analysis: &Analysis| {
        let kernel = &analysis.kernels[0];
        [kernel.headroom_low(), kernel.headroom()].map(|headroom| headroom.unwrap())
    };
    let is = |found: [f64; 2], expected: [f64; 2]| {
        let close = |(one, two): (f64, f64)| (one / two - 1.0).abs() < 1e-9;
        assert!(found.into_iter().zip(expected).all(close), "{found:?} and {expected:?}");
    };
    // 600 µs, at 8 TB/s, for 1.5 GiB as counted, at most for 3.
    let headroom = |gib: f64| 600e-6 / (gib * f64::from(1 << 30) / 8e12);
    let halved = table("", "");
    let analysis = judged(&halved, true);
    is(headrooms(&analysis), [headroom(3.0), headroom(1.5)]);
    let said = |analysis: &Analysis| {
        analysis.checks.iter().any(|check| {
            check.contains("the bytes of 1 launch may be up to twice as many. Collect TCC_EA0_")
        })
    };
    assert!(said(&analysis));
    // Where only the command says which device it was, the figures stay and the report says so.
    let analysis = judged(&halved, false);
    is(headrooms(&analysis), [headroom(1.5); 2]);
    assert!(said(&analysis));
    let by_size = table(",TCC_EA0_RDREQ_64B_sum,TCC_EA0_RDREQ_128B_sum", ",0,8388608");
    let analysis = judged(&by_size, true);
    is(headrooms(&analysis), [headroom(2.0); 2]);
    assert!(!said(&analysis));
}
