//! In which form a counter is given: counted, or per time.

/// In which form a count is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The count itself.
    Sum,
    /// Per elapsed cycle.
    PerCycle,
    /// Per second.
    PerSecond,
    /// The most the hardware can do per cycle.
    Peak,
}

/// The sub-metric after `.sum`.
pub(super) fn form(suffix: &str) -> Option<Form> {
    Some(match suffix {
        "" => Form::Sum,
        ".per_cycle_elapsed" => Form::PerCycle,
        ".per_second" => Form::PerSecond,
        ".peak_sustained" => Form::Peak,
        _ => return None,
    })
}
