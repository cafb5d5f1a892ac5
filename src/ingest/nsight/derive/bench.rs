//! A raw page of one launch for the tests of what is derived; compiled under `#[cfg(test)]` only.

use crate::ingest::{Options, read_text};
use crate::model::{Profile, Quantity};

/// A raw page of one launch with these metrics, each with its unit and value.
pub(super) fn raw_page(metrics: &[(&str, &str, &str)]) -> Profile {
    let of = |cell: fn(&(&str, &str, &str)) -> String| {
        let cells: Vec<String> = metrics.iter().map(|one| format!("\"{}\"", cell(one))).collect();
        format!(",{}", cells.join(","))
    };
    let text = format!(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\
         \"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\"{}\n\
         \"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"ns\"{}\n\
         \"0\",\"1\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(128, 1, 1)\",\"(512, 1, 1)\",\
         \"0\",\"9.0\",\"1000\"{}\n",
        of(|metric| metric.0.to_owned()),
        of(|metric| metric.1.to_owned()),
        of(|metric| metric.2.to_owned()),
    );
    read_text("raw", Box::leak(text.into_boxed_str()), &Options::default()).unwrap()
}

/// Reads such a page and compares what was derived.
pub(super) fn check(metrics: &[(&str, &str, &str)], expected: &[(Quantity, Option<f64>)]) {
    let profile = raw_page(metrics);
    assert_eq!(profile.sources[0].skips.count, 0, "every column is understood");
    let launch = profile.launch(0);
    for (quantity, value) in expected {
        let found = launch.value(*quantity);
        let is_same = match (found, value) {
            (Some(found), Some(value)) => (found - value).abs() < 1e-9,
            (found, value) => found.is_none() && value.is_none(),
        };
        assert!(is_same, "{quantity:?}: {found:?}, not {value:?}");
    }
}
