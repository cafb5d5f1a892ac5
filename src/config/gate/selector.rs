//! Which kernels an entry of a policy holds for, which regressions are accepted, and where code is.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::config::error::ConfigError;
use crate::config::place::Place;
use crate::config::wire::{CategoryKey, Day, Spanned};
use crate::gate::{CodePlace, GateWaiver, Metric, Selector};
use crate::taxonomy::Category;

/// A kernel whose regression is accepted.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaiverWire {
    /// A whole name, short or full, or a pattern in which `*` stands for anything.
    kernel: Option<Spanned<String>>,
    /// A pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category that the name tells.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Which metric; all without it.
    #[schemars(with = "Option<Metric>")]
    metric: Option<Spanned<String>>,
    /// Why it is accepted.
    reason: Spanned<String>,
    /// Who answers for it.
    owner: Option<String>,
    /// The last day on which it holds, without quotes: 2027-01-31.
    expires: Option<Spanned<Day>>,
}

/// Where the code of kernels is, for annotations.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CodeWire {
    /// A whole name, short or full, or a pattern in which `*` stands for anything.
    kernel: Option<Spanned<String>>,
    /// A pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category that the name tells.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// The file, relative to the root of the repository.
    file: Spanned<String>,
    /// The line, from 1; 1 without it.
    line: Option<Spanned<i64>>,
}

/// A word of the file, if it is there.
type Word = Option<Spanned<String>>;

/// Whether a metric is of the whole run, so that no kernel can be chosen for it.
pub(super) fn is_of_run(metric: Metric) -> bool {
    matches!(metric, Metric::Total | Metric::CommonShift)
}

impl Place<'_> {
    /// Kernel, operator and category of an entry; none of them may stand with a metric of the run.
    pub(super) fn selector(
        &self,
        [kernel, operator, category]: [Word; 3],
        metric: Option<Metric>,
    ) -> Result<Selector, ConfigError> {
        let first = [&kernel, &operator, &category].into_iter().flatten().next();
        if let (Some(metric), Some(first)) = (metric.filter(|one| is_of_run(*one)), first) {
            let message = format!("{} is of the whole run and of no kernel", metric.key());
            let help = "leave out kernel, operator and category, or choose the metric time";
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

    /// A name or a pattern that can fit something.
    fn pattern(&self, pattern: Word) -> Result<Option<String>, ConfigError> {
        pattern.map(|text| self.some_pattern(text)).transpose()
    }

    /// A name or a pattern that can fit something.
    pub(super) fn some_pattern(&self, text: Spanned<String>) -> Result<String, ConfigError> {
        if text.get_ref().trim().is_empty() {
            let message = "an empty pattern fits nothing".to_owned();
            return Err(self.wrong(&text.span(), message, "give a name, or a pattern with *"));
        }
        Ok(text.into_inner())
    }

    pub(super) fn gate_waiver(&self, wire: WaiverWire) -> Result<GateWaiver, ConfigError> {
        let reason_at = wire.reason.span();
        self.reason(&wire.reason)?;
        let metric = match &wire.metric {
            None => None,
            Some(word) => Some(self.one_of(word, "metric", &Metric::ALL, Metric::key)?),
        };
        let selector = self.selector([wire.kernel, wire.operator, wire.category], metric)?;
        if selector == Selector::default() && !metric.is_some_and(is_of_run) {
            let message = "the waiver does not say which kernels it is for".to_owned();
            let help =
                "add one or more of kernel, operator and category; kernel = \"*\" is all of them";
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
            let message = "the place does not say which kernels it is for".to_owned();
            let help = "add one or more of kernel, operator and category";
            return Err(self.wrong(&file_at, message, help));
        }
        let has_drive = file.as_bytes().get(1) == Some(&b':');
        let why = if file.trim().is_empty() {
            "it is empty"
        } else if file.contains('\\') {
            "its folders are divided by backslashes"
        } else if file.starts_with('/') || has_drive {
            "it is not relative"
        } else if file.split('/').any(|part| part == "..") {
            "it leaves the repository"
        } else {
            ""
        };
        if !why.is_empty() {
            let message = format!("file cannot be {file:?}: {why}");
            let help = "write it from the root of the repository, with slashes: kernels/gemm.cu";
            return Err(self.wrong(&file_at, message, help));
        }
        let line = match wire.line {
            None => 1,
            Some(line) => {
                u32::try_from(*line.get_ref()).ok().filter(|line| *line > 0).ok_or_else(|| {
                    let message = format!("line cannot be {}", line.get_ref());
                    self.wrong(&line.span(), message, "lines are counted from 1")
                })?
            }
        };
        Ok(CodePlace { selector, file, line })
    }
}
