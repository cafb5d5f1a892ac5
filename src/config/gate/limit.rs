//! `[[gate.limit]]`: how much a metric may change against the baseline.

use schemars::JsonSchema;
use serde::Deserialize;

use super::amount::Unit;
use super::selector::is_of_run;
use crate::config::error::ConfigError;
use crate::config::place::Place;
use crate::config::wire::{Amount, CategoryKey, Spanned};
use crate::gate::{Action, Limit, Metric};
use crate::rules::Severity;
use crate::units::RelativeChange;

/// How much a metric may change against the baseline; of those that fit a kernel and a metric, the last
/// holds.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// What is judged; all but `presence`.
    #[schemars(with = "Metric")]
    metric: Spanned<String>,
    /// A whole name, short or full, or a pattern in which `*` stands for anything.
    kernel: Option<Spanned<String>>,
    /// A pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category that the name tells.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Greatest relative worsening: 0.05 or "5%". Not needed for findings, nor with `action = "none"`.
    worse: Option<Spanned<Amount>>,
    /// Smallest worsening that counts, in the unit of the metric: "5us" for times.
    at_least: Option<Spanned<Amount>>,
    /// Kernels with a smaller share of the time of the run are judged only as part of the total.
    min_share: Option<Spanned<Amount>>,
    /// For findings: only those of this severity or above.
    #[schemars(with = "Option<Severity>")]
    severity: Option<Spanned<String>>,
    /// What a regression means; `fail` without it. `none` switches the limit off.
    #[schemars(with = "Option<Action>")]
    action: Option<Spanned<String>>,
}

impl Place<'_> {
    pub(super) fn limit(&self, wire: Wire) -> Result<Limit, ConfigError> {
        let metric = self.one_of(&wire.metric, "metric", &Metric::ALL, Metric::key)?;
        if metric == Metric::Presence {
            let message = "presence has no limit: a kernel is there or not".to_owned();
            let help = "set new, vanished or required in [gate]";
            return Err(self.wrong(&wire.metric.span(), message, help));
        }
        let selector = self.selector([wire.kernel, wire.operator, wire.category], Some(metric))?;
        let action = self.action("action", wire.action.as_ref(), Action::Fail)?;
        let worse = match &wire.worse {
            Some(worse) => self.worse(metric, worse)?,
            None if action == Action::None => RelativeChange::new(f64::INFINITY),
            None if metric == Metric::Findings => RelativeChange::ZERO,
            None => {
                let message =
                    format!("the limit on {} does not say how much is allowed", metric.key());
                let help = "add worse = 0.05, or action = \"none\" to switch the limit off";
                return Err(self.wrong(&wire.metric.span(), message, help));
            }
        };
        let at_least = match (&wire.at_least, Unit::of(metric)) {
            (None, _) => None,
            (Some(least), Some(unit)) => Some(self.value("at-least", least, unit)?),
            (Some(least), None) => {
                let message = format!("{} has no size, only a change", metric.key());
                return Err(self.wrong(&least.span(), message, "leave out at-least"));
            }
        };
        let min_share = match &wire.min_share {
            None => None,
            Some(share) if is_of_run(metric) => return Err(self.whole_share(metric, share)),
            Some(share) => Some(self.share("min-share", share)?),
        };
        let severity = self.severity(metric, wire.severity.as_ref())?;
        Ok(Limit { metric, selector, worse, at_least, min_share, severity, action })
    }

    fn worse(
        &self,
        metric: Metric,
        value: &Spanned<Amount>,
    ) -> Result<RelativeChange, ConfigError> {
        let worse = self.amount("worse", value, Unit::Share)?;
        // The others grow when they get worse, and know no end.
        if metric == Metric::Roof && worse >= 1.0 {
            let why = "a share of the roof cannot fall by more than all of itself";
            return Err(self.no_amount("worse", value, why, Unit::Share));
        }
        Ok(RelativeChange::new(worse))
    }

    /// The severity of findings; other metrics have none.
    pub(super) fn severity(
        &self,
        metric: Metric,
        word: Option<&Spanned<String>>,
    ) -> Result<Option<Severity>, ConfigError> {
        let Some(word) = word else { return Ok(None) };
        self.only_findings("severity", metric, word)?;
        self.one_of(word, "severity", &Severity::ALL, Severity::label).map(Some)
    }

    /// Keys that only findings have.
    pub(super) fn only_findings(
        &self,
        key: &str,
        metric: Metric,
        word: &Spanned<String>,
    ) -> Result<(), ConfigError> {
        if metric == Metric::Findings {
            return Ok(());
        }
        let message = format!("{key} is of findings, and the metric is {}", metric.key());
        let help = format!("leave out {key}, or set metric = \"findings\"");
        Err(self.wrong(&word.span(), message, help))
    }

    pub(super) fn whole_share(&self, metric: Metric, share: &Spanned<Amount>) -> ConfigError {
        let message = format!("{} is of the whole run: its share is all of it", metric.key());
        self.wrong(&share.span(), message, "leave out min-share")
    }
}
