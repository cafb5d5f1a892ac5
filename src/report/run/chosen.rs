//! Chosen kernels (`--kernel`): each with its numbers, cause, arithmetic, device and how to reproduce it, which is
//! the text of an issue.

use super::entry;
use super::sentence::sentence;
use super::{screen, verdict, what_if};
use crate::analysis::Kernel;
use crate::report::Report;
use crate::report::document::{Block, Document, Fact, Figure, Section, first_of};
use crate::report::view::{
    Style, count, digits, factor, name, percent, printable, range, ratio, shape, si,
};
use crate::rules;
use crate::units::Seconds;

/// The chosen kernels: one is the whole document, several have a section each.
pub(super) fn document(report: &Report<'_>, style: &Style) -> Document {
    let kernels: Vec<&Kernel> = report.analysis.kernels.iter().collect();
    let mut document = match kernels.as_slice() {
        [one] => {
            let mut document = Document::titled(name(one, style));
            document.blocks.extend(blocks(report, one));
            document
        }
        several => {
            let title = count(several.len() as u64, "kernel", "kernels");
            let mut document = Document::titled(format!("{title} chosen"));
            document.push(Block::Facts(sums(report, several)));
            let shown = &several[..several.len().min(report.top)];
            let entries = entry::of_kernels(report, shown);
            let title = format!("Chosen kernels{}", first_of(shown.len(), several.len()));
            document.section(
                title,
                vec![Block::Table(screen::table(&entries, report.analysis, style))],
            );
            if style.full {
                for kernel in shown {
                    document.section(name(kernel, style), blocks(report, kernel));
                }
            }
            document
        }
    };
    for section in what_if::sections(report, style) {
        document.add(section);
    }
    document.section("Device and input", vec![Block::lines(origin(report))]);
    let command = report.command.map(|command| Block::Code(printable(command)));
    document.section("Reproduce", command.into_iter().collect());
    document
}

/// What the chosen kernels are of the run, together.
fn sums(report: &Report<'_>, kernels: &[&Kernel]) -> Vec<Fact> {
    let sum = |time: fn(&Kernel) -> Seconds| kernels.iter().map(|one| time(one)).sum::<Seconds>();
    let (measured, total) = (sum(|one| one.measured), report.analysis.totals.measured);
    let savings = sum(|one| if one.has_savings() { one.savings } else { Seconds::ZERO });
    let mut facts = Vec::new();
    if measured > Seconds::ZERO {
        facts.push(Fact::new("Time", of_run(measured, total)));
    }
    if savings > Seconds::ZERO {
        let all = si(report.analysis.totals.savings.get(), "s");
        let savings = si(savings.get(), "s");
        facts.push(Fact::new("Savings", format!("{savings} of the {all} that the run can save")));
    }
    facts
}

fn of_run(part: Seconds, total: Seconds) -> String {
    format!("{}, {} of {}", si(part.get(), "s"), percent(part / total), si(total.get(), "s"))
}

/// One kernel: its numbers, what to do, and the arithmetic in short.
fn blocks(report: &Report<'_>, kernel: &Kernel) -> Vec<Block> {
    let found = report.findings_of(kernel);
    let mut facts = Vec::new();
    if kernel.measured > Seconds::ZERO {
        let launches = count(kernel.launches, "launch", "launches");
        let of = of_run(kernel.measured, report.analysis.totals.measured);
        facts.push(Fact::new("Time", format!("{of}; {launches}, grid / block {}", shape(kernel))));
    }
    facts.push(Fact::new(
        "State",
        format!("{}: {}", kernel.state.label(), printable(&kernel.reason.to_string())),
    ));
    facts.extend(savings(report, kernel).map(|savings| Fact::new("Savings", savings)));
    let cause = entry::cause(found, kernel);
    facts.push(Fact::new(
        "Cause",
        match cause {
            Some(cause) => format!("{} ({})", printable(&cause.message), cause.rule),
            None => kernel.meaning(),
        },
    ));
    let next = cause.and_then(|cause| cause.next.as_deref());
    facts.extend(next.map(|next| Fact::new("Next step", printable(next))));
    let others = found.iter().filter(|one| {
        !rules::is_remark(one) && cause.is_none_or(|cause| !std::ptr::eq(cause, *one))
    });
    facts.extend(others.map(|one| Fact::new("Also", format!("{} ({})", sentence(one), one.rule))));
    let arithmetic = Section::new("Arithmetic", vec![Block::Figures(arithmetic(kernel))]);
    vec![Block::Facts(facts), Block::Section(arithmetic)]
}

fn savings(report: &Report<'_>, kernel: &Kernel) -> Option<String> {
    if kernel.is_unproven() && kernel.savings_high > Seconds::ZERO {
        if verdict::is_all(kernel.savings_high, kernel.measured) {
            return Some("unproven and not bounded: too little was counted".to_owned());
        }
        let most = si(kernel.savings_high.get(), "s");
        return Some(format!("unproven: at most {most}, no certain cause was found"));
    }
    let analysis = report.analysis;
    let has_savings = kernel.has_savings() && kernel.savings > Seconds::ZERO;
    has_savings.then(|| {
        let certainty = if kernel.has_likely_savings() { ", likely" } else { "" };
        format!(
            "{} (range {}){certainty}: {}",
            si(kernel.savings.get(), "s"),
            range(kernel.savings_low, kernel.savings_high),
            verdict::faster(analysis, factor(analysis.totals.run_speedup(kernel.savings)))
        )
    })
}

/// How the roofline time comes about, from bytes and operations to the ratio.
fn arithmetic(kernel: &Kernel) -> Vec<Figure> {
    let time = |time: Seconds| si(time.get(), "s");
    let mut lines = Vec::new();
    if let Some(memory) = kernel.memory_time {
        let how = kernel.bytes.zip(kernel.bandwidth()).map_or_else(String::new, |(bytes, roof)| {
            let rest = kernel.time_of_bytes().map_or_else(String::new, |of_bytes| {
                format!(" = {}; the rest by how busy DRAM was", time(of_bytes))
            });
            format!("{} ÷ {}{rest}", si(bytes.get(), "B"), si(roof.get(), "B/s"))
        });
        lines.push(Figure::new("memory time", time(memory), how));
    }
    for work in kernel.work.iter().filter(|work| work.time > Seconds::ZERO) {
        let (label, unit) = (work.pipe.label(), work.pipe.operation());
        let peak = work.peak().map_or_else(String::new, |peak| {
            format!(" ÷ {}", si(peak.get(), &format!("{unit}/s")))
        });
        let how = format!("{}{peak}", si(work.operations.get(), unit));
        lines.push(Figure::new(format!("{label} time"), time(work.time), how));
    }
    if let (Some(pipe), Some(intensity), Some(ridge)) =
        (kernel.busiest_pipe(), kernel.busiest_intensity(), kernel.ridge_point())
    {
        let (intensity, ridge) = (digits(intensity.get()), digits(ridge.get()));
        let unit = format!("{}/B", pipe.pipe.operation());
        let how = format!("ridge point {ridge} {unit}");
        lines.push(Figure::new("intensity", format!("{intensity} {unit}"), how));
    }
    if let (Some(roofline), Some(ratio)) = (kernel.roofline_time, ratio(kernel)) {
        let bound = if kernel.is_by_busy_time() {
            "the SMs were busy for so long; how much of that is needed was not counted"
        } else if kernel.may_be_overcounted() && kernel.is_lower_bound() {
            "what was counted may be more than was done, or not all of it"
        } else if kernel.may_be_overcounted() {
            "what was counted may be more than was done"
        } else if kernel.is_lower_bound() {
            "a lower bound: not all work was counted"
        } else {
            "the longest of these, launch by launch"
        };
        lines.push(Figure::new("roofline time", time(roofline), bound));
        let how = format!("{} measured ÷ {}", time(kernel.modeled), time(roofline));
        lines.push(Figure::new("ratio", ratio, how));
    }
    lines
}

/// The device with the roofs used, and the files.
fn origin(report: &Report<'_>) -> Vec<String> {
    let roofs = format!("roofs: {}", report.analysis.ceilings.label());
    let mut lines = super::read::ceilings(report);
    lines.push(roofs);
    lines.extend(super::read::provenance(report));
    lines
}
