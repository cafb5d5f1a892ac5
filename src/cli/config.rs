//! Finds the configuration, and adds what the command line says about rules.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

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

/// Year, month and day of now, in UTC.
pub(super) fn today() -> (u32, u32, u32) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    date(since.as_secs() / 86_400)
}

/// The date so many days after 1970-01-01 in the Gregorian calendar (H. Hinnant, *chrono-Compatible
/// Low-Level Date Algorithms*, `civil_from_days`).
fn date(days: u64) -> (u32, u32, u32) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    (year as u32, month as u32, day as u32)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_become_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (20_778, (2026, 11, 21)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }
}
