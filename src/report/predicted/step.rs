//! Report of a whole step on devices: every kernel with its share, and the sums.

use std::collections::BTreeMap;

use crate::predict::ModelPrediction;
use crate::report::document::{Block, Cell, Column, Document, Fact, Figure, Form, Table};
use crate::report::view::{count, digits, percent, printable, si};
use crate::units::{FlopsPerByte, Seconds};

pub(super) fn document(sizes: &BTreeMap<String, u64>, steps: &[ModelPrediction]) -> Document {
    let name = steps.first().and_then(|step| step.name.as_deref()).unwrap_or("step");
    let mut document = Document::titled(printable(name));
    let mut what = Vec::new();
    if let Some(step) = steps.first() {
        let launches = count(step.totals.launches, "launch", "launches");
        what.push(format!("{launches} in sequence"));
    }
    if !sizes.is_empty() {
        let sizes = sizes.iter().map(|(name, value)| format!("{}={value}", printable(name)));
        what.push(format!("where {}", sizes.collect::<Vec<_>>().join(" ")));
    }
    document.push(Block::lines(what));
    for step in steps {
        let blocks = vec![Block::Table(kernels(step)), Block::Figures(totals(step))];
        document.section(format!("On {}", printable(&step.device)), blocks);
    }
    document.push(Block::Paragraph(
        "All figures are modeled: each input is read once, each output written once. \
         Run `rooflint predict --list KERNEL` for the derivation of a kernel."
            .to_owned(),
    ));
    document
}

/// The time of the step on each device, without its kernels.
pub(super) fn verdict(steps: &[ModelPrediction]) -> Document {
    let mut document = Document::new("step");
    let time = |time: Seconds| si(time.get(), "s");
    let facts = steps.iter().map(|step| {
        let totals = &step.totals;
        let mut parts = vec![format!("at least {}", time(totals.roofline_time))];
        parts.push(format!("{} with launches", time(totals.with_launch_cost)));
        let reached =
            totals.achievable.map(|reached| format!("{} at achievable rates", time(reached)));
        parts.extend(reached);
        Fact::new("Time", format!("{} on {}", parts.join(", "), printable(&step.device)))
    });
    document.push(Block::Facts(facts.collect()));
    document
}

fn kernels(step: &ModelPrediction) -> Table {
    let mut table = Table::new(
        "kernels",
        vec![
            Column::text("op", "op"),
            Column::name("kernel", "kernel"),
            Column::number("launches", "launches", Form::Count).spare(14),
            Column::number("intensity_flop_per_byte", "FLOP/B", Form::Digits).spare(17),
            Column::number("ridge_point_flop_per_byte", "ridge FLOP/B", Form::Digits).spare(18),
            Column::number("roofline_s", "each", Form::Time).scale(1),
            Column::number("total_s", "total", Form::Time).scale(2),
            Column::number("share", "share", Form::Share).spare(11),
            Column::text("limiter", "limiter").spare(13),
        ],
    );
    for row in &step.rows {
        let prediction = &row.prediction;
        let per_byte = |value: Option<FlopsPerByte>| Cell::maybe(value.map(FlopsPerByte::get));
        table.push([
            Cell::text(printable(&row.name)),
            Cell::text(printable(&format!("{} {}", prediction.form, prediction.arguments))),
            Cell::count(row.launches),
            per_byte(prediction.intensity),
            per_byte(prediction.ridge_point),
            Cell::time(prediction.roofline_time),
            Cell::time(row.total),
            Cell::Number(row.share),
            Cell::text(prediction.limiter.label()),
        ]);
    }
    table
}

fn totals(step: &ModelPrediction) -> Vec<Figure> {
    let totals = &step.totals;
    let time = |time: Seconds| si(time.get(), "s");
    let mut figures = Vec::new();
    let mut add = |label: &'static str, value: String, how: &str| {
        figures.push(Figure::new(label, value, how));
    };
    add("F", si(totals.operations.get(), "FLOP"), "all operations");
    add("B", si(totals.bytes.get(), "B"), "all compulsory traffic");
    if let Some(intensity) = totals.intensity {
        let value = format!("{} FLOP/B", digits(intensity.get()));
        add("intensity", value, "F ÷ B, sums over sums");
    }
    let share = |part: Seconds| {
        if totals.roofline_time > Seconds::ZERO {
            percent(part / totals.roofline_time)
        } else {
            percent(0.0)
        }
    };
    let mut parts = format!(
        "sum of roofline times: memory limits {}, math {}",
        share(totals.memory_limited),
        share(totals.math_limited)
    );
    if totals.link_limited > Seconds::ZERO {
        parts.push_str(&format!(", links {}", share(totals.link_limited)));
    }
    add("roofline time", time(totals.roofline_time), &parts);
    add(
        "with launches",
        time(totals.with_launch_cost),
        "sum of roofline times, each at least the launch cost",
    );
    if let Some(achievable) = totals.achievable {
        add("achievable", time(achievable), "with achievable rates");
    }
    figures
}
