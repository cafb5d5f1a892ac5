//! Bytes as exports: whatever they are, they are read the same way twice, or refused.

use rooflint::ingest::{self, Mapping, Options};
use rooflint::model::Profile;

use super::oracles::{cells, check, is_chosen, judge, read, read_with, rows_are_counted};

/// Reads in a format, or in the one that is recognized, and checks what comes of it.
fn twice(bytes: &[u8], format: Option<&str>) -> Option<Profile> {
    let profile = read(bytes, format)?;
    check(&profile);
    if is_chosen(bytes) {
        judge(&profile);
    }
    let again = read(bytes, format).expect("what was read once can be read again");
    assert_eq!(cells(&profile), cells(&again), "read twice, read differently");
    // Strictness refuses, and changes nothing else.
    let strict =
        Options { strict: true, from: format.and_then(ingest::format), ..Options::default() };
    let skips: u64 = profile.sources.iter().map(|source| source.skips.count).sum();
    if let Some(strict) = read_with(bytes, &strict) {
        assert_eq!(skips, 0, "strict reading skips");
        assert_eq!(cells(&profile), cells(&strict), "strict reading reads something else");
    }
    Some(profile)
}

/// A format with a launch per row.
fn by_rows(bytes: &[u8], format: &str) {
    if let Some(profile) = twice(bytes, Some(format)) {
        rows_are_counted(&profile);
    }
}

pub(crate) fn any(bytes: &[u8]) {
    twice(bytes, None);
}

pub(crate) fn wide(bytes: &[u8]) {
    by_rows(bytes, "ncu-wide");
}

pub(crate) fn long(bytes: &[u8]) {
    twice(bytes, Some("ncu-long"));
}

pub(crate) fn summary(bytes: &[u8]) {
    twice(bytes, Some("ncu-summary"));
}

pub(crate) fn report(bytes: &[u8]) {
    twice(bytes, Some("ncu-rep"));
}

pub(crate) fn nsys_sqlite(bytes: &[u8]) {
    twice(bytes, Some("nsys-sqlite"));
}

pub(crate) fn nsys_trace(bytes: &[u8]) {
    by_rows(bytes, "nsys-trace");
}

pub(crate) fn nsys_sum(bytes: &[u8]) {
    by_rows(bytes, "nsys-sum");
}

pub(crate) fn nvprof_trace(bytes: &[u8]) {
    by_rows(bytes, "nvprof-trace");
}

pub(crate) fn nvprof_summary(bytes: &[u8]) {
    by_rows(bytes, "nvprof-summary");
}

pub(crate) fn nvprof_metrics(bytes: &[u8]) {
    twice(bytes, Some("nvprof-metrics"));
}

pub(crate) fn pyprof(bytes: &[u8]) {
    by_rows(bytes, "pyprof");
}

pub(crate) fn pyprof_text(bytes: &[u8]) {
    by_rows(bytes, "pyprof-text");
}

pub(crate) fn pytorch_trace(bytes: &[u8]) {
    twice(bytes, Some("pytorch-trace"));
}

pub(crate) fn pytorch_averages(bytes: &[u8]) {
    twice(bytes, Some("pytorch-averages"));
}

pub(crate) fn proton(bytes: &[u8]) {
    by_rows(bytes, "proton");
}

pub(crate) fn xprof(bytes: &[u8]) {
    by_rows(bytes, "xprof");
}

pub(crate) fn dlprof(bytes: &[u8]) {
    by_rows(bytes, "dlprof");
}

pub(crate) fn nsight_python(bytes: &[u8]) {
    twice(bytes, Some("nsight-python"));
}

/// Tables of AMD's profilers, whichever they are: few bytes are more than one of them.
pub(crate) fn rocprof(bytes: &[u8]) {
    let formats = ingest::FORMATS.iter().map(|format| format.name);
    for format in formats.filter(|name| name.starts_with("rocprof-")) {
        // Counters are in a row each.
        if format == "rocprof-v3-counters" {
            twice(bytes, Some(format));
        } else {
            by_rows(bytes, format);
        }
    }
}

pub(crate) fn launch_table(bytes: &[u8]) {
    by_rows(bytes, "launch-table");
}

/// A mapping and a table, with a line of dashes between them; without one, the table of the fixture.
pub(crate) fn mapped(bytes: &[u8]) {
    const MAPPING: &str = include_str!("../../fixtures/mapped/h100-benchmark.toml");
    let text = String::from_utf8_lossy(bytes);
    let (mapping, table) = text.split_once("\n---\n").unwrap_or((MAPPING, &text));
    let Ok(mapping) = Mapping::from_toml(mapping, "mapping.toml") else { return };
    let options = Options { map: Some(mapping), ..Options::default() };
    let Some(profile) = read_with(table.as_bytes(), &options) else { return };
    check(&profile);
    rows_are_counted(&profile);
    if is_chosen(bytes) {
        judge(&profile);
    }
}
