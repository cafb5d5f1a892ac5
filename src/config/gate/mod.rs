//! `[gate]`: the policy of a team, as [`Policy`].

mod amount;
mod bound;
mod limit;
mod selector;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::compare::Noise;
use crate::config::error::ConfigError;
use crate::config::place::Place;
use crate::config::wire::{Amount, Spanned};
use crate::gate::{Action, Normalize, Policy};
use crate::rules::Custom;
use crate::units::{Factor, Probability, Seconds, Share};
use amount::Unit;

/// Supported versions of the table.
const VERSIONS: [i64; 1] = [1];

/// Largest age of a baseline in days: a hundred years.
const OLDEST_DAYS: u32 = 36_500;

/// The policy: limits on changes of kernels, and actions on each verdict.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// Version of this table; 1.
    version: Option<Spanned<i64>>,
    /// Report everything, but always exit 0.
    warn_only: Option<bool>,
    /// Action on a kernel that occurs only in the current runs; default `notice`.
    #[schemars(with = "Option<Action>")]
    new: Option<Spanned<String>>,
    /// Action on a kernel that occurs only in the baseline; default `warn`.
    #[schemars(with = "Option<Action>")]
    vanished: Option<Spanned<String>>,
    /// Largest action on a regression of a kernel that was renamed, fused or split; default `fail`. With
    /// `none` such kernels are only new and vanished.
    #[schemars(with = "Option<Action>")]
    renamed: Option<Spanned<String>>,
    /// Whether times are compared as measured (`none`, the default) or for the same FLOPs or bytes per
    /// launch (`work`).
    #[schemars(with = "Option<Normalize>")]
    normalize: Option<Spanned<String>>,
    /// A second baseline of the store to compare with: a commit, a tag, an entry, or `oldest`.
    anchor: Option<Spanned<String>>,
    /// Action on a change that is not certain; default `warn`.
    #[schemars(with = "Option<Action>")]
    ambiguous: Option<Spanned<String>>,
    /// Action on a kernel that cannot be compared; default `warn`.
    #[schemars(with = "Option<Action>")]
    incomparable: Option<Spanned<String>>,
    /// Action on an implausible improvement; default `warn`.
    #[schemars(with = "Option<Action>")]
    implausible: Option<Spanned<String>>,
    /// Action on current runs that look truncated; default `fail`.
    #[schemars(with = "Option<Action>")]
    incomplete: Option<Spanned<String>>,
    /// New and vanished kernels below this share of the run are only counted.
    listed_share: Option<Spanned<Amount>>,
    /// An improvement by more than this factor is implausible.
    implausible_factor: Option<Spanned<Amount>>,
    /// True if sides on different devices may be compared, by headroom.
    across_devices: Option<bool>,
    /// Age after which a baseline is reported as old: "90d", "12w", or a number of days.
    max_age: Option<Spanned<Amount>>,
    /// Kernels that must be present, as names or patterns with `*`.
    #[serde(default)]
    required: Vec<Spanned<String>>,
    /// Share of the baseline's time that must be compared; the gate is inconclusive with less.
    coverage: Option<Spanned<Amount>>,
    /// Allowed false-discovery rate among regressions found over several runs.
    false_discovery: Option<Spanned<Amount>>,
    /// Noise floors for cases in which noise cannot be measured.
    #[serde(default)]
    noise: NoiseWire,
    /// Limits on changes, added after the defaults.
    #[serde(default)]
    limit: Vec<limit::Wire>,
    /// Bounds on values, which need no baseline.
    #[serde(default)]
    bound: Vec<bound::Wire>,
    /// Accepted regressions.
    #[serde(default)]
    waiver: Vec<selector::WaiverWire>,
    /// Locations of the source code of kernels.
    #[serde(default)]
    code: Vec<selector::CodeWire>,
}

/// Noise floors for cases in which noise cannot be measured.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct NoiseWire {
    /// Relative shift of one kernel from run to run, with enough launches to measure.
    kernel: Option<Spanned<Amount>>,
    /// Relative shift of one kernel with four launches; with fewer it grows, up to twice as much
    /// for single launches.
    few_launches: Option<Spanned<Amount>>,
    /// Relative shift of all kernels together, from clocks or temperature.
    common: Option<Spanned<Amount>>,
    /// Standard deviation of all kernels together from one device of a model to another.
    device: Option<Spanned<Amount>>,
    /// The same from one day to another.
    day: Option<Spanned<Amount>>,
    /// Resolution of the timer, such as "64ns".
    timer: Option<Spanned<Amount>>,
}

impl NoiseWire {
    /// Whether it says what one run per side may show: the timer, devices and days say nothing of it.
    const fn is_declared(&self) -> bool {
        self.kernel.is_some() || self.few_launches.is_some() || self.common.is_some()
    }
}

/// Reads the table; `custom` are the user's own rules, which bounds may name.
pub(super) fn read(
    place: &Place<'_>,
    wire: Wire,
    custom: &[Custom],
) -> Result<Policy, ConfigError> {
    if let Some(version) = &wire.version
        && !VERSIONS.contains(version.get_ref())
    {
        let known: Vec<String> = VERSIONS.iter().map(i64::to_string).collect();
        let message = format!("unknown version {} of [gate]", version.get_ref());
        let help = format!(
            "this program supports version {}; update rooflint for newer ones",
            known.join(", ")
        );
        return Err(place.wrong(&version.span(), message, help));
    }
    let default = Policy::default();
    let action = |key, word: Option<&Spanned<String>>, default| place.action(key, word, default);
    let mut policy = Policy {
        new: action("new", wire.new.as_ref(), default.new)?,
        vanished: action("vanished", wire.vanished.as_ref(), default.vanished)?,
        renamed: action("renamed", wire.renamed.as_ref(), default.renamed)?,
        normalize: match &wire.normalize {
            None => default.normalize,
            Some(word) => place.one_of(word, "normalize", &Normalize::ALL, Normalize::key)?,
        },
        ambiguous: action("ambiguous", wire.ambiguous.as_ref(), default.ambiguous)?,
        incomparable: action("incomparable", wire.incomparable.as_ref(), default.incomparable)?,
        implausible: action("implausible", wire.implausible.as_ref(), default.implausible)?,
        incomplete: action("incomplete", wire.incomplete.as_ref(), default.incomplete)?,
        warn_only: wire.warn_only.unwrap_or(default.warn_only),
        across_devices: wire.across_devices.unwrap_or(default.across_devices),
        noise: place.noise(&wire.noise)?,
        noise_is_declared: wire.noise.is_declared(),
        ..default
    };
    if let Some(anchor) = wire.anchor {
        policy.anchor = Some(place.some_pattern(anchor)?);
    }
    if let Some(share) = &wire.listed_share {
        policy.listed_share = place.share("listed-share", share)?;
    }
    if let Some(factor) = &wire.implausible_factor {
        policy.implausible_factor = place.factor(factor)?;
    }
    if let Some(age) = &wire.max_age {
        policy.max_age_days = place.days(age)?;
    }
    if let Some(share) = &wire.coverage {
        policy.coverage = place.share_up_to_one("coverage", share)?;
    }
    if let Some(rate) = &wire.false_discovery {
        let share = place.share("false-discovery", rate)?;
        policy.false_discovery = Probability::new(share.get());
        if share == Share::ZERO {
            let why = "at 0, no regression could be found";
            return Err(place.no_amount("false-discovery", rate, why, Unit::Share));
        }
    }
    for pattern in wire.required {
        policy.required.push(place.some_pattern(pattern)?);
    }
    for limit in wire.limit {
        policy.limits.push(place.limit(limit)?);
    }
    for bound in wire.bound {
        let bound = place.bound(bound, &policy.bounds, custom)?;
        policy.bounds.push(bound);
    }
    for waiver in wire.waiver {
        policy.waivers.push(place.gate_waiver(waiver)?);
    }
    for code in wire.code {
        policy.code.push(place.code_place(code)?);
    }
    Ok(policy)
}

impl Place<'_> {
    /// Reads the action on a verdict.
    fn action(
        &self,
        key: &str,
        word: Option<&Spanned<String>>,
        default: Action,
    ) -> Result<Action, ConfigError> {
        word.map_or(Ok(default), |word| self.one_of(word, key, &Action::ALL, Action::key))
    }

    fn noise(&self, wire: &NoiseWire) -> Result<Noise, ConfigError> {
        let mut noise = Noise::default();
        if let Some(kernel) = &wire.kernel {
            noise.kernel = self.change("kernel", kernel)?;
            // Few launches are never quieter than many.
            noise.few_launches = noise.few_launches.max(noise.kernel);
        }
        if let Some(few) = &wire.few_launches {
            noise.few_launches = self.change("few-launches", few)?;
            if noise.few_launches < noise.kernel {
                let many = noise.kernel.get();
                let why = format!("few launches cannot have less noise than many, at {many}");
                return Err(self.no_amount("few-launches", few, &why, Unit::Share));
            }
        }
        if let Some(common) = &wire.common {
            noise.common = self.change("common", common)?;
        }
        if let Some(device) = &wire.device {
            noise.device = self.change("device", device)?;
        }
        if let Some(day) = &wire.day {
            noise.day = self.change("day", day)?;
        }
        if let Some(timer) = &wire.timer {
            noise.timer_s = Seconds::new(self.amount("timer", timer, Unit::Time)?);
        }
        Ok(noise)
    }

    fn factor(&self, value: &Spanned<Amount>) -> Result<Factor, ConfigError> {
        let factor = self.amount("implausible-factor", value, Unit::Ratio)?;
        if factor <= 1.0 {
            let why = "every improvement would be implausible";
            return Err(self.no_amount("implausible-factor", value, why, Unit::Ratio));
        }
        Ok(Factor::new(factor))
    }

    /// Reads days as a number, or with a unit: `90d`, `12w`.
    fn days(&self, value: &Spanned<Amount>) -> Result<u32, ConfigError> {
        let days = match &value.get_ref().0 {
            toml::Value::Integer(days) => u32::try_from(*days).ok(),
            toml::Value::String(text) => {
                let (number, factor) = match (text.strip_suffix('d'), text.strip_suffix('w')) {
                    (Some(days), _) => (days, 1),
                    (_, Some(weeks)) => (weeks, 7),
                    _ => ("", 1),
                };
                number.trim().parse::<u32>().ok().and_then(|number| number.checked_mul(factor))
            }
            _ => None,
        };
        days.filter(|days| (1..=OLDEST_DAYS).contains(days)).ok_or_else(|| {
            let found = self.text.get(value.span()).unwrap_or_default();
            let message = format!("max-age cannot be {found}");
            let help = "write a number of days, \"90d\", or of weeks, \"12w\"; at least one day";
            self.wrong(&value.span(), message, help)
        })
    }
}
