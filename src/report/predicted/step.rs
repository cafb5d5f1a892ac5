//! A whole step on devices, for a person: every kernel with its share, and the sums.

use std::collections::BTreeMap;

use super::super::explained::Lines;
use super::super::numbers::{TimeUnit, count};
use super::super::text::{heading, table as draw};
use super::super::view::{MISSING, Style, Table, digits, percent, printable, si};
use super::wrap;
use crate::predict::ModelPrediction;
use crate::units::Seconds;

pub(super) fn text(
    sizes: &BTreeMap<String, u64>,
    steps: &[ModelPrediction],
    style: &Style,
) -> String {
    let mut text = String::new();
    if let Some(step) = steps.first() {
        let name = step.name.as_deref().unwrap_or("step");
        let launches = count(step.totals.launches, "launch", "launches");
        let kernels = format!("{launches}, one after the other");
        text.push_str(&format!("{}\n", style.bold(&printable(name))));
        wrap(&mut text, "  ", 2, &kernels, style);
    }
    if !sizes.is_empty() {
        let sizes = sizes.iter().map(|(name, value)| format!("{}={value}", printable(name)));
        let sizes = sizes.collect::<Vec<_>>().join(" ");
        wrap(&mut text, "  ", 4, &format!("where {sizes}"), style);
    }
    for step in steps {
        heading(&mut text, style, &format!("On {}", printable(&step.device)));
        draw(&mut text, &kernels(step), &[], style, 1);
        text.push('\n');
        text.push_str(&totals(step, style));
    }
    text.push('\n');
    wrap(
        &mut text,
        "",
        0,
        "All figures are modelled: each input is read once, each output written once. \
         `rooflint predict --list KERNEL` says how a kernel is counted.",
        style,
    );
    text
}

fn kernels(step: &ModelPrediction) -> Table {
    let one = TimeUnit::of(step.rows.iter().map(|row| row.prediction.expected));
    let all = TimeUnit::of(step.rows.iter().map(|row| row.total));
    let (each, total) = (format!("each {}", one.symbol), format!("total {}", all.symbol));
    let mut table = Table::new(&[
        ("op", false),
        ("kernel", false),
        ("launches", true),
        ("FLOP/B", true),
        ("ridge FLOP/B", true),
        (&each, true),
        (&total, true),
        ("share", true),
        ("limiter", false),
    ]);
    for row in &step.rows {
        let prediction = &row.prediction;
        let number = |value: Option<f64>| value.map_or_else(|| MISSING.to_owned(), digits);
        table.rows.push(vec![
            printable(&row.name),
            printable(&format!("{} {}", prediction.form, prediction.arguments)),
            row.launches.to_string(),
            number(prediction.intensity.map(crate::units::FlopsPerByte::get)),
            number(prediction.ridge_point.map(crate::units::FlopsPerByte::get)),
            one.show(prediction.expected),
            all.show(row.total),
            percent(row.share),
            prediction.limiter.label().to_owned(),
        ]);
    }
    table
}

fn totals(step: &ModelPrediction, style: &Style) -> String {
    let totals = &step.totals;
    let time = |time: Seconds| si(time.get(), "s");
    let mut lines = Lines::default();
    lines.add("F", si(totals.operations.get(), "FLOP"), "all operations".to_owned());
    lines.add("B", si(totals.bytes.get(), "B"), "all compulsory traffic".to_owned());
    if let Some(intensity) = totals.intensity {
        let value = format!("{} FLOP/B", digits(intensity.get()));
        lines.add("intensity", value, "F ÷ B, sums over sums".to_owned());
    }
    let share = |part: Seconds| {
        if totals.expected > Seconds::ZERO { percent(part / totals.expected) } else { percent(0.0) }
    };
    let parts = format!(
        "sum of expected times: memory limits {}, math {}",
        share(totals.memory_limited),
        share(totals.math_limited)
    );
    lines.add("expected", time(totals.expected), parts);
    lines.add(
        "with launches",
        time(totals.with_launch_cost),
        "the same where no launch takes less than it costs".to_owned(),
    );
    if let Some(achievable) = totals.achievable {
        lines.add("achievable", time(achievable), "with rates that are reached".to_owned());
    }
    lines.draw(&Style { ascii: false, ..*style })
}
