//! Rows that hold a result of Nsight Compute's own rules instead of a metric.

use super::rule_texts::about;
use crate::ingest::{IngestError, Numerals, Reading, Record};
use crate::model::{AdviceKind, Speedup, SpeedupScope, ToolAdvice};

/// Where a table keeps the results of rules; exports until 2023 have no estimates.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleColumns {
    rule: usize,
    kind: Option<usize>,
    text: Option<usize>,
    scope: Option<usize>,
    speedup: Option<usize>,
}

pub(super) const SPEEDUP: &str = "Estimated Speedup";

impl RuleColumns {
    /// The columns of a header, if it has rules.
    pub(super) fn new(header: &[String]) -> Option<Self> {
        let find = |name: &str| header.iter().position(|field| field == name);
        Some(Self {
            rule: find("Rule Name")?,
            kind: find("Rule Type"),
            text: find("Rule Description"),
            scope: find("Estimated Speedup Type"),
            speedup: find(SPEEDUP),
        })
    }

    /// Reads a record; `None` if it names no rule.
    ///
    /// # Errors
    /// When reading is strict and the estimate is no share.
    pub(super) fn read(
        self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
        numerals: Numerals,
    ) -> Result<Option<ToolAdvice>, IngestError> {
        let cell = |column: Option<usize>| {
            column.and_then(|column| record.get(column)).unwrap_or_default().trim_ascii()
        };
        let rule = cell(Some(self.rule));
        if rule.is_empty() {
            return Ok(None);
        }
        let speedup = share(reading, cell(self.scope), cell(self.speedup), line, numerals)?;
        let text = String::from_utf8_lossy(cell(self.text));
        let about = about(&String::from_utf8_lossy(rule), &text);
        Ok(Some(ToolAdvice {
            rule: reading.name(rule),
            kind: kind(cell(self.kind)),
            about: reading.name(about.as_bytes()),
            speedup,
        }))
    }
}

fn kind(word: &[u8]) -> AdviceKind {
    match word {
        b"OPT" => AdviceKind::Optimization,
        b"WRN" => AdviceKind::Warning,
        b"ERR" => AdviceKind::Error,
        b"INF" => AdviceKind::Information,
        _ => AdviceKind::Unknown,
    }
}

/// Why a cell is no estimate.
const UNREADABLE: &str = "cannot read as share";

/// An estimate in percent.
///
/// # Errors
/// Why it is no share.
pub(super) fn speedup(scope: Option<SpeedupScope>, percent: f64) -> Result<Speedup, &'static str> {
    if percent < 0.0 {
        Err("a share cannot be negative")
    } else if percent > 100.0 && scope == Some(SpeedupScope::Global) {
        // Less time than none: only a share of time has this limit.
        Err("no more than 100% of the time can go")
    } else if percent.is_finite() {
        Ok(Speedup { scope, share: percent / 100.0 })
    } else {
        Err(UNREADABLE)
    }
}

/// An estimated speedup; the export has it in percent. One that cannot be used is counted, and its
/// rule is kept without it.
fn share(
    reading: &mut Reading<'_>,
    scope: &[u8],
    percent: &[u8],
    line: u64,
    numerals: Numerals,
) -> Result<Option<Speedup>, IngestError> {
    let scope = match scope {
        b"global" => Some(SpeedupScope::Global),
        b"local" => Some(SpeedupScope::Local),
        _ => None,
    };
    let found = match numerals.parse(percent) {
        Ok(None) => return Ok(None),
        Ok(Some(value)) => speedup(scope, value),
        Err(_) => Err(UNREADABLE),
    };
    let reason = match found {
        Ok(found) => return Ok(Some(found)),
        Err(reason) => reason,
    };
    let text = String::from_utf8_lossy(percent).into_owned();
    reading.skip(line, Some(SPEEDUP), &text, reason)?;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::model::Profile;

    /// A details page of one launch with a rule for each of these: type, scope and percents.
    fn profile(rules: &[[&str; 3]]) -> Profile {
        let head = "\"0\",\"1\",\"app\",\"host\",\"k\",\"1\",\"7\",\"(512, 1, 1)\",\"(256, 1, 1)\",\"0\",\"9.0\"";
        let mut text = format!(
            "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
             \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\
             \"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\"Rule Description\",\
             \"Estimated Speedup Type\",\"Estimated Speedup\"\n\
             {head},\"GPU Speed Of Light Throughput\",\"Duration\",\"us\",\"5.00\",\"\",\"\",\"\",\"\",\"\"\n"
        );
        for [kind, scope, percent] in rules {
            text.push_str(&format!(
                "{head},\"Occupancy\",\"\",\"\",\"\",\"Rule\",\"{kind}\",\"text\",\"{scope}\",\"{percent}\"\n"
            ));
        }
        read_text("details.csv", text.leak(), &Options::default()).unwrap()
    }

    fn advice(rule: [&str; 3]) -> (AdviceKind, Option<Speedup>, u64) {
        let found = profile(&[rule]);
        let one = found.launch(0).advice().first().map(|one| (one.kind, one.speedup)).unwrap();
        (one.0, one.1, found.sources[0].skips.count)
    }

    #[test]
    fn an_estimate_in_percent_is_a_share_of_its_scope() {
        let global = Some(SpeedupScope::Global);
        let speedup = Some(Speedup { scope: global, share: 0.25 });
        assert_eq!(advice(["OPT", "global", "25"]), (AdviceKind::Optimization, speedup, 0));
        // Of what is local more than all can go: it is no share of the time.
        let local = Some(Speedup { scope: Some(SpeedupScope::Local), share: 1.5 });
        assert_eq!(advice(["WRN", "local", "150"]), (AdviceKind::Warning, local, 0));
        assert_eq!(advice(["INF", "", ""]), (AdviceKind::Information, None, 0));
        assert_eq!(advice(["???", "", ""]).0, AdviceKind::Unknown);
    }

    #[test]
    fn an_estimate_that_cannot_be_is_counted_and_its_rule_kept() {
        for percent in ["-1", "101", "much"] {
            assert_eq!(advice(["OPT", "global", percent]), (AdviceKind::Optimization, None, 1));
        }
    }
}
