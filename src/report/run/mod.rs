//! The report of a run: verdict first, then what to do, then what was set apart.

mod advice;
mod apart;
mod groups;
mod read;
mod tables;
mod verdict;
mod what_if;

use super::document::{Block, Document, Section, first_of};
use super::view::Style;
use super::{Report, Reported};
use crate::analysis::Kernel;

impl Reported for Report<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut document = Document::new("Roofline report");
        document.push(verdict(self));
        document.section("Next steps", vec![steps(self, style)]);
        let [opportunities, others] = kernels(self, self.top, self.top, style);
        let sections = std::iter::once(opportunities)
            .chain(findings(self, style))
            .chain(std::iter::once(others))
            .chain(rest(self, style));
        for section in sections {
            document.add(section);
        }
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        let own = super::OUTPUTS.iter().find(|output| output.name == format)?;
        Some((own.render)(self, style))
    }
}

/// The first lines: what the run is, and how far it is from its roofs.
pub(super) fn verdict(report: &Report<'_>) -> Block {
    Block::Facts(verdict::verdict(report))
}

/// What to do first.
pub(super) fn steps(report: &Report<'_>, style: &Style) -> Block {
    Block::Steps(advice::next_steps(report, style).into_iter().map(Into::into).collect())
}

/// The ranked kernels and the others, so many rows of each.
pub(super) fn kernels(
    report: &Report<'_>,
    ranked: usize,
    others: usize,
    style: &Style,
) -> [Section; 2] {
    let (opportunities, mut rest): (Vec<&Kernel>, Vec<&Kernel>) =
        report.analysis.kernels.iter().partition(|kernel| report.analysis.is_ranked(kernel));
    // Their rank is by savings, and the title promises time.
    rest.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
    let first = |all: &[&Kernel], most: usize| all.len().min(most);
    let (ranked, others) = (first(&opportunities, ranked), first(&rest, others));
    let title = "Kernels by what a better implementation can win";
    let title = format!("{title}{}", first_of(ranked, opportunities.len()));
    let table = tables::opportunities(&opportunities[..ranked], report, style);
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

/// What was found beside the opportunities: causes on other kernels, groups, the run as a whole.
pub(super) fn findings(report: &Report<'_>, style: &Style) -> [Section; 4] {
    let groups = groups::table(report).map(Block::Table).into_iter().collect();
    [
        lines("Causes on other kernels", advice::beside(report, style)),
        Section::new(groups::title(report), groups),
        lines("The whole run", advice::run(report)),
        lines("Rules of your own", advice::own(report, style)),
    ]
}

/// What is not ranked and why, changes that were asked about, and where the numbers come from.
pub(super) fn rest(report: &Report<'_>, style: &Style) -> Vec<Section> {
    let apart = Section::new("Not ranked, and why", vec![Block::List(apart::apart(report))]);
    let mut sections = vec![apart];
    sections.extend(what_if::sections(report, style));
    sections.push(lines("Inputs compared", read::ranks(report)));
    let roofs = format!("Roofs used ({})", report.analysis.ceilings.label());
    sections.push(Section { is_folded: true, ..lines(&roofs, read::ceilings(report)) });
    let read = advice::blind(report).into_iter().chain(read::provenance(report)).collect();
    sections.push(Section { is_folded: true, ..lines("Read", read) });
    sections
}
