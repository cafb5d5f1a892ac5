//! The math side of a launch: the time of counted operations, and what utilization says of others.

use super::interval::Interval;
use super::judged::{Judged, PipeWork};
use super::nature::{Kinds, Nature, Uncounted};
use super::reading::Reading;
use super::roofs::GROUPS;
use super::scene::{Instrument, Scene};
use crate::model::{Engine, Pipe, Quantity};
use crate::roofline::{self, formula};
use crate::scalar::{Branch, Maybe, Number, Truth};

/// Largest ratio of tensor pipe time to the least time of counted work: on Hopper, `HMMA` of 16 × 8 × 16 runs at two thirds
/// of the pipe's rate, and `HMMA` of 16 × 8 × 8 at half of it (measured on an H100). Beyond that, work was not counted.
const SLOW_INSTRUCTIONS: f64 = 2.2;

/// Largest ratio of tensor pipe time to the least time of counted work that counts as equal.
const SAME_ACTIVITY: f64 = 1.05;

/// What the counts of a launch say.
struct Counts<N: Number> {
    /// Time of the counted work; missing if nothing was counted.
    time: Maybe<N, Interval<N>>,
    kinds: Kinds<N>,
}

/// The math side.
#[derive(Clone, Copy)]
struct Side<N: Number> {
    time: Maybe<N, Interval<N>>,
    is_by_utilization: N::Truth,
}

impl<N: Number> Side<N> {
    fn counted(time: Maybe<N, Interval<N>>) -> Self {
        Self { time, is_by_utilization: N::Truth::of(false) }
    }

    fn by_utilization(time: Interval<N>) -> Self {
        Self { time: Maybe::known(time), is_by_utilization: N::Truth::of(true) }
    }
}

impl<N: Number> Branch<N> for Side<N> {
    #[inline]
    fn blank() -> Self {
        Self::counted(Maybe::missing())
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self {
            time: Maybe::merge(is, then.time, other.time),
            is_by_utilization: <N::Truth as Branch<N>>::merge(
                is,
                then.is_by_utilization,
                other.is_by_utilization,
            ),
        }
    }
}

/// Adds the math side.
pub(super) fn math<N: Number, R: Reading<N>>(
    judged: &mut Judged<N>,
    scene: &Scene<'_, N, R>,
    nature: Nature<N>,
    instrument: Instrument<N>,
) {
    let counts = counts(judged, scene, nature, instrument);
    let busy = scene.sm_busy();
    // The busiest unit needed its time, whatever the roofs are.
    let lacks_peak = judged.lacks_peak;
    let stands_in = lacks_peak & busy.is & !scene.roofs.has_peaks();
    let zero = N::of(0.0);
    let uncounted = || {
        let uncounted = nature.uncounted(&counts.kinds);
        // A product multiplies something, and none of it was counted. Without matrix units it does so elsewhere.
        let is_nothing = counts.time.is_some_and(|time| time.value.same(zero))
            | (scene.roofs.lacks_matrix_units & !counts.time.is);
        let lacks_product = nature.is_product & is_nothing & !counts.kinds.whole;
        let certain = || N::word(Uncounted::Certain);
        N::select(lacks_product, certain, || uncounted)
    };
    let nothing = || N::word(Uncounted::Nothing);
    judged.uncounted = N::select(lacks_peak, nothing, uncounted);
    let side = N::select(lacks_peak, Side::blank, || {
        let is_whole = N::is(judged.uncounted, Uncounted::Nothing) & counts.time.is;
        let whole = || {
            let capped = |time: Interval<N>| busy.map_or(time, |busy| time.capped(busy));
            Side::counted(counts.time.map(capped))
        };
        N::select(is_whole, whole, || open(judged, scene, nature, counts.time))
    });
    let side = N::select(
        stands_in,
        || Side::by_utilization(Interval::up_to(busy.unwrap_or(zero))),
        || side,
    );
    judged.lacks_peak = lacks_peak & !stands_in;
    judged.math = side.time;
    judged.math_by_utilization = side.is_by_utilization;
    judged.by_utilization = judged.by_utilization | side.is_by_utilization;
}

/// Adds the work per pipe, and returns what the counts say.
fn counts<N: Number, R: Reading<N>>(
    judged: &mut Judged<N>,
    scene: &Scene<'_, N, R>,
    nature: Nature<N>,
    instrument: Instrument<N>,
) -> Counts<N> {
    let (launch, roofs, set) = (scene.launch, scene.roofs, scene.set);
    let zero = N::of(0.0);
    let mut groups = [Interval::zero(); GROUPS];
    let mut kinds = Kinds::new(N::Truth::of(false));
    let (mut any, mut tensor) = (N::Truth::of(false), zero);
    // Bytes that follow from sizes are no counts.
    let (mut is_counted, mut is_stated) =
        (judged.bytes.is & !judged.algorithmic, N::Truth::of(false));
    launch.each_work(|pipe, counted| {
        let is_algorithmic = counted.is_some_and(|one| one.origin.is_algorithmic);
        let is_some = counted.is_some_and(|one| zero.less(one.value));
        any = any | counted.is;
        is_counted = is_counted | (counted.is & !is_algorithmic);
        is_stated = is_stated | is_algorithmic;
        kinds.note(pipe, counted.is, is_some);
        judged.algorithmic = judged.algorithmic | is_algorithmic;
        let time = Maybe::only_if(is_some, || {
            counted.and_then(|one| {
                let peak = |pipe| roofs.peak(launch, pipe, set);
                let time = work_time(pipe, one.value, nature.moves_data, peak);
                time.map(|time| time.times(one.origin.low, one.origin.high))
            })
        });
        let lacks_peak = is_some & !time.is;
        judged.lacks_peak = judged.lacks_peak | lacks_peak;
        let time = time.unwrap_or(Interval::zero());
        let time = Interval { value: time.value.named("t_", pipe.key()), ..time };
        if pipe.engine() == Engine::Matrix {
            tensor = tensor + time.value;
        }
        let operations = counted.map_or(zero, |one| one.value);
        let work = PipeWork { pipe, is: counted.is, operations, time: time.value, lacks_peak };
        judged.work.push(work);
        roofs.add(&mut groups, pipe, time);
    });
    kinds.whole = is_stated | (instrument.whole_counts & !(instrument.selects & is_counted));
    kinds.bytes_alone = judged.bytes.is & !any;
    let busy = scene.busy(Quantity::TensorActive);
    // Exact for a uniform stream of matrix instructions: the count needs their type, the time does
    // not. Where counters saw less than the pipe worked, the difference is work they are blind to.
    let busy = busy.map(|busy| roofs.activity_at_tensor(launch, busy, set));
    kinds.tensor_activity = busy.is | roofs.lacks_matrix_units;
    let is_more = |factor: f64| busy.is_some_and(|busy| (tensor * N::of(factor)).less(busy));
    let unseen = Maybe::only_if(is_more(SAME_ACTIVITY), || busy).map(|busy| busy - tensor);
    judged.tensor_activity = Maybe::only_if(is_more(SLOW_INSTRUCTIONS), || unseen);
    let unseen = unseen.map_or(Interval::zero(), |unseen| {
        N::select(
            judged.tensor_activity.is,
            || Interval::exactly(unseen),
            || Interval { high: unseen, ..Interval::zero() },
        )
    });
    roofs.add(&mut groups, Pipe::Fp16Matrix, unseen);
    let of = |bound: fn(&Interval<N>) -> N| formula::grouped_math_time(groups.iter().map(bound));
    let time = Interval {
        low: of(|sum| sum.low),
        value: of(|sum| sum.value),
        likely: of(|sum| sum.likely),
        high: of(|sum| sum.high),
    };
    Counts { time: Maybe::when(any | busy.is, || time.named("counted_math")), kinds }
}

/// Returns the math side if not all work was counted, from counts and utilization.
fn open<N: Number, R: Reading<N>>(
    judged: &Judged<N>,
    scene: &Scene<'_, N, R>,
    nature: Nature<N>,
    counts: Maybe<N, Interval<N>>,
) -> Side<N> {
    let (zero, infinite) = (N::of(0.0), N::of(f64::INFINITY));
    let (sm, pipes) = (scene.sm_busy(), scene.pipes_busy());
    let value = counts.map_or(zero, |counts| counts.value);
    let is_unlikely = N::is(judged.uncounted, Uncounted::Unlikely);
    // Beside known traffic a unit that is not its limit says nothing of the work that it did.
    let knows_traffic = judged.memory.is_some_and(Interval::is_known);
    let hides = nature.moves_data & knows_traffic;
    let stands_in = |busy: N| {
        let limits = scene.time.is_some_and(|time| (time * N::of(roofline::BUSY)).at_most(busy));
        zero.less(busy) & (!knows_traffic | limits)
    };
    let is_nothing = value.same(zero) & !hides;
    // Nothing that takes time was counted: the busiest unit stands in for it.
    let by_sm = Maybe::only_if(is_nothing, || sm.filter(stands_in));
    let by_pipes = Maybe::only_if(is_nothing & !sm.is, || pipes.filter(stands_in));
    let of_counts = || {
        let is_known = counts.is | sm.is | is_unlikely;
        Side::counted(Maybe::when(is_known, || {
            let high = sm.unwrap_or(infinite).max(value);
            let likely = N::select(is_unlikely, || value, || high);
            Interval { low: counts.map_or(zero, |counts| counts.low), value, likely, high }
        }))
    };
    let of_pipes = |busy: N| {
        let likely = N::select(is_unlikely, || busy, || infinite);
        Side::by_utilization(Interval { low: zero, value: busy, likely, high: infinite })
    };
    N::select(
        by_sm.is,
        || Side::by_utilization(Interval::up_to(by_sm.unwrap_or(zero))),
        || N::select(by_pipes.is, || of_pipes(by_pipes.unwrap_or(zero)), of_counts),
    )
}

/// Lanes that work of unstated precision most often runs on, besides FP32.
const LANES: [Pipe; 2] = [Pipe::Fp16Vector, Pipe::Bf16Vector];

/// Matrix pipes that it most often runs on.
const USUAL: [Pipe; 3] = [Pipe::Fp16Matrix, Pipe::Bf16Matrix, Pipe::Tf32Matrix];

/// Faster ones, on which it may have run.
const FAST: [Pipe; 5] = [
    Pipe::Fp16MatrixFp16Acc,
    Pipe::Fp8Matrix,
    Pipe::Fp8MatrixFp16Acc,
    Pipe::Fp6Matrix,
    Pipe::Fp4Matrix,
];

/// Returns the time of work on one pipe. Work of unstated precision takes at most the time on FP32; the time on the
/// fastest roof of the usual precisions is used, and only one below that on the fastest of all is impossible. Kernels
/// that by their name move data, or compute little per element, multiply no matrices: the fastest lanes are used.
pub(crate) fn work_time<N: Number>(
    pipe: Pipe,
    operations: N,
    moves_data: N::Truth,
    peak: impl Fn(Pipe) -> Maybe<N, N>,
) -> Maybe<N, Interval<N>> {
    if pipe != Pipe::Unstated {
        return peak(pipe).map(|peak| Interval::exactly(formula::time(operations, peak)));
    }
    peak(Pipe::Fp32Vector).map(|slow| {
        let slow = formula::time(operations, slow);
        let fastest = |pipes: &[Pipe], from: N| {
            let times =
                pipes.iter().map(|pipe| peak(*pipe).map(|peak| formula::time(operations, peak)));
            times.fold(from, |fastest, time| time.map_or(fastest, |time| fastest.min(time)))
        };
        let on_lanes = fastest(&LANES, slow);
        let usual = fastest(&USUAL, on_lanes);
        let value = N::select(moves_data, || on_lanes, || usual);
        Interval { low: fastest(&FAST, usual), value, likely: slow, high: slow }
    })
}
