//! `analyze` and `demo`: read, judge, report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
#[cfg(feature = "plot")]
use clap::builder::PossibleValuesParser;

use super::args::{Advice, Model, Picture, Reading};
use super::exit::Failure;
use super::held::Held;
use super::output::{self, Outputs, Place, Places};
use super::terminal::Terminal;
use super::{clock, config, reading, session, what_if};
use crate::analysis::{self, Analysis, Explanation, Kernel, NothingToCollect, WhatIf};
use crate::compare::Run;
use crate::gate::{self, Policy, Setting};
use crate::ingest::{self, Options};
use crate::model::Profile;
use crate::plain::counted;
use crate::report::{self, Against, Explained, GateReport, Joined, Report, Reported, Style};
#[cfg(feature = "plot")]
use crate::report::{Encoding, PictureError, Subject};
use crate::rules::Findings;
use crate::session::{Judged, Session};
use crate::units::Seconds;

/// Rows of tables where nobody asks for another number.
pub(super) const ROWS: usize = 10;

/// What messages call the formats of a report.
pub(super) const FORMAT: &str = "report format";

/// Compare kernels with their roofline and rank optimization opportunities
#[derive(Debug, Args)]
pub(super) struct Analyze {
    #[command(flatten)]
    reading: Reading,
    /// Compare with an earlier run, on the page and in pictures; repeatable
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "FILE", help_heading = "Pictures", hide_short_help = true, conflicts_with_all = ["explain", "next_ncu"])]
    baseline: Vec<PathBuf>,
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    advice: Advice,
    #[command(flatten)]
    output: Out,
}

/// Analyze the built-in sample profile
#[derive(Debug, Args)]
pub(super) struct Demo {
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    advice: Advice,
    #[command(flatten)]
    output: Out,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
struct Out {
    #[command(flatten)]
    outputs: Outputs<true>,

    /// Print all sections: every kernel with its evidence, how it was judged, roofs and input
    #[arg(long)]
    full: bool,

    /// Rows in the tables of all sections, which it prints [default: 10]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Print full kernel names, as the profiler wrote them
    #[arg(long)]
    full_names: bool,

    /// Only these kernels: a name or a part of it, a library or category, a pattern with `*`, or `#2` for
    /// the second; repeatable
    #[arg(long, value_name = "NAME")]
    kernel: Vec<String>,

    /// Show the arithmetic of the selected kernels (default: the first)
    #[arg(long)]
    explain: bool,

    /// Print the `ncu` command that collects counters for the kernels of which they would tell most
    #[arg(long, conflicts_with_all = ["explain", "what_if", "top", "full", "select", "ignore"])]
    next_ncu: bool,

    /// Estimate kernel times on other GPUs, or with `tensor-cores`, `bf16`, `fused` with a
    /// neighbor, or as a closed form (with --kernel)
    #[arg(long, value_name = "CHANGE", conflicts_with = "explain", help_heading = "Model")]
    what_if: Vec<String>,

    #[command(flatten)]
    drawing: Drawing,
}

/// What pictures show, and how.
#[derive(Debug, Args)]
pub(super) struct Drawing {
    /// Choose what a picture (.svg, .png) shows [default: roofline]
    #[cfg(feature = "plot")]
    #[arg(long, value_name = "SUBJECT", value_parser = subjects(), help_heading = "Pictures", hide_short_help = true)]
    figure: Option<Subject>,

    #[command(flatten)]
    picture: Picture,
}

impl Drawing {
    /// The options, and which were given.
    fn given(&self) -> Vec<(&'static str, bool)> {
        let figure = [
            #[cfg(feature = "plot")]
            ("--figure", self.figure.is_some()),
        ];
        self.picture.given().into_iter().chain(figure).collect()
    }
}

#[cfg(feature = "plot")]
impl Drawing {
    /// The canvas that is asked for.
    pub(super) fn canvas(&self) -> report::Canvas {
        self.picture.canvas()
    }

    /// Draws a report, with a baseline beside it if there is one.
    pub(super) fn draw(
        &self,
        report: &Report<'_>,
        baseline: Option<&Analysis>,
        encoding: Encoding,
    ) -> Result<Vec<u8>, PictureError> {
        let subject = self.figure.unwrap_or_default();
        report::picture(report, baseline, subject, &self.canvas(), encoding)
    }
}

#[cfg(feature = "plot")]
fn subjects() -> impl clap::builder::TypedValueParser<Value = Subject> {
    use clap::builder::TypedValueParser;
    let names = PossibleValuesParser::new(Subject::ALL.map(Subject::name));
    // The parser lets only their names through.
    names.map(|name| Subject::from_name(&name).unwrap_or_default())
}

pub(super) fn files(command: &Analyze, terminal: &Terminal) -> Result<(), Failure> {
    let job = Job::new((&command.model, &command.advice), &command.output, terminal)?;
    let files = baseline_of(command, &job.places)?;
    let profile = reading::read(&command.reading)?;
    let baseline = match files {
        Some(files) => Some(reading::read(&Reading { files, ..command.reading.clone() })?),
        None => None,
    };
    report((&profile, baseline.as_ref()), &job, &command.output, terminal)
}

/// What is checked before anything is read: outputs, configuration, devices.
struct Job {
    places: Places,
    session: Session,
    policy: Policy,
}

impl Job {
    fn new(
        (model, advice): (&Model, &Advice),
        output: &Out,
        terminal: &Terminal,
    ) -> Result<Self, Failure> {
        let drawing = output.drawing.given();
        let places = if output.explain {
            output.outputs.places_of_text("format of explanations", &drawing)?
        } else if output.next_ncu {
            output.outputs.places_of_text("format of commands", &drawing)?
        } else {
            output.outputs.places_or_pictures(FORMAT, &drawing)?
        };
        let config = config::load(advice, terminal)?;
        let policy = config.gate.clone();
        let session = session::new(model, config)?;
        what_if::check(&output.what_if, &session.catalog)?;
        let is_picture = |place: &Place<output::Kind>| {
            !matches!(place.format, output::Kind::Named(_) | output::Kind::Parquet)
        };
        if !output.what_if.is_empty() && !places.is_empty() && places.iter().all(is_picture) {
            return Err(Failure::usage("--what-if has no effect on pictures")
                .help("add a report: -o FILE.html, or -o FILE.md"));
        }
        Ok(Self { places, session, policy })
    }
}

/// The files of the earlier run that this one is compared with, to be read in the same way.
#[cfg(feature = "plot")]
fn baseline_of(
    command: &Analyze,
    places: &[Place<output::Kind>],
) -> Result<Option<Vec<PathBuf>>, Failure> {
    if command.baseline.is_empty() {
        return Ok(None);
    }
    let figure = command.output.drawing.figure.unwrap_or_default();
    let shows = |kind| match kind {
        output::Kind::Picture(_) => figure.compares(),
        kind => matches!(kind, output::Kind::Named("html" | "text" | "markdown")),
    };
    if !places.iter().any(|place| shows(place.format)) {
        return Err(Failure::usage("--baseline has no effect on this output").help(
            "add `-o FILE.html`, `-o FILE.svg` or `-o FILE.png`, or compare with `rooflint diff`",
        ));
    }
    Ok(Some(command.baseline.clone()))
}

#[cfg(not(feature = "plot"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as with pictures")]
fn baseline_of(_: &Analyze, _: &[Place<output::Kind>]) -> Result<Option<Vec<PathBuf>>, Failure> {
    Ok(None)
}

pub(super) fn demo(command: &Demo, terminal: &Terminal) -> Result<(), Failure> {
    let job = Job::new((&command.model, &command.advice), &command.output, terminal)?;
    report((&sample()?, None), &job, &command.output, terminal)
}

/// The built-in sample profile.
fn sample() -> Result<Profile, Failure> {
    Ok(ingest::read_text("demo", crate::SAMPLE, &Options::default())?)
}

fn report(
    (profile, baseline): (&Profile, Option<&Profile>),
    Job { places, session, policy }: &Job,
    output: &Out,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let baseline = baseline.map(|profile| session.judge(profile)).transpose()?;
    let mut judged = session.judge(profile)?;
    let decision = baseline.as_ref().map(|baseline| {
        let setting =
            Setting { today: Some(clock::now().date()), order: Vec::new(), decides: false };
        gate::judge(&[baseline.run(0)], &[judged.run(0)], policy, &setting)
    });
    let full = output.full || output.top.is_some();
    let restyled = |style, _: &Path| Style { full_names: output.full_names, full, ..style };
    if output.explain {
        let found = (&judged.analysis, &judged.findings);
        return explain(profile, found, &output.kernel, |subject| {
            output::write(places, subject, restyled, terminal)
        });
    }
    let answers = narrowed(&mut judged, session, output)?;
    if output.next_ncu {
        if let Some((why, command)) = report::other_than_ncu(&judged.analysis) {
            return Err(Failure::usage(why).help(command));
        }
        if judged.analysis.totals.measured == Seconds::ZERO {
            return Err(Failure::usage("the export has no times, which decide what to collect")
                .help("give a file with times along with it, of the same program"));
        }
        let next = judged.analysis.next_ncu(profile).map_err(|nothing| match nothing {
            NothingToCollect::Explained => {
                Failure::usage("no kernel has time that counters could explain")
                    .help("all have their counters, are at their roofline, launch-bound, or communication")
            }
            NothingToCollect::Nameless => {
                Failure::usage("the kernels that counters could explain have no names to filter by")
                    .help("profile all: ncu --set full --import-source yes --kernel-name-base demangled --kernel-id :::1 -o next APP")
            }
        })?;
        return output::write(places, &next, restyled, terminal);
    }
    let report = Report {
        analysis: &judged.analysis,
        findings: &judged.findings,
        top: output.top.unwrap_or(ROWS),
        what_if: &answers,
        command: Some(terminal.command()),
    };
    let against = decision.as_ref().map(|decision| Against {
        report,
        changes: GateReport {
            command: Some(terminal.command()),
            ..GateReport::new(decision, policy)
        },
    });
    let subject: &dyn Reported = match &against {
        Some(against) => against,
        None => &report,
    };
    #[cfg(feature = "plot")]
    let written = output::write_or_draw(places, subject, restyled, terminal, |encoding| {
        let baseline = baseline.as_ref().map(|judged| &judged.analysis);
        output.drawing.draw(&report, baseline, encoding)
    });
    #[cfg(not(feature = "plot"))]
    let written = output::write(places, subject, restyled, terminal);
    written
}

/// Answers what is asked about changes, and leaves only the chosen kernels.
fn narrowed(
    judged: &mut Judged<'_>,
    session: &Session,
    output: &Out,
) -> Result<Vec<WhatIf>, Failure> {
    let rows = match output.kernel.as_slice() {
        [] => None,
        queries => {
            let chosen = chosen(&judged.analysis, queries)?;
            Some(chosen.iter().map(|kernel| kernel.longest).collect::<Vec<_>>())
        }
    };
    let changes =
        what_if::changes(&output.what_if, &session.catalog, &judged.analysis, rows.as_deref())?;
    let mut answers = analysis::what_if(judged.profile, &judged.analysis, &changes)?;
    if let Some(rows) = &rows {
        keep(judged, &mut answers, rows);
    }
    Ok(answers)
}

/// A judged run that outlives its command.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) profile: Profile,
    pub(super) analysis: Analysis,
    pub(super) findings: Findings,
    pub(super) what_if: Vec<WhatIf>,
    /// Rows of tables.
    pub(super) top: usize,
    /// What is compared with other runs: of all kernels, whichever were chosen.
    pub(super) run: Run,
}

/// Analyzes for another program; outputs are not looked at.
pub(super) fn answer(
    mut command: Analyze,
    held: Held,
    terminal: &Terminal,
) -> Result<Answer, Failure> {
    command.reading.held = Some(Arc::new(held));
    let job = Job::new((&command.model, &command.advice), &command.output, terminal)?;
    answered(reading::read(&command.reading)?, &job.session, &command.output)
}

/// Analyzes the built-in sample for another program.
pub(super) fn sample_answer(command: &Demo, terminal: &Terminal) -> Result<Answer, Failure> {
    let job = Job::new((&command.model, &command.advice), &command.output, terminal)?;
    answered(sample()?, &job.session, &command.output)
}

fn answered(profile: Profile, session: &Session, output: &Out) -> Result<Answer, Failure> {
    let mut judged = session.judge(&profile)?;
    let run = judged.run(0);
    let what_if = narrowed(&mut judged, session, output)?;
    let Judged { analysis, findings, .. } = judged;
    let top = output.top.unwrap_or(ROWS);
    Ok(Answer { profile, analysis, findings, what_if, top, run })
}

/// The places of the kernels that a query finds.
pub(super) fn places(answer: &Answer, query: &str) -> Result<Vec<usize>, Failure> {
    let kernels = &answer.analysis.kernels;
    let found = found(&answer.analysis, query)?;
    let place = |one: &&Kernel| kernels.iter().position(|kernel| std::ptr::eq(kernel, *one));
    Ok(found.iter().filter_map(place).collect())
}

/// Explains kernels of a run that was judged before.
pub(super) fn explained(
    answer: &Answer,
    queries: &[String],
    write: impl FnOnce(&dyn Reported) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Answer { profile, analysis, findings, .. } = answer;
    explain(profile, (analysis, findings), queries, write)
}

/// The kernels that these queries find, in the order of the ranking, each once.
fn chosen<'a>(analysis: &'a Analysis, queries: &[String]) -> Result<Vec<&'a Kernel>, Failure> {
    let mut all: Vec<&Kernel> = Vec::new();
    for query in queries {
        all.extend(found(analysis, query)?);
    }
    all.sort_by_key(|kernel| kernel.rank);
    all.dedup_by_key(|kernel| kernel.rank);
    Ok(all)
}

fn found<'a>(analysis: &'a Analysis, query: &str) -> Result<Vec<&'a Kernel>, Failure> {
    let found = analysis.find(query);
    if found.is_empty() {
        if let Some(rank) = query.strip_prefix('#')
            && rank.parse::<u64>().is_ok()
        {
            let kernels = counted(analysis.kernels.len() as u64, "kernel", "kernels");
            let error = Failure::usage(format!("no kernel {query}: the report has {kernels}"));
            let first = analysis.kernels.iter().map(|kernel| kernel.rank).min();
            return Err(error.help(format!("'#{}' is the first one", first.unwrap_or(1))));
        }
        let nearest = analysis.nearest(query).map(|name| format!("; the nearest name is {name:?}"));
        return Err(Failure::usage(format!(
            "no kernel is called {query:?}, or contains it{}",
            nearest.unwrap_or_default()
        ))
        .help(match query.replace('*', "") {
            part if part != *query && !part.is_empty() => format!(
                "a pattern is compared with whole names; {part:?} without * also finds parts of names, libraries, categories and kinds"
            ),
            _ => "give a name or a part of it, a library or category, a pattern such as '*gemm*', or '#1' for the first kernel".to_owned(),
        }));
    }
    Ok(found)
}

/// The arithmetic of the chosen kernels, the first if none is chosen.
fn explain(
    profile: &Profile,
    (analysis, findings): (&Analysis, &Findings),
    queries: &[String],
    write: impl FnOnce(&dyn Reported) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let kernels = match queries {
        [] => found(analysis, "#1")?,
        queries => chosen(analysis, queries)?,
    };
    let explained = |kernel: &&Kernel| analysis::explain(profile, analysis, kernel);
    let explanations: Vec<Explanation> = kernels.iter().map(explained).collect();
    let parts = kernels.iter().zip(&explanations).map(|(kernel, explanation)| {
        let position = analysis.kernels.iter().position(|one| std::ptr::eq(one, *kernel));
        let findings = position.map_or(&[][..], |position| findings.of(position));
        let one: Box<dyn Reported> =
            Box::new(Explained { analysis, kernel, explanation, findings });
        one
    });
    write(&Joined { title: "Kernels explained".to_owned(), parts: parts.collect() })
}

/// Leaves only the chosen kernels; the totals stay those of the whole run.
fn keep(judged: &mut Judged<'_>, answers: &mut [WhatIf], rows: &[usize]) {
    let Judged { analysis, findings, .. } = judged;
    analysis.is_narrowed = true;
    let kept: Vec<bool> =
        analysis.kernels.iter().map(|kernel| rows.contains(&kernel.longest)).collect();
    retain(&mut analysis.kernels, &kept);
    let places = kept.iter().enumerate().filter(|(_, is_kept)| **is_kept).map(|(at, _)| at);
    findings.follow(&places.collect::<Vec<usize>>());
    for answer in answers {
        retain(&mut answer.kernels, &kept);
    }
}

fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| *kept.next().unwrap_or(&false));
}
