//! `analyze` and `demo`: read, judge, report.

use std::path::Path;

use super::args::{self, Analyze, Demo};
use super::catalog;
use super::config;
use super::exit::Failure;
use super::output;
use super::parquet;
use super::sides::now;
use super::terminal::Terminal;
use super::what_if;
use crate::analysis::{self, Analysis, Explanation, Kernel, WhatIf};
use crate::config::Config;
use crate::ingest::{self, Input, Mapping, Options};
use crate::model::Profile;
#[cfg(feature = "plot")]
use crate::report;
use crate::report::{Explained, Joined, Report, Reported, Style};
use crate::session::{Judged, Session};

/// What messages call the formats of a report.
const FORMAT: &str = "report format";

pub(super) fn files(command: &Analyze, terminal: &Terminal) -> Result<(), Failure> {
    let profile = read(&command.reading)?;
    let baseline = baseline(command)?;
    let profiles = (&profile, baseline.as_ref());
    report(profiles, (&command.model, &command.advice), &command.output, terminal)
}

/// The earlier run that pictures set beside this one, read in the same way.
#[cfg(feature = "plot")]
fn baseline(command: &Analyze) -> Result<Option<Profile>, Failure> {
    if command.baseline.is_empty() {
        return Ok(None);
    }
    let places = command.output.outputs.places_or_pictures(FORMAT)?;
    if !places.iter().any(|place| matches!(place.format, output::Kind::Picture(_))) {
        return Err(Failure::usage("--baseline is for pictures, and no picture is written")
            .help("add `-o FILE.svg` or `-o FILE.png`"));
    }
    let files = command.baseline.clone();
    let reading = args::Reading { files, ..command.reading.clone() };
    read(&reading).map(Some)
}

#[cfg(not(feature = "plot"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as with pictures")]
fn baseline(_: &Analyze) -> Result<Option<Profile>, Failure> {
    Ok(None)
}

pub(super) fn demo(command: &Demo, terminal: &Terminal) -> Result<(), Failure> {
    let profile = ingest::read_text("demo", crate::SAMPLE, &Options::default())?;
    report((&profile, None), (&command.model, &command.advice), &command.output, terminal)
}

/// Reads what the user named.
pub(super) fn read(reading: &args::Reading) -> Result<Profile, Failure> {
    let map = reading.map.as_ref().map(|path| mapping(path)).transpose()?;
    let from = reading.from.as_deref().and_then(ingest::format);
    let options = Options { strict: reading.strict, from, map };
    let inputs = parquet::converted(inputs(&reading.files)?)?;
    Ok(ingest::read(&inputs, &options)?)
}

fn mapping(path: &Path) -> Result<Mapping, Failure> {
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Failure::usage(format!("{shown}: cannot read the mapping: {cause}")))?;
    Mapping::from_toml(&text, &shown).map_err(|error| {
        let help = error
            .next_step()
            .unwrap_or("see docs/formats.md for a mapping to start from")
            .to_owned();
        Failure::usage(error.to_string()).help(help)
    })
}

/// Expands patterns that the shell left alone, then directories and `-`.
fn inputs(files: &[std::path::PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs = Vec::new();
    for file in files {
        let text = file.to_string_lossy();
        if file.exists() || !text.contains(['*', '?', '[']) {
            inputs.extend(ingest::expand(std::slice::from_ref(file))?);
            continue;
        }
        let found = fitting(&text)?;
        inputs.extend(found.into_iter().map(Input::Found));
    }
    Ok(inputs)
}

/// A key by which `run-2` comes before `run-10`: digits padded.
fn natural(text: &str) -> String {
    let mut key = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        key.push_str(before);
        key.push_str(&format!("{:0>20}", &from[..end]));
        rest = &from[end..];
    }
    key.push_str(rest);
    key
}

/// The files that fit a pattern, in the order of the numbers in their names.
pub(super) fn fitting(pattern: &str) -> Result<Vec<std::path::PathBuf>, Failure> {
    let found = glob::glob(pattern)
        .map_err(|error| Failure::usage(format!("{pattern}: not a pattern: {error}")))?;
    let mut found: Vec<_> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    found.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    if found.is_empty() {
        return Err(Failure::Ingest(ingest::IngestError::new(pattern, "no file fits the pattern")));
    }
    Ok(found)
}

/// By what profiles are judged: the configuration, and what the command line says over it.
pub(super) fn session(model: &args::Model, config: Config) -> Result<Session, Failure> {
    let taxonomy = config::taxonomy(&config)?;
    let mut session = Session::new(catalog(&model.devices)?, config);
    let options = &mut session.options;
    options.device.clone_from(&model.device);
    options.ceilings = model.ceilings.set();
    options.threshold = model.threshold.or(options.threshold);
    options.floor = model.min_win.or(options.floor);
    options.floor_share = model.min_share.or(options.floor_share);
    options.taxonomy = taxonomy;
    session.today = Some(now().date());
    Ok(session)
}

fn report(
    (profile, baseline): (&Profile, Option<&Profile>),
    (model, advice): (&args::Model, &args::Advice),
    output: &args::Out,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let places = if output.explain {
        output.outputs.places("format of explanations")?
    } else {
        output.outputs.places_or_pictures(FORMAT)?
    };
    let session = session(model, config::load(advice)?)?;
    // Only pictures show it.
    #[cfg(not(feature = "plot"))]
    let _ = baseline;
    #[cfg(feature = "plot")]
    let baseline = baseline.map(|profile| session.analyze(profile)).transpose()?;
    let mut judged = session.judge(profile)?;
    let rows = match &output.kernel {
        Some(query) => Some(
            chosen(&judged.analysis, query)?
                .iter()
                .map(|kernel| kernel.longest)
                .collect::<Vec<_>>(),
        ),
        None => None,
    };
    let changes =
        what_if::changes(&output.what_if, &session.catalog, &judged.analysis, rows.as_deref())?;
    let mut answers = analysis::what_if(profile, &judged.analysis, &changes)?;
    let restyled = |style, _: &Path| Style { full_names: output.full_names, ..style };
    if output.explain {
        return explain(&judged, output.kernel.as_deref(), |subject| {
            output::write(&places, subject, restyled, terminal)
        });
    }
    if let Some(rows) = &rows {
        keep(&mut judged, &mut answers, rows);
    }
    let typed = typed(std::env::args_os().skip(1));
    let report = Report {
        analysis: &judged.analysis,
        findings: &judged.findings,
        top: output.top,
        what_if: &answers,
        command: Some(&typed),
    };
    #[cfg(feature = "plot")]
    let written = output::write_or_draw(&places, &report, restyled, terminal, |encoding| {
        let canvas = output.picture.canvas();
        report::picture(&report, baseline.as_ref(), output.figure, &canvas, encoding)
    });
    #[cfg(not(feature = "plot"))]
    let written = output::write(&places, &report, restyled, terminal);
    written
}

/// The command as it would be typed again, whatever the program's path is.
pub(super) fn typed(arguments: impl Iterator<Item = std::ffi::OsString>) -> String {
    let quoted = arguments.map(|argument| {
        let text = argument.to_string_lossy().into_owned();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#~".contains(c);
        // A shell takes a word that begins with a number sign for a comment.
        if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('#') {
            text
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    });
    std::iter::once("rooflint".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

fn chosen<'a>(analysis: &'a Analysis, query: &str) -> Result<Vec<&'a Kernel>, Failure> {
    let found = analysis.find(query);
    if found.is_empty() {
        let nearest = analysis.nearest(query).map(|name| format!("; the nearest name is {name:?}"));
        return Err(Failure::usage(format!(
            "no kernel is called {query:?}{}",
            nearest.unwrap_or_default()
        ))
        .help("give a whole name, a pattern such as '*gemm*', or '#1' for the first kernel"));
    }
    Ok(found)
}

/// The arithmetic of the chosen kernels, the first if none is chosen.
fn explain(
    judged: &Judged<'_>,
    query: Option<&str>,
    write: impl FnOnce(&dyn Reported) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let analysis = &judged.analysis;
    let kernels = chosen(analysis, query.unwrap_or("#1"))?;
    let explained = |kernel: &&Kernel| analysis::explain(judged.profile, analysis, kernel);
    let explanations: Vec<Explanation> = kernels.iter().map(explained).collect();
    let parts = kernels.iter().zip(&explanations).map(|(kernel, explanation)| {
        let findings = judged.findings_of(kernel);
        let one: Box<dyn Reported> =
            Box::new(Explained { analysis, kernel, explanation, findings });
        one
    });
    write(&Joined { title: "Kernels explained".to_owned(), parts: parts.collect() })
}

/// Leaves only the chosen kernels; the totals stay those of the whole run.
fn keep(judged: &mut Judged<'_>, answers: &mut [WhatIf], rows: &[usize]) {
    let Judged { analysis, findings, .. } = judged;
    let kept: Vec<bool> =
        analysis.kernels.iter().map(|kernel| rows.contains(&kernel.longest)).collect();
    retain(&mut analysis.kernels, &kept);
    retain(&mut findings.by_kernel, &kept);
    for answer in answers {
        retain(&mut answer.kernels, &kept);
    }
}

fn retain<T>(items: &mut Vec<T>, kept: &[bool]) {
    let mut kept = kept.iter();
    items.retain(|_| *kept.next().unwrap_or(&false));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_typed_again() {
        let words = ["run 1.csv", "--kernel", "#1", "-o", "a.html", "it's", ""];
        let typed = typed(words.iter().map(std::ffi::OsString::from));
        assert_eq!(typed, r"rooflint 'run 1.csv' --kernel '#1' -o a.html 'it'\''s' ''");
    }
}
