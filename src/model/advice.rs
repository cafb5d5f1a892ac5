//! What the rules of the profiler itself say of a launch, kept apart from what was measured.

use std::collections::BTreeMap;

use super::NameId;

/// How a profiler marks a result of one of its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdviceKind {
    /// Something to gain (`OPT`; until 2023 Nsight Compute said `WRN`).
    Optimization,
    /// Something wrong or doubtful, in the kernel or in the profile (`WRN`).
    Warning,
    /// The rule itself failed (`ERR`).
    Error,
    /// Something to know (`INF`).
    Information,
    /// A mark that no known version writes.
    Unknown,
}

impl AdviceKind {
    /// The word in reports.
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

/// What an estimated speedup is a share of.
///
/// Source: *`NvRules` API* of Nsight Compute, `IFrontend.speedup`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpeedupScope {
    /// Of the kernel's run time: how much of it could go.
    Global,
    /// Of the use of one part of the hardware, looked at alone: it says nothing about time.
    Local,
}

impl SpeedupScope {
    /// The word that the profiler and machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
        }
    }
}

/// What following a rule's advice is estimated to bring, as the profiler states it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speedup {
    /// What it is a share of; `None` where the export does not say.
    pub scope: Option<SpeedupScope>,
    /// The share, 0.5 for the profiler's 50 %.
    pub share: f64,
}

/// One result of a rule of the profiler on one launch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolAdvice {
    /// The profiler's name of the rule.
    pub rule: NameId,
    /// How it is marked.
    pub kind: AdviceKind,
    /// What it is about, in a few words without figures; empty where the export has no text.
    pub about: NameId,
    /// What following it is estimated to bring; old exports have no estimates.
    pub speedup: Option<Speedup>,
}

/// More results on one launch than this are not kept: no set of rules has that many.
pub(super) const MOST: usize = 256;

/// The advice on all launches, by row; nothing is kept for launches without any.
#[derive(Debug, Default)]
pub(super) struct AdviceColumn {
    rows: BTreeMap<usize, Vec<ToolAdvice>>,
}

impl AdviceColumn {
    /// Adds to a launch what is not said of it yet; whether there was room.
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

    /// What is said of a launch, in the profiler's order.
    pub(super) fn of(&self, row: usize) -> &[ToolAdvice] {
        self.rows.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Keeps only what belongs to these rows, which are then numbered anew; they are in order.
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
