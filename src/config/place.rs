//! Where something stands in the file, and what may be said of it there.

use std::ops::Range;

use super::error::ConfigError;
use super::wire::{Day, Spanned};
use crate::model::Date;
use crate::plain;
use crate::rules::{self, Custom, RULES, Rule};

/// The file, for messages with a place in it.
pub(super) struct Place<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a str,
}

impl Place<'_> {
    /// Line and character of a place, from 1.
    pub(super) fn at(&self, span: &Range<usize>) -> (usize, usize) {
        plain::place(self.text, span.start)
    }

    pub(super) fn wrong(
        &self,
        span: &Range<usize>,
        message: String,
        help: impl Into<String>,
    ) -> ConfigError {
        let (line, column) = self.at(span);
        ConfigError::Wrong { path: self.path.to_owned(), line, column, message, help: help.into() }
    }

    /// The identifier of a rule, built in or the user's own; a former one becomes that of today.
    pub(super) fn any_rule(
        &self,
        id: Spanned<String>,
        custom: &[Custom],
    ) -> Result<String, ConfigError> {
        if !custom.iter().any(|rule| rule.id == *id.get_ref()) {
            return Ok(self.rule(&id, custom)?.id.to_owned());
        }
        Ok(id.into_inner())
    }

    pub(super) fn rule(
        &self,
        id: &Spanned<String>,
        custom: &[Custom],
    ) -> Result<&'static Rule, ConfigError> {
        rules::rule(id.get_ref()).ok_or_else(|| {
            if custom.iter().any(|rule| rule.id == *id.get_ref()) {
                let message = format!("the custom rule {:?} has no thresholds", id.get_ref());
                return self.wrong(&id.span(), message, "change its condition, `when`");
            }
            let all = RULES.iter().map(|rule| rule.id).chain(custom.iter().map(|rule| &*rule.id));
            let near = plain::did_you_mean(id.get_ref(), all);
            let message = format!("unknown rule {:?}", id.get_ref());
            self.wrong(&id.span(), message, format!("{near}list them with `rooflint rules`"))
        })
    }

    pub(super) fn threshold(
        &self,
        rule: &Rule,
        key: &Spanned<String>,
        value: f64,
    ) -> Result<(), ConfigError> {
        if let Some(known) = rule.thresholds.iter().find(|known| known.key == key.get_ref()) {
            // A share is below one by default, and no share is above it.
            let is_share = known.unit == "1" && known.default < 1.0;
            if !value.is_finite() || value < 0.0 || (is_share && value > 1.0) {
                let (id, key_name, default) = (rule.id, known.key, known.default);
                let message = format!("{key_name} = {value}: the rule {id} could not judge by it");
                let what = if is_share { "a share from 0 to 1" } else { "a number from 0 on" };
                return Err(self.wrong(
                    &key.span(),
                    message,
                    format!("{what}; by default {default}"),
                ));
            }
            return Ok(());
        }
        let keys: Vec<&str> = rule.thresholds.iter().map(|known| known.key).collect();
        let message = format!("rule {} has no threshold {:?}", rule.id, key.get_ref());
        let help = if keys.is_empty() {
            "it has none".to_owned()
        } else {
            format!("it has {}; see `rooflint rules {}`", keys.join(", "), rule.id)
        };
        Err(self.wrong(&key.span(), message, help))
    }

    /// Whether a waiver says why.
    pub(super) fn reason(&self, reason: &Spanned<String>) -> Result<(), ConfigError> {
        if reason.get_ref().trim().is_empty() {
            let message = "a waiver needs a reason".to_owned();
            return Err(self.wrong(&reason.span(), message, "say why the kernel is left alone"));
        }
        Ok(())
    }

    /// The last day on which a waiver holds.
    pub(super) fn expires(&self, date: Option<&Spanned<Day>>) -> Result<Option<Date>, ConfigError> {
        let Some(date) = date else { return Ok(None) };
        let toml::value::Datetime { date: day, time, .. } = date.get_ref().0;
        let day = day.filter(|_| time.is_none()).and_then(|day| {
            Date::new(u32::from(day.year), u32::from(day.month), u32::from(day.day))
        });
        let wrong = || {
            let message = "expires is not a date".to_owned();
            self.wrong(&date.span(), message, "write it as 2027-01-31, without quotes")
        };
        day.map(Some).ok_or_else(wrong)
    }
}
