//! First launches that are left out: of rows that are launches only, and the first to start, wherever their rows are.

use std::path::Path;

use super::cli::{Outcome, rooflint};

const TRACE: &str = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),\
                     Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";

const SUMS: &str =
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";

/// Rows of ten launches of a kernel: the first takes three times as long as each other.
fn rows(base: u64) -> Vec<String> {
    let row = |launch: u64| {
        let time = if launch == 0 { 3 * base } else { base + launch % 3 };
        let start = 1_000 + launch * 1_000_000;
        format!(
            "{start},{time},{launch},8,1,1,256,1,1,32,0,0,,,,,NVIDIA H100 80GB HBM3 (0),1,,7,norm\n"
        )
    };
    (0..10).map(row).collect()
}

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

fn gate(folder: &Path, now: &[&str], baseline: &str) -> Outcome {
    let options = ["--baseline", baseline, "--device", "H100 SXM5 80GB", "--warmup", "1"];
    rooflint(folder, &[&["gate"], now, &options].concat())
}

/// A sum of ten launches has no first one. It was compared with nine launches of a trace.
#[test]
fn sums_of_launches_have_no_first_one_to_leave_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write(at, "trace.csv", &(TRACE.to_owned() + &rows(400_000).concat()));
    for (name, total) in [("sums.csv", 4_800_000), ("more.csv", 5_000_000)] {
        let each = total / 10;
        let row = format!("100.0,{total},10,{each}.0,{each}.0,400000,1200000,1.0,norm\n");
        write(at, name, &(SUMS.to_owned() + &row));
    }
    let sides: [(&[&str], &str, &str); 4] = [
        (&["more.csv"], "sums.csv", "more.csv"),
        (&["trace.csv"], "sums.csv", "sums.csv"),
        (&["sums.csv"], "trace.csv", "sums.csv"),
        (&["trace.csv", "more.csv"], "sums.csv", "more.csv"),
    ];
    for (now, baseline, named) in sides {
        let found = gate(at, now, baseline);
        assert_eq!(found.code, 2, "{now:?} {baseline}: {}{}", found.out, found.err);
        let says = format!("{named} has sums of launches, not single launches");
        assert!(found.err.contains(&says), "{now:?} {baseline}: {}", found.err);
        assert!(found.err.contains("cuda_gpu_trace"), "{}", found.err);
    }
    let device = ["--device", "H100 SXM5 80GB"];
    let save = ["baseline", "save", "sums.csv", "--store", "st", "--warmup", "1"];
    let saved = rooflint(at, &[&save[..], &device].concat());
    assert_eq!(saved.code, 2, "{}{}", saved.out, saved.err);
    assert!(!at.join("st").exists());
    // The run of a folder, and a table of launches that was made of sums.
    std::fs::create_dir(at.join("ranks")).unwrap();
    for name in ["trace.csv", "more.csv"] {
        std::fs::copy(at.join(name), at.join("ranks").join(name)).unwrap();
    }
    assert_eq!(rooflint(at, &["convert", "sums.csv", "-o", "table.csv"]).code, 0);
    for baseline in ["ranks", "table.csv"] {
        let found = gate(at, &["trace.csv"], baseline);
        assert_eq!(found.code, 2, "{baseline}: {}{}", found.out, found.err);
        assert!(found.err.contains("has sums of launches"), "{baseline}: {}", found.err);
    }
    let without = ["gate", "more.csv", "--baseline", "sums.csv"];
    assert_ne!(rooflint(at, &[&without[..], &device].concat()).code, 2);
}

/// Nine launches of 400 µs are left, and the first counts as one of them: 4.0 ms. Without the first row of a reversed trace,
/// 4.9 ms would be.
#[test]
fn the_first_launches_are_the_first_to_start() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let mut trace = rows(400_000);
    write(at, "main.csv", &(TRACE.to_owned() + &trace.concat()));
    trace.reverse();
    // Not the same measurement.
    let trace: Vec<String> = trace.iter().map(|row| row.replace("400001", "400003")).collect();
    write(at, "reversed.csv", &(TRACE.to_owned() + &trace.concat()));
    let found = gate(at, &["reversed.csv"], "main.csv");
    assert_eq!(found.code, 0, "{}{}", found.out, found.err);
    assert!(found.out.contains("4.00 ms before, 4.00 ms now: 0.00%"), "{}", found.out);
}
