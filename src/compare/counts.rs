//! Bytes and operations of a kernel, each with the launches that it was counted in.

use crate::analysis::{Kernel, Work};
use crate::model::{Pipe, Precision};
use crate::units::{Bytes, ExactSum, Flops};

/// A sum over some launches.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    sum: ExactSum,
    launches: u64,
}

impl Counted {
    fn new(sum: f64, launches: u64) -> Self {
        let mut counted = Self { launches, ..Self::default() };
        counted.sum.add(sum);
        counted
    }

    #[cfg(feature = "frames")]
    fn add(&mut self, other: Self) {
        for term in other.sum.terms() {
            self.sum.add(term);
        }
        self.launches += other.launches;
    }

    /// Returns the sum over so many launches, where `counted` of them count for it: the others did as much.
    fn over(self, counted: u64, launches: u64) -> f64 {
        let sum = self.sum.get();
        if counted == 0 || counted >= launches {
            sum
        } else {
            sum / counted as f64 * launches as f64
        }
    }
}

/// What was counted of a kernel, in one rank or in several.
#[derive(Debug, Clone, Default)]
pub struct Counts {
    bytes: Option<Counted>,
    work: Vec<(Pipe, Counted)>,
    /// Launches with operations on any pipe.
    with_work: u64,
    /// Most pipes that were counted in the same launch, as far as a rank says.
    most_pipes: usize,
}

/// Runs are compared by what their documents say, which do not have it.
impl PartialEq for Counts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Counts {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let on_pipe = |work: &Work| (work.pipe, Counted::new(work.operations.get(), work.launches));
        Self {
            bytes: kernel.bytes.map(|bytes| Counted::new(bytes.get(), kernel.counted)),
            work: kernel.work.iter().map(on_pipe).collect(),
            with_work: kernel.with_work(),
            most_pipes: if kernel.has_all_pipes() { kernel.work.len() } else { 0 },
        }
    }

    /// Adds what was counted in other launches of the kernel.
    #[cfg(feature = "frames")]
    pub(super) fn add(&mut self, other: Self) {
        if let Some(bytes) = other.bytes {
            self.bytes.get_or_insert_default().add(bytes);
        }
        for (pipe, counted) in other.work {
            match self.work.iter_mut().find(|(known, _)| *known == pipe) {
                Some((_, known)) => known.add(counted),
                None => self.work.push((pipe, counted)),
            }
        }
        self.with_work += other.with_work;
        self.most_pipes = self.most_pipes.max(other.most_pipes);
    }

    /// Returns bytes, FLOPs and those in double precision over so many launches.
    pub(super) fn over(&self, launches: u64) -> (Option<Bytes>, Option<Flops>, Option<Flops>) {
        // Where launches take turns on the pipes, none of them lacks the others.
        let has_all_pipes = self.most_pipes >= self.work.len();
        let on = |is_chosen: &dyn Fn(Pipe) -> bool| {
            let chosen = self.work.iter().filter(|(pipe, _)| is_chosen(*pipe));
            let of = |(_, counted): &(Pipe, Counted)| {
                let of = if has_all_pipes { counted.launches } else { self.with_work };
                counted.over(of, launches)
            };
            chosen.map(of).reduce(|one, two| one + two).map(Flops::new)
        };
        let bytes = self.bytes.map(|bytes| Bytes::new(bytes.over(bytes.launches, launches)));
        let is_float = |pipe: Pipe| pipe.operation() == "FLOP";
        let is_double = |pipe: Pipe| pipe.precision() == Precision::Fp64;
        (bytes, on(&is_float), on(&is_double))
    }
}

#[cfg(all(test, feature = "frames"))]
mod tests {
    use super::*;

    impl Counts {
        /// What one launch counted, or so many that take turns on the pipes.
        pub(in crate::compare) fn made(
            bytes: Option<f64>,
            work: &[(Pipe, f64)],
            turns: bool,
        ) -> Self {
            let with_work = if turns { work.len() as u64 } else { u64::from(!work.is_empty()) };
            Self {
                bytes: bytes.map(|bytes| Counted::new(bytes, 1)),
                work: work.iter().map(|(pipe, sum)| (*pipe, Counted::new(*sum, 1))).collect(),
                with_work,
                most_pipes: if turns { 0 } else { work.len() },
            }
        }
    }

    fn over(ranks: &[Counts], launches: u64) -> [Option<f64>; 3] {
        let mut all = Counts::default();
        for rank in ranks {
            all.add(rank.clone());
        }
        let (bytes, flops, double) = all.over(launches);
        [bytes.map(Bytes::get), flops.map(Flops::get), double.map(Flops::get)]
    }

    /// Ranks of one launch each.
    #[test]
    fn a_pipe_that_a_rank_lacks_is_that_of_the_others() {
        const SINGLE: (Pipe, f64) = (Pipe::Fp32Vector, 10.0);
        const DOUBLE: (Pipe, f64) = (Pipe::Fp64Vector, 4.0);
        let both = || Counts::made(Some(100.0), &[SINGLE, DOUBLE], false);
        let single = || Counts::made(None, &[SINGLE], false);
        let expected = [Some(200.0), Some(28.0), Some(8.0)];
        assert_eq!(over(&[both(), both()], 2), expected);
        assert_eq!(over(&[both(), single()], 2), expected);
        assert_eq!(over(&[single(), both()], 2), expected);
        assert_eq!(over(&[single(), Counts::default()], 2), [None, Some(20.0), None]);
    }

    /// Two launches of 10 and 4 operations on pipes of their own, and two of which nothing was counted.
    #[test]
    fn launches_that_take_turns_on_the_pipes_lack_none() {
        let turns = Counts::made(None, &[(Pipe::Fp32Vector, 10.0), (Pipe::Fp64Vector, 4.0)], true);
        assert_eq!(over(std::slice::from_ref(&turns), 2)[1..], [Some(14.0), Some(4.0)]);
        assert_eq!(over(&[turns, Counts::default()], 4)[1..], [Some(28.0), Some(8.0)]);
    }
}
