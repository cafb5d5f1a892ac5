//! The report of a run: what to do first, then how it was found, then what it was found with.

mod advice;
mod apart;
mod brief;
mod checks;
mod chosen;
mod entry;
mod groups;
mod read;
mod screen;
mod sentence;
mod tables;
mod timeline;
mod verdict;
mod what_if;

use std::io::{self, Write};

use super::document::{Block, Document, Section, first_of};
use super::view::Style;
use super::{FORMATS, Report, Reported, json};
use crate::analysis::Kernel;

use screen::Screen;

pub(super) use brief::Brief;
#[cfg(feature = "page")]
pub(super) use brief::{KERNELS, RunStep};
#[cfg(feature = "page")]
pub(super) use checks::notes;
#[cfg(feature = "page")]
pub(super) use entry::{Certainty, Entry};
#[cfg(feature = "gate")]
pub(super) use tables::{headroom, roofline_time};
#[cfg(feature = "page")]
pub(super) use timeline::OverTime;
#[cfg(feature = "gate")]
pub(super) use verdict::devices;

impl Reported for Report<'_> {
    fn document(&self, style: &Style) -> Document {
        if self.analysis.is_narrowed {
            return chosen::document(self, style);
        }
        if style.full {
            return whole(self, style, false);
        }
        let mut document = Screen::of(self, style).document(self, style);
        for section in what_if::sections(self, style) {
            document.add(section);
        }
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        if format == "markdown" && !self.analysis.is_narrowed {
            let format = FORMATS.iter().find(|one| one.name == format)?;
            return Some((format.render)(&folded(self, style), style));
        }
        let own = super::OUTPUTS.iter().find(|output| output.name == format)?;
        Some((own.render)(self, style))
    }

    fn stream(&self, format: &str, to: &mut dyn Write) -> Option<io::Result<()>> {
        (format == "json").then(|| crate::json::write(to, &json::document(self)))
    }
}

/// All of a report for who cannot ask for more, as of Markdown: what comes after the brief is folded.
pub(super) fn folded(report: &Report<'_>, style: &Style) -> Document {
    whole(report, &Style { full: true, ..*style }, true)
}

/// The brief and everything else, from what to do to how it was found.
fn whole(report: &Report<'_>, style: &Style, is_folded: bool) -> Document {
    let screen = Screen::of(report, style);
    let mut document = screen.document(report, style);
    let [ranked, others] = kernels(report, &screen.brief, [report.top; 2], style);
    let [beside, groups, run, own] = findings(report, &screen.brief, style);
    let sections =
        [ranked, beside, run, own, others, groups].into_iter().chain(rest(report, style));
    for section in sections {
        document.add(Section { is_folded: is_folded || section.is_folded, ..section });
    }
    document
}

/// The ranked kernels and the others, so many rows of each, without the next steps that the brief has.
pub(super) fn kernels(
    report: &Report<'_>,
    brief: &Brief<'_>,
    [ranked, others]: [usize; 2],
    style: &Style,
) -> [Section; 2] {
    let (opportunities, mut rest): (Vec<&Kernel>, Vec<&Kernel>) =
        report.analysis.kernels.iter().partition(|kernel| report.analysis.is_ranked(kernel));
    // Their rank is by savings, and the title promises time.
    rest.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
    let first = |all: &[&Kernel], most: usize| all.len().min(most);
    let (ranked, others) = (first(&opportunities, ranked), first(&rest, others));
    let title = format!("Kernels by potential savings{}", first_of(ranked, opportunities.len()));
    let table = tables::opportunities(&opportunities[..ranked], report, brief, style);
    let beside = format!("Other kernels, by time{}", first_of(others, rest.len()));
    let below = tables::others(&rest[..others], report, style);
    [
        Section::new(title, vec![Block::Table(table)]),
        Section { is_folded: true, ..Section::new(beside, vec![Block::Table(below)]) },
    ]
}

/// A list of lines under a title.
fn lines(title: &str, lines: Vec<String>) -> Section {
    Section::new(title, vec![Block::lines(lines)])
}

/// What was found beside the ranked kernels: issues in others, groups, the run as a whole, custom rules.
pub(super) fn findings(report: &Report<'_>, brief: &Brief<'_>, style: &Style) -> [Section; 4] {
    let groups = groups::table(report).map(Block::Table).into_iter().collect();
    [
        lines("Issues in other kernels", advice::beside(report, style)),
        Section::new(groups::title(report), groups),
        lines("Findings about the whole run", advice::run(report, brief)),
        lines("Custom rules", advice::own(report, style)),
    ]
}

/// What is not ranked and why, changes that were asked about, and how and with what the run was judged.
pub(super) fn rest(report: &Report<'_>, style: &Style) -> Vec<Section> {
    let apart = Section::new("Not ranked, and why", vec![Block::List(apart::apart(report))]);
    let mut sections = vec![apart];
    sections.extend(what_if::sections(report, style));
    sections.extend(timeline::sections(report));
    sections.push(lines("Inputs compared", read::ranks(report)));
    let folded = |section: Section| Section { is_folded: true, ..section };
    let method = vec![Block::Facts(verdict::method(report))];
    sections.push(folded(Section::new("How it was judged", method)));
    sections.push(folded(lines("Roofs", read::ceilings(report))));
    let read = advice::blind(report).into_iter().chain(read::provenance(report)).collect();
    sections.push(folded(lines("Input", read)));
    sections
}
