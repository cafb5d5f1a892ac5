//! The law for a kernel: its limiter and what its state rests on, from the sums over its launches.

use super::ground::Ground;
use super::nature::Uncounted;
use crate::model::Quantity;
use crate::roofline::{self, Limiter, NEAR, formula};
use crate::scalar::{Maybe, Number};

/// Likely headroom below which the likely end of the roofline time is impossible: faster by more than 3%.
const BEATEN: f64 = 0.97;

/// L2 hit rate from which a kernel with little DRAM traffic is cache-resident.
const CACHE_HITS: f64 = 0.9;

/// Launches up to this multiple of the launch cost are short: fewer launches help most.
const TERRITORY: f64 = 4.0;

/// Bytes per thread from which a thread has several items that other threads could take: eight
/// accesses of 16 bytes.
const SEVERAL_ITEMS: f64 = 128.0;

/// Largest excess of a bound over what is known at which they count as equal.
const SAME: f64 = 1.001;

/// Quantities of which a kernel's state needs averages.
pub(crate) const AVERAGED: [Quantity; 7] = [
    Quantity::SmCount,
    Quantity::ResidentBlocksPerSm,
    Quantity::SmThroughput,
    Quantity::MemoryThroughput,
    Quantity::DramThroughput,
    Quantity::L2HitRate,
    Quantity::L2Throughput,
];

/// Weight of a launch without a duration in averages that are weighted by time, in seconds: next to those of timed
/// launches it vanishes, and where there are none all launches weigh the same.
pub(crate) const UNTIMED: f64 = 1e-30;

/// Time-weighted averages over the launches of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Averages<N: Number> {
    sm_count: Maybe<N, N>,
    resident: Maybe<N, N>,
    sm_throughput: Maybe<N, N>,
    memory_throughput: Maybe<N, N>,
    dram_throughput: Maybe<N, N>,
    l2_hits: Maybe<N, N>,
    l2_throughput: Maybe<N, N>,
}

impl<N: Number> Averages<N> {
    /// Takes the average of each quantity.
    pub(crate) fn of(average: impl FnMut(Quantity) -> Maybe<N, N>) -> Self {
        let [
            sm_count,
            resident,
            sm_throughput,
            memory_throughput,
            dram_throughput,
            l2_hits,
            l2_throughput,
        ] = AVERAGED.map(average);
        Self {
            sm_count,
            resident,
            sm_throughput,
            memory_throughput,
            dram_throughput,
            l2_hits,
            l2_throughput,
        }
    }
}

/// What is known of a kernel: sums over its launches, time-weighted averages, and its name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kernel<N: Number> {
    /// Number of launches; of those with a time that was not taken while instrumented; and their time.
    pub(crate) launches: N,
    pub(crate) timed: N,
    pub(crate) measured: N,
    /// Whether any launch could be compared with its roofs.
    pub(crate) is_judged: N::Truth,
    /// Number of the launches that stand for the kernel: those that were judged, else all.
    pub(crate) part: N,
    /// Sums over them.
    pub(crate) time: N,
    pub(crate) roofline: N,
    pub(crate) likely: N,
    pub(crate) high: N,
    pub(crate) memory: Maybe<N, N>,
    pub(crate) math: Maybe<N, N>,
    pub(crate) l2: Maybe<N, N>,
    pub(crate) bytes: Maybe<N, N>,
    pub(crate) savings_high: N,
    /// The upper bound of the roofline time where the sizes of its algorithm are known too.
    pub(crate) most: N,
    /// Worst case of what is known of uncounted work.
    pub(crate) uncounted: N::Choice<Uncounted>,
    pub(crate) is_math_by_utilization: N::Truth,
    pub(crate) is_algorithmic: N::Truth,
    /// Whether its launches are faster than the model allows.
    pub(crate) is_faster: N::Truth,
    /// Whether most launches that were not judged have no time.
    pub(crate) is_untimed: N::Truth,
    pub(crate) averages: Averages<N>,
    /// Grid and device.
    pub(crate) blocks: Maybe<N, N>,
    pub(crate) threads_per_block: Maybe<N, N>,
    pub(crate) sms: Maybe<N, N>,
    pub(crate) l2_bytes: Maybe<N, N>,
    /// What the name says.
    pub(crate) crosses_link: N::Truth,
    pub(crate) is_product: N::Truth,
    pub(crate) is_persistent_by_name: N::Truth,
    pub(crate) is_serial_by_name: N::Truth,
    pub(crate) has_work_by_name: N::Truth,
    pub(crate) is_per_element: N::Truth,
    /// Realistic and largest savings of all its grids together.
    pub(crate) family: (N, N),
    /// Least cost of a launch.
    pub(crate) fixed_cost: N,
}

/// The blocks of a kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks<N: Number> {
    pub(crate) number: Maybe<N, N>,
    /// How many an SM holds at once.
    pub(crate) resident: Maybe<N, N>,
}

impl<N: Number> Blocks<N> {
    /// Returns whether a kernel has as many blocks as its SMs hold: by its name, at most one wave of blocks and
    /// more than half as many as SMs, or a product of exactly one wave.
    pub(crate) fn is_persistent(
        self,
        sms: Maybe<N, N>,
        by_name: N::Truth,
        is_product: N::Truth,
    ) -> N::Truth {
        let one = N::of(1.0);
        let resident = self.resident.filter(|blocks| one.at_most(blocks)).map(N::round);
        let wave = sms.map(|sms| sms * resident.unwrap_or(one));
        let blocks = self.number.filter(|blocks| N::of(0.0).less(blocks));
        let waves = blocks.zip(wave);
        let is_at_most_one = waves.is_some_and(|(blocks, wave)| blocks.at_most(wave));
        // Fewer are too few tiles, whatever the kernel would like.
        let fills = blocks.zip(sms).is_some_and(|(blocks, sms)| sms.less(blocks * N::of(2.0)));
        let is_one = waves.is_some_and(|(blocks, wave)| blocks.same(wave));
        (by_name & (!waves.is | (is_at_most_one & fills))) | (is_product & is_one)
    }
}

/// Returns whether a launch takes hardly longer than its cost, so that mainly fewer launches help.
pub(crate) fn is_short<N: Number>(mean: N, fixed_cost: N) -> N::Truth {
    mean.at_most(fixed_cost * N::of(TERRITORY))
}

/// Returns whether the threads of a launch have several elements each, by its bytes.
pub(crate) fn has_several_items<N: Number>(bytes: N, threads: N) -> N::Truth {
    (threads * N::of(SEVERAL_ITEMS)).at_most(bytes)
}

/// What a kernel is judged by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bar<N> {
    /// Headroom from which a kernel is flagged, and the default.
    pub(crate) threshold: N,
    pub(crate) usual_threshold: N,
    /// Smallest savings that matter in the run.
    pub(crate) floor: N,
}

impl<N: Number> Kernel<N> {
    /// Returns headroom.
    pub(crate) fn headroom(&self) -> Maybe<N, N> {
        self.over(self.roofline)
    }

    /// Returns the lower bound of headroom.
    pub(crate) fn headroom_low(&self) -> Maybe<N, N> {
        self.over(self.most)
    }

    /// Returns the least that headroom can be.
    pub(crate) fn least_headroom(&self) -> Maybe<N, N> {
        let headroom = self.headroom().unwrap_or(N::of(f64::INFINITY));
        self.headroom_low().map(|low| formula::least_headroom(low, headroom))
    }

    /// Returns the likely headroom.
    pub(crate) fn headroom_likely(&self) -> Maybe<N, N> {
        self.over(self.likely)
    }

    /// Whether its launches are compared with the roofs of the device: links, not roofs, say how long communication takes.
    pub(crate) fn has_roofline(&self) -> N::Truth {
        self.is_judged & !self.crosses_link
    }

    fn over(&self, bound: N) -> Maybe<N, N> {
        let is_known = self.has_roofline() & N::of(0.0).less(bound);
        Maybe::when(is_known, || formula::headroom(self.time, bound))
    }

    /// Returns whether neither counts nor the kind of kernel bound the roofline time from above.
    pub(crate) fn is_unbounded(&self) -> N::Truth {
        self.is_judged & !self.likely.less(N::of(f64::INFINITY))
    }

    /// Returns the SMs that its launches could use.
    fn multiprocessors(&self) -> Maybe<N, N> {
        self.averages.sm_count.map(N::round).or_else(|| self.sms)
    }

    /// Returns whether it has as many blocks as its SMs hold. See [`Blocks::is_persistent`].
    pub(crate) fn is_persistent(&self, sms: Maybe<N, N>) -> N::Truth {
        let blocks = Blocks { number: self.blocks, resident: self.averages.resident };
        blocks.is_persistent(sms, self.is_persistent_by_name, self.is_product)
    }

    /// Returns the threads of a launch.
    fn threads(&self) -> Maybe<N, N> {
        self.blocks.zip(self.threads_per_block).map(|(blocks, threads)| blocks * threads)
    }

    /// Returns the mean time of a launch, over those with a time.
    fn mean(&self) -> N {
        self.measured / self.timed.max(N::of(1.0))
    }

    /// Returns whether its blocks have work that others could share.
    pub(crate) fn has_work(&self) -> N::Truth {
        let is_short = is_short(self.mean(), self.fixed_cost);
        let bytes = self.bytes.map(|bytes| bytes / self.launches.max(N::of(1.0)));
        // Such kernels have threads by the number of their elements.
        let has_several = bytes
            .zip(self.threads())
            .is_some_and(|(bytes, threads)| has_several_items(bytes, threads));
        let has_work = self.has_work_by_name
            | (self.is_per_element & has_several)
            | (!self.is_per_element & self.is_product);
        !self.is_serial_by_name & !is_short & has_work
    }

    /// Returns whether a kernel with little parallelism could have more: it has enough if every SM
    /// has its warps, and otherwise needs work that more threads could share. The 192 threads of a
    /// track finder have 192 tracks, so more blocks would be idle.
    pub(crate) fn has_room(&self) -> N::Truth {
        let fills = self.threads().zip(self.multiprocessors()).is_some_and(|(threads, sms)| {
            (sms * N::of(roofline::THREADS_PER_BLOCK as f64)).at_most(threads)
        });
        fills | self.has_work()
    }

    /// Returns the limiter.
    pub(crate) fn limiter(&self) -> N::Choice<Limiter> {
        let zero = N::of(0.0);
        let unknown = || N::word(Limiter::Unknown);
        N::select(!(self.has_roofline() & zero.less(self.time)), unknown, || {
            let (memory, math) = (self.memory, self.math);
            let longer = memory.unwrap_or(zero).max(math.unwrap_or(zero));
            let reached = longer / self.time;
            // The other side may be bounded below the known one; then it cannot be the limiter.
            let is_certain =
                N::of(roofline::BUSY).at_most(reached) | self.high.at_most(longer * N::of(SAME));
            let is_known = (memory.is & math.is) | ((memory.is | math.is) & is_certain);
            let sms = self.multiprocessors();
            let is_persistent = self.is_persistent(sms);
            // As many blocks as fit, by its own choice: their number says nothing of parallelism.
            let blocks = Maybe::only_if(!is_persistent, || self.blocks);
            let sides = (memory.unwrap_or(zero), math.unwrap_or(zero));
            let resident = self.averages.resident.filter(|blocks| N::of(1.0).at_most(blocks));
            let threads_per_block = self.threads_per_block;
            let grid = |blocks| formula::Grid { blocks, threads_per_block, sms, resident };
            let little = grid(blocks).has_little_parallelism();
            let known = || formula::limiter(sides.0, sides.1, little, reached);
            N::select(is_known, known, || {
                // Too little parallelism is visible without knowing which side is longer.
                let any = grid(self.blocks).has_little_parallelism();
                let is_idle = (self.high / self.time).less(N::of(roofline::BUSY));
                N::select(is_idle & any & !is_persistent, || N::word(Limiter::Latency), unknown)
            })
        })
    }

    /// Returns whether its savings are backed by evidence, as far as no rule is asked.
    pub(crate) fn is_winnable(&self, limiter: N::Choice<Limiter>) -> N::Truth {
        let is_idle = N::is(limiter, Limiter::Latency) & !self.has_room();
        !self.is_unbounded() & !is_idle & !self.is_busy()
    }

    /// Returns whether a busy unit is its roof. It may be busy with work that need not be done: nobody
    /// counted it.
    fn is_busy(&self) -> N::Truth {
        let zero = N::of(0.0);
        let is_longer = self.memory.unwrap_or(zero).less(self.math.unwrap_or(zero));
        self.is_math_by_utilization & is_longer
    }

    /// Returns what the state of the kernel rests on.
    pub(crate) fn ground(&self, bar: &Bar<N>, limiter: N::Choice<Limiter>) -> N::Choice<Ground> {
        let on = |ground: Ground| move || N::word(ground);
        N::select(self.crosses_link, on(Ground::Link), || {
            N::select(
                !self.is_judged,
                || self.unjudged(),
                || {
                    N::select(
                        self.is_faster,
                        || self.faster(),
                        || {
                            N::select(self.is_launch_bound(), on(Ground::LaunchBound), || {
                                let headroom = self.headroom();
                                headroom.map_or_else(
                                    |headroom| self.judged(bar, limiter, headroom),
                                    on(Ground::NothingCounted),
                                )
                            })
                        },
                    )
                },
            )
        })
    }

    /// The ground for a kernel whose work and traffic are unknown: whatever they are, no launch is
    /// shorter than its cost.
    fn unjudged(&self) -> N::Choice<Ground> {
        let mean = self.mean();
        let is_short = !self.is_untimed & N::of(0.0).less(mean) & mean.at_most(self.fixed_cost);
        let short = || N::word(Ground::ShortUnjudged);
        N::select(is_short, short, || N::word(Ground::Unjudged))
    }

    /// Returns a sum over the launches that stand for the kernel, for each of them.
    fn each(&self, sum: N) -> N {
        sum / self.part.max(N::of(1.0))
    }

    /// The ground for a kernel that is faster than the model allows.
    fn faster(&self) -> N::Choice<Ground> {
        let zero = N::of(0.0);
        let fits = self.bytes.zip(self.l2_bytes);
        let fits = fits.is_some_and(|(bytes, l2)| self.each(bytes).at_most(l2));
        let is_memory = self.math.unwrap_or(zero).at_most(self.memory.unwrap_or(zero));
        let is_cached = self.is_algorithmic & fits & is_memory;
        N::select(is_cached, || N::word(Ground::FitsInCache), || N::word(Ground::Faster))
    }

    fn is_launch_bound(&self) -> N::Truth {
        let mean = self.each(self.time);
        formula::is_launch_floored(mean, self.each(self.roofline), self.fixed_cost)
            & self.each(self.high).less(mean)
    }

    /// The ground for a kernel with a roofline time.
    fn judged(&self, bar: &Bar<N>, limiter: N::Choice<Limiter>, headroom: N) -> N::Choice<Ground> {
        let zero = N::of(0.0);
        let on = |ground: Ground| move || N::word(ground);
        let near = N::of(NEAR).min(bar.threshold);
        let is_unbounded = self.is_unbounded();
        let lacks_main_work = bar.usual_threshold.at_most(headroom)
            & is_unbounded
            & N::is(self.uncounted, Uncounted::Certain);
        let reaches = |bound: Maybe<N, N>| bound.is_some_and(|bound| bar.threshold.at_most(bound));
        let likely = self.headroom_likely().filter(|likely| zero.less(likely));
        let below = || N::select(is_unbounded, on(Ground::FairIfCounted), on(Ground::Fair));
        let far = || self.far(bar, limiter);
        let by_likely = |likely: N| {
            // A kernel that beats what is likely does something else.
            N::select(likely.less(N::of(BEATEN)), on(Ground::Possible), || {
                N::select(likely.at_most(near), on(Ground::LikelyNear), on(Ground::LikelyFair))
            })
        };
        N::select(headroom.at_most(near), on(Ground::Near), || {
            // Not by the threshold asked for: it labels, and takes no part in what is judged.
            let cached = self.cached();
            let is_cached = cached.is & N::of(NEAR).less(headroom);
            N::select(
                is_cached,
                || cached.placeholder(),
                || {
                    N::select(lacks_main_work, on(Ground::MainWorkMissing), || {
                        N::select(headroom.less(bar.threshold), below, || {
                            let is_far = reaches(self.headroom_low()) | reaches(likely);
                            N::select(is_far, far, || {
                                likely.map_or_else(by_likely, on(Ground::Possible))
                            })
                        })
                    })
                },
            )
        })
    }

    /// Returns whether only the likely end decides that a kernel is far from its roofline.
    pub(crate) fn is_far_by_likelihood(&self, bar: &Bar<N>) -> N::Truth {
        !self.headroom_low().is_some_and(|bound| bar.threshold.at_most(bound))
    }

    /// The ground for a kernel far from its roofline: flagged if it, with its other grids, has enough
    /// savings.
    fn far(&self, bar: &Bar<N>, limiter: N::Choice<Limiter>) -> N::Choice<Ground> {
        let on = |ground: Ground| move || N::word(ground);
        let others = formula::savings(self.family.1, self.savings_high);
        let floor = formula::savings(bar.floor, others);
        let is_worth_it = formula::is_opportunity(self.time, self.roofline, bar.threshold, floor);
        let is_idle = N::is(limiter, Limiter::Latency) & !self.has_room();
        let is_explained = self.family.0.less(bar.floor);
        N::select(!is_worth_it, on(Ground::TooLittle), || {
            N::select(is_idle, on(Ground::NoRoom), || {
                N::select(is_explained, on(Ground::GridExplains), on(Ground::Flagged))
            })
        })
    }

    /// The ground for a kernel whose traffic the caches carry.
    fn cached(&self) -> Maybe<N, N::Choice<Ground>> {
        let zero = N::of(0.0);
        let busy = N::of(roofline::BUSY);
        let (memory, math) = (self.memory.unwrap_or(zero), self.math.unwrap_or(zero));
        let l2 = self.l2.unwrap_or(zero);
        let by_l2 = memory.less(l2) & busy.at_most(l2 / self.time);
        let by_throughput = self.averages.memory_throughput.is_some_and(|used| {
            let dram = self.averages.dram_throughput.unwrap_or_else(|| memory / self.time);
            // A busier compute unit would be the limit itself: matrix products work shared memory hard.
            let sm = self.averages.sm_throughput.unwrap_or(zero);
            busy.at_most(used) & dram.at_most(used / N::of(2.0)) & sm.less(used)
        });
        let by_hits = self.averages.memory_throughput.is
            & self.averages.l2_hits.is_some_and(|hits| N::of(CACHE_HITS).at_most(hits))
            & self.averages.l2_throughput.is_some_and(|used| busy.at_most(used));
        let may_be = !self.is_algorithmic & self.memory.is & math.at_most(memory);
        Maybe::when(may_be & (by_l2 | by_throughput | by_hits), || {
            let rest = || {
                let hits = || N::word(Ground::CachedByHits);
                N::select(by_throughput, || N::word(Ground::CachedByThroughput), hits)
            };
            N::select(by_l2, || N::word(Ground::CachedByTraffic), rest)
        })
    }
}
