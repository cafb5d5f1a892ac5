//! What was made of an export in another way, or by another device of the user, is not taken for the same.

use std::fs;
use std::path::Path;

use rooflint::fleet::Manifest;

use super::{csv, done, program, rank, text};

/// The error of a command that must fail with this code.
fn refused(arguments: &[&str], code: i32) -> String {
    let run = program::run(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
    run.stderr
}

/// Writes a file and returns its path.
fn file(folder: &Path, name: &str, content: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    text(&path)
}

/// A device of the user, of this bandwidth in GB/s.
fn device(folder: &Path, name: &str, bandwidth: u32) -> String {
    let text = format!(
        "name = \"My GPU\"\nsms = 132\nboost_clock_mhz = 1980\n[memory]\nbandwidth_gbs = {bandwidth}\n\
         [peaks_tflops]\nfp32_vector = 60\nbf16_matrix = 900\n"
    );
    file(folder, name, &text)
}

const ASKED: [&str; 2] = ["--device", "My GPU"];

/// Writes the summary of a rank, and returns its path.
fn summary(folder: &Path, number: u64, options: &[&str]) -> String {
    let export = text(&rank(folder, number, 1.0 + number as f64 * 1e-3));
    let out = text(&folder.join(format!("{number}.partial.json")));
    done(&[&["summarize", &export, "-o", &out, "--no-config"], options].concat());
    out
}

/// 500 µs in one unit are 500 ms in the other; 1,5 µs with one decimal sign are 15 µs with the other.
#[test]
fn another_way_of_reading_converts_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mapping = |unit: &str| {
        let columns = format!(
            "[columns]\nkernel = \"name\"\ntime = {{ column = \"t\", unit = \"{unit}\" }}\n"
        );
        file(folder, "map.toml", &columns)
    };
    let export = file(folder, "rank0.csv", "name,t\ngemm,500\n");
    let table = text(&folder.join("launches")) + "/";
    let convert = |unit: &str, more: &[&str]| {
        let map = mapping(unit);
        let said = done(&[&["convert", &export, "--map", &map, "-o", &table], more].concat());
        let part = Manifest::of(Path::new(&table)).unwrap().parts.remove(0);
        (said.contains("1 rank converted"), part.duration_s)
    };
    assert_eq!(convert("us", &[]), (true, 500e-6));
    assert_eq!(convert("us", &["--threads", "1"]), (false, 500e-6));
    assert_eq!(convert("ms", &[]), (true, 0.5));
    assert_eq!(convert("ms", &["--strict"]), (true, 0.5));
    file(folder, "rank0.csv", "name,t\ngemm,\"1,500\"\n");
    assert_eq!(convert("us", &["--decimal-sign", "comma"]), (true, 1.5e-6));
    assert_eq!(convert("us", &["--decimal-sign", "point"]), (true, 1500e-6));
    // Tables of earlier versions do not say how they were read.
    let mut manifest = Manifest::of(Path::new(&table)).unwrap();
    manifest.parts[0].read_as = None;
    manifest.write(Path::new(&table)).unwrap();
    assert_eq!(convert("us", &["--decimal-sign", "point"]), (true, 1500e-6));
    assert_eq!(convert("us", &["--decimal-sign", "point"]), (false, 1500e-6));
}

/// The tables beside the parts follow the devices and kernel names of the command, as in a table that is new.
#[test]
fn devices_and_names_are_looked_up_again_where_all_parts_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let exports = [0, 1].map(|number| text(&rank(folder, number, 1.0 + number as f64 * 1e-3)));
    let (slow, fast) = (device(folder, "slow.toml", 1000), device(folder, "fast.toml", 4000));
    let names = "[[class]]\nid = \"own\"\nkind = \"collective\"\npattern = 'transpose_naive'\n";
    file(folder, "names.toml", names);
    let config = file(folder, "own.toml", "kernel-names = \"names.toml\"\n");
    let convert = |table: &str, devices: &str, config: &[&str]| {
        let table = text(&folder.join(table)) + "/";
        let files = [&*exports[0], &*exports[1], "-o", &*table, "--devices", devices];
        done(&[&["convert"], &files[..], &ASKED, config].concat())
    };
    let bytes = |table: &str, name: &str| fs::read(folder.join(table).join(name)).unwrap();
    let same = |name: &str| bytes("a", name) == bytes("b", name);
    convert("a", &slow, &["--no-config"]);
    let said = convert("a", &fast, &["--no-config"]);
    assert!(said.contains("0 ranks converted, 2 unchanged"), "{said}");
    assert!(said.contains("the tables of devices and names are written again"), "{said}");
    convert("b", &fast, &["--no-config"]);
    assert!(["devices.parquet", "names.parquet", "_rooflint.json"].into_iter().all(same));
    let manifest = Manifest::of(&folder.join("a")).unwrap();
    let bandwidths: Vec<&str> =
        manifest.devices.values().map(|device| &*device.figures["roof_dram"]).collect();
    assert_eq!(bandwidths, ["4000000000000"]);
    let said = convert("a", &fast, &["--config", &config]);
    assert!(said.contains("0 ranks converted, 2 unchanged") && !same("names.parquet"), "{said}");
    fs::remove_dir_all(folder.join("b")).unwrap();
    convert("b", &fast, &["--config", &config]);
    assert!(same("names.parquet"));
    let said = convert("a", &fast, &["--config", &config]);
    assert!(!said.contains("written again"), "{said}");
}

/// Without the file that defines its device, a summary is not of the GPU that the export names.
#[test]
fn a_device_of_the_user_is_known_to_who_reads_its_summary() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (slow, fast) = (device(folder, "slow.toml", 1000), device(folder, "fast.toml", 4000));
    let own = summary(folder, 0, &[&["--devices", &slow], &ASKED[..]].concat());
    let other = summary(folder, 1, &[&["--devices", &fast], &ASKED[..]].concat());
    let plain = summary(folder, 2, &[]);
    for command in ["fleet", "merge"] {
        let said = refused(&[command, &own, &plain], 3);
        assert!(said.contains("0.partial.json: unknown device \"My GPU\""), "{said}");
        assert!(said.contains("--devices FILE"), "{said}");
        // Two threads read them, so that either may be the first.
        for _ in 0..8 {
            let said = refused(&[command, &own, &other, "--devices", &slow], 3);
            let differs = "1.partial.json: made with other figures of My GPU than ";
            assert!(said.contains(differs) && said.contains("0.partial.json\n"), "{said}");
        }
        let said = refused(&[command, &own, "--devices", &fast], 3);
        let differs = "0.partial.json: made with other figures of My GPU than those of --devices";
        assert!(said.contains(differs), "{said}");
    }
    let told = done(&["fleet", &own, &plain, "--devices", &slow, "--format", "json"]);
    assert!(told.contains("\"My GPU\"") && told.contains("\"H100 SXM5 80GB\""), "{told}");
    // A summary of an earlier version says nothing of the figures.
    let document = fs::read_to_string(&own).unwrap();
    let at = document.find(",\n  \"own_devices\"").unwrap();
    fs::write(&own, format!("{}\n}}\n", &document[..at])).unwrap();
    let said = refused(&["fleet", &own], 3);
    assert!(said.contains("0.partial.json: unknown device \"my-gpu\""), "{said}");
    done(&["fleet", &own, "--devices", &slow]);
}

/// A file that gives a device of the catalog other figures is another definition, too.
#[test]
fn a_device_of_the_catalog_with_other_figures_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let redefined = file(
        folder,
        "slow.toml",
        "name = \"H100 SXM5 80GB\"\nsms = 132\n[memory]\nbandwidth_gbs = 1000\n[peaks_tflops]\n\
         fp32_vector = 60\nbf16_matrix = 900\n",
    );
    let plain = summary(folder, 0, &[]);
    let asked = ["--device", "H100 SXM5 80GB", "--ceilings", "spec", "--devices", &*redefined];
    let own = summary(folder, 1, &asked);
    let said = refused(&["fleet", &plain, "--devices", &redefined], 3);
    assert!(said.contains("other figures of H100 SXM5 80GB than those of --devices"), "{said}");
    let said = refused(&["fleet", &own], 3);
    assert!(said.contains("other figures of H100 SXM5 80GB than those of the catalog"), "{said}");
    done(&["fleet", &own, "--devices", &redefined]);
}

#[test]
fn a_summary_has_one_rank() {
    let folder = tempfile::tempdir().unwrap();
    let files = [0, 1].map(|number| text(&rank(folder.path(), number, 1.0 + number as f64 * 1e-3)));
    let said = refused(&["summarize", &files[0], &files[1]], 2);
    assert!(said.contains("rank1.csv: of rank 1, and "), "{said}");
    assert!(said.contains("rank0.csv of rank 0: a summary has one rank"), "{said}");
    let pattern = text(folder.path()) + "/rank*.csv";
    refused(&["summarize", &pattern], 2);
    let told = done(&["summarize", &files[0], &files[1], "--rank", "7"]);
    assert!(told.contains("\"rank\": 7") && told.contains("\"rows\": 92"));
}

/// Two of 46 launches are transposes; their time counts as communication where the names of the configuration say so.
#[test]
fn ranks_that_were_told_apart_by_other_names_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = "[[class]]\nid = \"own\"\nkind = \"collective\"\npattern = 'transpose_naive'\n";
    file(folder, "names.toml", names);
    let config = file(folder, "own.toml", "kernel-names = \"names.toml\"\n");
    let summary = summary(folder, 0, &[]);
    let says = "which keep the kernel names they were summarized with";
    let usual = done(&["fleet", &summary, "--no-config"]);
    assert!(!usual.contains(says), "{usual}");
    let other = done(&["fleet", &summary, "--config", &config]);
    assert!(other.contains(says), "{other}");
}

/// Roofs of another GPU than the one that ran: a table says so when it is read, a summary has it from the export.
#[test]
fn a_device_that_the_export_contradicts_is_named_behind_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let says = "rank run/0: H100 SXM5 80GB matches the export, A100 SXM4 80GB does not";
    let wrong = summary(folder.path(), 0, &["--device", "A100 SXM4 80GB"]);
    let found = done(&["fleet", &wrong]);
    assert!(found.contains(says), "{found}");
    let right = summary(folder.path(), 0, &["--device", "H100 SXM5 80GB"]);
    assert!(!done(&["fleet", &right]).contains("the export"));
}

/// A rank without any time fits every ceilings, in every order, as it does in a table.
#[test]
fn a_rank_without_times_fits_all_ceilings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let timed = summary(folder, 0, &[]);
    let (titles, rows) = csv(rooflint::SAMPLE);
    let at = titles.iter().position(|title| title == "gpu__time_duration.sum").unwrap();
    let line = |cells: &Vec<String>| {
        let kept = cells.iter().enumerate().filter(|(column, _)| *column != at);
        let quoted: Vec<String> =
            kept.map(|(_, cell)| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        quoted.join(",") + "\n"
    };
    let content: String = std::iter::once(&titles).chain(&rows).map(line).collect();
    let export = file(folder, "rank1.csv", &content);
    let untimed = text(&folder.join("1.partial.json"));
    done(&["summarize", &export, "-o", &untimed]);
    let ceilings =
        |path: &str| fs::read_to_string(path).unwrap().lines().nth(2).unwrap().to_owned();
    assert_eq!(ceilings(&untimed), "  \"ceilings\": \"spec\",");
    assert_eq!(ceilings(&timed), "  \"ceilings\": \"measured-clock\",");
    let merged = done(&["merge", &timed, &untimed]);
    assert!(merged.contains("\"ceilings\": \"measured-clock\""));
    assert_eq!(done(&["merge", &untimed, &timed]), merged);
    let table = text(&folder.join("launches")) + "/";
    done(&["convert", &text(&folder.join("rank0.csv")), &export, "-o", &table]);
    let json = |files: &[&str]| done(&[&["fleet", "--format", "json"], files].concat());
    assert_eq!(json(&[&untimed, &timed]), json(&[&table]));
}

/// One of three ranks takes 30% longer than the median.
#[test]
fn no_rows_are_not_no_stragglers() {
    let folder = tempfile::tempdir().unwrap();
    let files = [1.0, 1.001, 1.3];
    let files = files.iter().zip(0..).map(|(factor, number)| rank(folder.path(), number, *factor));
    let files: Vec<String> = files.map(|path| text(&path)).collect();
    let table = text(folder.path()) + "/launches/";
    done(&["convert", &files[0], &files[1], &files[2], "-o", &table]);
    for format in ["text", "markdown"] {
        let told = done(&["fleet", &table, "--top", "0", "--format", format]);
        assert!(told.contains("1 rank takes 5% longer than the median of its run"), "{told}");
        assert!(!told.contains("the first 0"), "{told}");
    }
}

/// Limits for savings are of no use to sums.
#[test]
fn a_summary_has_no_limits_for_savings() {
    for option in ["--threshold=2", "--min-savings=1ms", "--min-share=1%"] {
        let said = refused(&["summarize", "fixtures/pyprof/v100-resnet50-head.csv", option], 2);
        assert!(said.contains("unexpected argument"), "{said}");
    }
}

/// Twice quiet is no text at all, and the exit code says it.
#[test]
fn nothing_is_said_where_no_text_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let exports =
        [0, 1].map(|number| text(&rank(folder.path(), number, 1.0 + number as f64 * 1e-3)));
    let [table, store] = ["launches/", "store"].map(|name| text(&folder.path().join(name)));
    for (export, quiet) in [(&exports[0], &["-qq"][..]), (&exports[1], &[])] {
        for arguments in [
            &["convert", export, "-o", &table][..],
            &["baseline", "save", export, "--store", &store],
            &["baseline", "prune", "--store", &store, "--keep", "2"],
        ] {
            let said = done(&[arguments, quiet].concat());
            assert_eq!(said.is_empty(), !quiet.is_empty(), "{arguments:?}: {said}");
        }
    }
    assert_eq!(Manifest::of(Path::new(&table)).unwrap().parts.len(), 2);
    // H100 is several devices, and no run is on one that is called just so.
    let said = refused(&["trend", &store, "--device", "H100"], 2);
    assert!(said.contains("several devices are named \"H100\""), "{said}");
    assert!(done(&["trend", &store, "--device", "NVIDIA H100 80GB HBM3"]).contains("H100 SXM5"));
}

/// What is wrong in a layout has its line, and what is no price is not an unknown option.
#[test]
fn wrong_layouts_and_prices_are_told_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let summary = summary(folder.path(), 0, &[]);
    let layout = file(folder.path(), "layout.csv", "rank,tensor\n0,x\n");
    let asked = ["fleet", &*summary, "--layout", &layout, "--error-format", "json"];
    let error: serde_json::Value = serde_json::from_str(&refused(&asked, 3)).unwrap();
    assert_eq!((&error["file"], &error["line"]), (&layout.into(), &2.into()));
    let said = refused(&["fleet", &summary, "--price", "-1"], 2);
    assert!(said.contains("not a price; write a number such as 2.50"), "{said}");
}
