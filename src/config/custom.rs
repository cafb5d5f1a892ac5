//! Rules of the user's own in a configuration, and where in the file their expressions go wrong.

use std::ops::Range;

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::ConfigError;
use super::place::Place;
use super::wire::Spanned;
use crate::plain;
use crate::rules::{self, Custom, Expression, Fault, Over, Severity, Template};

/// A rule of the user's own: a condition over columns, and what to say where it holds.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// Its name: lowercase letters, digits and hyphens.
    pub(super) id: Spanned<String>,
    /// The condition, in the Common Expression Language.
    when: Spanned<String>,
    /// What was found; a column in braces stands for its value.
    message: Spanned<String>,
    /// How grave it is; from the time at stake without it.
    #[schemars(with = "Option<Severity>")]
    severity: Option<Spanned<String>>,
    /// The next experiment.
    next: Option<Spanned<String>>,
    /// `kernels`, which it is without it, or `launches`.
    over: Option<Spanned<String>>,
    /// What a cure would bring, in seconds: an expression of columns.
    at_stake: Option<Spanned<String>>,
}

impl Place<'_> {
    /// A rule of the user's own, unlike those read before it.
    pub(super) fn custom(&self, wire: &Wire, before: &[Custom]) -> Result<Custom, ConfigError> {
        let id = self.id(&wire.id, before)?;
        let over = match &wire.over {
            None => Over::default(),
            Some(word) => self.one_of(word, "over", &Over::ALL, Over::key)?,
        };
        let severity = match &wire.severity {
            None => None,
            Some(word) => Some(self.one_of(word, "severity", &Severity::ALL, Severity::label)?),
        };
        let when = self.read(&wire.when, |text| Expression::condition(text, over))?;
        let message = self.read(&wire.message, |text| Template::parse(text, over))?;
        let next = match &wire.next {
            None => None,
            Some(text) => Some(self.read(text, |text| Template::parse(text, over))?),
        };
        let at_stake = match &wire.at_stake {
            None => None,
            Some(text) => Some(self.read(text, |text| Expression::amount(text, over))?),
        };
        Ok(Custom { id, over, when, message, severity, next, at_stake })
    }

    fn id(&self, id: &Spanned<String>, before: &[Custom]) -> Result<String, ConfigError> {
        let name = id.get_ref();
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_kebab = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.split('-').all(|word| !word.is_empty() && word.chars().all(is_plain));
        let (message, help) = if !is_kebab {
            let message = format!("{name:?} is not a valid rule id");
            (message, "use lowercase letters, digits and hyphens: slow-house-gemm")
        } else if rules::rule(name).is_some() {
            let help = "choose another name, or set the rule's thresholds in [rule.NAME]";
            (format!("{name:?} is a built-in rule"), help)
        } else if before.iter().any(|rule| rule.id == *name) {
            (format!("there are two custom rules {name:?}"), "give each a name of its own")
        } else {
            return Ok(name.clone());
        };
        Err(self.wrong(&id.span(), message, help))
    }

    /// One of a few words.
    pub(super) fn one_of<T: Copy>(
        &self,
        word: &Spanned<String>,
        key: &str,
        all: &[T],
        label: fn(T) -> &'static str,
    ) -> Result<T, ConfigError> {
        let known = all.iter().copied().find(|one| label(*one) == word.get_ref());
        known.ok_or_else(|| {
            let words: Vec<&str> = all.iter().map(|one| label(*one)).collect();
            let near = plain::did_you_mean(word.get_ref(), words.iter().copied());
            let message = format!("{key} cannot be {:?}", word.get_ref());
            let help = format!("{near}it is one of {}", words.join(", "));
            self.wrong(&word.span(), message, help)
        })
    }

    fn read<T>(
        &self,
        value: &Spanned<String>,
        read: impl FnOnce(&str) -> Result<T, Fault>,
    ) -> Result<T, ConfigError> {
        read(value.get_ref()).map_err(|fault| {
            let at = self.inside(value, fault.at);
            self.wrong(&(at..at), fault.message, fault.help)
        })
    }

    /// Where a byte of a string's value stands in the file; the start of the string, where escapes
    /// before it make that uncertain.
    fn inside(&self, value: &Spanned<String>, at: usize) -> usize {
        let Range { start, end } = value.span();
        let raw = self.text.get(start..end).unwrap_or_default();
        let is_long = raw.starts_with("\"\"\"") || raw.starts_with("'''");
        let open = if is_long { 3 } else { 1 };
        let mut first = start + open;
        if is_long {
            // The first line break of a string over several lines is not part of it.
            let body = raw.get(open..).unwrap_or_default();
            first += if body.starts_with("\r\n") { 2 } else { usize::from(body.starts_with('\n')) };
        }
        let before = value.get_ref().get(..at).unwrap_or_default();
        let as_written = self.text.get(first..first + before.len());
        let is_escaped = raw.starts_with('"') && before.contains('\\');
        if as_written == Some(before) && !is_escaped { first + at } else { start }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::rules::{Over, Severity};

    /// The error of a configuration, with its help.
    fn refused(text: &str) -> String {
        let error = Config::parse("rooflint.toml", text).unwrap_err();
        format!("{error}; {}", error.help())
    }

    fn rule(lines: &str) -> String {
        format!("[[custom-rule]]\nid = \"own\"\nmessage = \"found\"\n{lines}")
    }

    #[test]
    fn a_rule_is_read_with_all_its_keys() {
        let text = r#"
            [rules]
            select = ["slow-house-gemm", "tail-effect"]
            [[custom-rule]]
            id = "slow-house-gemm"
            when = 'category == "dot-product" && headroom > 1.5 && share > 0.01'
            message = "{name} is {headroom} above its roof"
            severity = "medium"
            next = "ask the kernels team"
            over = "kernels"
            at-stake = 'savings_high_s / 2'
        "#;
        let config = Config::parse("rooflint.toml", text).unwrap();
        let rule = &config.rules.custom[0];
        assert_eq!((&*rule.id, rule.over), ("slow-house-gemm", Over::Kernels));
        assert_eq!((rule.severity, rule.next.is_some()), (Some(Severity::Medium), true));
        let named: Vec<&str> = rule.when.columns().iter().map(|one| &*one.name).collect();
        assert_eq!(named, ["category", "headroom", "share"]);
        assert!(config.rules.runs("slow-house-gemm") && !config.rules.runs("small-grid"));
    }

    #[test]
    fn what_is_wrong_in_a_condition_is_located_inside_it() {
        // `^` marks the place.
        for (when, told) in [
            ("'^headrom > 1.5'", "unknown kernel column \"headrom\"; did you mean \"headroom\"?"),
            ("'share > 0.1 && ^headrom > 1.5'", "unknown kernel column \"headrom\""),
            ("'headroom > ^'", "the expression is incomplete"),
            ("'headroom ^= 2'", "unexpected \"=\"; use == for equality"),
            ("'share > 1 ^and headroom > 1'", "unexpected \"and\"; write &&"),
            ("'headroom > ^\"2\"'", "\">\" takes a number, but this is text"),
            ("'name ^== 3'", "\"==\" compares text with a number"),
            ("'^headroom * 2'", "the result is a number, expected true or false"),
            ("'share > 0.1 && ^headroom'", "\"&&\" takes true or false, but this is a number"),
            ("'share > 0.1 && ^headroom + 1'", "\"&&\" takes true or false, but this is a number"),
            (
                "'category == ^\"dot-produt\"'",
                "this column never contains \"dot-produt\"; did you mean \"dot-product\"?",
            ),
            ("'^\"gem\" == kind'", "this column never contains \"gem\""),
            ("'kind in [\"gemm\", ^\"gem\"]'", "this column never contains \"gem\""),
            ("'kind in ^\"gemm\"'", "\"in\" takes a list"),
            ("'name.^matches(\"a\")'", "\"matches\" is not supported"),
            ("'^size(name) > 3'", "\"size\" is not supported"),
            ("'[1].^all(x, x > 0)'", "loops are not supported"),
            ("'headroom ^% 2 == 0'", "\"%\" is not supported"),
            ("'headroom == ^null'", "\"null\" is not supported"),
            ("'^name.full == \"a\"'", "a dot is only allowed before"),
            ("'headroom in ^[]'", "the list is empty"),
            ("'^[1] == [2]'", "a list is only allowed after"),
            ("'headroom > ^1e999'", "invalid double literal"),
            ("'true ^? headroom : name'", "\"?\" gives a number or text"),
            ("'^name ? true : false'", "\"?\" takes a condition, but this is text"),
            ("'^'", "the expression is incomplete"),
            // Text that is not ASCII counts in characters.
            ("'name == \"größe\" && ^headrom > 1'", "unknown kernel column"),
            ("'name == \"größe\" && headroom > ^'", "the expression is incomplete"),
            // Without escapes before the fault a basic string is as exact.
            ("\"headroom > 1 && ^nam == 'x'\"", "unknown kernel column"),
            ("\"^headrom > 1 && name == 'a\\tb'\"", "unknown kernel column"),
            ("^\"name == 'a\\\\b' && headrom > 1\"", "unknown kernel column"),
            ("^\"name == 'a\\u0062' && headrom > 1\"", "unknown kernel column"),
            // The first line break of a string over several lines is not part of it.
            ("'''\nheadroom > 1.5 &&\n  ^headrom > 1'''", "unknown kernel column"),
            ("\"\"\"\nheadroom > 1.5 &&\n  ^headrom > 1\"\"\"", "unknown kernel column"),
            ("\"\"\"^headrom > 1.5\"\"\"", "unknown kernel column"),
            ("'''headroom > 1.5 &&\n^headrom > 1'''", "unknown kernel column"),
            ("'''\nheadroom > 1.5 &&\n headroom ^@ 1'''", "unexpected \"@\""),
            ("'''\r\n^headrom > 1'''", "unknown kernel column"),
        ] {
            let marked = rule(&format!("when = {when}"));
            let before = &marked[..marked.find('^').unwrap()];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            let told = format!("rooflint.toml:{line}:{column}: {told}");
            let found = refused(&marked.replace('^', ""));
            assert!(found.starts_with(&told), "{when}: {found}\n{told}");
        }
    }

    #[test]
    fn other_keys_are_held_to_account_too() {
        let with = |line: &str| rule(&format!("when = 'headroom > 2'\n{line}"));
        for (text, told) in [
            (
                with("severity = \"hih\""),
                "5:12: severity cannot be \"hih\"; did you mean \
                                          \"high\"?",
            ),
            (
                with("over = \"launch\""),
                "5:8: over cannot be \"launch\"; did you mean \
                                         \"launches\"?",
            ),
            (with("next = \"try {headrom}\""), "5:14: unknown kernel column \"headrom\""),
            (with("at-stake = 'name'"), "5:13: the result is text, expected a number"),
            (with("at-stake = 'savings_ss'"), "5:13: unknown kernel column"),
            (with("sevrity = \"high\""), "unknown key \"sevrity\""),
            (rule("when = 'duration_s > 1'"), "4:9: unknown kernel column \"duration_s\""),
            (
                rule("over = \"launches\"\nwhen = 'headroom > 1'"),
                "5:9: unknown launch column \"headroom\"",
            ),
            (
                "[[custom-rule]]\nid = \"own\"\nwhen = 'headroom > 2'\nmessage = \"{name} at \
                 {headrom}\""
                    .to_owned(),
                "4:23: unknown kernel column \"headrom\"; did you mean \"headroom\"?",
            ),
            (
                "[[custom-rule]]\nid = \"own\"\nwhen = 'headroom > 2'\nmessage = \
                 \"{name\""
                    .to_owned(),
                "4:12: unmatched brace",
            ),
            (
                "[[custom-rule]]\nid = \"own\"\nwhen = 'headroom > 2'\nmessage = \" \"".to_owned(),
                "4:12: the message is empty",
            ),
            ("[[custom-rule]]\nid = \"own\"".to_owned(), "missing key \"when\""),
            (
                "[[custom-rule]]\nid = \"Own Rule\"\nwhen = 'true'\nmessage = \"m\"".to_owned(),
                "2:6: \"Own Rule\" is not a valid rule id",
            ),
            (
                "[[custom-rule]]\nid = \"tail-effect\"\nwhen = 'true'\nmessage = \"m\"".to_owned(),
                "2:6: \"tail-effect\" is a built-in rule",
            ),
            (format!("{0}\n{0}", with("")), "7:6: there are two custom rules \"own\""),
            (
                format!("{}\n[rule.own]\nshare = 1", with("")),
                "6:7: the custom rule \"own\" has no thresholds",
            ),
            (
                format!("[rules]\nignore = [\"owm\"]\n{}", with("")),
                "2:11: unknown rule \"owm\"; did you mean \"own\"?",
            ),
        ] {
            let found = refused(&text);
            assert!(found.contains(told), "{text}: {found}");
        }
    }
}
