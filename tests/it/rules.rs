//! Every rule on every fixture and on every real export: a table to be read, kept as a golden file.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rooflint::analysis::Analysis;
use rooflint::ingest::{self, Input};
use rooflint::rules::{self, Findings};
use rooflint::session::{Judged, Session};

use super::golden::{check, fixtures, reading};
use super::profiles::{DEVICES, collection};
use super::program::run;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The findings on a file, or why there are none.
pub(crate) fn findings(path: &Path, device: Option<String>) -> Result<Findings, String> {
    judged(path, device).map(|(_, findings)| findings)
}

/// The analysis of a file with its findings, or why there is none.
pub(crate) fn judged(path: &Path, device: Option<String>) -> Result<(Analysis, Findings), String> {
    let inputs = [Input::Named(path.to_owned())];
    let profile = ingest::read(&inputs, &reading(path)).map_err(|_| "not read")?;
    let own = Session::default().judge(&profile);
    let is_known =
        |judged: &Judged<'_>| judged.analysis.devices.iter().all(|used| used.unknown.is_none());
    let judged = if own.as_ref().is_ok_and(is_known) {
        own
    } else {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = DEVICES.iter().find(|(start, _)| name.starts_with(start));
        let device = device.or_else(|| known.map(|(_, device)| (*device).to_owned()));
        Session::default().on(device).judge(&profile)
    };
    let Judged { analysis, findings, .. } =
        judged.map_err(|error| format!("not analyzed: {error}"))?;
    Ok((analysis, findings))
}

/// What the rules say of one file: those that speak with how often, then what is small or silenced.
/// Rules that say nothing are not counted here: a new rule would change every file's part.
fn line(label: &str, findings: &Result<Findings, String>) -> String {
    let findings = match findings {
        Ok(findings) => findings,
        Err(reason) => return format!("{label}\n  {reason}\n"),
    };
    let mut text = format!("{label}\n");
    let list = |count: fn(&rules::Tally) -> usize| -> Vec<String> {
        let counted = findings.tally.iter().filter(|tally| count(tally) > 0);
        counted.map(|tally| format!("{} {}", tally.rule, count(tally))).collect()
    };
    for (what, counted) in [
        ("found", list(|tally| tally.found)),
        ("minor", list(|tally| tally.minor)),
        ("silenced", list(|tally| tally.silenced)),
    ] {
        if !counted.is_empty() {
            let _ = writeln!(text, "  {what}: {}", counted.join(", "));
        }
    }
    text
}

#[test]
fn the_findings_on_every_fixture_are_those_that_were_reviewed() {
    let mut table = String::new();
    for (path, device) in fixtures() {
        let label = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        table.push_str(&line(&label, &findings(&path, device)));
    }
    check(&root().join("tests/golden/rules-on-fixtures.txt"), &table);
}

/// The parts of a table by their files.
fn blocks(table: &str) -> BTreeMap<String, String> {
    let mut blocks: BTreeMap<String, String> = BTreeMap::new();
    let mut label = String::new();
    for line in table.lines() {
        if !line.starts_with(' ') {
            line.clone_into(&mut label);
        }
        let block = blocks.entry(label.clone()).or_default();
        block.push_str(line);
        block.push('\n');
    }
    blocks
}

#[test]
fn the_findings_on_every_real_export_are_those_that_were_reviewed() {
    let Some(collection) = collection() else { return };
    let mut table = String::new();
    for folder in ["ncu", "pyprof"] {
        let entries = std::fs::read_dir(collection.join(folder)).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|end| end == "csv" || end == "txt"));
        paths.sort();
        for path in &paths {
            let name = path.file_name().unwrap().to_string_lossy();
            table.push_str(&line(&format!("{folder}/{name}"), &findings(path, None)));
        }
    }
    let golden = root().join("tests/golden/rules-on-profiles.txt");
    if std::env::var_os("BLESS").is_some() {
        check(&golden, &table);
        return;
    }
    // The collection grows by itself: what nobody has reviewed yet is named, and fails nothing.
    let known = blocks(&std::fs::read_to_string(&golden).unwrap());
    let (mut compared, found) = (0, blocks(&table));
    for (label, block) in &found {
        match known.get(label) {
            Some(reviewed) => {
                compared += 1;
                assert_eq!(block, reviewed, "run BLESS=1 cargo test and review the diff");
            }
            None => println!("NOT REVIEWED: {label}"),
        }
    }
    assert!(compared > 30, "{compared} of {}", known.len());
}

#[test]
fn every_rule_speaks_judges_or_says_what_it_lacks() {
    for (path, device) in fixtures() {
        let Ok(findings) = findings(&path, device) else { continue };
        for tally in &findings.tally {
            let lacks: usize = tally.missing.values().sum();
            assert_eq!(lacks, tally.cannot_judge, "{}", tally.rule);
            assert!(tally.missing.keys().all(|metric| !metric.is_empty()));
        }
        for finding in findings.by_kernel.values().flatten().chain(&findings.run) {
            let known = rules::rule(&finding.rule).unwrap();
            assert!(finding.at_stake_s >= finding.at_stake_low_s, "{finding:?}");
            assert!(finding.at_stake_low_s >= 0.0 && finding.at_stake_s.is_finite(), "{finding:?}");
            assert!(finding.evidence.iter().all(|fact| fact.value.is_finite()), "{finding:?}");
            assert!(!finding.message.contains("NaN") && !finding.message.contains("inf "));
            assert!(!known.documentation.is_empty());
        }
    }
}

/// Runs the demo with a configuration.
fn demo(config: &str, more: &[&str]) -> crate::predict::program::Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rooflint.toml");
    std::fs::write(&path, config).unwrap();
    let own = ["demo", "--full", "--config", path.to_str().unwrap()];
    crate::predict::program::program(&[&own, more].concat())
}

#[test]
fn a_waiver_takes_a_kernel_out_of_the_sum_until_it_expires() {
    let waiver = |kernel: &str, expires: &str| {
        format!(
            "[[waiver]]\nkernel = \"{kernel}\"\nreason = \"next release\"\nowner = \"us\"\nexpires = {expires}\n"
        )
    };
    let plain = demo("", &[]);
    assert!(plain.stdout.contains("Savings      2.82 ms"), "{}", plain.stdout);
    // All layout changes of the demo are that kernel.
    assert!(plain.stdout.contains("layout-transforms"), "{}", plain.stdout);
    let without = demo(&waiver("*transpose_naive*", "2999-01-31"), &[]);
    // A kernel near the roofline is one like others.
    let all = demo(&waiver("*", "2999-01-31"), &[]);
    assert!(all.stdout.contains("Savings      none found"), "{}", all.stdout);
    // 2.82 ms without the 1.51 ms of the transpose.
    assert!(without.stdout.contains("Savings      1.31 ms"), "{}", without.stdout);
    let reason = "waived until 2999-01-31 (us): next release";
    assert!(without.stdout.contains(reason), "{}", without.stdout);
    assert!(!without.stdout.contains("layout-transforms"), "{}", without.stdout);
    // The kernel takes 1.88 ms, 0.32 ms of it at the roofline: the bar has the rest.
    assert!(without.stdout.contains(" waived gap 1.56 ms (3.2%)"), "{}", without.stdout);
    let expired = demo(&waiver("*transpose_naive*", "2001-01-31"), &[]);
    assert!(expired.stdout.contains("Savings      2.82 ms"), "{}", expired.stdout);
    assert!(expired.stdout.contains("expired on 2001-01-31"), "{}", expired.stdout);
    let unmatched = demo(&waiver("nothing", "2999-01-31"), &[]);
    assert!(unmatched.stdout.contains("the waiver for \"nothing\" (us) matches no kernel"));
}

#[test]
fn rules_are_selected_ignored_and_set() {
    let speaks = |run: &crate::predict::program::Run, rule: &str| {
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout.contains(&format!("{rule}:"))
    };
    assert!(speaks(&demo("", &[]), "tail-effect"));
    assert!(!speaks(&demo("[rules]\nignore = [\"tail-effect\"]", &[]), "tail-effect"));
    assert!(!speaks(&demo("[rule.tail-effect]\nlost = 0.5", &[]), "tail-effect"));
    assert!(!speaks(&demo("", &["--ignore", "tail-effect"]), "tail-effect"));
    let only = demo("", &["--select", "tail-effect"]);
    assert!(speaks(&only, "tail-effect") && !speaks(&only, "uncoalesced-access"));
    let refused = demo("", &["--select", "tail-efect"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("did you mean \"tail-effect\"?"), "{}", refused.stderr);
    let wrong = demo("[rule.tail-effect]\nwave = 1", &[]);
    assert!(wrong.code == 2 && wrong.stderr.contains("rooflint.toml:2:1:"), "{}", wrong.stderr);
}

#[test]
fn explained_findings_show_their_evidence() {
    let run = demo("", &["--explain", "--kernel", "#1"]);
    for told in ["uncoalesced-access", "severity medium, confidence high; at stake", "try: "] {
        assert!(run.stdout.contains(told), "{told}: {}", run.stdout);
    }
}

/// SMs busy for 72% of 1 ms: 720 µs, at least 1.39× too long; but not where the memory traffic may need all of it.
#[test]
fn busy_time_bounds_headroom_only_where_bytes_were_counted() {
    let explained = |columns: [&str; 3]| {
        let [names, units, values] = columns;
        let text = format!(
            "\"ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",\"sm__throughput.avg.pct_of_peak_sustained_elapsed\"{names}\n\
             \"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"%\"{units}\n\
             \"0\",\"void attend(float *)\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\"0\",\"10.0\",\"1000\",\"72\"{values}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.csv");
        std::fs::write(&file, text).unwrap();
        run(&[file.to_str().unwrap(), "--device", "b200", "--kernel", "#1", "--explain"]).stdout
    };
    let both = explained([",\"dram__bytes.sum\"", ",\"Mbyte\"", ",\"16\""]);
    assert!(both.contains("at least T ÷ E = 1.00 ms ÷ 720 µs"), "{both}");
    assert!(both.contains("at least 1.39× the roofline time"), "{both}");
    let alone = explained(["", "", ""]);
    assert!(alone.contains("T ÷ E = 1.00 ms ÷ 720 µs"), "{alone}");
    assert!(!alone.contains("at least T") && !alone.contains("a lower bound"), "{alone}");
    assert!(alone.contains("what else was not counted may need longer"), "{alone}");
    assert!(alone.contains("at least 1.00× the roofline time"), "{alone}");
}

/// A GPU of 300 GB/s and 30.3 TFLOP/s. Ten launches of 100 µs do 1 GFLOP each, five of them moved 20 MB: no ten moved 100
/// MB, and 10 GFLOP over 100 MB is no intensity. E: 5 × 66.7 µs by bytes and 5 × 33 µs by operations.
#[test]
fn bytes_and_operations_of_other_launches_have_no_ratio() {
    let explained = |with_bytes: usize, with_work: usize| {
        let mut text = "source,source_format,kernel,device,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,dram_bytes,\
             flops_fp32_vector\n".to_owned();
        for launch in 0..10 {
            let bytes = if launch < with_bytes { "20e6" } else { "" };
            let work = if launch < with_work { "1e9" } else { "" };
            text.push_str(&format!("run,mapped,add,L4,0,1,4096,4096,256,100e-6,{bytes},{work}\n"));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.csv");
        let page = folder.path().join("run.html");
        std::fs::write(&file, text).unwrap();
        let [file, page] = [&file, &page].map(|path| path.to_str().unwrap());
        run(&[file, "-o", page]);
        let page = std::fs::read_to_string(page).unwrap();
        (run(&[file, "--kernel", "#1", "--explain"]).stdout, page.contains("\"partly\":[0]"))
    };
    let (some, is_said) = explained(5, 10);
    assert!(some.contains("bytes 5, fp32 10") && is_said, "{some}");
    assert!(some.contains("max(t_mem, t_math) of each launch"), "{some}");
    assert!(some.contains("T ÷ E = 1.00 ms ÷ 498 µs"), "{some}");
    assert!(!some.contains("\n  I  ") && !some.contains("\n  busy  "), "{some}");
    // Both of the same launches, half of them or all.
    for counted in [5, 10] {
        let (both, is_said) = explained(counted, counted);
        assert!(both.contains("50.0 FLOP/B") && !both.contains("partly") && !is_said, "{both}");
    }
    let (all, _) = explained(10, 10);
    assert!(
        all.contains("memory 66.7%, math 33.0%: from 60.0% on it waits for that unit"),
        "{all}"
    );
}

#[test]
fn every_page_can_be_shown_in_ascii() {
    let style = rooflint::report::Style { ascii: true, ..Default::default() };
    for rule in rules::RULES {
        let text = rule.page();
        let page = rooflint::report::RulePage(&text);
        let page = rooflint::report::written(&page, "text", &style).unwrap();
        let strange: String = page.chars().filter(|c| !c.is_ascii()).collect();
        assert!(strange.is_empty(), "{}: {strange}", rule.id);
        assert_eq!(page.matches('?').count(), rule.page().matches('?').count(), "{}", rule.id);
    }
}
