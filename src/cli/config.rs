//! Finds the configuration, and adds what the command line says about rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{Advice, Configuration};
use super::exit::Failure;
use crate::config::Config;
use crate::rules::{self, Custom, RULES};
use crate::taxonomy::Taxonomy;

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
            set.insert(word.to_owned());
        }
    }
    Ok(config)
}

/// The user's own kernel names before the built-in ones.
pub(super) fn taxonomy(config: &Config) -> Result<Option<Arc<Taxonomy>>, Failure> {
    let Some(path) = &config.kernel_names else { return Ok(None) };
    let shown = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|cause| Failure::usage(format!("{shown}: cannot read kernel names: {cause}")))?;
    let taxonomy = Taxonomy::with_text(&shown, &text).map_err(|error| {
        let help = error.help();
        Failure::usage(error.to_string()).help(help)
    })?;
    Ok(Some(Arc::new(taxonomy)))
}

/// The error for a word that names no rule.
pub(super) fn no_rule(word: &str, custom: &[Custom]) -> Failure {
    let all = RULES.iter().map(|rule| rule.id).chain(custom.iter().map(|rule| &*rule.id));
    let nearest = all.max_by(|one, two| {
        strsim::jaro_winkler(one, word).total_cmp(&strsim::jaro_winkler(two, word))
    });
    let nearest = nearest.map_or_else(String::new, |id| format!("; did you mean {id:?}?"));
    Failure::usage(format!("no rule is called {word:?}{nearest}"))
        .help("`rooflint rules` lists them")
}

fn nearest() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().map(|folder: &Path| folder.join("rooflint.toml")).find(|path| path.is_file())
}
