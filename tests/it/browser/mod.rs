//! The page in a real browser: what a reader can do with it, and what a hostile profile cannot.
//!
//! Without a Chromium or Chrome the tests say that they were skipped.

mod access;
mod bench;
mod chosen;
pub(crate) mod chrome;
mod large;
mod learn;
mod page;
mod safety;
mod screen;
mod text;
mod types;

use std::path::PathBuf;
use std::sync::LazyLock;

use rooflint::ingest;
use rooflint::report::{self, Report, Style};
use rooflint::session::{Judged, Session};

/// The page of an export's text.
pub(crate) fn html(name: &str, text: String) -> String {
    // Exports are read from where they lie, and a test ends soon.
    let text: &'static str = Box::leak(text.into_boxed_str());
    let profile = ingest::read_text(name, text, &ingest::Options::default()).unwrap();
    page_of(&profile, None)
}

/// The page of a profile.
pub(crate) fn page_of(profile: &rooflint::model::Profile, device: Option<String>) -> String {
    let Judged { analysis, findings, .. } = Session::default().on(device).judge(profile).unwrap();
    let report =
        Report { analysis: &analysis, findings: &findings, top: 10, what_if: &[], command: None };
    report::written(&report, "html", &Style::default()).unwrap()
}

/// Where axe-core and TypeScript lie; without them what needs them is skipped, and says so.
fn tools() -> Option<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/browser/tools/node_modules");
    let folder = PathBuf::from(folder);
    if !folder.is_dir() {
        println!("SKIPPED: run `npm ci` in tests/it/browser/tools for axe-core and TypeScript");
        return None;
    }
    Some(folder)
}

/// The page of the sample profile.
pub(crate) fn sample() -> String {
    html("demo", rooflint::SAMPLE.to_owned())
}

/// The page of twenty thousand kernels.
static LARGE: LazyLock<String> = LazyLock::new(|| html("many", many(20_000)));

/// The sample's rows, as often as asked, each copy with kernels of its own.
pub(crate) fn many(kernels: usize) -> String {
    let mut lines = rooflint::SAMPLE.lines();
    let mut text = String::new();
    for line in lines.by_ref().take(2) {
        text.push_str(line);
        text.push('\n');
    }
    let rows: Vec<&str> = lines.collect();
    for number in 0..kernels {
        let row = rows[number % rows.len()];
        let mut cells: Vec<String> = row.split("\",\"").map(str::to_owned).collect();
        // The name is the fifth cell; anything after it makes it another kernel.
        cells[4] = format!("kernel_{number}_of_many<float>(int, {})", number % 7);
        text.push_str(&cells.join("\",\""));
        text.push('\n');
    }
    text
}
