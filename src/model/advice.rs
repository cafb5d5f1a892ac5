//! Results of the profiler's own rules on a launch, separate from measurements.

use std::collections::BTreeMap;

use super::NameId;

/// How a profiler marks a result of one of its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdviceKind {
    /// An optimization opportunity (`OPT`; until 2023 Nsight Compute wrote `WRN`).
    Optimization,
    /// A problem in the kernel or in the profile (`WRN`).
    Warning,
    /// The rule itself failed (`ERR`).
    Error,
    /// Information (`INF`).
    Information,
    /// A mark that no known version writes.
    Unknown,
}

impl AdviceKind {
    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Optimization => "optimization",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Information => "information",
            Self::Unknown => "unknown",
        }
    }
}

/// The reference of an estimated speedup.
///
/// Source: *`NvRules` API* of Nsight Compute, `IFrontend.speedup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpeedupScope {
    /// A share of the kernel's run time that could be saved.
    Global,
    /// A share of the use of one hardware unit, which does not translate to time.
    Local,
}

impl SpeedupScope {
    /// Returns the name that the profiler and machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
        }
    }
}

/// Estimated speedup of following a rule's advice, as stated by the profiler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speedup {
    /// Reference of the share; `None` if the export does not state it.
    pub scope: Option<SpeedupScope>,
    /// The share, 0.5 for the profiler's 50 %.
    pub share: f64,
}

/// One result of a rule of the profiler on one launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolAdvice {
    /// The profiler's name for the rule.
    pub rule: NameId,
    /// Kind of the result.
    pub kind: AdviceKind,
    /// Subject, in a few words without figures; empty if the export has no text.
    pub about: NameId,
    /// Estimated speedup; old exports have no estimates.
    pub speedup: Option<Speedup>,
}

/// Largest number of results kept per launch; no set of rules has more.
pub(super) const MOST: usize = 256;

/// The advice on all launches, by row; nothing is kept for launches without any.
#[derive(Debug, Default)]
pub(super) struct AdviceColumn {
    rows: BTreeMap<usize, Vec<ToolAdvice>>,
}

impl AdviceColumn {
    /// Adds a result to a launch unless it is already there; returns `true` if there was room.
    pub(super) fn put(&mut self, row: usize, advice: ToolAdvice) -> bool {
        let known = self.rows.entry(row).or_default();
        if known.contains(&advice) {
            return true;
        }
        let has_room = known.len() < MOST;
        if has_room {
            known.push(advice);
        }
        has_room
    }

    /// Returns the results on a launch, in the profiler's order.
    pub(super) fn of(&self, row: usize) -> &[ToolAdvice] {
        self.rows.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Keeps only the results on these rows, which are in order, and renumbers them.
    pub(super) fn pick(&mut self, rows: &[usize]) {
        let picked = std::mem::take(&mut self.rows).into_iter();
        self.rows = picked
            .filter_map(|(row, advice)| Some((rows.binary_search(&row).ok()?, advice)))
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(rule: u32) -> ToolAdvice {
        let (rule, about) = (NameId(rule), NameId(0));
        ToolAdvice { rule, kind: AdviceKind::Optimization, about, speedup: None }
    }

    fn rules(column: &AdviceColumn, row: usize) -> Vec<u32> {
        column.of(row).iter().map(|advice| advice.rule.0).collect()
    }

    #[test]
    fn advice_stays_with_its_launch_and_is_kept_once() {
        let mut column = AdviceColumn::default();
        for (row, rule) in [(0, 1), (0, 2), (3, 1), (3, 1), (1, 7), (0, 3), (0, 2)] {
            assert!(column.put(row, advice(rule)));
        }
        assert_eq!(rules(&column, 0), [1, 2, 3]);
        assert_eq!(rules(&column, 1), [7]);
        assert_eq!(rules(&column, 2), Vec::<u32>::new());
        assert_eq!(rules(&column, 3), [1]);
        assert_eq!(rules(&column, usize::MAX), Vec::<u32>::new());
        column.pick(&[1, 2, 3]);
        assert_eq!(rules(&column, 0), [7]);
        assert_eq!(rules(&column, 1), Vec::<u32>::new());
        assert_eq!(rules(&column, 2), [1]);
        column.pick(&[]);
        assert_eq!(rules(&column, 0), Vec::<u32>::new());
    }

    #[test]
    fn one_launch_cannot_fill_the_memory() {
        let mut column = AdviceColumn::default();
        let kept = (0..1000).filter(|rule| column.put(5, advice(*rule))).count();
        assert_eq!((kept, column.of(5).len()), (MOST, MOST));
        assert!(column.put(5, advice(0)), "what is known needs no room");
    }
}
