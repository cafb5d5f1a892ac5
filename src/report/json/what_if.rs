//! Projections in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::Report;
use crate::analysis::{Kernel, Outcome, Projection, WhatIf};
use crate::units::Seconds;

/// The kernels under a change given with `--what-if`.
#[derive(Serialize, JsonSchema)]
pub(super) struct WhatIfDocument<'a> {
    /// The change, such as the name of a device.
    change: &'a str,
    /// True if the kernels run on other roofs; otherwise only their implementation changes.
    elsewhere: bool,
    /// Caveats of this projection, one sentence each.
    notes: &'a [String],
    /// Sums over the kernels.
    totals: WhatIfTotalsDocument,
    /// One entry per kernel of the report, in its order.
    kernels: Vec<ProjectionDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct WhatIfTotalsDocument {
    /// Number of kernels that are projected.
    projected_kernels: usize,
    /// Measured time of the projected kernels; `null` if there are none.
    measured_s: Option<f64>,
    /// Roofline time of the same counts after the change; `null` if no kernel is projected.
    ideal_s: Option<f64>,
    /// Time if each kernel keeps its measured headroom; `null` if no kernel is projected.
    projected_s: Option<f64>,
    /// `measured_s` over `projected_s`.
    speedup: Option<f64>,
    /// Number of kernels that are not.
    not_projected_kernels: usize,
    /// Measured time that is not projected.
    not_projected_s: f64,
    /// Sum of `projected_s` and `not_projected_s`; `null` if nothing is projected, or if more than
    /// a tenth of the run is not projected on other roofs.
    run_s: Option<f64>,
    /// True if some work was not counted, so that the projected times are only lower bounds.
    is_lower_bound: bool,
    /// True if counts may be too high, so that times are upper bounds; with `is_lower_bound` they are neither.
    is_upper_bound: bool,
}

#[derive(Serialize, JsonSchema)]
struct ProjectionDocument<'a> {
    /// Rank of the kernel among `kernels` of the report.
    rank: usize,
    /// Name of the kernel.
    name: &'a str,
    /// Measured time of the launches that the model covers.
    measured_s: Option<f64>,
    /// Roofline time of these launches as they ran.
    roofline_s: Option<f64>,
    /// Roofline time of these launches after the change.
    ideal_s: Option<f64>,
    /// True if some work was not counted, so that `ideal_s` and `projected_s` are lower bounds.
    is_lower_bound: Option<bool>,
    /// True if counts may be too high, so that times are upper bounds; with `is_lower_bound` they are neither.
    is_upper_bound: Option<bool>,
    /// Time of these launches if the kernel keeps its measured headroom.
    projected_s: Option<f64>,
    /// `measured_s` over `projected_s`.
    speedup: Option<f64>,
    /// `memory` or `math`, after the change.
    limiter: Option<&'static str>,
    /// Rank of the kernel it is fused with, whose times are included here.
    fused_with_rank: Option<usize>,
    /// Rank of the kernel whose entry includes its times after fusion.
    merged_into_rank: Option<usize>,
    /// Why the kernel is not projected; `null` if it is.
    not_projected: Option<&'a str>,
}

pub(super) fn documents<'a>(report: &Report<'a>) -> Vec<WhatIfDocument<'a>> {
    report.what_if.iter().map(|one| document(one, &report.analysis.kernels)).collect()
}

fn document<'a>(one: &'a WhatIf, kernels: &'a [Kernel]) -> WhatIfDocument<'a> {
    let totals = &one.totals;
    let is_any = totals.projected_kernels > 0;
    WhatIfDocument {
        change: &one.change,
        elsewhere: one.is_elsewhere,
        notes: &one.notes,
        totals: WhatIfTotalsDocument {
            projected_kernels: totals.projected_kernels,
            measured_s: is_any.then(|| totals.measured.get()),
            ideal_s: is_any.then(|| totals.ideal.get()),
            projected_s: is_any.then(|| totals.projected.get()),
            speedup: totals.speedup(),
            not_projected_kernels: totals.kept_kernels,
            not_projected_s: totals.kept.get(),
            run_s: totals.run.map(Seconds::get),
            is_lower_bound: totals.is_lower_bound,
            is_upper_bound: totals.is_upper_bound,
        },
        kernels: kernels.iter().zip(&one.kernels).map(|(kernel, one)| entry(kernel, one)).collect(),
    }
}

fn entry<'a>(kernel: &'a Kernel, outcome: &'a Outcome) -> ProjectionDocument<'a> {
    let (one, merged_into_rank, not_projected) = match outcome {
        Outcome::Projected(projection) => (Some(projection), None, None),
        Outcome::Merged(into) => (None, Some(into.rank), None),
        Outcome::Kept(reason) => (None, None, Some(reason.as_str())),
    };
    let time = |time: fn(&Projection) -> Seconds| one.map(|one| time(one).get());
    ProjectionDocument {
        rank: kernel.rank,
        name: &kernel.name,
        measured_s: time(|one| one.measured),
        roofline_s: time(|one| one.roofline_time),
        ideal_s: time(|one| one.ideal),
        is_lower_bound: one.map(|one| one.is_lower_bound),
        is_upper_bound: one.map(|one| one.is_upper_bound),
        projected_s: time(|one| one.projected),
        speedup: one.map(Projection::speedup),
        limiter: one.map(|one| one.limiter.label()),
        fused_with_rank: one.and_then(|one| Some(one.with.as_ref()?.rank)),
        merged_into_rank,
        not_projected,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::analysis::{Neighbor, State, WhatIfTotals};
    use crate::report::bench::run;
    use crate::roofline::Limiter;

    /// a and b become one kernel of 2 ms instead of 4 ms; c stays.
    #[test]
    fn each_kernel_is_projected_merged_or_kept() {
        let ms = |time: f64| Seconds::new(time * 1e-3);
        let mut bench =
            run(&[("a", State::Fair, 3.0), ("b", State::Fair, 1.0), ("c", State::Fair, 1.0)]);
        let neighbor = |rank, name: &str| Neighbor { rank, name: name.into() };
        let projection = Projection {
            measured: ms(4.0),
            roofline_time: ms(2.0),
            ideal: ms(1.0),
            projected: ms(2.0),
            limiter: Limiter::Math,
            is_lower_bound: true,
            is_upper_bound: false,
            with: Some(neighbor(2, "b")),
        };
        bench.what_if = vec![WhatIf {
            change: "fused".to_owned(),
            is_elsewhere: false,
            notes: Vec::new(),
            kernels: vec![
                Outcome::Projected(projection),
                Outcome::Merged(neighbor(1, "a")),
                Outcome::Kept("waived".to_owned()),
            ],
            totals: WhatIfTotals::default(),
        }];
        let found = serde_json::to_value(documents(&bench.report())).unwrap();
        let kernels = &found[0]["kernels"];
        let keys = ["rank", "speedup", "fused_with_rank", "merged_into_rank", "not_projected"];
        let of = |at: usize| keys.map(|key| kernels[at][key].clone());
        assert_eq!(of(0), [json!(1), json!(2.0), json!(2), Value::Null, Value::Null]);
        assert_eq!(of(1), [json!(2), Value::Null, Value::Null, json!(1), Value::Null]);
        assert_eq!(of(2), [json!(3), Value::Null, Value::Null, Value::Null, json!("waived")]);
        assert_eq!(
            (&kernels[0]["limiter"], &kernels[0]["is_lower_bound"]),
            (&json!("math"), &json!(true))
        );
        // Sums of no kernel are no zeros.
        for key in ["measured_s", "ideal_s", "projected_s", "speedup", "run_s"] {
            assert_eq!(found[0]["totals"][key], Value::Null, "{key}");
        }
    }
}
