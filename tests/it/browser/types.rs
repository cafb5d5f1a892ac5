//! The scripts of the page, checked for types as far as they say them: `tsc --checkJs` finds names that do not
//! exist, wrong arguments, and figures that the data does not have.

use std::path::Path;
use std::process::Command;

use super::tools;

/// In the order of the page.
const SCRIPTS: [&str; 10] = [
    "first.js",
    "text.js",
    "plot.js",
    "state.js",
    "chart.js",
    "off.js",
    "touch.js",
    "table.js",
    "detail.js",
    "start.js",
];

/// What the scripts above call, without being judged here.
const OTHERS: [&str; 5] =
    ["bench-law.js", "bench-stage.js", "bench-chart.js", "bench.js", "bench-report.js"];

#[test]
fn scripts_are_sound_by_their_types() {
    let Some(tools) = tools() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("node");
    command.arg(tools.join("typescript/bin/tsc"));
    command.args(["--checkJs", "--allowJs", "--noEmit", "--target", "es2022"]);
    command.args(["--lib", "es2023,dom,dom.iterable", "--types", "", "--pretty", "false"]);
    command.arg(root.join("tests/it/browser/tools/types.d.ts"));
    command.args(SCRIPTS.iter().chain(&OTHERS)).current_dir(root.join("src/report/html"));
    let Ok(output) = command.output() else {
        println!("SKIPPED: no node on the path to check the scripts with");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let wrong: Vec<&str> =
        text.lines().filter(|line| SCRIPTS.iter().any(|file| line.starts_with(file))).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(text.is_empty() || text.contains("error TS"), "{text}");
}
