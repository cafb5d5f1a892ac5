//! Finds the configuration, and adds what the command line says about rules.

use std::path::{Path, PathBuf};

use super::args::{Advice, Configuration};
use super::exit::{Code, Failure};
use super::terminal::Terminal;
use crate::config::{self, Config};
use crate::plain;
use crate::rules::{self, Custom, RULES};

/// The file that holds for a command, and files beside it that are not read.
pub(super) fn file(from: &Configuration) -> Option<(PathBuf, Vec<PathBuf>)> {
    match &from.config {
        Some(path) => Some((path.clone(), Vec::new())),
        None if from.no_config => None,
        None => nearest(),
    }
}

/// The configuration that holds for a command: `--config`, or the nearest file. Files beside it are named on
/// standard error.
pub(super) fn find(from: &Configuration, terminal: &Terminal) -> Result<Config, Failure> {
    let Some((path, beside)) = file(from) else { return Ok(Config::default()) };
    if let Some(note) = unread(&path, &beside) {
        terminal.note(Code::Configuration, &note);
    }
    Ok(Config::read(&path)?)
}

/// That files beside the configuration are not read; none where there are none.
pub(super) fn unread(path: &Path, beside: &[PathBuf]) -> Option<String> {
    if beside.is_empty() {
        return None;
    }
    let beside: Vec<String> = beside.iter().map(|path| path.display().to_string()).collect();
    let (path, beside) = (path.display(), beside.join(" and "));
    Some(format!("{path} is used, and {beside} is ignored; keep one of them"))
}

/// The configuration that holds for a command, with the rules that it selects or leaves out.
pub(super) fn load(advice: &Advice, terminal: &Terminal) -> Result<Config, Failure> {
    let mut config = find(&advice.configuration, terminal)?;
    let custom = &config.rules.custom;
    for (words, set) in
        [(&advice.select, &mut config.rules.select), (&advice.ignore, &mut config.rules.ignore)]
    {
        for word in words {
            let word = word.trim();
            if rules::rule(word).is_none() && !custom.iter().any(|rule| rule.id == word) {
                return Err(no_rule(word, custom));
            }
            set.insert(rules::current(word).to_owned());
        }
    }
    Ok(config)
}

/// The error for a word that names no rule.
pub(super) fn no_rule(word: &str, custom: &[Custom]) -> Failure {
    let all = RULES.iter().map(|rule| rule.id).chain(custom.iter().map(|rule| &*rule.id));
    let near = plain::did_you_mean(word, all);
    Failure::usage(format!("unknown rule {word:?}"))
        .help(format!("{near}list them with `rooflint rules`"))
}

/// The nearest configuration, here or in a folder above, and the other ones in its folder.
pub(super) fn nearest() -> Option<(PathBuf, Vec<PathBuf>)> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|folder: &Path| {
        let mut found = config::in_folder(folder).into_iter();
        Some((found.next()?, found.collect()))
    })
}
