//! The run's time, divided: every microsecond is in exactly one part.

use super::kernel::left;
use super::{Kernel, State};
use crate::units::Seconds;

/// What a part of the run's time is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimePart {
    /// Roofline time of the kernels that are compared with it.
    Roofline,
    /// Time above the roofline that is not counted as savings: launch cost, the last wave, the share of a
    /// peak that real code does not reach.
    Gap,
    /// Potential savings.
    Savings,
    /// Time above the roofline of kernels where no certain cause shows that it can be saved.
    Unproven,
    /// Time above the roofline of kernels with a waiver.
    Waived,
    /// Kernels that take hardly longer than a launch.
    LaunchBound,
    /// Kernels whose data stays in the caches: the DRAM roof does not apply.
    CacheResident,
    /// Communication and copies over links.
    Communication,
    /// Kernels that are faster than their roofline: check device, clocks and metrics.
    FasterThanRoofline,
    /// Launches without the counters that a comparison needs.
    NotEnoughData,
}

impl TimePart {
    /// All parts, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::Roofline,
        Self::Gap,
        Self::Savings,
        Self::Unproven,
        Self::Waived,
        Self::LaunchBound,
        Self::CacheResident,
        Self::Communication,
        Self::FasterThanRoofline,
        Self::NotEnoughData,
    ];

    /// The words used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Roofline => "at the roofline",
            Self::Gap => "other gap",
            Self::Savings => "savings",
            Self::Unproven => "unproven savings",
            Self::Waived => "waived gap",
            Self::LaunchBound => "launch-bound",
            Self::CacheResident => "cache-resident",
            Self::Communication => "communication/copy",
            Self::FasterThanRoofline => "faster than roofline",
            Self::NotEnoughData => "not enough data",
        }
    }

    /// The word that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Roofline => "roofline",
            Self::Gap => "gap",
            Self::Savings => "savings",
            Self::Unproven => "unproven",
            Self::Waived => "waived",
            Self::LaunchBound => "launch_bound",
            Self::CacheResident => "cache_resident",
            Self::Communication => "communication_copy",
            Self::FasterThanRoofline => "faster_than_roofline",
            Self::NotEnoughData => "not_enough_data",
        }
    }
}

/// One part of a run's time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// What it is.
    pub part: TimePart,
    /// Its time; more than zero.
    pub time: Seconds,
    /// Its share of the run.
    pub share: f64,
}

/// The measured time of a run, divided into parts that add up to it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Partition {
    /// In the order of [`TimePart::ALL`].
    times: [Seconds; TimePart::ALL.len()],
}

impl Partition {
    /// Divides the time of a kernel that has its verdict.
    #[must_use]
    pub fn of(kernel: &Kernel) -> Self {
        let mut partition = Self::default();
        partition.add(kernel);
        partition
    }

    /// Time of a part; zero where there is none.
    #[must_use]
    pub const fn get(&self, part: TimePart) -> Seconds {
        self.times[part as usize]
    }

    /// The sum of all parts: the measured time of the run.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.times.iter().copied().sum()
    }

    /// The parts with time in them, in the order of [`TimePart::ALL`]; none where nothing was timed.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        let total = self.total();
        let all = TimePart::ALL.into_iter().zip(self.times);
        all.filter(|(_, time)| *time > Seconds::ZERO).map(move |(part, time)| Segment {
            part,
            time,
            share: time / total,
        })
    }

    fn put(&mut self, part: TimePart, time: Seconds) {
        self.times[part as usize] += time;
    }

    /// Adds a kernel that has its verdict.
    pub fn add(&mut self, kernel: &Kernel) {
        let whole = match kernel.state {
            State::LaunchBound => TimePart::LaunchBound,
            State::CacheResident => TimePart::CacheResident,
            State::NotRoofline => TimePart::Communication,
            State::FasterThanRoofline => TimePart::FasterThanRoofline,
            State::NotEnoughData => TimePart::NotEnoughData,
            _ => return self.divide(kernel),
        };
        self.put(whole, kernel.measured);
    }

    /// Divides the time of a kernel that is compared with its roofline.
    fn divide(&mut self, kernel: &Kernel) {
        let compared = kernel.modeled.min(kernel.measured);
        let above = kernel.savings_high.min(compared);
        self.put(TimePart::NotEnoughData, kernel.unmodeled());
        self.put(TimePart::Roofline, left(compared, above));
        if kernel.state == State::Waived {
            self.put(TimePart::Waived, above);
        } else if kernel.has_savings() {
            let savings = kernel.savings.min(above);
            self.put(TimePart::Savings, savings);
            self.put(TimePart::Gap, left(above, savings));
        } else if kernel.is_unproven() {
            self.put(TimePart::Unproven, above);
        } else {
            self.put(TimePart::Gap, above);
        }
    }
}
