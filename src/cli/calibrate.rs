//! `calibrate`: what repeated runs of the same code tell of the noise.

use clap::Args;

use super::args::{Configuration, Listing, Model, Reading};
use super::config;
use super::exit::Failure;
use super::sides::Sides;
use super::terminal::Terminal;
use crate::gate::{self, Calibration, Seen};
use crate::report;

const EXAMPLES: &str = "\
Examples:
  rooflint calibrate run1.csv run2.csv run3.csv run4.csv
  rooflint calibrate 'nightly-*.csv' >> rooflint.toml      after reading it: everything else is a comment";

/// What repeated runs of the same code tell of the noise, as floors for a policy
///
/// Compares every run with every other, one run a side, and proposes the noise floors of [gate.noise]:
/// what 99 % of the kernels stay below. Says how many of these comparisons, which are false alarms all,
/// fail under the policy as it is and under the proposed one. Take the runs as the pipeline takes them:
/// on its machines, at its times.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Calibrate {
    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    model: Model,

    #[command(flatten)]
    configuration: Configuration,

    /// First launches of each kernel to leave out
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u32,

    /// Format of the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Listing,
}

pub(super) fn run(command: &Calibrate, terminal: &Terminal) -> Result<(), Failure> {
    let config = config::find(&command.configuration)?;
    let sides = Sides::new(&command.reading, &command.model, &config, command.warmup)?;
    let runs = sides.runs(&command.reading.files)?.runs;
    if runs.len() < 2 {
        return Err(Failure::usage("noise is what differs between runs, and there is one")
            .help("give two or more runs of the same code; five or more tell something"));
    }
    for run in &runs {
        if run.timed_launches == 0 {
            let error = crate::ingest::IngestError::new(&run.label, "no launch has a duration");
            return Err(Failure::Ingest(error));
        }
        if run.device_names() != runs[0].device_names() {
            let message = format!("{} and {} ran on different devices", runs[0].label, run.label);
            return Err(Failure::usage(message).help("calibrate each device by itself"));
        }
    }
    let found = gate::calibrate(&runs, &config.gate);
    terminal.print(&match command.format {
        Listing::Text => terminal.style().adapted(text(&found)),
        Listing::Json => json(&found),
    })
}

fn text(found: &Calibration) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let alarms = |share: f64| {
        let all = 2 * found.pairs;
        format!("{} of {all} ({})", (share * all as f64).round(), percent(share))
    };
    let mut lines = vec![
        format!(
            "{} of the same code, {} compared",
            report::count(found.runs as u64, "run", "runs"),
            report::count(found.pairs as u64, "pair", "pairs")
        ),
        format!(
            "all kernels together: {} typically, {} at most",
            percent(found.common_typical.get()),
            percent(found.common_largest.get())
        ),
    ];
    let kernels = |seen: Seen, what: &str| {
        let compared = seen.compared;
        seen.held.map(|shift| {
            let shift = percent(shift.get());
            format!("kernels with {what}: 99 % of {compared} comparisons within {shift}")
        })
    };
    lines.extend(kernels(found.kernel, "5 launches or more"));
    lines.extend(kernels(found.few_launches, "fewer launches"));
    lines.push(format!(
        "false alarms under the policy as it is: {}",
        alarms(found.alarms.rate.get())
    ));
    lines.push(format!(
        "false alarms with the floors below: {}",
        alarms(found.alarms_proposed.rate.get())
    ));
    for (kernel, times) in found.alarms.noisy.iter().take(5) {
        let times = report::count(*times as u64, "time", "times");
        lines.push(format!(
            "failed {times} under the policy as it is: {}",
            report::printable(kernel)
        ));
    }
    if found.runs < 5 {
        lines
            .push("so few runs tell little: five or more, on different days, tell more".to_owned());
    }
    let mut text = format!("# {}\n", lines.join("\n# "));
    let noise = found.proposed;
    text.push_str(&format!(
        "\n[gate.noise]\nkernel = {}\nfew-launches = {}\ncommon = {}\n",
        noise.kernel.get(),
        noise.few_launches.get(),
        noise.common.get()
    ));
    text
}

fn json(found: &Calibration) -> String {
    let document = serde_json::json!({
        "schema": "rooflint/calibration/1",
        "rooflint": env!("CARGO_PKG_VERSION"),
        "runs": found.runs,
        "pairs": found.pairs,
        "common_largest": found.common_largest,
        "common_typical": found.common_typical,
        "kernel_99_percent": found.kernel.held,
        "kernel_comparisons": found.kernel.compared,
        "few_launches_99_percent": found.few_launches.held,
        "few_launches_comparisons": found.few_launches.compared,
        "false_alarms": found.alarms.rate,
        "false_alarms_with_proposed": found.alarms_proposed.rate,
        "proposed": found.proposed,
        "noisy": found.alarms.noisy.iter().map(|(kernel, failures)| {
            serde_json::json!({ "kernel": kernel, "failures": failures })
        }).collect::<Vec<_>>(),
    });
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}
