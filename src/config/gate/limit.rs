//! `[[gate.limit]]`: limits on changes compared with the baseline.

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

/// A limit on a metric's change compared with the baseline; the last limit that matches a kernel
/// and a metric is used.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// Metric; all except `presence`.
    #[schemars(with = "Metric")]
    metric: Spanned<String>,
    /// Kernel name, short or full, or a pattern in which `*` matches anything.
    kernel: Option<Spanned<String>>,
    /// Pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category derived from the name.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Largest relative worsening allowed: 0.05 or "5%". Not needed for findings, nor with `action
    /// = "none"`.
    worse: Option<Spanned<Amount>>,
    /// Smallest worsening that counts, in the unit of the metric: "5us" for times.
    at_least: Option<Spanned<Amount>>,
    /// Kernels with a smaller share of the run time are judged only as part of the total.
    min_share: Option<Spanned<Amount>>,
    /// For findings: counts only those of this severity or above.
    #[schemars(with = "Option<Severity>")]
    severity: Option<Spanned<String>>,
    /// Action on a regression; default `fail`. `none` disables the limit.
    #[schemars(with = "Option<Action>")]
    action: Option<Spanned<String>>,
}

impl Place<'_> {
    pub(super) fn limit(&self, wire: Wire) -> Result<Limit, ConfigError> {
        let metric = self.metric(&wire.metric)?;
        if metric == Metric::Presence {
            let message = "presence cannot have a limit".to_owned();
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
                let message = format!("the limit on {} has no value", metric.key());
                let help = "add worse = 0.05, or action = \"none\" to disable the limit";
                return Err(self.wrong(&wire.metric.span(), message, help));
            }
        };
        let at_least = match (&wire.at_least, Unit::of(metric)) {
            (None, _) => None,
            (Some(least), Some(unit)) => Some(self.value("at-least", least, unit)?),
            (Some(least), None) => {
                let message = format!("{} has no absolute value, only a change", metric.key());
                return Err(self.wrong(&least.span(), message, "remove at-least"));
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
            let why = "a share of the roof cannot fall by more than 100%";
            return Err(self.no_amount("worse", value, why, Unit::Share));
        }
        Ok(RelativeChange::new(worse))
    }

    /// Reads the severity of findings; other metrics have none.
    pub(super) fn severity(
        &self,
        metric: Metric,
        word: Option<&Spanned<String>>,
    ) -> Result<Option<Severity>, ConfigError> {
        let Some(word) = word else { return Ok(None) };
        self.only_findings("severity", metric, word)?;
        self.one_of(word, "severity", &Severity::ALL, Severity::label).map(Some)
    }

    /// Rejects keys that only apply to findings.
    pub(super) fn only_findings(
        &self,
        key: &str,
        metric: Metric,
        word: &Spanned<String>,
    ) -> Result<(), ConfigError> {
        if metric == Metric::Findings {
            return Ok(());
        }
        let message = format!("{key} applies to findings only, but the metric is {}", metric.key());
        let help = format!("remove {key}, or set metric = \"findings\"");
        Err(self.wrong(&word.span(), message, help))
    }

    pub(super) fn whole_share(&self, metric: Metric, share: &Spanned<Amount>) -> ConfigError {
        let message = format!("{} applies to the whole run, so it has no share", metric.key());
        self.wrong(&share.span(), message, "remove min-share")
    }
}
