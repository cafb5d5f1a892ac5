//! Projects fusion of neighboring kernels, which saves the traffic between them.

use std::collections::BTreeMap;

use super::sums::{Sums, Times};
use super::{Neighbor, Outcome, Projection, Refusal, Sides, refusal};
use crate::analysis::law::Judged;
use crate::analysis::{Analysis, Instruments, Kernel, State};
use crate::model::{Head, Launch, Pipe, Profile, Quantity};
use crate::roofline::{self, Limiter};
use crate::units::{Bytes, Seconds};

/// A kernel has a neighbor if this share of its launches is followed by the same kernel,
const FAITHFUL: f64 = 0.9;

/// Smallest number of launches needed for a neighbor.
const SEEN: u64 = 3;

/// A launch that may become part of a fused kernel.
#[derive(Debug, Clone)]
struct Member {
    kernel: usize,
    head: Head,
    time: Seconds,
    cost: Seconds,
    roofline_time: Seconds,
    memory: Seconds,
    /// True if its time follows a roof, so that fewer bytes shorten it.
    scales: bool,
    bytes: Bytes,
    read: Option<Bytes>,
    written: Option<Bytes>,
    work: Vec<(usize, Seconds)>,
}

/// Sums over the pairs of two kernels.
#[derive(Debug, Default)]
struct Pair {
    count: u64,
    times: Sums,
    /// Launches whose reads and writes are not counted separately.
    unsplit: u64,
}

/// Projects each kernel together with the one that follows it.
///
/// The savings are the smaller of the first kernel's writes and the second's reads, once for the
/// write and once for the read: a profile does not show if the second reads what the first wrote,
/// nor what passes through L2. Time that no roof explains does not shrink with the bytes. A kernel
/// is fused once, starting with the pair that saves most.
pub(super) fn outcomes(profile: &Profile, analysis: &Analysis) -> Vec<Outcome> {
    let kernels = &analysis.kernels;
    let instruments = Instruments::of(profile);
    let mut last: Option<Member> = None;
    let mut pairs: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
    analysis.each_launch(profile, |position, launch, _, judged| {
        let roofs = &analysis.devices[kernels[position].device].roofs;
        let group = |pipe: Pipe| roofs.group(pipe);
        let cost = instruments.fixed_cost(launch.head.source);
        let kernel = &kernels[position];
        let next = member(position, launch, judged, cost, group).map(|next| Member {
            scales: kernel.state.is_modeled() && kernel.limiter != Limiter::Latency,
            ..next
        });
        if let (Some(first), Some(second)) = (&last, &next)
            && is_next(&first.head, &second.head)
            && first.kernel != second.kernel
        {
            pairs.entry((first.kernel, second.kernel)).or_default().add(first, second);
        }
        last = next;
    });
    let mut outcomes: Vec<Outcome> =
        kernels.iter().map(|kernel| Outcome::Kept(alone(kernel).to_owned())).collect();
    let mut candidates: Vec<((usize, usize), Projection)> = Vec::new();
    for ((first, second), pair) in pairs {
        match pair.projection(&kernels[first], &kernels[second]) {
            Ok(Some(projection)) => candidates.push(((first, second), projection)),
            Ok(None) => {}
            Err(reason) => outcomes[first] = Outcome::Kept(reason.to_owned()),
        }
    }
    let saved = |one: &Projection| one.measured.get() - one.projected.get();
    candidates.sort_by(|one, two| saved(&two.1).total_cmp(&saved(&one.1)).then(one.0.cmp(&two.0)));
    let mut taken = vec![false; kernels.len()];
    for ((first, second), projection) in candidates {
        if taken[first] || taken[second] {
            if !taken[first] {
                let reason = "its neighbor saves more if fused with another kernel";
                outcomes[first] = Outcome::Kept(reason.to_owned());
            }
            continue;
        }
        (taken[first], taken[second]) = (true, true);
        let into = &kernels[first];
        outcomes[second] = Outcome::Merged(Neighbor { rank: into.rank, name: into.name.clone() });
        outcomes[first] = Outcome::Projected(projection);
    }
    outcomes
}

/// Explains why a kernel has no pair.
fn alone(kernel: &Kernel) -> &'static str {
    match refusal(kernel) {
        Some(Refusal { reason, .. }) if !can_join(kernel) => reason,
        _ => "no memory-bound kernel always follows it, or fusion would save nothing",
    }
}

/// Returns `true` if a kernel's time is known well enough to project its fusion. Launch cost is
/// what fusion saves, and fusing gives a small grid more work.
const fn can_join(kernel: &Kernel) -> bool {
    kernel.state.is_modeled() || matches!(kernel.state, State::LaunchBound)
}

/// Returns `true` if a launch directly follows another: same file, process, device and stream,
/// single launches.
fn is_next(first: &Head, second: &Head) -> bool {
    first.source == second.source
        && first.process == second.process
        && first.device == second.device
        && first.stream == second.stream
        && first.count == 1
        && second.count == 1
}

fn member(
    kernel: usize,
    launch: &Launch<'_>,
    judged: &Judged,
    cost: Seconds,
    group: impl Fn(Pipe) -> usize,
) -> Option<Member> {
    let (time, _) = launch.duration()?;
    let times = judged.times.filter(|times| !times.is_faster)?;
    let side = |quantity| launch.value(quantity).map(Bytes::new);
    let mut work: Vec<(usize, Seconds)> =
        judged.work.iter().map(|work| (group(work.pipe), work.time)).collect();
    if let Some(busy) = judged.tensor_activity {
        work.push((group(Pipe::Fp16Matrix), busy));
    }
    Some(Member {
        kernel,
        head: launch.head,
        time,
        cost: cost.min(time),
        roofline_time: times.roofline_time.value,
        memory: judged.memory.map_or(Seconds::ZERO, |memory| memory.value),
        scales: true,
        bytes: judged.bytes?,
        read: side(Quantity::DramReadBytes),
        written: side(Quantity::DramWriteBytes),
        work,
    })
}

impl Pair {
    fn add(&mut self, first: &Member, second: &Member) {
        self.count += 1;
        let (Some(written), Some(read)) = (first.written, second.read) else {
            self.unsplit += 1;
            return;
        };
        let saved = written.min(read) * 2.0;
        let bytes = first.bytes + second.bytes;
        let all = first.memory + second.memory;
        // Both ran at nearly the same roof: the time shrinks as the bytes do.
        let memory = if bytes > Bytes::ZERO { all * ((bytes - saved) / bytes) } else { all };
        let memory = memory.max(Seconds::ZERO);
        let math = roofline::grouped_math_time(first.work.iter().chain(&second.work).copied());
        let sides = Sides { memory, math };
        let roofline_time = first.roofline_time + second.roofline_time;
        let cost = first.cost.max(second.cost);
        let ratio = if roofline_time > Seconds::ZERO { sides.ideal() / roofline_time } else { 1.0 };
        let beyond =
            |one: &Member| (one.time - one.cost) * if one.scales { ratio.min(1.0) } else { 1.0 };
        let projected = cost + beyond(first) + beyond(second);
        let measured = first.time + second.time;
        self.times.add(&Times { measured, roofline_time, projected, sides }, 1.0);
    }

    /// Projects the pair as one kernel; `None` if the two do not belong together or nothing is
    /// saved.
    fn projection(
        &self,
        first: &Kernel,
        second: &Kernel,
    ) -> Result<Option<Projection>, &'static str> {
        let faithful = |kernel: &Kernel| self.count as f64 >= FAITHFUL * kernel.launches as f64;
        // Two products of matrices keep their own loops; one side must be light.
        let is_light = |kernel: &Kernel| !kernel.class.is_product();
        let fits = can_join(first) && can_join(second) && (is_light(first) || is_light(second));
        if !fits || !faithful(first) || !faithful(second) {
            return Ok(None);
        }
        if self.count < SEEN {
            return Err("too few launches to determine what follows it");
        }
        if self.unsplit > 0 {
            return Err("memory reads and writes are not counted separately");
        }
        let with = Neighbor { rank: second.rank, name: second.name.clone() };
        let projection = self.times.projection(&[first, second], Some(with));
        Ok((projection.projected < projection.measured).then_some(projection))
    }
}
