//! Devices that an export does not name: what is found of them, and what is said where nothing is.

use rooflint::analysis::Options;
use rooflint::ingest;
use rooflint::report::{OUTPUTS, Report, Style, formats_with, written};
use rooflint::session::{Judged, Session};

const HEADER: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n";

/// Section, metric, unit and value.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// A details page of two launches in the shape of those that name no device: achieved bytes per second
/// beside their percentage of the peak.
fn details(capability: &str, more: &[Row]) -> String {
    let mut text = HEADER.to_owned();
    for (id, rate, share) in [("0", "757.6", "42.32"), ("1", "889.5", "49.69")] {
        let speed = "GPU Speed Of Light Throughput";
        let own: [Row; 3] = [
            (speed, "DRAM Throughput", "%", share),
            (speed, "Duration", "us", "93.38"),
            ("Memory Workload Analysis", "Memory Throughput", "Gbyte/s", rate),
        ];
        for (section, metric, unit, value) in own.iter().chain(more) {
            text.push_str(&format!(
                "\"{id}\",\"7\",\"wave\",\"127.0.0.1\",\"step(float *)\",\"1\",\"7\",\"(32, 4, 1)\",\
                 \"(4096, 1, 1)\",\"0\",\"{capability}\",\"{section}\",\"{metric}\",\"{unit}\",\"{value}\"\n"
            ));
        }
    }
    text
}

fn read(text: &str) -> rooflint::model::Profile {
    // Texts that are compiled in are what this reads; a test may keep its few for good.
    let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
    ingest::read_text("run", text, &ingest::Options::default()).unwrap()
}

#[test]
fn rates_percentages_and_what_l2_sets_aside_lead_to_the_device() {
    // 18.87 MB are three sixteenths of 96 MiB; 757.6 GB/s ÷ 42.32% are 1,790 GB/s.
    let l2 = ("Memory Workload Analysis", "L2 Persisting Size", "Mbyte", "18.87");
    let profile = read(&details("12.0", &[l2]));
    assert_eq!(profile.devices[0].l2_bytes, Some(96 << 20));
    let judged = Session::default().judge(&profile).unwrap();
    let [used] = judged.analysis.devices.as_slice() else { panic!("one device") };
    assert_eq!(used.name(), "GeForce RTX 5090");
    assert!(used.unknown.is_none() && used.notes.is_empty(), "{:?}", used.notes);
}

#[test]
fn an_unknown_device_is_missing_in_every_report_and_has_the_roof_that_follows() {
    let profile = read(&details("12.0", &[]));
    let Judged { analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let [used] = analysis.devices.as_slice() else { panic!("one device") };
    assert_eq!(used.name(), "unknown device (compute capability 12.0)");
    let unknown = used.unknown.as_ref().unwrap();
    assert_eq!(unknown.candidates[0], "GeForce RTX 5090");
    assert!(unknown.help.contains("--device \"GeForce RTX 5090\""), "{}", unknown.help);
    // By hand: the median of 757.6 ÷ 0.4232 and 889.5 ÷ 0.4969; bytes are rate × time.
    let peak = f64::midpoint(757.6e9 / 0.4232, 889.5e9 / 0.4969);
    let bytes = (757.6e9 + 889.5e9) * 93.38e-6;
    let kernel = &analysis.kernels[0];
    assert!((kernel.memory_time.unwrap().get() / (bytes / peak) - 1.0).abs() < 1e-9);
    let report =
        Report { analysis: &analysis, findings: &findings, top: 5, what_if: &[], command: None };
    for output in formats_with(OUTPUTS) {
        let text = written(&report, output.name, &Style::default()).unwrap();
        match output.name {
            "json" => {
                let document: serde_json::Value = serde_json::from_str(&text).unwrap();
                let device = &document["device"];
                assert_eq!(device["unknown"]["candidates"][0], "GeForce RTX 5090");
                assert_eq!(device["unknown"]["help"], unknown.help.as_str());
                let source = "derived: achieved bytes/s ÷ percentage of peak";
                assert_eq!(device["ceilings"]["dram_source"], source);
            }
            "text" => {
                let missing = format!("the GPU: {} → {}", unknown.reason, unknown.help);
                assert!(text.contains(&format!("Missing      {missing}\n")), "{text}");
            }
            "markdown" | "html" => assert!(text.contains("until then its only roof is"), "{text}"),
            _ => {}
        }
    }
}

#[test]
fn unknown_devices_of_other_capabilities_are_other_devices() {
    let names: Vec<String> = ["9.0", "12.0", "9.0"]
        .iter()
        .map(|capability| {
            let profile = read(&details(capability, &[]));
            let judged = Session::default().judge(&profile).unwrap();
            judged.analysis.devices[0].name().to_owned()
        })
        .collect();
    assert_ne!(names[0], names[1]);
    assert_eq!(names[0], names[2]);
}

#[test]
fn a_wrong_device_is_told_with_the_one_that_fits() {
    let l2 = ("Memory Workload Analysis", "L2 Persisting Size", "Mbyte", "18.87");
    let profile = read(&details("12.0", &[l2]));
    let options = Options { device: Some("GeForce RTX 5070".to_owned()), ..Options::default() };
    let session = Session { options, ..Session::default() };
    let notes = &session.judge(&profile).unwrap().analysis.devices[0].notes;
    assert_eq!(
        notes.as_slice(),
        [
            "GeForce RTX 5090 matches the export, GeForce RTX 5070 does not: --device \"GeForce RTX 5090\"",
            "the export's rates and percentages of peak imply a memory bandwidth of 1790 GB/s, the catalog says \
             672 GB/s for GeForce RTX 5070",
        ]
    );
}

/// Seven contradictions: the device that fits is what a brief of three lines begins with.
#[test]
fn the_device_that_fits_is_named_first() {
    let text = crate::program::run(&["demo", "--device", "A100 SXM4 80GB"]).stdout;
    let first = text.lines().find_map(|line| line.strip_prefix("Check        "));
    let fits =
        "H100 SXM5 80GB matches the export, A100 SXM4 80GB does not: --device \"H100 SXM5 80GB\"";
    assert_eq!(first, Some(fits), "{text}");
}

/// Two GPUs of one model: what their launches contradict is a note, not another model. Attributes that differ are.
#[test]
fn gpus_of_one_model_are_one_device() {
    let table = |second: &str| {
        read(&format!(
            "source,kernel,process,id,launches,grid_x,threads_per_block,device,device_ordinal,device_max_sm_clock_hz,\
             duration_s,dram_bytes,sm_clock_hz\n\
             a.csv,copy,0,0,1,64,256,NVIDIA H200,0,1980000000,1e-3,4e9,1500000000\n\
             a.csv,copy,0,1,1,64,256,NVIDIA H200,1,{second}\n"
        ))
    };
    let judged = |second: &str| Session::default().judge(&table(second)).unwrap().analysis;
    let one = judged("1980000000,1e-3,4e9,5000000000");
    let [used] = one.devices.as_slice() else { panic!("one device") };
    assert_eq!(used.name(), "H200 SXM 141GB");
    let faster = "launches ran at 5000 MHz, more than the 1980 MHz that H200 SXM 141GB reaches";
    assert_eq!(used.notes.as_slice(), [faster]);
    assert_eq!((one.kernels.len(), one.kernels[0].launches), (1, 2));
    let two = judged("1200000000,1e-3,4e9,5000000000");
    assert_eq!(two.devices.len(), 2, "{:?}", two.devices[0].notes);
}
