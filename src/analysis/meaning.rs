//! What the state of a kernel means for its owner, in words.

use super::kernel::{Kernel, State};
use crate::model::Quantity;
use crate::roofline::{self, Limiter};

impl Kernel {
    /// What its state means for the user, in a sentence: the limiter, what is known of the cause, the next step.
    #[must_use]
    pub fn meaning(&self) -> String {
        /// Launches whose headrooms differ more than this are not one case.
        const WIDE: f64 = 4.0;
        let mut meaning = by_limiter(self);
        let judged =
            matches!(self.state, State::Flagged | State::Fair | State::LowImpact | State::Possible);
        if judged
            && let Some((low, high)) = self.headrooms
            && high > low * WIDE
        {
            meaning.push_str(&format!("; its launches differ, from {low:.1}× to {high:.1}×"));
        }
        meaning
    }
}

fn by_limiter(kernel: &Kernel) -> String {
    let percent =
        |quantity: Quantity| kernel.average(quantity).map(|value| (value * 100.0).round());
    match kernel.state {
        State::Flagged | State::Fair | State::LowImpact | State::Possible | State::Waived => match kernel.limiter {
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
                    format!("too little parallelism to hide latency: {blocks} of only {threads}")
                } else {
                    format!(
                        "too little parallelism to hide latency: only {blocks} of {threads} threads"
                    )
                }
            }
            Limiter::Math if kernel.math_time.is_none() => {
                "the multiprocessors are its limit, by how busy they are: operations were not counted"
                    .to_owned()
            }
            Limiter::Memory => {
                let reached = kernel.headroom.map_or(0.0, |headroom| 100.0 / headroom);
                let occupancy = percent(Quantity::AchievedOccupancy)
                    .map_or_else(String::new, |value| format!("; achieved occupancy {value}%"));
                format!(
                    "memory-limited by its intensity, yet it moves data at {reached:.0}% of the \
                     memory roof{occupancy}"
                )
            }
            Limiter::Math => {
                let reached = kernel.headroom.map_or(0.0, |headroom| 100.0 / headroom);
                let pipe = kernel
                    .work
                    .iter()
                    .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
                    .map_or("math", |work| work.pipe.label());
                format!(
                    "math-limited by its intensity, yet it computes at {reached:.0}% of the {pipe} \
                     roof"
                )
            }
            Limiter::Unknown => match kernel.headroom_low {
                Some(low) if low > 1.0 / roofline::BUSY => format!(
                    "no unit is busier than {:.0}%: it waits, for memory or for its own \
                     instructions",
                    100.0 / low
                ),
                _ => "which roof limits it cannot be told: one side was not counted".to_owned(),
            },
        },
        State::NearRoofline => match kernel.limiter {
            Limiter::Memory => "at the memory roof: only moving fewer bytes makes it faster (fusion, smaller \
                 types)"
                    .to_owned(),
            Limiter::Math => "at the compute roof: only less work or a faster pipe makes it faster (tensor cores, \
                 lower precision)"
                    .to_owned(),
            _ => "at its roof".to_owned(),
        },
        State::LaunchBound => "a faster kernel gains nothing; fewer launches do (fusion, CUDA graphs, larger \
             batches)"
                .to_owned(),
        State::CacheResident => "compare it with the L2 roof; DRAM bandwidth says nothing about it".to_owned(),
        State::FasterThanRoofline => "impossible under the model, so not ranked; check device, clocks and metrics \
             first"
                .to_owned(),
        State::NotEnoughData => "no judgment; see `rooflint inspect` for the command that collects what is \
             missing"
                .to_owned(),
        State::NotRoofline => "judged by link bandwidth and overlap, not by this roofline".to_owned(),
    }
}
