//! Describes what the state of a kernel means for the user.

use super::{Kernel, State};
use crate::model::Quantity;
use crate::roofline::{self, Limiter};

impl Kernel {
    /// Describes its state for the user in a sentence: the limiter, the known cause, the next step.
    #[must_use]
    pub fn meaning(&self) -> String {
        /// Ratio of largest to smallest headroom from which launches are reported as different.
        const WIDE: f64 = 4.0;
        let mut meaning = by_limiter(self);
        let judged =
            matches!(self.state, State::Flagged | State::Fair | State::LowImpact | State::Possible);
        if judged
            && let Some((low, high)) = self.headrooms.map(|(low, high)| (low.get(), high.get()))
            && high > low * WIDE
        {
            meaning.push_str(&format!("; launches vary between {low:.1}× and {high:.1}×"));
        }
        meaning
    }
}

fn by_limiter(kernel: &Kernel) -> String {
    let percent =
        |quantity: Quantity| kernel.average(quantity).map(|value| (value * 100.0).round());
    match kernel.state {
        State::Flagged | State::Fair | State::LowImpact | State::Possible | State::Waived => {
            match kernel.limiter {
                Limiter::Latency => {
                    let blocks = match kernel.shape.blocks {
                        None => "few blocks".to_owned(),
                        Some(1) => "one block".to_owned(),
                        Some(blocks) => format!("{blocks} blocks"),
                    };
                    let threads = kernel.shape.threads_per_block.unwrap_or_default();
                    if threads < roofline::THREADS_PER_BLOCK {
                        let threads = match threads {
                            1 => "one thread".to_owned(),
                            threads => format!("{threads} threads"),
                        };
                        format!(
                            "too little parallelism to hide latency: {blocks} of only {threads}"
                        )
                    } else {
                        format!(
                            "too little parallelism to hide latency: only {blocks} of {threads} threads"
                        )
                    }
                }
                Limiter::Math if kernel.math_time.is_none() => {
                    "limited by the SMs according to their utilization; operations were not counted"
                        .to_owned()
                }
                Limiter::Memory => {
                    let reached = kernel.headroom().map_or(0.0, |headroom| 100.0 / headroom);
                    let occupancy = percent(Quantity::AchievedOccupancy)
                        .map_or_else(String::new, |value| format!("; achieved occupancy {value}%"));
                    format!(
                        "memory-bound, but reaches only {reached:.0}% of the memory roof{occupancy}"
                    )
                }
                Limiter::Math => {
                    let reached = kernel.headroom().map_or(0.0, |headroom| 100.0 / headroom);
                    let pipe = kernel
                        .work
                        .iter()
                        .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
                        .map_or("math", |work| work.pipe.label());
                    format!("compute-bound, but reaches only {reached:.0}% of the {pipe} roof")
                }
                Limiter::Unknown => match kernel.headroom_low() {
                    Some(low) if low > 1.0 / roofline::BUSY => format!(
                        "latency-bound: no unit is busier than {:.0}%; warps wait for memory or for \
                     instructions",
                        100.0 / low
                    ),
                    _ => "limiter unknown, because FLOPs or bytes were not counted".to_owned(),
                },
            }
        }
        State::NearRoofline => match kernel.limiter {
            Limiter::Memory => "at the memory roof: only moving fewer bytes helps (fusion, \
                smaller types)"
                .to_owned(),
            Limiter::Math => "at the compute roof: only less work or a faster pipe helps (tensor \
                cores, lower precision)"
                .to_owned(),
            _ => "at its roof".to_owned(),
        },
        State::LaunchBound => "dominated by launch overhead: fuse launches, use CUDA or HIP \
            graphs, or larger batches"
            .to_owned(),
        State::CacheResident => "served by the caches: compare it with the L2 roof, not with DRAM \
            bandwidth"
            .to_owned(),
        State::FasterThanRoofline => "faster than the model allows, so not ranked: check device, \
            clocks and metrics"
            .to_owned(),
        State::NotEnoughData => "not enough data: run `rooflint inspect` for the command that \
            collects the missing metrics"
            .to_owned(),
        State::NotRoofline => "limited by link bandwidth and overlap, not by this \
            roofline"
            .to_owned(),
    }
}
