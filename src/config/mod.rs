//! `rooflint.toml`, or the table of a Python project: which rules run and by which numbers, limits, groups, waivers, rules and kernel names
//! of the user's own, and what a gate allows.
//!
//! ```
//! use rooflint::config::Config;
//!
//! let text = "[rules]\nignore = [\"tail-effect\"]\n\n[rule.small-grid]\n";
//! let config = Config::parse("rooflint.toml", text)?;
//! assert!(config.rules.ignore.contains("tail-effect"));
//! # Ok::<(), rooflint::config::ConfigError>(())
//! ```

mod custom;
mod error;
#[cfg(feature = "gate")]
mod gate;
mod group;
mod hints;
mod limits;
mod outline;
mod place;
mod schema;
mod source;
mod wire;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::analysis::{ClosedForm, Group, Waiver};
#[cfg(feature = "gate")]
use crate::gate::Policy;
use crate::model::Dim3;
use crate::plain;
use crate::rules::Settings;
use place::Place;
use source::{PROJECT, Project, is_project};
use wire::{Day, Spanned};

pub use error::ConfigError;
pub use limits::{Limits, min_share, threshold, time, written_min_share, written_threshold};
pub use outline::{Entry, outline, value};
pub use schema::schema;
pub use source::{FILES, in_folder};

/// What a user's configuration says.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Which rules run, and by which numbers.
    pub rules: Settings,
    /// Kernels that are left alone on purpose.
    pub waivers: Vec<Waiver>,
    /// Closed forms of kernels whose shapes the user knows.
    pub closed_forms: Vec<ClosedForm>,
    /// Kernels that are looked at together, the first that fits.
    pub groups: Vec<Group>,
    /// What counts as an opportunity.
    pub limits: Limits,
    /// A file with kernel names of the user's own, beside the configuration.
    pub kernel_names: Option<PathBuf>,
    /// What a gate allows; the defaults where the file has no `[gate]`.
    #[cfg(feature = "gate")]
    pub gate: Policy,
}

/// Numbers of a rule by key.
type Thresholds = BTreeMap<Spanned<String>, f64>;

/// Configuration of rooflint: `rooflint.toml`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Wire {
    /// Which rules run.
    rules: Option<RulesWire>,
    /// Thresholds of rules, by the keys that `rooflint rules ID` lists.
    rule: Option<BTreeMap<Spanned<String>, Thresholds>>,
    /// Kernels that are left alone on purpose.
    waiver: Option<Vec<WaiverWire>>,
    /// Kernels whose sizes are known.
    closed_form: Option<Vec<ClosedFormWire>>,
    /// Rules of the user's own.
    custom_rule: Option<Vec<custom::Wire>>,
    /// Kernels that are looked at together; a kernel belongs to the first group that it fits.
    group: Option<Vec<group::Wire>>,
    /// What counts as an opportunity.
    analysis: Option<limits::Wire>,
    /// A file with kernel names of the user's own, relative to this one.
    kernel_names: Option<PathBuf>,
    /// What a gate allows.
    #[cfg(feature = "gate")]
    gate: Option<gate::Wire>,
    /// What a gate allows; a build without one has no use for it.
    #[cfg(not(feature = "gate"))]
    #[serde(rename = "gate")]
    #[schemars(skip)]
    _gate: Option<toml::Table>,
}

/// Which rules run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RulesWire {
    /// Only these; all if empty.
    #[serde(default)]
    select: Vec<Spanned<String>>,
    /// Without these.
    #[serde(default)]
    ignore: Vec<Spanned<String>>,
}

/// Kernels whose sizes are known, and how to count them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ClosedFormWire {
    /// A name, or a pattern with `*` and sizes in braces.
    kernel: Option<String>,
    /// The same for the framework operator.
    operator: Option<String>,
    /// Only launches with this grid, such as "64x8x1".
    grid: Option<Spanned<String>>,
    /// The form with its sizes, as `rooflint predict` takes it.
    form: Spanned<String>,
}

/// A kernel that is left alone on purpose.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WaiverWire {
    /// A whole name, short or full, or a pattern in which `*` stands for anything.
    kernel: String,
    /// Why.
    reason: Spanned<String>,
    /// Who answers for it.
    owner: Option<String>,
    /// The last day on which it holds, without quotes: 2027-01-31.
    expires: Option<Spanned<Day>>,
}

impl Config {
    /// Reads a file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`ConfigError`] where it cannot be read, or with the place of what is wrong in it.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::read_over(path, Self::default())
    }

    /// Reads a file whose tables and keys take the place of the same ones of another configuration; `[gate]` always does.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn read_over(path: &Path, below: Self) -> Result<Self, ConfigError> {
        let shown = path.display().to_string();
        let text = plain::text_of(path, plain::PAGES)
            .map_err(|cause| ConfigError::Read { path: shown.clone(), cause })?;
        let is_own_names = Wire::of(&Place { path: &shown, text: &text })?.kernel_names.is_some();
        let mut config = Self::over(&shown, &text, below)?;
        if !is_own_names {
            return Ok(config);
        }
        if let (Some(names), Some(folder)) = (&mut config.kernel_names, path.parent()) {
            *names = folder.join(&*names);
        }
        Ok(config)
    }

    /// Reads a text; `path` names it in messages. Where it is that of a `pyproject.toml`, the configuration
    /// is its table `[tool.rooflint]`.
    ///
    /// # Errors
    /// [`ConfigError::Wrong`] with the place of what is wrong.
    pub fn parse(path: &str, text: &str) -> Result<Self, ConfigError> {
        Self::over(path, text, Self::default())
    }

    fn over(path: &str, text: &str, below: Self) -> Result<Self, ConfigError> {
        let place = Place { path, text };
        let wire = Wire::of(&place)?;
        let mut config = below;
        config.kernel_names = wire.kernel_names.or(config.kernel_names);
        if let Some(rules) = wire.custom_rule {
            config.rules.custom.clear();
            for rule in rules {
                let rule = place.custom(&rule, &config.rules.custom)?;
                config.rules.custom.push(rule);
            }
            config.rules.forget_unknown();
        }
        let custom = &config.rules.custom;
        if let Some(rules) = wire.rules {
            let ids = |ids: Vec<Spanned<String>>| -> Result<_, ConfigError> {
                ids.into_iter().map(|id| place.any_rule(id, custom)).collect()
            };
            (config.rules.select, config.rules.ignore) = (ids(rules.select)?, ids(rules.ignore)?);
        }
        if let Some(rules) = wire.rule {
            config.rules.thresholds.clear();
            for (id, options) in rules {
                let rule = place.rule(&id, custom)?;
                for (key, value) in options {
                    place.threshold(rule, &key, value)?;
                    let key = (rule.id.to_owned(), key.into_inner());
                    config.rules.thresholds.insert(key, value);
                }
            }
        }
        if let Some(waivers) = wire.waiver {
            let waivers = waivers.into_iter().map(|waiver| place.waiver(waiver));
            config.waivers = waivers.collect::<Result<_, _>>()?;
        }
        if let Some(forms) = wire.closed_form {
            let forms = forms.iter().map(|form| place.closed_form(form));
            config.closed_forms = forms.collect::<Result<_, _>>()?;
        }
        if let Some(groups) = wire.group {
            config.groups = group::read(&place, groups)?;
        }
        if let Some(analysis) = wire.analysis {
            config.limits = limits::read(&place, analysis)?;
        }
        #[cfg(feature = "gate")]
        {
            config.gate = match wire.gate {
                Some(gate) => gate::read(&place, gate, &config.rules.custom)?,
                None => Policy::default(),
            };
        }
        Ok(config)
    }
}

impl Wire {
    /// What a file says, or its table `[tool.rooflint]` where it is a `pyproject.toml`.
    fn of(place: &Place<'_>) -> Result<Self, ConfigError> {
        let Place { path, text } = *place;
        let wrong = |error: toml::de::Error| {
            let help = "the tables are [rules], [rule.NAME], [analysis], [[group]], [[waiver]], [[closed-form]], \
                        [[custom-rule]], [gate]; the key is kernel-names";
            let mut fault = plain::toml(text, &error);
            hints::refine(path, text, &mut fault);
            let of_a_machine = ["device", "devices", "ceilings"]
                .into_iter()
                .find(|key| fault.message == format!("unknown key \"{key}\""));
            let help = match (of_a_machine, fault.help.as_str()) {
                (Some(key), _) => format!(
                    "what belongs to a machine is set by --{key}, or by ROOFLINT_{} for all calls",
                    key.to_uppercase()
                ),
                (None, "") => help.to_owned(),
                (None, help) => help.to_owned(),
            };
            ConfigError::Wrong {
                path: path.to_owned(),
                line: fault.line,
                column: fault.column,
                message: fault.message,
                help,
            }
        };
        if is_project(Path::new(path)) {
            let project: Project<Wire> = toml::from_str(text).map_err(wrong)?;
            project.tool.and_then(|tool| tool.rooflint).ok_or_else(|| {
                let message = format!("{PROJECT} does not configure rooflint");
                place.wrong(&(0..0), message, "add the table [tool.rooflint]")
            })
        } else {
            toml::from_str(text).map_err(wrong)
        }
    }
}

impl Place<'_> {
    fn closed_form(&self, wire: &ClosedFormWire) -> Result<ClosedForm, ConfigError> {
        let grid = match &wire.grid {
            None => None,
            Some(text) => Some(grid(text.get_ref()).ok_or_else(|| {
                let message = format!("{:?} is not a grid", text.get_ref());
                self.wrong(&text.span(), message, "write it as \"64x8x1\"")
            })?),
        };
        let span = wire.form.span();
        let at = format!("{}:{}", self.path, self.at(&span).0);
        let (kernel, operator) = (wire.kernel.as_deref(), wire.operator.as_deref());
        ClosedForm::new(kernel, operator, grid, wire.form.get_ref(), &at).map_err(|error| {
            let help = error.help();
            self.wrong(&span, error.to_string(), help)
        })
    }

    fn waiver(&self, wire: WaiverWire) -> Result<Waiver, ConfigError> {
        self.reason(&wire.reason)?;
        Ok(Waiver {
            kernel: wire.kernel,
            reason: wire.reason.into_inner(),
            owner: wire.owner,
            expires: self.expires(wire.expires.as_ref())?,
        })
    }
}

/// A grid such as `64x8x1`; what is left out is 1.
fn grid(text: &str) -> Option<Dim3> {
    let mut sizes = text.split(['x', '×']).map(|part| part.trim().parse::<u32>().ok());
    let (x, y, z) =
        (sizes.next()??, sizes.next().unwrap_or(Some(1))?, sizes.next().unwrap_or(Some(1))?);
    sizes.next().is_none().then_some(Dim3 { x, y, z })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let error = Config::parse("rooflint.toml", text).unwrap_err();
        format!("{error}; {}", error.help())
    }

    #[test]
    fn everything_is_read() {
        let text = r#"
kernel-names = "names.toml"
[rules]
ignore = ["tail-effect"]
[rule.tail-effect]
waves = 12
[[waiver]]
kernel = "*transpose*"
reason = "goes with the next release"
owner = "kernels"
expires = 2027-01-31
[[closed-form]]
kernel = "gemm_{m}x{n}_*"
grid = "64x8"
form = "gemm m={m} n={n} k=64 dtype=fp16"
"#;
        let config = Config::parse("rooflint.toml", text).unwrap();
        assert!(config.rules.ignore.contains("tail-effect"));
        let key = ("tail-effect".to_owned(), "waves".to_owned());
        assert_eq!(config.rules.thresholds[&key], 12.0);
        assert_eq!(config.waivers[0].expires, crate::model::Date::new(2027, 1, 31));
        assert_eq!(config.kernel_names.unwrap(), Path::new("names.toml"));
        let closed = &config.closed_forms;
        assert_eq!(closed.len(), 1);
        let empty = Config::parse("rooflint.toml", "").unwrap();
        assert!(empty.waivers.is_empty() && empty.closed_forms.is_empty());
        assert_eq!(empty.rules, Settings::default());
    }

    #[test]
    fn a_python_project_has_a_table_for_it() {
        let text = "[project]\nname = \"x\"\n[tool.ruff]\nfix = true\n\
                    [tool.rooflint.rules]\nignore = [\"tail-effect\"]\n";
        let config = Config::parse("a/pyproject.toml", text).unwrap();
        assert!(config.rules.ignore.contains("tail-effect"));
        let wrong = |text: &str| {
            let error = Config::parse("pyproject.toml", text).unwrap_err();
            format!("{error}; {}", error.help())
        };
        let found = wrong("[project]\nname = \"x\"\n");
        assert!(
            found.contains("pyproject.toml:1:1: ") && found.contains("[tool.rooflint]"),
            "{found}"
        );
        let found = wrong("[project]\n[tool.rooflint.rules]\nignore = [\"tail-efect\"]\n");
        assert!(found.starts_with("pyproject.toml:3:11: unknown rule"), "{found}");
        let found = wrong("[tool.rooflint]\nruless = 1\n");
        assert!(found.starts_with("pyproject.toml:2:1: unknown key \"ruless\""), "{found}");
    }

    #[test]
    fn what_is_wrong_is_located_and_the_way_out_named() {
        for (text, told) in [
            ("[rule]\n", ""),
            (
                "[rules]\nignore = [\"tail-efect\"]",
                "2:11: unknown rule \"tail-efect\"; did you mean \"tail-effect\"?",
            ),
            (
                "[rule.tail-effect]\nwave = 3",
                "2:1: rule tail-effect has no threshold \"wave\"; it has waves, lost",
            ),
            ("[[waiver]]\nkernel = \"a\"\nreason = \" \"", "3:10: a waiver needs a reason"),
            (
                "[[waiver]]\nkernel = \"a\"\nreason = \"b\"\nexpires = 07:32:00",
                "4:11: expires is not a date",
            ),
            ("[[waiver]]\nkernel = \"a\"", "missing key \"reason\""),
            (
                "[[closed-form]]\nkernel = \"a\"\nform = \"gemm m=1 n=1\"",
                "3:8: gemm needs \"k\"; for example: gemm m=",
            ),
            ("[[closed-form]]\nform = \"copy n=1\"", "2:8: missing kernel or operator"),
            (
                "[[closed-form]]\nkernel = \"a\"\ngrid = \"1x2x3x4\"\nform = \"copy n=1\"",
                "3:8: \"1x2x3x4\" is not a grid; write it as",
            ),
            ("[gates]\n", "1:2: unknown key \"gates\""),
            ("device = \"L4\"\n", "set by --device, or by ROOFLINT_DEVICE"),
            ("[gates]\n", "did you mean \"gate\"? the keys here are rules, rule, waiver"),
            ("[rules\n", "rooflint.toml:1:"),
        ] {
            if told.is_empty() {
                assert!(Config::parse("rooflint.toml", text).is_ok(), "{text}");
            } else {
                let found = refused(text);
                assert!(found.contains(told), "{text}: {found}");
            }
        }
    }
}
