//! Results of the profiler's own rules on a kernel, one line each.

use super::view::{self, printable};
use crate::analysis::{AdviceSpeedup, Kernel};
use crate::model::SpeedupScope;
use crate::units;

/// Returns rule, kind with the estimate, and subject of each result.
pub(super) fn rows(kernel: &Kernel) -> impl Iterator<Item = [String; 3]> {
    kernel.tool_advice().iter().map(|advice| {
        let speedup =
            advice.speedup.map_or_else(String::new, |speedup| format!(", {}", estimate(speedup)));
        let mut remark = advice.about.as_deref().map_or_else(String::new, printable);
        if advice.launches < kernel.launches {
            let some = format!("{} of {} launches", advice.launches, kernel.launches);
            remark = if remark.is_empty() { some } else { format!("{remark}; {some}") };
        }
        [printable(&advice.rule), format!("{}{speedup}", advice.kind.label()), remark]
    })
}

/// Formats an estimate in the profiler's own words, with its reference.
fn estimate(speedup: AdviceSpeedup) -> String {
    let range = units::interval(&view::percent(speedup.low), &view::percent(speedup.high));
    match speedup.scope {
        Some(SpeedupScope::Global) => format!("est. speedup {range}"),
        Some(SpeedupScope::Local) => format!("est. local speedup {range}"),
        None => format!("est. speedup {range} (scope not stated)"),
    }
}
