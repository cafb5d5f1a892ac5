//! Finds the configuration, and adds what the command line says about rules.

use std::path::{Path, PathBuf};

use super::args::{Advice, Configuration};
use super::exit::Failure;
use crate::config::Config;
use crate::rules::{self, Custom, RULES};

/// The configuration that holds for a command: `--config`, or the nearest `rooflint.toml`.
pub(super) fn find(from: &Configuration) -> Result<Config, Failure> {
    let found = from.config.clone().or_else(|| if from.no_config { None } else { nearest() });
    match found {
        Some(path) => Ok(Config::read(&path)?),
        None => Ok(Config::default()),
    }
}

/// The configuration that holds for a command, with the rules that it selects or leaves out.
pub(super) fn load(advice: &Advice) -> Result<Config, Failure> {
    let mut config = find(&advice.configuration)?;
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
    let nearest = all.max_by(|one, two| {
        strsim::jaro_winkler(one, word).total_cmp(&strsim::jaro_winkler(two, word))
    });
    let nearest = nearest.map_or_else(String::new, |id| format!("; did you mean {id:?}?"));
    Failure::usage(format!("unknown rule {word:?}{nearest}"))
        .help("list them with `rooflint rules`")
}

/// The nearest `rooflint.toml`, here or in a folder above.
pub(super) fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder: &Path| folder.join("rooflint.toml")).find(|path| path.is_file())
}
