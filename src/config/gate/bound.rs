//! `[[gate.bound]]`: bounds on a run, which need no baseline.

use schemars::JsonSchema;
use serde::Deserialize;

use super::amount::Unit;
use super::selector::is_of_run;
use crate::config::error::ConfigError;
use crate::config::place::Place;
use crate::config::wire::{Amount, CategoryKey, Spanned};
use crate::gate::{Action, Bound, Metric};
use crate::rules::{self, Custom, Severity};
use crate::units::Share;

/// A bound on a run, which needs no baseline.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// Unique name in reports.
    name: Spanned<String>,
    /// Metric; all except `common-shift` and `presence`.
    #[schemars(with = "Metric")]
    metric: Spanned<String>,
    /// Kernel name, short or full, or a pattern in which `*` matches anything.
    kernel: Option<Spanned<String>>,
    /// Pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category derived from the name.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Smallest allowed value, in the unit of the metric.
    min: Option<Spanned<Amount>>,
    /// Largest allowed value, in the unit of the metric.
    max: Option<Spanned<Amount>>,
    /// Kernels with a smaller share of the run time are ignored.
    min_share: Option<Spanned<Amount>>,
    /// For findings: counts only those of this severity or above.
    #[schemars(with = "Option<Severity>")]
    severity: Option<Spanned<String>>,
    /// For findings: counts only those of this rule, which must be one that looks at kernels.
    rule: Option<Spanned<String>>,
    /// Action on a violation; default `fail`.
    #[schemars(with = "Option<Action>")]
    action: Option<Spanned<String>>,
}

impl Place<'_> {
    /// Reads a bound with a unique name.
    pub(super) fn bound(
        &self,
        wire: Wire,
        before: &[Bound],
        custom: &[Custom],
    ) -> Result<Bound, ConfigError> {
        let name = wire.name.get_ref();
        if name.trim().is_empty() {
            let message = "a bound needs a name".to_owned();
            return Err(self.wrong(
                &wire.name.span(),
                message,
                "use a descriptive name such as \
                \"no fp64\"",
            ));
        }
        if before.iter().any(|bound| bound.name == *name) {
            let message = format!("two bounds are named {name:?}");
            return Err(self.wrong(&wire.name.span(), message, "give each bound a unique name"));
        }
        let metric = self.metric(&wire.metric)?;
        let Some(unit) = Unit::of(metric) else { return Err(self.unbound(metric, &wire.metric)) };
        let selector = self.selector([wire.kernel, wire.operator, wire.category], Some(metric))?;
        let amount = |key: &str, value: Option<&Spanned<Amount>>| {
            value.map(|value| self.value(key, value, unit)).transpose()
        };
        let (min, max) = (amount("min", wire.min.as_ref())?, amount("max", wire.max.as_ref())?);
        match (min, max, &wire.max) {
            (None, None, _) => {
                let message = format!("bound {name:?} has no limit");
                return Err(self.wrong(&wire.name.span(), message, "add min, max or both"));
            }
            (Some(least), Some(most), Some(value)) if least.value > most.value => {
                let why = "it is below min";
                return Err(self.no_amount("max", value, why, unit));
            }
            _ => {}
        }
        let min_share = match &wire.min_share {
            None => Share::ZERO,
            Some(share) if is_of_run(metric) => return Err(self.whole_share(metric, share)),
            Some(share) => self.share("min-share", share)?,
        };
        let severity = self.severity(metric, wire.severity.as_ref())?;
        let rule = match wire.rule {
            None => None,
            Some(rule) => {
                self.only_findings("rule", metric, &rule)?;
                let span = rule.span();
                let rule = self.any_rule(rule, custom)?;
                if rules::is_of_run(&rule) {
                    let message = format!("rule {rule} looks at the whole run, not at kernels");
                    let help = "bound the findings of a rule on kernels, or what this one measures, such as the metric total";
                    return Err(self.wrong(&span, message, help));
                }
                Some(rule)
            }
        };
        let action = self.action("action", wire.action.as_ref(), Action::Fail)?;
        let name = wire.name.into_inner();
        Ok(Bound { name, metric, selector, min, max, min_share, severity, rule, action })
    }

    /// Makes the error for a metric that cannot have a bound.
    fn unbound(&self, metric: Metric, word: &Spanned<String>) -> ConfigError {
        let (message, help) = match metric {
            Metric::Presence => (
                "presence cannot have a bound",
                "list the required kernels: required = [\"*gemm*\"] in [gate]",
            ),
            _ => (
                "common-shift needs a baseline, which a bound does not have",
                "use [[gate.limit]], or bound the metric total",
            ),
        };
        self.wrong(&word.span(), message.to_owned(), help)
    }
}
