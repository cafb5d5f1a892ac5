//! Selectors, waivers and code locations of a policy.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::error::ConfigError;
use crate::config::place::Place;
use crate::config::wire::{CategoryKey, Day, Spanned};
use crate::gate::{CodePlace, GateWaiver, Metric, Selector};
use crate::taxonomy::Category;

/// A waiver, which accepts a regression.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaiverWire {
    /// Kernel name, short or full, or a pattern in which `*` matches anything.
    kernel: Option<Spanned<String>>,
    /// Pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category derived from the name.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Metric to which it applies; default all metrics.
    #[schemars(with = "Option<Metric>")]
    metric: Option<Spanned<String>>,
    /// Reason for accepting the regression.
    reason: Spanned<String>,
    /// Person responsible.
    owner: Option<String>,
    /// Last day on which it is valid, without quotes: 2027-01-31.
    expires: Option<Spanned<Day>>,
}

/// Location of the source code of kernels, for annotations.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeWire {
    /// Kernel name, short or full, or a pattern in which `*` matches anything.
    kernel: Option<Spanned<String>>,
    /// Pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category derived from the name.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// File path relative to the root of the repository.
    file: Spanned<String>,
    /// Line number, from 1; default 1.
    line: Option<Spanned<i64>>,
}

/// An optional word of the file.
type Word = Option<Spanned<String>>;

/// Returns `true` if a metric applies to the whole run, so that no kernel can be selected.
pub(super) fn is_of_run(metric: Metric) -> bool {
    matches!(metric, Metric::Total | Metric::CommonShift)
}

impl Place<'_> {
    /// Reads kernel, operator and category of an entry, which metrics of the run must not have.
    pub(super) fn selector(
        &self,
        [kernel, operator, category]: [Word; 3],
        metric: Option<Metric>,
    ) -> Result<Selector, ConfigError> {
        let first = [&kernel, &operator, &category].into_iter().flatten().next();
        if let (Some(metric), Some(first)) = (metric.filter(|one| is_of_run(*one)), first) {
            let message = format!("{} applies to the whole run, not to kernels", metric.key());
            let help = "remove kernel, operator and category, or use the metric time";
            return Err(self.wrong(&first.span(), message, help));
        }
        let category = match &category {
            None => None,
            Some(word) => Some(self.one_of(word, "category", Category::ALL, Category::key)?),
        };
        Ok(Selector {
            kernel: self.pattern(kernel)?,
            operator: self.pattern(operator)?,
            category: category.map(|one| one.key().to_owned()),
        })
    }

    /// A metric, by its word of this version or of an earlier one.
    pub(super) fn metric(&self, word: &Spanned<String>) -> Result<Metric, ConfigError> {
        let known = Metric::from_key(word.get_ref());
        known.map_or_else(|| self.one_of(word, "metric", &Metric::ALL, Metric::key), Ok)
    }

    /// Reads a name or a pattern, which must not be empty.
    fn pattern(&self, pattern: Word) -> Result<Option<String>, ConfigError> {
        pattern.map(|text| self.some_pattern(text)).transpose()
    }

    /// Reads a name or a pattern, which must not be empty.
    pub(super) fn some_pattern(&self, text: Spanned<String>) -> Result<String, ConfigError> {
        if text.get_ref().trim().is_empty() {
            let message = "an empty pattern matches nothing".to_owned();
            return Err(self.wrong(&text.span(), message, "use a name, or a pattern with *"));
        }
        Ok(text.into_inner())
    }

    pub(super) fn gate_waiver(&self, wire: WaiverWire) -> Result<GateWaiver, ConfigError> {
        let reason_at = wire.reason.span();
        self.reason(&wire.reason)?;
        let metric = match &wire.metric {
            None => None,
            Some(word) => Some(self.metric(word)?),
        };
        let selector = self.selector([wire.kernel, wire.operator, wire.category], metric)?;
        if selector == Selector::default() && !metric.is_some_and(is_of_run) {
            let message = "the waiver has no kernel, operator or category".to_owned();
            let help = "add kernel, operator or category; kernel = \"*\" matches all kernels";
            return Err(self.wrong(&reason_at, message, help));
        }
        Ok(GateWaiver {
            selector,
            metric,
            reason: wire.reason.into_inner(),
            owner: wire.owner,
            expires: self.expires(wire.expires.as_ref())?,
        })
    }

    pub(super) fn code_place(&self, wire: CodeWire) -> Result<CodePlace, ConfigError> {
        let (file_at, file) = (wire.file.span(), wire.file.into_inner());
        let selector = self.selector([wire.kernel, wire.operator, wire.category], None)?;
        if selector == Selector::default() {
            let message = "the code location has no kernel, operator or category".to_owned();
            let help = "add kernel, operator or category";
            return Err(self.wrong(&file_at, message, help));
        }
        let has_drive = file.as_bytes().get(1) == Some(&b':');
        let why = if file.trim().is_empty() {
            "it is empty"
        } else if file.contains('\\') {
            "it uses backslashes"
        } else if file.starts_with('/') || has_drive {
            "it is not a relative path"
        } else if file.split('/').any(|part| part == "..") {
            "it is outside the repository"
        } else {
            ""
        };
        if !why.is_empty() {
            let message = format!("file cannot be {file:?}: {why}");
            let help = "use a path from the root of the repository with slashes: kernels/gemm.cu";
            return Err(self.wrong(&file_at, message, help));
        }
        let line = match wire.line {
            None => 1,
            Some(line) => {
                u32::try_from(*line.get_ref()).ok().filter(|line| *line > 0).ok_or_else(|| {
                    let message = format!("line cannot be {}", line.get_ref());
                    self.wrong(&line.span(), message, "lines start at 1")
                })?
            }
        };
        Ok(CodePlace { selector, file, line })
    }
}
