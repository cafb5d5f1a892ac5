//! The groups in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use super::positive;
use crate::analysis::{Analysis, GroupTotals};
use crate::units::Seconds;

#[derive(Serialize, JsonSchema)]
pub(super) struct GroupDocument<'a> {
    /// Name of the group, or the category.
    name: &'a str,
    /// Number of its kernels.
    kernels: usize,
    /// Number of their launches.
    launches: u64,
    /// `null` if no launch has a duration.
    measured_s: Option<f64>,
    /// Share of the measured time of the run.
    share: Option<f64>,
    /// Measured time of kernels that were judged and not waived; the next four keys and
    /// `above_target_s` refer to it.
    judged_s: f64,
    /// Roofline time of the judged kernels; `null` if none is judged.
    roofline_s: Option<f64>,
    /// Upper bound of `roofline_s`, given what was not counted; at most the measured time.
    roofline_high_s: Option<f64>,
    /// `roofline_s` over `judged_s`.
    efficiency: Option<f64>,
    /// Lower bound of the efficiency: counts may be too high.
    efficiency_low: Option<f64>,
    /// Upper bound of `efficiency`.
    efficiency_high: Option<f64>,
    /// Time of kernels that could not be judged.
    not_judged_s: f64,
    /// Time that the roofline does not cover: links, caches, launch cost, impossible times.
    outside_s: f64,
    /// Measured time of waived kernels.
    waived_s: f64,
    /// Realistic savings of its opportunities; `null` if none of its kernels is judged.
    savings_s: Option<f64>,
    /// Pessimistic savings.
    savings_low_s: Option<f64>,
    /// Optimistic savings.
    savings_high_s: Option<f64>,
    /// Target efficiency; `null` if there is none.
    target: Option<f64>,
    /// `met`, `missed` or `cannot_tell`; `null` without a target. `missed` and `met` are certain
    /// despite work that was not counted or not judged.
    verdict: Option<&'static str>,
    /// Largest savings of reaching the target.
    above_target_s: Option<f64>,
    /// Certain savings of reaching the target.
    above_target_low_s: Option<f64>,
    /// If the target is not certainly met: the kernels that lose most compared with it.
    worst: Vec<WorstDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct WorstDocument<'a> {
    /// Rank of the kernel among `kernels`.
    rank: usize,
    /// Name of the kernel.
    name: &'a str,
    /// Measured time that was judged.
    judged_s: f64,
    /// Roofline time over judged time.
    efficiency: f64,
    /// Upper bound of `efficiency`, given what was not counted.
    efficiency_high: f64,
}

pub(super) fn documents(analysis: &Analysis) -> Vec<GroupDocument<'_>> {
    analysis.groups.iter().map(group).collect()
}

fn group(group: &GroupTotals) -> GroupDocument<'_> {
    let judged = group.judged.get() > 0.0;
    let above = group.above_target().filter(|_| judged);
    GroupDocument {
        name: &group.name,
        kernels: group.kernels,
        launches: group.launches,
        measured_s: positive(group.measured),
        share: positive(group.measured).map(|_| group.share),
        judged_s: group.judged.get(),
        roofline_s: judged.then(|| group.roofline_time.get()),
        roofline_high_s: judged.then(|| group.roofline_time_high.get()),
        efficiency: group.efficiency(),
        efficiency_low: group.efficiency_low(),
        efficiency_high: group.efficiency_high(),
        not_judged_s: group.unmodeled.get(),
        outside_s: group.outside().get(),
        waived_s: group.waived.get(),
        savings_s: judged.then(|| group.savings.get()),
        savings_low_s: judged.then(|| group.savings_low.get()),
        savings_high_s: judged.then(|| group.savings_high.get()),
        target: group.target,
        verdict: group.verdict().map(crate::analysis::Target::key),
        above_target_s: above.map(|(_, most)| most).map(Seconds::get),
        above_target_low_s: above.map(|(least, _)| least).map(Seconds::get),
        worst: group
            .worst
            .iter()
            .map(|kernel| WorstDocument {
                rank: kernel.rank,
                name: &kernel.name,
                judged_s: kernel.measured.get(),
                efficiency: kernel.efficiency,
                efficiency_high: kernel.efficiency_high,
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// 8 ms, of which 2 ms to 4 ms were expected; 75% would take 2.67 ms to 5.33 ms.
    #[test]
    fn what_was_not_judged_is_null_and_never_zero() {
        let ms = |time: f64| Seconds::new(time * 1e-3);
        let mut totals = GroupTotals::default();
        (totals.measured, totals.target) = (ms(10.0), Some(0.75));
        let of = |totals: &GroupTotals| serde_json::to_value(group(totals)).unwrap();
        let none = of(&totals);
        for key in ["roofline_s", "efficiency", "efficiency_high", "above_target_s", "savings_s"] {
            assert_eq!(none[key], Value::Null, "{key}");
        }
        assert_eq!((&none["verdict"], &none["measured_s"]), (&json!("cannot_tell"), &json!(0.01)));
        (totals.judged, totals.waived) = (ms(8.0), ms(2.0));
        (totals.roofline_time, totals.roofline_time_high) = (ms(2.0), ms(4.0));
        totals.roofline_time_low = ms(2.0);
        let judged = of(&totals);
        assert_eq!(
            (&judged["efficiency"], &judged["efficiency_high"]),
            (&json!(0.25), &json!(0.5))
        );
        assert_eq!((&judged["verdict"], &judged["outside_s"]), (&json!("missed"), &json!(0.0)));
        assert_eq!(judged["savings_s"], json!(0.0), "judged, and nothing to save");
        let near =
            |key: &str, expected: f64| (judged[key].as_f64().unwrap() - expected).abs() < 1e-12;
        assert!(near("above_target_s", 8e-3 - 2e-3 / 0.75), "{judged}");
        assert!(near("above_target_low_s", 8e-3 - 4e-3 / 0.75), "{judged}");
        totals.measured = Seconds::ZERO;
        let untimed = of(&totals);
        assert_eq!((&untimed["measured_s"], &untimed["share"]), (&Value::Null, &Value::Null));
    }
}
