//! How the time of each GPU was used: one sentence for the brief, a table of GPUs and one of steps.

use crate::analysis::{Analysis, IdleCauses, Timeline, are_traces};
use crate::model::Source;
use crate::report::Report;
use crate::report::document::{Block, Cell, Column, Form, Section, Table, first_of};
use crate::report::files::Files;
use crate::report::view::{percent, printable, si};
use crate::units::{Bytes, Seconds, interval};

/// The least share that is shown as more than 0.0%.
const LEAST_SHARE: f64 = 0.0005;

/// The brief has the causes of at least this part of the idle time.
const LEAST_CAUSE: f64 = 0.05;

/// The same as a share of the span, for causes that a finding adds up.
const LEAST_PART: f64 = 0.0025;

/// The time of the GPUs of a run.
#[derive(Debug)]
pub(in crate::report) struct OverTime<'a> {
    /// Each GPU of each trace by itself.
    pub(in crate::report) gpus: &'a [Timeline],
    /// The one that is busy for the least part of its span, and the one for the greatest.
    ends: [&'a Timeline; 2],
    /// The files that the traces are in, and what they are called.
    sources: &'a [Source],
    files: Files<'a>,
}

impl<'a> OverTime<'a> {
    /// The time of a run; none where no trace records all work, or one kernel is all there is.
    pub(in crate::report) fn of(analysis: &'a Analysis) -> Option<Self> {
        let gpus = &analysis.timelines;
        let share =
            |one: &&Timeline, two: &&Timeline| one.busy_share().total_cmp(&two.busy_share());
        let ends = [gpus.iter().min_by(share)?, gpus.iter().max_by(share)?];
        let (sources, files) = (&*analysis.sources, Files::of(analysis));
        gpus.iter().any(|one| one.launches > 1).then_some(Self { gpus, ends, sources, files })
    }

    /// How much of its time a GPU is busy: `71.2% to 93.0%` of several.
    pub(in crate::report) fn share(&self) -> String {
        let [least, most] = self.ends.map(|one| percent(one.busy_share()));
        interval(&least, &most)
    }

    /// The busy time and the span, for a figure that has the share.
    #[cfg(feature = "page")]
    pub(in crate::report) fn note(&self) -> String {
        match self.gpus {
            [only] => format!("{} of {}", time(only.busy), time(only.span)),
            _ => format!("of the spans of {}", self.all()),
        }
    }

    /// The span, and what else than kernels of computation took time.
    pub(in crate::report) fn sentence(&self) -> String {
        let [least, most] = self.ends;
        let [only] = self.gpus else {
            let spans = self.gpus.iter().map(|one| one.span);
            let longest = spans.fold(Seconds::ZERO, Seconds::max);
            let [least_share, most_share] = self.ends.map(|one| percent(one.busy_share()));
            return format!(
                "{}, busy {least_share} ({}) to {most_share} ({}) of spans up to {}",
                self.all(),
                self.label(least),
                self.label(most),
                time(longest),
            );
        };
        // Without copies in the file, time without a kernel may be theirs.
        let idle = if only.copies.is_some() { "idle" } else { "idle or copying" };
        let mut text = format!(
            "span {}, GPU busy {} ({}), {idle} {}{}",
            time(only.span),
            time(only.busy),
            self.share(),
            percent(1.0 - only.busy_share()),
            causes(only)
        );
        text.push_str(&moved(only));
        if let Some(share) = only.hidden_communication() {
            let whole = time(only.communication);
            text.push_str(&format!(
                "; communication takes {whole}{}",
                hidden(share, "computation")
            ));
        }
        text
    }

    /// `8 GPUs`, `8 GPUs in 4 traces` or `3 traces`: traces may be of one GPU, one after the other.
    fn all(&self) -> String {
        let gpus = self.gpus.len();
        let mut sources: Vec<usize> = self.gpus.iter().map(|one| one.source).collect();
        sources.dedup();
        match sources.len() {
            1 => format!("{gpus} GPUs"),
            _ if are_traces(self.gpus) => format!("{gpus} traces"),
            traces => format!("{gpus} GPUs in {traces} traces"),
        }
    }

    /// What a GPU is called beside the others.
    fn label(&self, one: &Timeline) -> String {
        let number = printable(one.ordinal.as_deref().unwrap_or("?"));
        match self.sources.get(one.source).filter(|_| self.sources.len() > 1) {
            Some(source) => format!("{} GPU {number}", self.files.name(&source.path)),
            None => format!("GPU {number}"),
        }
    }
}

/// `, 2.6% of it beside kernels`.
fn hidden(share: f64, beside: &str) -> String {
    let share = if share < LEAST_SHARE { "none".to_owned() } else { percent(share) };
    format!(", {share} of it beside {beside}")
}

fn time(time: Seconds) -> String {
    si(time.get(), "s")
}

/// ` (71.4% host not launching, 4.4% launch latency)`, as shares of the span: the main causes, if any is known.
fn causes(one: &Timeline) -> String {
    let Some(causes) = one.idle_causes else { return String::new() };
    // What `host-bound` adds up is shown as long as its sum would differ in more than the last digit.
    let main = one.idle() * LEAST_CAUSE;
    let seen = main.min(one.span * LEAST_PART);
    let parts: Vec<String> = [
        (causes.host, "host not launching", seen),
        (causes.host_waiting, "host in a synchronize or copy call", seen),
        (causes.launch, "launch latency", seen),
        (causes.short + causes.dependency, "launched but not started", main),
        (causes.unknown, "launch not in the trace", main),
    ]
    .into_iter()
    .filter(|(part, _, least)| *part > Seconds::ZERO && *part >= *least)
    .map(|(part, cause, _)| format!("{} {cause}", percent(part / one.span)))
    .collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// `; copies and memsets run for 55.5 ms (46.2 MB), 2.6% of it beside kernels`: copies at one time count once.
fn moved(one: &Timeline) -> String {
    let Some(copies) = one.copies.filter(|copies| copies.count > 0) else { return String::new() };
    let size =
        copies.bytes.map_or_else(String::new, |bytes| format!(" ({})", si(bytes.get(), "B")));
    let hidden = copies.hidden().map_or_else(String::new, |share| hidden(share, "kernels"));
    format!("; copies and memsets run for {}{size}{hidden}", time(copies.covered))
}

/// The GPUs and the steps of a run.
pub(super) fn sections(report: &Report<'_>) -> Vec<Section> {
    let analysis = report.analysis;
    let Some(whole) = OverTime::of(analysis) else { return Vec::new() };
    let mut sections = vec![Section::new("Time of each GPU", vec![Block::Table(gpus(&whole))])];
    if whole.gpus.iter().any(|one| one.idle_causes.is_some()) {
        sections.push(Section::new("Idle time of each GPU", vec![Block::Table(idle(&whole))]));
    }
    let all: usize = whole.gpus.iter().map(|one| one.steps.len()).sum();
    if all > 0 {
        let shown = all.min(report.top);
        let title = format!("Steps{}", first_of(shown, all));
        sections.push(Section::new(title, vec![Block::Table(steps(&whole, shown))]));
    }
    sections
}

fn gpus(whole: &OverTime<'_>) -> Table {
    let mut table = Table::new(
        "gpus",
        vec![
            Column::name("gpu", "GPU"),
            Column::number("span_s", "span", Form::Time),
            Column::number("busy_s", "busy", Form::Time),
            Column::number("busy_share", "share", Form::Share),
            Column::number("idle_s", "idle", Form::Time).spare(1),
            Column::number("compute_s", "computation", Form::Time).spare(4),
            Column::number("exposed_communication_s", "exposed communication", Form::Time).spare(3),
            Column::number("exposed_copy_s", "exposed copies", Form::Time).spare(2),
            Column::number("copy_bytes", "copied", Form::Si("B")).spare(5),
        ],
    );
    for one in whole.gpus {
        let cells = [
            Cell::text(whole.label(one)),
            Cell::time(one.span),
            Cell::time(one.busy),
            Cell::Number(one.busy_share()),
            Cell::time(one.idle()),
            Cell::time(one.compute),
            Cell::time(one.exposed_communication),
            Cell::maybe(one.copies.map(|copies| copies.exposed.get())),
            Cell::maybe(one.copies.and_then(|copies| copies.bytes).map(Bytes::get)),
        ];
        let mut notes = Vec::new();
        if one.copies.is_none() {
            notes.push("the file records kernels only: copies count as idle time".to_owned());
        }
        if one.idle_causes.is_none() && one.idle() > Seconds::ZERO {
            notes.push(
                "the file records no launch calls: why the GPU was idle is not known".to_owned(),
            );
        }
        if one.cut > Seconds::ZERO {
            notes.push(format!(
                "times are cut to whole microseconds: busy for up to {} more",
                time(one.cut)
            ));
        }
        table.push_with(cells, notes);
    }
    table
}

fn idle(whole: &OverTime<'_>) -> Table {
    let mut table = Table::new(
        "idle",
        vec![
            Column::name("gpu", "GPU"),
            Column::number("idle_s", "idle", Form::Time),
            Column::number("gaps", "gaps", Form::Count).spare(4),
            Column::number("host_s", "host not launching", Form::Time),
            Column::number("host_waiting_s", "host waiting", Form::Time).spare(1),
            Column::number("long_host_s", "in gaps ≥ 1 ms", Form::Time).spare(5),
            Column::number("launch_s", "launch latency", Form::Time),
            Column::number("short_s", "short gaps", Form::Time).spare(2),
            Column::number("dependency_s", "launched, waiting", Form::Time),
            Column::number("unknown_s", "unknown", Form::Time).spare(3),
        ],
    );
    for one in whole.gpus {
        let causes = one.idle_causes;
        let part = |of: fn(&IdleCauses) -> Seconds| {
            Cell::maybe(causes.as_ref().map(|of_gpu| of(of_gpu).get()))
        };
        table.push([
            Cell::text(whole.label(one)),
            Cell::time(one.idle()),
            causes.map_or(Cell::Missing, |causes| Cell::count(causes.gaps)),
            part(|causes| causes.host),
            part(|causes| causes.host_waiting),
            part(|causes| causes.long_host),
            part(|causes| causes.launch),
            part(|causes| causes.short),
            part(|causes| causes.dependency),
            part(|causes| causes.unknown),
        ]);
    }
    table
}

fn steps(whole: &OverTime<'_>, most: usize) -> Table {
    let mut table = Table::new(
        "steps",
        vec![
            Column::number("step", "step", Form::Count),
            Column::name("gpu", "GPU").spare(3),
            Column::number("time_s", "time", Form::Time),
            Column::number("busy_s", "busy", Form::Time),
            Column::number("busy_share", "share", Form::Share).spare(1),
            Column::number("launches", "launches", Form::Count).spare(2),
        ],
    );
    let all = whole.gpus.iter().flat_map(|one| one.steps.iter().map(move |step| (one, step)));
    for (one, step) in all.take(most) {
        let cells = [
            Cell::count(step.number),
            Cell::text(whole.label(one)),
            Cell::time(step.time),
            Cell::time(step.busy),
            Cell::Number(step.busy / step.time),
            Cell::count(step.launches),
        ];
        // Where there are others, they end with the start of the next one.
        let last = (step.is_last && one.steps.len() > 1)
            .then(|| "no step follows at once: its time ends with its own work".to_owned());
        table.push_with(cells, last.into_iter().collect());
    }
    table
}
