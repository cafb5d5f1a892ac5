//! The sums of a kernel as named figures, which merge in any order and grouping.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::sums::{Part, Sums};
use crate::law::{CeilingSet, Problem, Uncounted};
use crate::model::{MemoryLevel, Pipe, Quantity};
use crate::roofline::formula;
use crate::units::{ExactSum, MergedSum};

/// A figure of [`Sums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Launches,
    TimedLaunches,
    Measured,
    Instrumented,
    FasterLaunches,
    FasterTime,
    WithoutPeak,
    WithoutBandwidth,
    Algorithmic,
    /// Length of the longest launch.
    Longest,
    /// Nanoseconds beside other kernels.
    Beside,
    /// Nanoseconds beside computation in other streams.
    Shared,
    Problem(Problem),
    AverageSum(Quantity),
    AverageWeight(Quantity),
    AverageLeast(Quantity),
    AverageGreatest(Quantity),
    /// Of the judged launches.
    Judged(PartKey),
    /// Of the others.
    Rest(PartKey),
}

/// A figure of a [`Part`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PartKey {
    Launches,
    Time,
    Roofline,
    RooflineLikely,
    RooflineHigh,
    Structural,
    Memory,
    Math,
    Hierarchical,
    HasMemory,
    HasMath,
    TensorActivity,
    Bytes,
    LaunchesWithBytes,
    LaunchesWithWork,
    LaunchesCounted,
    MostPipes,
    SavingsLow,
    Savings,
    SavingsHigh,
    LeastHeadroom,
    GreatestHeadroom,
    Uncounted,
    ByUtilization,
    MathByUtilization,
    RooflineLow,
    Operations(Pipe),
    PipeTime(Pipe),
    PipeLaunches(Pipe),
    LevelBytes(MemoryLevel),
    LevelTime(MemoryLevel),
    LevelLaunches(MemoryLevel),
    LevelTimed(MemoryLevel),
}

/// Where a figure is in [`Sums`].
enum Place<'a> {
    Sum(&'a mut ExactSum),
    Count(&'a mut u64),
    Flag(&'a mut bool),
    Least(&'a mut f64),
    Greatest(&'a mut f64),
    Uncounted(&'a mut Uncounted),
    Pipe(&'a mut Option<Pipe>),
}

/// A figure, by the way it merges.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Figure {
    Sum(MergedSum),
    Count(u64),
    Least(f64),
    Greatest(f64),
}

impl Figure {
    /// Returns its terms for documents; counts are exact below 2⁵³.
    pub(super) fn terms(&self) -> Vec<f64> {
        match self {
            Self::Sum(sum) => sum.terms(),
            Self::Count(count) => vec![*count as f64],
            Self::Least(value) | Self::Greatest(value) => vec![*value],
        }
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Sum(one), Self::Sum(other)) => one.merge(other),
            (Self::Count(one), Self::Count(other)) => *one = one.saturating_add(*other),
            (Self::Least(one), Self::Least(other)) => *one = one.min(*other),
            (Self::Greatest(one), Self::Greatest(other)) => *one = one.max(*other),
            // A key has figures of one kind.
            _ => {}
        }
    }
}

/// The figures of one kernel that are not zero.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Record(pub(super) BTreeMap<Key, Figure>);

const PART: [PartKey; 26] = [
    PartKey::Launches,
    PartKey::Time,
    PartKey::Roofline,
    PartKey::RooflineLikely,
    PartKey::RooflineHigh,
    PartKey::Structural,
    PartKey::Memory,
    PartKey::Math,
    PartKey::Hierarchical,
    PartKey::HasMemory,
    PartKey::HasMath,
    PartKey::TensorActivity,
    PartKey::Bytes,
    PartKey::LaunchesWithBytes,
    PartKey::LaunchesWithWork,
    PartKey::LaunchesCounted,
    PartKey::MostPipes,
    PartKey::SavingsLow,
    PartKey::Savings,
    PartKey::SavingsHigh,
    PartKey::LeastHeadroom,
    PartKey::GreatestHeadroom,
    PartKey::Uncounted,
    PartKey::ByUtilization,
    PartKey::MathByUtilization,
    PartKey::RooflineLow,
];

const WHOLE: [Key; 12] = [
    Key::Launches,
    Key::TimedLaunches,
    Key::Measured,
    Key::Instrumented,
    Key::FasterLaunches,
    Key::FasterTime,
    Key::WithoutPeak,
    Key::WithoutBandwidth,
    Key::Algorithmic,
    Key::Longest,
    Key::Beside,
    Key::Shared,
];

impl PartKey {
    /// Returns the keys of the work on a pipe.
    fn of_pipe(pipe: Pipe) -> [Self; 3] {
        [Self::Operations(pipe), Self::PipeTime(pipe), Self::PipeLaunches(pipe)]
    }

    /// Returns the keys of the traffic at a level.
    fn of_level(level: MemoryLevel) -> [Self; 4] {
        [
            Self::LevelBytes(level),
            Self::LevelTime(level),
            Self::LevelLaunches(level),
            Self::LevelTimed(level),
        ]
    }

    fn all() -> impl Iterator<Item = Self> {
        let pipes = Pipe::ALL.iter().flat_map(|pipe| Self::of_pipe(*pipe));
        let levels = MemoryLevel::ALL.into_iter().flat_map(Self::of_level);
        PART.into_iter().chain(pipes).chain(levels)
    }

    fn name(self) -> String {
        match self {
            Self::Operations(pipe) => format!("{}_operations", pipe.key()),
            Self::PipeTime(pipe) => format!("{}_s", pipe.key()),
            Self::PipeLaunches(pipe) => format!("{}_launches", pipe.key()),
            Self::LevelBytes(level) => format!("{}_bytes", level.key()),
            Self::LevelTime(level) => format!("{}_s", level.key()),
            Self::LevelLaunches(level) => format!("{}_launches", level.key()),
            Self::LevelTimed(level) => format!("{}_timed", level.key()),
            Self::Launches => "launches".to_owned(),
            Self::Time => "time_s".to_owned(),
            Self::Roofline => "roofline_s".to_owned(),
            Self::RooflineLikely => "roofline_likely_s".to_owned(),
            Self::RooflineHigh => "roofline_high_s".to_owned(),
            Self::Structural => "structural_s".to_owned(),
            Self::Memory => "t_mem_s".to_owned(),
            Self::Math => "t_math_s".to_owned(),
            Self::Hierarchical => "hierarchical_s".to_owned(),
            Self::HasMemory => "has_t_mem".to_owned(),
            Self::HasMath => "has_t_math".to_owned(),
            Self::TensorActivity => "tensor_activity_s".to_owned(),
            Self::Bytes => "bytes".to_owned(),
            Self::LaunchesWithBytes => "launches_with_bytes".to_owned(),
            Self::LaunchesWithWork => "launches_with_work".to_owned(),
            Self::LaunchesCounted => "launches_counted".to_owned(),
            Self::MostPipes => "most_pipes".to_owned(),
            Self::SavingsLow => "savings_low_s".to_owned(),
            Self::Savings => "savings_s".to_owned(),
            Self::SavingsHigh => "savings_high_s".to_owned(),
            Self::LeastHeadroom => "least_headroom".to_owned(),
            Self::GreatestHeadroom => "greatest_headroom".to_owned(),
            Self::Uncounted => "uncounted".to_owned(),
            Self::ByUtilization => "by_utilization".to_owned(),
            Self::MathByUtilization => "math_by_utilization".to_owned(),
            Self::RooflineLow => "roofline_low_s".to_owned(),
        }
    }
}

impl Key {
    fn of_average(quantity: Quantity) -> [Self; 4] {
        [
            Self::AverageSum(quantity),
            Self::AverageWeight(quantity),
            Self::AverageLeast(quantity),
            Self::AverageGreatest(quantity),
        ]
    }

    /// Returns `true` for averages: those of a quantity that does not add up may be negative.
    pub(super) fn is_average(self) -> bool {
        matches!(self, Self::AverageSum(_) | Self::AverageLeast(_) | Self::AverageGreatest(_))
    }

    /// Returns the name of the figure in documents.
    pub(super) fn name(self) -> String {
        match self {
            Self::Launches => "launches".to_owned(),
            Self::TimedLaunches => "timed_launches".to_owned(),
            Self::Measured => "measured_s".to_owned(),
            Self::Instrumented => "instrumented_s".to_owned(),
            Self::FasterLaunches => "faster_launches".to_owned(),
            Self::FasterTime => "faster_s".to_owned(),
            Self::WithoutPeak => "without_peak".to_owned(),
            Self::WithoutBandwidth => "without_bandwidth".to_owned(),
            Self::Algorithmic => "algorithmic".to_owned(),
            Self::Longest => "longest_s".to_owned(),
            Self::Beside => "beside_ns".to_owned(),
            Self::Shared => "shared_ns".to_owned(),
            Self::Problem(problem) => match problem {
                Problem::NoTime => "launches_without_time",
                Problem::Instrumented => "launches_instrumented",
                Problem::NoCounters => "launches_without_counters",
                Problem::NoRoof => "launches_without_roof",
            }
            .to_owned(),
            Self::AverageSum(quantity) => format!("average.{}", quantity.column()),
            Self::AverageWeight(quantity) => format!("weight.{}", quantity.column()),
            Self::AverageLeast(quantity) => format!("least.{}", quantity.column()),
            Self::AverageGreatest(quantity) => format!("greatest.{}", quantity.column()),
            Self::Judged(key) => format!("judged.{}", key.name()),
            Self::Rest(key) => format!("rest.{}", key.name()),
        }
    }

    /// Returns the figure with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        static BY_NAME: LazyLock<HashMap<String, Key>> = LazyLock::new(|| {
            let averages = Quantity::all().flat_map(Key::of_average);
            let problems = Problem::ALL.into_iter().map(Key::Problem);
            let judged = PartKey::all().map(Key::Judged);
            let all = WHOLE.into_iter().chain(problems).chain(averages).chain(judged);
            all.chain(PartKey::all().map(Key::Rest)).map(|key| (key.name(), key)).collect()
        });
        BY_NAME.get(name).copied()
    }

    /// Returns the figure that these terms are of.
    pub(super) fn of_terms(self, terms: &[f64]) -> Figure {
        let first = terms.first().copied().unwrap_or_default();
        match self.empty() {
            Figure::Sum(_) => Figure::Sum(terms.iter().copied().collect()),
            Figure::Count(_) => Figure::Count(first as u64),
            Figure::Least(_) => Figure::Least(first),
            Figure::Greatest(_) => Figure::Greatest(first),
        }
    }

    /// Returns the empty figure of a key; its kind decides how it merges.
    pub(super) fn empty(self) -> Figure {
        figure(&Sums::default().place(self))
    }
}

/// Returns what is at a place.
fn figure(place: &Place<'_>) -> Figure {
    match place {
        Place::Sum(sum) => Figure::Sum(sum.terms().into_iter().collect()),
        Place::Count(count) => Figure::Count(**count),
        Place::Flag(flag) => Figure::Greatest(f64::from(**flag)),
        Place::Least(value) => Figure::Least(**value),
        Place::Greatest(value) => Figure::Greatest(**value),
        Place::Uncounted(known) => Figure::Greatest(f64::from(**known as u8)),
        Place::Pipe(pipe) => {
            Figure::Least(pipe.map_or(f64::INFINITY, |pipe| f64::from(pipe as u8)))
        }
    }
}

impl Record {
    /// Returns `true` if the launches are faster than the model allows, as [`Sums::is_faster`] has it.
    pub(super) fn is_faster(&self, ceilings: CeilingSet) -> bool {
        let of = |part: PartKey| self.get(Key::Judged(part));
        formula::are_faster_than_roof(
            (of(PartKey::Time), of(PartKey::Roofline)),
            self.get(Key::FasterTime),
            self.get(Key::FasterLaunches) > 0.0,
            ceilings != CeilingSet::Achievable,
        )
    }

    /// Returns the figures of sums.
    pub(super) fn of(sums: &mut Sums) -> Self {
        let keys = sums.keys();
        let figures = keys.into_iter().map(|key| (key, figure(&sums.place(key))));
        // Zero operations that were counted are not the same as none that were, nor is a bound of 0 one that is not stated.
        let is_counted = |key: &Key| {
            let (Key::Judged(part) | Key::Rest(part)) = key else { return false };
            matches!(part, PartKey::Operations(_) | PartKey::RooflineLow)
        };
        let is_said = |key: &Key, figure: &Figure| is_counted(key) || *figure != key.empty();
        Self(figures.filter(|(key, figure)| is_said(key, figure)).collect())
    }

    /// Adds what summaries of earlier versions do not state: work counts as that of the launches with bytes,
    /// or of all, and all of the roofline time is needed.
    pub(super) fn complete(&mut self) {
        for of in [Key::Judged as fn(PartKey) -> Key, Key::Rest] {
            if let Some(roofline) = self.0.get(&of(PartKey::Roofline)).cloned() {
                self.0.entry(of(PartKey::RooflineLow)).or_insert(roofline);
            }
            let has_work = |pipe: &&Pipe| self.0.contains_key(&of(PartKey::Operations(**pipe)));
            let pipes: Vec<Pipe> = Pipe::ALL.iter().filter(has_work).copied().collect();
            if pipes.is_empty() || self.0.contains_key(&of(PartKey::LaunchesWithWork)) {
                continue;
            }
            let with_bytes = self.get(of(PartKey::LaunchesWithBytes));
            let all = self.get(of(PartKey::Launches));
            let launches = Figure::Count(if with_bytes > 0.0 { with_bytes } else { all } as u64);
            self.0.insert(of(PartKey::MostPipes), Figure::Greatest(pipes.len() as f64));
            let keys = pipes.into_iter().map(PartKey::PipeLaunches);
            for key in keys.chain([PartKey::LaunchesWithWork, PartKey::LaunchesCounted]) {
                self.0.insert(of(key), launches.clone());
            }
        }
    }

    /// Adds the figures of other launches of the kernel.
    pub(super) fn merge(&mut self, other: &Self) {
        for (key, figure) in &other.0 {
            match self.0.get_mut(key) {
                Some(known) => known.merge(figure),
                None => {
                    self.0.insert(*key, figure.clone());
                }
            }
        }
    }

    /// Returns the value of a figure; zero if there is none.
    pub(super) fn get(&self, key: Key) -> f64 {
        match self.0.get(&key) {
            None => 0.0,
            Some(Figure::Sum(sum)) => sum.get(),
            Some(Figure::Count(count)) => *count as f64,
            Some(Figure::Least(value) | Figure::Greatest(value)) => *value,
        }
    }

    /// Returns the sums again; `row` is that of the longest launch.
    pub(super) fn sums(&self, row: usize) -> Sums {
        let mut sums = Sums::default();
        for (key, figure) in &self.0 {
            match (sums.place(*key), figure) {
                (Place::Sum(place), Figure::Sum(sum)) => {
                    sum.terms().into_iter().for_each(|term| place.add(term));
                }
                (Place::Count(place), Figure::Count(count)) => *place = *count,
                (Place::Flag(place), Figure::Greatest(value)) => *place = *value > 0.0,
                (Place::Least(place), Figure::Least(value))
                | (Place::Greatest(place), Figure::Greatest(value)) => *place = *value,
                (Place::Uncounted(place), Figure::Greatest(value)) => {
                    let known =
                        Uncounted::ALL.into_iter().find(|one| f64::from(*one as u8) == *value);
                    *place = known.unwrap_or(Uncounted::Certain);
                }
                (Place::Pipe(place), Figure::Least(value)) => {
                    *place =
                        Pipe::ALL.iter().copied().find(|pipe| f64::from(*pipe as u8) == *value);
                }
                _ => {}
            }
        }
        sums.longest.0 = row;
        sums
    }
}

impl Sums {
    /// Returns the keys of its figures, those of work and averages only where there are some.
    fn keys(&self) -> Vec<Key> {
        let mut keys = WHOLE.to_vec();
        keys.extend(self.problems.keys().map(|problem| Key::Problem(*problem)));
        keys.extend(self.averages.iter().flat_map(|one| Key::of_average(one.quantity)));
        keys.extend(self.judged.keys().into_iter().map(Key::Judged));
        keys.extend(self.rest.iter().flat_map(|rest| rest.keys()).map(Key::Rest));
        keys
    }

    fn place(&mut self, key: Key) -> Place<'_> {
        match key {
            Key::Launches => Place::Count(&mut self.launches),
            Key::TimedLaunches => Place::Count(&mut self.timed_launches),
            Key::Measured => Place::Sum(&mut self.measured),
            Key::Instrumented => Place::Sum(&mut self.instrumented),
            Key::FasterLaunches => Place::Count(&mut self.faster),
            Key::FasterTime => Place::Sum(&mut self.faster_time),
            Key::WithoutPeak => Place::Pipe(&mut self.without_peak),
            Key::WithoutBandwidth => Place::Flag(&mut self.without_bandwidth),
            Key::Algorithmic => Place::Flag(&mut self.algorithmic),
            Key::Longest => Place::Greatest(&mut self.longest.1),
            Key::Beside => Place::Count(&mut self.company.beside),
            Key::Shared => Place::Count(&mut self.company.shared),
            Key::Problem(problem) => Place::Count(self.problems.entry(problem).or_default()),
            Key::AverageSum(quantity) => Place::Sum(&mut self.average_of(quantity).sum),
            Key::AverageWeight(quantity) => Place::Sum(&mut self.average_of(quantity).weights),
            Key::AverageLeast(quantity) => Place::Least(&mut self.average_of(quantity).least),
            Key::AverageGreatest(quantity) => {
                Place::Greatest(&mut self.average_of(quantity).greatest)
            }
            Key::Judged(key) => self.judged.place(key),
            Key::Rest(key) => self.rest.get_or_insert_default().place(key),
        }
    }
}

impl Part {
    fn keys(&self) -> Vec<PartKey> {
        let mut keys = PART.to_vec();
        if self.headrooms.is_none() {
            let is_of_launches =
                |key: &PartKey| !matches!(key, PartKey::LeastHeadroom | PartKey::GreatestHeadroom);
            keys.retain(is_of_launches);
        }
        keys.extend(self.work.iter().flat_map(|work| PartKey::of_pipe(work.pipe)));
        keys.extend(MemoryLevel::ALL.into_iter().flat_map(PartKey::of_level));
        keys
    }

    fn place(&mut self, key: PartKey) -> Place<'_> {
        const NO_HEADROOM: (f64, f64) = (f64::INFINITY, 0.0);
        match key {
            PartKey::Launches => Place::Count(&mut self.launches),
            PartKey::Time => Place::Sum(&mut self.time),
            PartKey::Roofline => Place::Sum(&mut self.roofline_time),
            PartKey::RooflineLikely => Place::Sum(&mut self.roofline_time_likely),
            PartKey::RooflineHigh => Place::Sum(&mut self.roofline_time_high),
            PartKey::Structural => Place::Sum(&mut self.structural),
            PartKey::Memory => Place::Sum(&mut self.memory),
            PartKey::Math => Place::Sum(&mut self.math),
            PartKey::Hierarchical => Place::Sum(&mut self.hierarchical),
            PartKey::HasMemory => Place::Flag(&mut self.has_memory),
            PartKey::HasMath => Place::Flag(&mut self.has_math),
            PartKey::TensorActivity => Place::Sum(&mut self.tensor_activity),
            PartKey::Bytes => Place::Sum(&mut self.bytes),
            PartKey::LaunchesWithBytes => Place::Count(&mut self.launches_with_bytes),
            PartKey::LaunchesWithWork => Place::Count(&mut self.launches_with_work),
            PartKey::LaunchesCounted => Place::Count(&mut self.launches_counted),
            PartKey::MostPipes => Place::Greatest(&mut self.most_pipes),
            PartKey::SavingsLow => Place::Sum(&mut self.savings_low),
            PartKey::Savings => Place::Sum(&mut self.savings),
            PartKey::SavingsHigh => Place::Sum(&mut self.savings_high),
            PartKey::LeastHeadroom => {
                Place::Least(&mut self.headrooms.get_or_insert(NO_HEADROOM).0)
            }
            PartKey::GreatestHeadroom => {
                Place::Greatest(&mut self.headrooms.get_or_insert(NO_HEADROOM).1)
            }
            PartKey::Uncounted => Place::Uncounted(&mut self.uncounted),
            PartKey::ByUtilization => Place::Flag(&mut self.by_utilization),
            PartKey::MathByUtilization => Place::Flag(&mut self.math_by_utilization),
            PartKey::RooflineLow => Place::Sum(&mut self.roofline_time_low),
            PartKey::Operations(pipe) => Place::Sum(&mut self.work_on(pipe).operations),
            PartKey::PipeTime(pipe) => Place::Sum(&mut self.work_on(pipe).time),
            PartKey::PipeLaunches(pipe) => Place::Count(&mut self.work_on(pipe).launches),
            PartKey::LevelBytes(level) => Place::Sum(&mut self.levels[level as usize].bytes),
            PartKey::LevelTime(level) => Place::Sum(&mut self.levels[level as usize].time),
            PartKey::LevelLaunches(level) => {
                Place::Count(&mut self.levels[level as usize].launches)
            }
            PartKey::LevelTimed(level) => Place::Count(&mut self.levels[level as usize].timed),
        }
    }
}
