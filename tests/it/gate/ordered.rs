//! The order of runs, declared by `--order`, of runs that a store or a partitioned table has.

use std::path::Path;

use super::cli::{Outcome, rooflint};

const HEAD: &str = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),\
                    Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n";

const DEVICE: [&str; 2] = ["--device", "H100 SXM5 80GB"];

/// Twelve runs per side of the same code, taken in turns, ABBA six times: each takes 1% longer than the one before.
fn drifting(folder: &Path) -> String {
    let order = "ABBA".repeat(6);
    let mut numbers = [0, 0];
    for (place, letter) in order.chars().enumerate() {
        let number = &mut numbers[usize::from(letter == 'B')];
        *number += 1;
        let time = 1e6 * 1.01_f64.powi(i32::try_from(place).unwrap());
        let row = |launch: u32| {
            let (start, time) = (1_000 + launch * 10_000_000, time.round());
            format!(
                "{start},{time},{launch},8,1,1,256,1,1,32,0,0,,,,,NVIDIA H100 80GB HBM3 (0),1,,7,norm\n"
            )
        };
        let text = HEAD.to_owned() + &(0..5).map(row).collect::<String>();
        std::fs::write(folder.join(format!("{letter}-{number}.csv")), text).unwrap();
    }
    order
}

fn gate(folder: &Path, baseline: &str, order: &str) -> Outcome {
    let gate = ["gate", "B-*.csv", "--baseline", baseline, "--order", order];
    rooflint(folder, &[&gate[..], &DEVICE].concat())
}

fn finds_the_drift(found: &Outcome) {
    let text = found.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(found.code, 0, "{text}{}", found.err);
    assert!(text.contains("the total drifts by +1.00% from each run to the next"), "{text}");
    assert!(text.contains("now: 0.00%") || text.contains("now: +0.00"), "{text}");
}

#[test]
fn runs_of_a_store_are_in_the_order_in_which_they_were_saved() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let order = drifting(at);
    finds_the_drift(&gate(at, "A-*.csv", &order));
    // All in one second, in two saves of one commit.
    let one = (1..=7).map(|number| format!("A-{number}.csv")).collect::<Vec<_>>();
    let two = (8..=12).map(|number| format!("A-{number}.csv")).collect::<Vec<_>>();
    for format in ["json", "parquet"] {
        for files in [&one, &two] {
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let into = ["--store", format, "--format", format, "--commit", "abc"];
            let date = ["--date", "2026-11-22T05:30:00Z"];
            let save = [&["baseline", "save"], &files[..], &into, &date, &DEVICE].concat();
            let saved = rooflint(at, &save);
            assert_eq!(saved.code, 0, "{}{}", saved.out, saved.err);
        }
        finds_the_drift(&gate(at, format, &order));
    }
    // Documents of earlier versions do not have the number of a run.
    for entry in std::fs::read_dir(at.join("json/default")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let number = text.lines().find(|line| line.trim().starts_with("\"number\": ")).unwrap();
        let before = text.replace(&format!(",\n{number}\n"), "\n");
        let end = before.rfind(",\n  \"content\"").unwrap();
        std::fs::write(&path, format!("{}\n}}\n", &before[..end])).unwrap();
    }
    let found = gate(at, "json", &order);
    assert_eq!(found.code, 2, "{}{}", found.out, found.err);
    assert!(found.err.contains("json does not say which of 2026-11-22T"), "{}", found.err);
    assert!(found.err.contains("--baseline FILE"), "{}", found.err);
    let without = ["gate", "B-*.csv", "--baseline", "json"];
    assert_ne!(rooflint(at, &[&without[..], &DEVICE].concat()).code, 2);
}

#[test]
fn runs_of_a_table_are_in_the_order_of_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let order = drifting(at);
    for number in 1..=12 {
        let file = format!("A-{number}.csv");
        let night = match number {
            1 => "2026-11-22".to_owned(),
            more => format!("2026-11-22-{more}"),
        };
        for (table, run) in [("table/", format!("run{number}")), ("nights/", night)] {
            let convert = rooflint(at, &["convert", &file, "-o", table, "--run", &run]);
            assert_eq!(convert.code, 0, "{}{}", convert.out, convert.err);
        }
    }
    for table in ["table", "nights"] {
        finds_the_drift(&gate(at, table, &order));
    }
    let save = ["baseline", "save", "nights", "--store", "st"];
    assert_eq!(rooflint(at, &[&save[..], &DEVICE].concat()).code, 0);
    finds_the_drift(&gate(at, "st", &order));
}
