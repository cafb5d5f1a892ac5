//! The outputs for trackers, read back as those trackers read them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{rendered, sample, samples};

fn parsed(output: &str) -> Value {
    serde_json::from_str(&rendered(output, &sample::full())).unwrap()
}

/// The time of the current side in the comparison.
const COMPARED: f64 = 19.5e-3;

/// Ends of the two runs: kernels of 5 launches of 100, 200 and 300 µs, then a tenth longer.
const TIMES: [f64; 2] = [0.003_006, 0.003_306_6];

fn close(one: f64, two: f64) -> bool {
    (one / two - 1.0).abs() < 1e-9
}

#[test]
fn benchmarks_have_name_unit_and_value() {
    let parsed = parsed("benchmark");
    let entries = parsed.as_array().unwrap();
    let mut names = BTreeSet::new();
    for entry in entries {
        assert!(names.insert(entry["name"].as_str().unwrap()), "twice: {entry}");
        assert!(entry["value"].is_f64() && entry["unit"].is_string(), "{entry}");
    }
    let of = |name: &str| entries.iter().find(|entry| entry["name"] == name).unwrap();
    assert!(close(of("gpu time")["value"].as_f64().unwrap(), COMPARED));
    // (3306.6 − 3006) / 2 / 19,500
    assert_eq!(of("gpu time")["range"], "± 0.8%");
    assert_eq!(of("gate not passed")["value"], 1.0);
    // 5 launches of 100.2 µs on average, then a tenth longer: 105.21 µs.
    let kernel = of("kernel_a [8 / -]: kernel time");
    assert!(close(kernel["value"].as_f64().unwrap(), 5.0 * 105.21e-6), "{kernel}");
}

#[test]
fn bencher_gets_values_with_bounds() {
    let parsed = parsed("bencher");
    let run = &parsed["run"]["gpu-time-seconds"];
    for (key, wanted) in [("value", COMPARED), ("lower_value", TIMES[0]), ("upper_value", TIMES[1])]
    {
        assert!(close(run[key].as_f64().unwrap(), wanted), "{run}");
    }
    for (benchmark, measures) in parsed.as_object().unwrap() {
        assert!(benchmark.chars().count() <= 1024);
        for (slug, metric) in measures.as_object().unwrap() {
            let is_slug = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(slug.len() <= 64 && slug.chars().all(is_slug), "{slug}");
            assert!(metric["value"].is_f64());
        }
    }
}

#[test]
fn flat_metrics_have_names_that_mlflow_and_wandb_take() {
    let parsed = parsed("metrics");
    let all = parsed.as_object().unwrap();
    assert!(all.len() > 8);
    for (name, value) in all {
        let mut letters = name.chars();
        let first = letters.next().unwrap();
        assert!(first == '_' || first.is_ascii_alphabetic(), "{name}");
        assert!(letters.all(|c| c == '_' || c.is_ascii_alphanumeric()) && name.len() <= 250);
        assert!(value.is_f64(), "{name}");
    }
    assert!(close(all["gpu_time_seconds"].as_f64().unwrap(), COMPARED));
    let kernel = all["kernel_time_seconds_kernel_b_8"].as_f64().unwrap();
    assert!(close(kernel, 5.0 * 210.42e-6), "{kernel}");
}

#[test]
fn openmetrics_are_families_with_type_unit_and_an_end() {
    for (name, decision) in samples() {
        let text = rendered("openmetrics", &decision);
        assert!(text.ends_with("# EOF\n"), "{name}");
        let mut families: BTreeMap<&str, &str> = BTreeMap::new();
        let mut family = "";
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (metric, kind) = rest.split_once(' ').unwrap();
                assert!(families.insert(metric, kind).is_none(), "{metric} comes twice");
                assert_eq!(kind, "gauge");
                family = metric;
            } else if let Some(rest) = line.strip_prefix("# UNIT ") {
                let (metric, unit) = rest.split_once(' ').unwrap();
                assert_eq!(metric, family);
                assert!(metric.ends_with(&format!("_{unit}")), "{line}");
            } else {
                let (sample, value) = line.rsplit_once(' ').unwrap();
                assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
                assert_eq!(sample.split('{').next().unwrap(), family);
                assert!(!sample.contains('{') || sample.ends_with("\"}"), "{line}");
            }
        }
        assert!(families.contains_key("rooflint_gpu_time_seconds"), "{name}");
    }
}
