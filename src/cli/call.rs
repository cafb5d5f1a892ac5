//! Commands for another program in the same process, such as the Python package: the same words and the
//! same errors as on the command line, with results instead of output.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;

use super::analyze::{self, Drawing};
use super::commands::Command;
use super::exit::Failure;
use super::gate::{self, Decided};
use super::listing::Listing;
use super::output::{self, Kind, Places};
use super::predict::{self, Estimate, Found};
use super::terminal::Terminal;
use super::{args, devices, line, rules};
use crate::gate::Decision;
#[cfg(feature = "plot")]
use crate::report::Encoding;
use crate::report::{self, GATE_OUTPUTS, GateReport, Report, Reported, Style, tables};
use crate::table::Table;

pub use super::exit::Code;
pub use super::held::Held;
pub use super::problem::{Level, Problem};

/// The result of a command.
#[derive(Debug)]
pub struct Answer {
    kind: Answered,
    /// The command as it would be typed again, if all its inputs are files.
    typed: Option<String>,
}

#[derive(Debug)]
enum Answered {
    Run(Box<analyze::Answer>),
    Decision(Box<Decided>),
    Prediction(Estimate),
    Listing(Listing),
}

/// How a text is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wording {
    /// All sections instead of the brief.
    pub full: bool,
    /// Names as the profiler wrote them.
    pub full_names: bool,
    /// Columns that the text must fit into; no limit without.
    pub width: Option<usize>,
}

/// How a picture is drawn: `--figure`, `--size` and `--theme`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Drawn {
    #[command(flatten)]
    drawing: Drawing,
}

/// Runs a command: `analyze`, `demo`, `diff`, `gate`, `predict`, `devices` or `rules` with its options, which the
/// environment and the configuration add to as on the command line; outputs are not looked at.
///
/// # Errors
/// [`Problem`] as the program would print it.
pub fn call(words: Vec<OsString>, held: Held) -> Result<Answer, Box<Problem>> {
    let is_typed = held.bytes.is_empty() && held.runs.is_empty();
    let mut typed = is_typed.then(|| args::typed(words.iter()));
    let mut arguments = vec![OsString::from("rooflint")];
    arguments.extend(words);
    let terminal = Terminal::silent(typed.clone().unwrap_or_default());
    let kind = match line::understood(arguments, None)?.command {
        Command::Analyze(command) => {
            Answered::Run(Box::new(analyze::answer(command, held, &terminal)?))
        }
        Command::Demo(command) => {
            Answered::Run(Box::new(analyze::sample_answer(&command, &terminal)?))
        }
        Command::Diff(command) => {
            // `rooflint diff` takes one run of each side.
            typed = typed.filter(|_| command.reading.files.len() == 2);
            Answered::Decision(Box::new(gate::difference(command, held, &terminal)?))
        }
        Command::Gate(command) => {
            Answered::Decision(Box::new(gate::decide(command, held, &terminal)?))
        }
        Command::Predict(command) => match predict::found(&command)? {
            Found::Estimate(estimate) => Answered::Prediction(estimate),
            Found::Listing(listing) => Answered::Listing(listing),
        },
        Command::Devices(command) => Answered::Listing(devices::found(&command)?),
        Command::Rules(command) => Answered::Listing(rules::found(&command, &terminal)?),
        _ => return Err(Failure::usage("this command has no result: run the program").into()),
    };
    Ok(Answer { kind, typed })
}

impl Answer {
    /// Makes something of the subject of the answer.
    fn with<T>(&self, make: impl FnOnce(&dyn Reported) -> T) -> T {
        match &self.kind {
            Answered::Run(answer) => make(&self.of_run(answer)),
            Answered::Decision(decided) => make(&decided.report(self.typed.as_deref())),
            Answered::Prediction(estimate) => make(&estimate.predicted()),
            Answered::Listing(listing) => listing.with(make),
        }
    }

    fn of_run<'a>(&'a self, answer: &'a analyze::Answer) -> Report<'a> {
        Report {
            analysis: &answer.analysis,
            findings: &answer.findings,
            top: answer.top,
            what_if: &answer.what_if,
            command: self.typed.as_deref(),
        }
    }

    /// Returns the answer in a format, by the format's name; `None` if there is no such format.
    #[must_use]
    pub fn written(&self, format: &str, wording: Wording) -> Option<String> {
        let style = styled(wording);
        self.with(|subject| {
            let is_known = report::formats_with(GATE_OUTPUTS).any(|known| known.name == format);
            is_known.then(|| report::written(subject, format, &style)).flatten()
        })
    }

    /// Writes files, each in the format of its ending or as `FORMAT=PATH`; pictures are drawn as these
    /// words say.
    ///
    /// # Errors
    /// [`Problem`] if no format has the ending, a word is unknown, or a file cannot be written.
    pub fn save(
        &self,
        paths: &[PathBuf],
        wording: Wording,
        #[cfg_attr(not(feature = "plot"), expect(unused_variables, reason = "no pictures"))]
        drawing: &[String],
    ) -> Result<(), Box<Problem>> {
        let asked = (paths, None);
        let places: Places = match &self.kind {
            Answered::Run(_) => output::places_or_pictures(asked, analyze::FORMAT)?,
            Answered::Prediction(_) => output::places_or_pictures(asked, predict::WHAT)?,
            Answered::Decision(_) => output::places_for(asked, GATE_OUTPUTS, gate::FORMAT)?,
            Answered::Listing(_) => output::places_for(asked, report::NO_OWN, "format of lists")?,
        };
        #[cfg(feature = "plot")]
        if !drawing.is_empty()
            && places.iter().any(|place| !matches!(place.format, Kind::Picture(_)))
        {
            return Err(Failure::usage("a picture is not written as another document")
                .help("end its name with .svg or .png; write the rest with the report's own save")
                .into());
        }
        let terminal = Terminal::silent(String::new());
        let style = |_, _: &std::path::Path| styled(wording);
        for place in places {
            let place = [place];
            match place[0].format {
                Kind::Named(_) | Kind::Parquet => {
                    self.with(|subject| output::write(&place, subject, style, &terminal))?;
                }
                #[cfg(feature = "plot")]
                Kind::Picture(encoding) => {
                    terminal.write(&place[0].path, &self.picture(drawing, encoding)?)?;
                }
            }
        }
        Ok(())
    }

    /// Draws the answer as these words say: `--figure`, `--size`, `--theme`.
    ///
    /// # Errors
    /// [`Problem`] if a word is unknown, or this cannot be drawn.
    #[cfg(feature = "plot")]
    pub fn picture(&self, drawing: &[String], encoding: Encoding) -> Result<Vec<u8>, Box<Problem>> {
        let Drawn { drawing } = Drawn::try_parse_from(drawing)
            .map_err(|error| Failure::CommandLine(Box::new(error)))?;
        let drawn = match &self.kind {
            Answered::Run(answer) => drawing.draw(&self.of_run(answer), None, encoding),
            Answered::Prediction(estimate) => {
                estimate.predicted().picture(&drawing.canvas(), encoding)
            }
            _ => return Err(Failure::usage("there is no picture of this").into()),
        };
        Ok(drawn.map_err(|error| Failure::usage(error.to_string()))?)
    }

    /// Returns a table: `kernels`, `launches`, `findings` or `totals` of a run, `checks` of a comparison,
    /// `predictions`, `devices`; `None` for what the answer does not have.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<Table<'_>> {
        match (&self.kind, name) {
            (Answered::Run(answer), "launches") => Some(tables::launches(&answer.profile)),
            (Answered::Run(answer), "kernels") => Some(tables::kernels(&self.of_run(answer))),
            (Answered::Run(answer), "findings") => Some(tables::findings(&self.of_run(answer))),
            (Answered::Run(answer), "totals") => Some(tables::totals(&self.of_run(answer))),
            (Answered::Decision(decided), "checks") => Some(tables::checks(&decided.report(None))),
            (Answered::Prediction(estimate), "predictions") => {
                Some(tables::predictions(&estimate.predicted()))
            }
            (Answered::Listing(Listing::Devices(devices)), "devices") => {
                Some(tables::devices(devices))
            }
            _ => None,
        }
    }

    /// Returns the rows of the table `kernels` that a name, a part of it, a pattern or a rank finds.
    ///
    /// # Errors
    /// [`Problem`] if no kernel is found, or the answer is not a run.
    pub fn found(&self, query: &str) -> Result<Vec<usize>, Box<Problem>> {
        match &self.kind {
            Answered::Run(answer) => Ok(analyze::places(answer, query)?),
            _ => Err(Failure::usage("only kernels of a run are found").into()),
        }
    }

    /// Explains kernels of a run, by name, pattern or rank; the first without any.
    ///
    /// # Errors
    /// [`Problem`] if no kernel is found, or the answer is not a run.
    pub fn explained(
        &self,
        kernels: &[String],
        format: &str,
        wording: Wording,
    ) -> Result<String, Box<Problem>> {
        let Answered::Run(answer) = &self.kind else {
            return Err(Failure::usage("only kernels of a run are explained").into());
        };
        let mut text = None;
        analyze::explained(answer, kernels, |subject| {
            text = report::written(subject, format, &styled(wording));
            Ok(())
        })?;
        let unknown = || {
            Failure::usage(format!("an explanation has no format {format:?}"))
                .help("text, markdown, html, json or csv")
        };
        text.ok_or_else(|| unknown().into())
    }

    /// Returns the run, to compare it with others; `None` if the answer is none.
    #[must_use]
    pub fn run(&self) -> Option<&crate::compare::Run> {
        match &self.kind {
            Answered::Run(answer) => Some(&answer.run),
            _ => None,
        }
    }

    /// Returns the decision with its exit code; `None` if the answer is none.
    #[must_use]
    pub fn decision(&self) -> Option<(&Decision, u8)> {
        match &self.kind {
            Answered::Decision(decided) => Some((&decided.decision, decided.code())),
            _ => None,
        }
    }

    /// Returns `true` if this is a comparison that could compare nothing.
    pub(super) const fn is_without_result(&self) -> bool {
        matches!(&self.kind, Answered::Decision(decided) if decided.is_without_result())
    }

    /// Returns figures by names that experiment trackers accept, as JSON; `None` without runs.
    #[must_use]
    pub fn metrics(&self) -> Option<String> {
        match &self.kind {
            Answered::Run(answer) => Some(report::metrics(std::slice::from_ref(&answer.run))),
            Answered::Decision(decided) => {
                let gated: GateReport<'_> = decided.report(None);
                report::written(&gated, "metrics", &Style::default())
            }
            _ => None,
        }
    }
}

fn styled(wording: Wording) -> Style {
    let Wording { full, full_names, width } = wording;
    Style { width, full_names, full, ..Style::default() }
}
