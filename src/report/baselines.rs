//! A store of baselines as people read it: what is in it, and one entry in full.

use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use super::text::{heading, table, wrap};
use super::view::{
    MISSING, Style, Table, TimeUnit, count, factor, optional, percent, printable, si,
};
use crate::compare::{Run, RunKernel, median};
use crate::history::{Batch, Entry, Filter, Moment, Store, Unreadable, batches, outliers};
use crate::units::Seconds;

/// What is in a store, as JSON.
#[derive(Serialize)]
struct Listing<'a> {
    schema: &'static str,
    folder: String,
    entries: Vec<Listed<'a>>,
    unreadable: Vec<Unread<'a>>,
    /// What of the newest runs of each baseline is far from those before.
    doubts: Vec<String>,
}

#[derive(Serialize)]
struct Listed<'a> {
    baseline: &'a str,
    entry: &'a str,
    file: String,
    saved: Option<&'a str>,
    age_days: Option<u64>,
    commit: Option<&'a str>,
    branch: Option<&'a str>,
    label: &'a str,
    devices: Vec<&'a str>,
    ceilings: &'a str,
    kernels: usize,
    launches: u64,
    timed_launches: u64,
    measured_s: f64,
    rooflint: &'a str,
    fingerprint: &'a str,
}

#[derive(Serialize)]
struct Unread<'a> {
    file: String,
    reason: &'a str,
}

impl<'a> From<&'a Unreadable> for Unread<'a> {
    fn from(one: &'a Unreadable) -> Self {
        Self { file: one.path.display().to_string(), reason: &one.reason }
    }
}

/// What is in a store, one object per entry. Fit for programs.
#[must_use]
pub fn baselines_json(store: &Store, filter: &Filter, now: Moment) -> String {
    let fitting = store.entries().iter().filter(|entry| filter.fits(entry));
    let entries = fitting.map(|entry| Listed {
        baseline: &entry.name,
        entry: &entry.id,
        file: entry.path.display().to_string(),
        saved: entry.run.origin.saved.as_deref(),
        age_days: entry.age_days(now),
        commit: entry.run.origin.commit.as_deref(),
        branch: entry.run.origin.branch.as_deref(),
        label: &entry.run.label,
        devices: entry.run.device_names(),
        ceilings: &entry.run.ceilings,
        kernels: entry.run.kernels.len(),
        launches: entry.run.launches,
        timed_launches: entry.run.timed_launches,
        measured_s: entry.run.measured_s.get(),
        rooflint: &entry.run.rooflint,
        fingerprint: &entry.run.fingerprint,
    });
    let listing = Listing {
        schema: "rooflint/baselines-list/1",
        folder: store.folder().display().to_string(),
        entries: entries.collect(),
        unreadable: store.unreadable().iter().map(Unread::from).collect(),
        doubts: doubts(store, filter),
    };
    // Keys are words and floats are finite, so it always serializes.
    serde_json::to_string_pretty(&listing).unwrap_or_default() + "\n"
}

/// What is in a store: a row per commit, the oldest first.
#[must_use]
pub fn baselines_text(store: &Store, filter: &Filter, now: Moment, style: &Style) -> String {
    let all = batches(store.entries().iter().filter(|entry| filter.fits(entry)));
    let mut text = String::new();
    if all.is_empty() {
        text.push_str(&format!("{}\n", printable(&store.nothing(filter))));
    } else {
        let totals = || all.iter().filter_map(total);
        let unit = TimeUnit::of(totals());
        let time = format!("time [{}]", unit.symbol);
        let mut rows = Table::new(&[
            ("baseline", false),
            ("saved", false),
            ("age", true),
            ("commit", false),
            ("branch", false),
            ("device", false),
            ("ceilings", false),
            ("runs", true),
            ("kernels", true),
            (&time, true),
            ("version", false),
        ]);
        rows.rows.extend(all.iter().map(|batch| row(batch, unit, now)));
        let runs = all.iter().map(|batch| batch.entries.len() as u64).sum();
        text.push_str(&format!(
            "{}: {} of {}\n\n",
            printable(&store.folder().display().to_string()),
            count(runs, "run", "runs"),
            count(all.len() as u64, "commit", "commits")
        ));
        table(&mut text, &rows, &[], style, 5);
    }
    sentences(&mut text, "Doubts", &doubts(store, filter), style);
    sentences(&mut text, "Not read", &unread(store), style);
    style.adapted(text)
}

fn row(batch: &Batch<'_>, unit: TimeUnit, now: Moment) -> Vec<String> {
    let Some(first) = batch.entries.first() else { return Vec::new() };
    let kernels = batch.entries.iter().map(|entry| entry.run.kernels.len());
    let (least, most) = (kernels.clone().min().unwrap_or(0), kernels.max().unwrap_or(0));
    vec![
        first.name.clone(),
        optional(batch.saved().map(minute)),
        optional(first.age_days(now).map(|days| format!("{days} d"))),
        optional(first.short_commit().map(printable)),
        optional(batch.branch().map(printable)),
        printable(&first.run.device_names().join(", ")),
        printable(&first.run.ceilings),
        batch.entries.len().to_string(),
        if least == most { most.to_string() } else { format!("{least} to {most}") },
        optional(total(batch).map(|time| unit.show(time))),
        printable(&first.run.rooflint),
    ]
}

/// A time as tables show it: to the minute.
pub(super) fn minute(moment: Moment) -> String {
    let text = moment.to_string();
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

fn total(batch: &Batch<'_>) -> Option<Seconds> {
    let times: Vec<f64> = batch.entries.iter().map(|entry| entry.run.measured_s.get()).collect();
    median(&times).map(Seconds::new)
}

/// What of the newest runs of each baseline is far from those before, in sentences.
#[must_use]
pub fn doubts(store: &Store, filter: &Filter) -> Vec<String> {
    /// Kernels beyond these are only counted.
    const TOLD: usize = 3;
    let all = batches(store.entries().iter().filter(|entry| filter.fits(entry)));
    let mut doubts = Vec::new();
    for (position, batch) in all.iter().enumerate() {
        if all[position + 1..].iter().any(|later| later.is_like(batch)) {
            continue;
        }
        let Some(first) = batch.entries.first() else { continue };
        let found = outliers(&all[..=position]);
        let whose = format!("{} on {}", first.name, first.run.device_names().join(", "));
        for outlier in found.iter().take(TOLD) {
            doubts.push(printable(&format!("{whose}: {}", outlier.sentence())));
        }
        if found.len() > TOLD {
            doubts.push(printable(&format!(
                "{whose}: {} of the newest runs are as far from those before",
                count((found.len() - TOLD) as u64, "more kernel", "more kernels")
            )));
        }
    }
    doubts
}

/// Files of a store that could not be read, in sentences.
#[must_use]
pub fn unread(store: &Store) -> Vec<String> {
    let told = store.unreadable().iter();
    told.map(|one| printable(&format!("{}: {}", one.path.display(), one.reason))).collect()
}

fn sentences(text: &mut String, title: &str, lines: &[String], style: &Style) {
    if lines.is_empty() {
        return;
    }
    heading(text, style, title);
    for line in lines {
        wrap(text, "  ", 4, line, style);
    }
}

/// Everything about one entry, with the kernels that have most time.
#[must_use]
pub fn baseline_page(entry: &Entry, now: Moment, top: usize, style: &Style) -> String {
    let run = &entry.run;
    let mut text = format!("{}/{}\n", entry.name, entry.id);
    let origin = &run.origin;
    let age = entry.age_days(now).map(|days| format!(" ({days} d ago)")).unwrap_or_default();
    let files = run.files.iter().map(|file| {
        let skipped = match file.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        let launches = count(file.launches, "launch", "launches");
        format!("{} ({}, {launches}{skipped})", file.path, file.format)
    });
    let headroom = run.headroom().map(|headroom| factor(headroom.get()));
    let rows = [
        ("saved", origin.saved.as_ref().map(|saved| format!("{saved}{age}"))),
        ("commit", origin.commit.clone()),
        ("branch", origin.branch.clone()),
        ("run", Some(run.label.clone())),
        ("files", Some(files.collect::<Vec<_>>().join("; "))),
        ("devices", Some(run.device_names().join(", "))),
        ("ceilings", Some(run.ceilings.clone())),
        ("time", Some(si(run.measured_s.get(), "s"))),
        ("launches", Some(format!("{}, {} with a duration", run.launches, run.timed_launches))),
        (
            "warm-up left out",
            Some(format!("{} of each kernel", count(run.warmup.into(), "launch", "launches"))),
        ),
        ("kernels", Some(run.kernels.len().to_string())),
        ("headroom", headroom),
        ("rooflint", Some(run.rooflint.clone())),
        ("fingerprint", Some(run.fingerprint.clone())),
    ];
    for (label, value) in rows {
        let value = value.filter(|value| !value.is_empty()).unwrap_or_else(|| MISSING.to_owned());
        let pad = " ".repeat(18_usize.saturating_sub(label.width()));
        wrap(&mut text, &format!("  {label}{pad}"), 20, &printable(&value), style);
    }
    kernels(&mut text, run, top, style);
    style.adapted(text)
}

fn kernels(text: &mut String, run: &Run, top: usize, style: &Style) {
    let shown: Vec<&RunKernel> = run.kernels.iter().take(top).collect();
    if shown.is_empty() {
        return;
    }
    let of = if shown.len() < run.kernels.len() {
        format!(", the first {} of {}", shown.len(), run.kernels.len())
    } else {
        String::new()
    };
    heading(text, style, &format!("Kernels by time{of}"));
    let times = || shown.iter().map(|kernel| kernel.measured_s);
    let launches = || shown.iter().map(|kernel| kernel.mean_s());
    let (all, one) = (TimeUnit::of(times()), TimeUnit::of(launches()));
    let titles = (format!("time [{}]", all.symbol), format!("a launch [{}]", one.symbol));
    let mut rows = Table::new(&[
        ("kernel", false),
        ("share", true),
        (&titles.0, true),
        ("launches", true),
        (&titles.1, true),
        ("headroom", true),
    ]);
    for kernel in &shown {
        let name = if style.full_names && !kernel.full_name.is_empty() {
            &kernel.full_name
        } else {
            &kernel.name
        };
        let operator = kernel.operator.as_ref().map(|operator| format!(" [{operator}]"));
        rows.rows.push(vec![
            printable(&format!("{name}{}", operator.unwrap_or_default())),
            percent(kernel.share.get()),
            all.show(kernel.measured_s),
            kernel.launches.to_string(),
            optional((kernel.timed > 0).then(|| one.show(kernel.mean_s()))),
            optional(kernel.headroom().map(|headroom| factor(headroom.get()))),
        ]);
    }
    table(text, &rows, &[], style, 0);
}
