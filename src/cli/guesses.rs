//! What people type by habit: done if its meaning is plain, else answered with what to type.
//!
//! Options are looked up only after clap has refused them, so no valid command line is changed.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

use super::exit::Failure;
use crate::plain;
use crate::predict;
use crate::rules;

/// What a word or an option means.
enum Meaning {
    /// These words in its place.
    Same(&'static [&'static str]),
    /// Nothing that can be done as it stands; what to type.
    Say(&'static str),
}
use Meaning::{Same, Say};

/// First words that are no command.
const WORDS: &[(&[&str], Meaning)] = &[
    (&["version"], Same(&["--version"])),
    (&["compare", "cmp", "vs"], Same(&["diff"])),
    (&["report", "summary", "roofline", "run"], Same(&["analyze"])),
    (&["info", "show", "head"], Same(&["inspect"])),
    (&["export", "dump"], Same(&["convert"])),
    (&["device", "gpu", "gpus"], Same(&["devices"])),
    (&["rule"], Same(&["rules"])),
    (&["format", "inputs"], Same(&["formats"])),
    (&["estimate"], Same(&["predict"])),
    (&["history"], Same(&["trend"])),
    (&["baselines"], Same(&["baseline"])),
    (&["save"], Same(&["baseline", "save"])),
    (&["example", "examples", "sample"], Same(&["demo"])),
    (&["tutorial", "teach", "playground"], Same(&["learn"])),
    (
        &["list", "ls"],
        Say("rooflint devices, rooflint rules, rooflint formats, rooflint predict --list or \
             rooflint baseline list"),
    ),
    (
        &["check", "lint", "test"],
        Say("for a report: rooflint FILE; for an exit code in CI: \
             rooflint gate FILE --baseline BASELINE"),
    ),
    (
        &["ncu", "nsys", "nvprof", "rocprof", "python", "python3", "profile", "record"],
        Say("rooflint reads profiles and starts no program; record one: \
             ncu --set full --csv --page raw --print-units base --log-file run.csv APP"),
    ),
    (&["plot", "chart", "draw", "svg", "png"], Say("rooflint FILE -o roofline.svg")),
    (&["html", "page", "serve", "view", "open", "ui", "web"], Say("rooflint FILE -o report.html")),
    (&["json"], Say("rooflint FILE --format json")),
    (&["csv"], Say("rooflint FILE --format csv")),
    (&["markdown", "md"], Say("rooflint FILE --format markdown")),
    (&["what-if", "whatif", "project"], Say("rooflint FILE --what-if 'H200 SXM 141GB'")),
    (&["kernel", "kernels"], Say("rooflint FILE --kernel NAME")),
    (&["settings"], Same(&["config"])),
    (
        &["init"],
        Say("no configuration is needed; for one, write rooflint.toml: rooflint schema config"),
    ),
    (&["completion", "autocomplete"], Same(&["completions"])),
    (&["manual", "manpage"], Same(&["man"])),
    (&["schemas"], Same(&["schema", "--list"])),
    (&["update", "upgrade"], Say("cargo install rooflint")),
];

/// Options that no command has.
const OPTIONS: &[(&[&str], Meaning)] = &[
    (&["--json"], Same(&["--format", "json"])),
    (&["--html"], Same(&["--format", "html"])),
    (&["--csv"], Same(&["--format", "csv"])),
    (&["--markdown", "--md"], Same(&["--format", "markdown"])),
    (&["--text", "--txt", "--plain"], Same(&["--format", "text"])),
    (&["--gpu", "--arch", "-d"], Same(&["--device"])),
    (&["--kernels", "--kernel-name", "--filter", "-k"], Same(&["--kernel"])),
    (&["--limit", "--max", "-n"], Same(&["--top"])),
    (&["--out", "--outfile", "--output-file"], Same(&["--output"])),
    (&["--input", "--file", "-i", "-f"], Same(&[])),
    (&["--exclude", "--disable", "--skip"], Same(&["--ignore"])),
    (&["--enable", "--only"], Same(&["--select"])),
    (&["--no-color", "--no-colour", "--nocolor"], Same(&["--color", "never"])),
    (&["--colour"], Same(&["--color"])),
    (&["--against", "--compare-to"], Same(&["--baseline"])),
    (&["--list-devices", "--list-gpus"], Say("rooflint devices")),
    (&["--list-rules", "--rules"], Say("rooflint rules")),
    (&["--list-formats", "--formats"], Say("rooflint formats")),
    (&["--schema"], Say("rooflint schema")),
    (&["--demo"], Say("rooflint demo")),
    (&["--diff", "--compare"], Say("rooflint diff BASELINE CURRENT")),
    (&["--svg", "--png", "--plot"], Say("rooflint FILE -o roofline.svg")),
    (&["--pdf"], Say("rooflint FILE -o report.html, and print the page from a browser")),
    (&["--fail", "--check", "--ci"], Say("rooflint gate FILE --baseline BASELINE")),
];

/// Options that take any whole number from 0.
const COUNTS: [&str; 3] = ["--top", "--threads", "--warmup"];

/// The arguments after the program's name, habits of the first words replaced.
///
/// # Errors
/// What to type, where a word has no plain meaning.
pub(super) fn words(arguments: &mut Vec<OsString>) -> Result<(), Failure> {
    let text = |at: usize| arguments.get(at).map(|one| one.to_string_lossy().into_owned());
    let Some(first) = text(1) else { return Ok(()) };
    let (second, third) = (text(2), text(3));
    let replace = |arguments: &mut Vec<OsString>, count: usize, words: &[&str]| {
        arguments.splice(1..=count, words.iter().map(OsString::from));
    };
    if first == "-v" && second.is_none() {
        replace(arguments, 1, &["--version"]);
        return Ok(());
    }
    // The list of what a device can be called.
    let is_list = |word: &str| matches!(word, "list" | "help" | "?");
    let named = arguments.windows(2).any(|pair| {
        let device = pair[0] == "--device" || pair[0] == "--gpu";
        device && is_list(&pair[1].to_string_lossy())
    });
    if named || first == "--devices" && second.is_none() {
        let all = arguments.len() - 1;
        replace(arguments, all, &["devices"]);
        return Ok(());
    }
    explained(arguments);
    if Path::new(&first).exists() {
        return Ok(());
    }
    if first == "explain" {
        return explain(arguments, second.as_deref(), third.is_some());
    }
    if first == "help"
        && let Some(rule) = second.filter(|word| rules::rule(word).is_some())
    {
        replace(arguments, 2, &["rules", &rule]);
        return Ok(());
    }
    match WORDS.iter().find(|(words, _)| words.contains(&first.as_str())) {
        Some((_, Same(words))) => replace(arguments, 1, words),
        Some((_, Say(help))) => {
            return Err(Failure::usage(format!("no command is called {first:?}")).help(*help));
        }
        None => {}
    }
    Ok(())
}

/// `--explain gemm` chooses the kernel too.
fn explained(arguments: &mut Vec<OsString>) {
    let Some(at) = arguments.iter().position(|one| one == "--explain") else { return };
    let Some(next) = arguments.get(at + 1).map(|one| one.to_string_lossy().into_owned()) else {
        return;
    };
    let is_kernel = !next.starts_with('-') && !next.contains(['.', '/', '\\']);
    if is_kernel && !Path::new(&next).exists() && at > 1 {
        arguments.insert(at + 1, OsString::from("--kernel"));
    }
}

/// `explain` of a rule, or of a file's kernel.
fn explain(arguments: &mut Vec<OsString>, what: Option<&str>, more: bool) -> Result<(), Failure> {
    let what = what.unwrap_or("NAME");
    if rules::rule(what).is_some() {
        arguments[1] = OsString::from("rules");
        return Ok(());
    }
    if Path::new(what).is_file() {
        arguments[1] = OsString::from("analyze");
        let place = if more { 3 } else { arguments.len() };
        if more {
            arguments.insert(place, OsString::from("--kernel"));
        }
        arguments.push(OsString::from("--explain"));
        return Ok(());
    }
    Err(Failure::usage("no command is called \"explain\"").help(format!(
        "a kernel: rooflint FILE --kernel {} --explain; a rule: rooflint rules RULE",
        plain::quoted(what)
    )))
}

/// Replaces an option that clap does not know; true if the command line is worth another try.
///
/// # Errors
/// What to type, where the option has no plain meaning.
pub(super) fn option(error: &Error, arguments: &mut Vec<OsString>) -> Result<bool, Failure> {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else {
        return Ok(false);
    };
    if error.kind() != ErrorKind::UnknownArgument {
        return if needs_value(unknown, "--baseline") {
            Err(Failure::usage("--baseline needs a file to compare with").help(
                "rooflint gate CURRENT --baseline BASELINE, or rooflint diff BASELINE CURRENT",
            ))
        } else {
            Ok(false)
        };
    }
    let name = unknown.split('=').next().unwrap_or_default();
    let found = OPTIONS.iter().find(|(names, _)| names.contains(&name));
    let Some((_, meaning)) = found else { return Ok(false) };
    let starts = |one: &OsString| one.to_string_lossy().split('=').next() == Some(name);
    let Some(at) = arguments.iter().position(starts) else { return Ok(false) };
    let written = arguments[at].to_string_lossy().into_owned();
    let value = written.split_once('=').map(|(_, value)| value.to_owned());
    match (meaning, value) {
        (Say(help), _) => Err(Failure::usage(format!("no option is called {name:?}")).help(*help)),
        // `--json=report.json` names a file.
        (Same(["--format", format]), Some(path)) => {
            let words = [OsString::from("-o"), OsString::from(format!("{format}={path}"))];
            arguments.splice(at..=at, words);
            Ok(true)
        }
        (Same(words), value) => {
            let words = words.iter().map(OsString::from).chain(value.map(OsString::from));
            arguments.splice(at..=at, words);
            Ok(true)
        }
    }
}

/// Refuses a number that an option cannot take, in plain words.
///
/// # Errors
/// What the option takes.
pub(super) fn number(error: &Error, arguments: &[OsString]) -> Result<(), Failure> {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let Some(argument) = text(ContextKind::InvalidArg) else { return Ok(()) };
    let refused = |option: &str, value: &str| {
        let help = format!("{option} takes a whole number from 0, such as 20");
        Err(Failure::usage(format!("invalid value {value:?} for {option}")).help(help))
    };
    match error.kind() {
        // Clap takes it for an option, and would have it behind `--`, where files are.
        ErrorKind::UnknownArgument if argument.parse::<f64>().is_ok() => {
            let words = arguments.windows(2).find(|pair| pair[1] == argument);
            let option = words.map(|pair| pair[0].to_string_lossy().into_owned());
            match option.filter(|option| COUNTS.contains(&option.as_str())) {
                Some(option) => refused(&option, argument),
                None => Ok(()),
            }
        }
        ErrorKind::ValueValidation => {
            let option = argument.split([' ', '=']).next().unwrap_or_default();
            match text(ContextKind::InvalidValue).filter(|_| COUNTS.contains(&option)) {
                Some(value) => refused(option, value),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Refuses a command line in which `--baseline` took all files, so that `gate` has none to check.
///
/// # Errors
/// The command with the files where they belong.
pub(super) fn greedy(error: &Error, arguments: &[OsString]) -> Result<(), Failure> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return Ok(());
    }
    let words: Vec<String> =
        arguments.iter().map(|one| one.to_string_lossy().into_owned()).collect();
    let place = |name: &str| words.iter().position(|word| word == name);
    let (Some(gate), Some(option)) = (place("gate"), place("--baseline")) else { return Ok(()) };
    let taken = words[option + 1..].iter().take_while(|word| !is_option(word)).count();
    let after = option + 1 + taken;
    // The first is the baseline for whoever expects an option to take one file.
    let [baseline, current @ ..] = &words[option + 1..after] else { return Ok(()) };
    if gate > option {
        return Ok(());
    }
    let quoted = |words: &[String]| -> Vec<String> {
        words.iter().map(|word| plain::quoted(word)).collect()
    };
    let (message, current) = if current.is_empty() {
        (
            "gate needs the runs to check; --baseline names what they are compared with",
            vec!["CURRENT".to_owned()],
        )
    } else {
        ("--baseline took every file after it, so that no run is left to check", quoted(current))
    };
    let before = ["rooflint".to_owned()].into_iter().chain(quoted(&words[1..=gate]));
    let compared = current.into_iter().chain(["--baseline".to_owned(), plain::quoted(baseline)]);
    let others = quoted(&words[gate + 1..option]).into_iter().chain(quoted(&words[after..]));
    let line: Vec<String> = before.chain(compared).chain(others).collect();
    Err(Failure::usage(message)
        .help(format!("name the runs to check before --baseline: {}", line.join(" "))))
}

/// Whether a word begins an option; a dash alone is the standard input.
fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Whether clap misses the value of this option.
fn needs_value(shown: &str, name: &str) -> bool {
    shown.split([' ', '=']).next() == Some(name)
}

/// Lets clap suggest the option that is nearest by edits, rather than by its first letters:
/// `--devise` is `--device`.
pub(super) fn nearest(error: &mut Error, command: &Command, arguments: &[OsString]) {
    let Some(ContextValue::String(unknown)) = error.get(ContextKind::InvalidArg) else { return };
    if error.kind() != ErrorKind::UnknownArgument || !unknown.starts_with("--") {
        return;
    }
    let typed = unknown.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
    let inner = arguments.iter().skip(1).find_map(|one| command.find_subcommand(one));
    let options = command.get_arguments().chain(inner.into_iter().flat_map(Command::get_arguments));
    let names =
        options.filter(|option| !option.is_hide_set()).filter_map(|option| option.get_long());
    let near = names.map(|name| (crate::plain::distance(&typed, name), name)).min();
    match near.filter(|(distance, _)| distance * 3 <= typed.chars().count()) {
        Some((_, name)) => {
            let name = ContextValue::String(format!("--{name}"));
            error.insert(ContextKind::SuggestedArg, name);
        }
        None => {
            error.remove(ContextKind::SuggestedArg);
        }
    }
}

/// What to type instead of a file that does not exist.
pub(super) fn missing(path: &Path) -> Option<String> {
    let word = path.to_str()?;
    if rules::rule(word).is_some() {
        return Some(format!("a rule is shown by: rooflint rules {word}"));
    }
    if predict::form(word).is_ok() {
        return Some(format!("estimate a kernel: rooflint predict {word} … --device NAME"));
    }
    let output = [".html", ".md", ".json", ".svg", ".png"].iter().any(|end| word.ends_with(end));
    output.then(|| format!("to write this file: -o {}", plain::quoted(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words that a command line becomes, or what to type.
    fn become_of(line: &str) -> String {
        let mut words: Vec<OsString> =
            std::iter::once("rooflint").chain(line.split(' ')).map(OsString::from).collect();
        match super::words(&mut words) {
            Ok(()) => {
                let words = words.iter().skip(1).map(|one| one.to_string_lossy().into_owned());
                words.collect::<Vec<_>>().join(" ")
            }
            Err(failure) => format!("{failure}: {}", failure.next_step().unwrap_or_default()),
        }
    }

    #[test]
    fn words_of_other_programs_become_commands() {
        for (line, expected) in [
            ("version", "--version"),
            ("-v", "--version"),
            ("compare a.csv b.csv", "diff a.csv b.csv"),
            ("report run.csv", "analyze run.csv"),
            ("info run.csv", "inspect run.csv"),
            ("gpus", "devices"),
            ("rule tail-effect", "rules tail-effect"),
            ("explain tail-effect", "rules tail-effect"),
            ("help tail-effect", "rules tail-effect"),
            ("help formats", "help formats"),
            ("save run.csv", "baseline save run.csv"),
            ("export run.csv -o a.csv", "convert run.csv -o a.csv"),
            ("tutorial -o a.html", "learn -o a.html"),
            ("example", "demo"),
            ("--device list", "devices"),
            ("run.csv --device list", "devices"),
            ("--devices", "devices"),
            ("run.csv --explain gemm", "run.csv --explain --kernel gemm"),
            ("--explain run.csv", "--explain run.csv"),
            ("explain Cargo.toml", "analyze Cargo.toml --explain"),
            ("explain Cargo.toml gemm", "analyze Cargo.toml --kernel gemm --explain"),
            // A file is a file, whatever its name is.
            ("src", "src"),
            ("run.csv", "run.csv"),
        ] {
            assert_eq!(become_of(line), expected, "{line}");
        }
    }

    #[test]
    fn words_without_a_plain_meaning_are_answered() {
        for (line, told) in [
            ("explain gemm_kernel", "rooflint FILE --kernel gemm_kernel --explain"),
            ("explain", "rooflint FILE --kernel NAME --explain"),
            ("list", "rooflint devices, rooflint rules"),
            ("check run.csv", "rooflint gate FILE --baseline BASELINE"),
            ("ncu ./app", "starts no program"),
            // In this folder `python` is a path, which comes before a word.
            ("python3 train.py", "ncu --set full"),
            ("plot run.csv", "rooflint FILE -o roofline.svg"),
            ("html run.csv", "rooflint FILE -o report.html"),
            ("json run.csv", "rooflint FILE --format json"),
            ("what-if H200", "rooflint FILE --what-if"),
            ("init", "rooflint schema config"),
        ] {
            let answer = become_of(line);
            assert!(answer.starts_with("no command") && answer.contains(told), "{line}: {answer}");
        }
    }

    #[test]
    fn a_missing_file_may_be_something_else() {
        let told = |word: &str| missing(Path::new(word)).unwrap_or_default();
        assert_eq!(told("tail-effect"), "a rule is shown by: rooflint rules tail-effect");
        assert_eq!(told("gemm"), "estimate a kernel: rooflint predict gemm … --device NAME");
        assert_eq!(told("out.html"), "to write this file: -o out.html");
        assert_eq!(told("run.csv"), "");
    }

    #[test]
    fn nothing_is_listed_twice() {
        for table in [WORDS, OPTIONS] {
            let mut names: Vec<&str> =
                table.iter().flat_map(|(names, _)| *names).copied().collect();
            let all = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }
}
