//! What a GPU did over time: how long it was busy, with what, and how long it had nothing to do.
//!
//! Unions of intervals, for each file and device by itself: clocks of several files differ, and the time of
//! one GPU is not that of another. Where a part of the time has work of several kinds, computation comes first, then
//! communication, then copies, so that the parts and the idle time add up to the span.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::idle::{HostCalls, IdleCauses};
use super::union::{Interval, both, length, union, within};
use crate::model::{HintId, HostMemory, NameId, Profile, Quantity, Recorded, Step, Text};
use crate::taxonomy::{Category, Class, Kind, Taxonomy};
use crate::units::{Bytes, Seconds};

/// The time of one GPU in one file, from the start of its first work to the end of its last.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// Index among the sources.
    pub source: usize,
    /// Index among the devices.
    pub device: usize,
    /// The number of the device in its file, where it has one.
    pub ordinal: Option<String>,
    /// Number of launches.
    pub launches: u64,
    /// From first start to last end.
    pub span: Seconds,
    /// Time with any work.
    pub busy: Seconds,
    /// Time with a kernel of computation.
    pub compute: Seconds,
    /// Time with communication between devices.
    pub communication: Seconds,
    /// Part of it without computation.
    pub exposed_communication: Seconds,
    /// Copies and fills; `None` where the file records none of them.
    pub copies: Option<Copies>,
    /// Why it was idle; `None` where the file records no calls that launch work.
    pub idle_causes: Option<IdleCauses>,
    /// Longer busy by at most this, where times are cut to whole microseconds.
    pub cut: Seconds,
    /// Steps of the training loop, in order.
    pub steps: Vec<StepTime>,
}

/// The copies and fills of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Copies {
    /// How many.
    pub count: u64,
    /// Their times added up.
    pub time: Seconds,
    /// Time with any of them.
    pub covered: Seconds,
    /// Part of it without a kernel.
    pub exposed: Seconds,
    /// Time in which nothing but copies between host and device runs.
    pub host_alone: Seconds,
    /// Time in which nothing but other copies and fills runs.
    pub others_alone: Seconds,
    /// Part of it in which nothing but copies between devices runs.
    pub peers_alone: Seconds,
    /// Bytes that they moved, if all of them have a size.
    pub bytes: Option<Bytes>,
}

/// A step of a training loop on one device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTime {
    /// Its number, as the profiler counts.
    pub number: u64,
    /// From its first work to the first of the next step; of the last step, to the end of its own work.
    pub time: Seconds,
    /// Time with any work.
    pub busy: Seconds,
    /// Kernels that were launched in it.
    pub launches: u64,
    /// Whether no step follows it.
    pub is_last: bool,
}

impl Timeline {
    /// Time without work.
    #[must_use]
    pub fn idle(&self) -> Seconds {
        self.span - self.busy
    }

    /// Part of the span with work, from 0 to 1; 0 for a span without length.
    #[must_use]
    pub fn busy_share(&self) -> f64 {
        if self.span > Seconds::ZERO { self.busy / self.span } else { 0.0 }
    }

    /// Part of the communication that runs beside computation; `None` if there is none.
    #[must_use]
    pub fn hidden_communication(&self) -> Option<f64> {
        let is_some = self.communication > Seconds::ZERO;
        is_some.then(|| 1.0 - self.exposed_communication / self.communication)
    }
}

/// Whether each of several timelines is of a trace of its own: they may be of one GPU, one after the other.
pub(crate) fn are_traces(timelines: &[Timeline]) -> bool {
    timelines.len() > 1 && timelines.windows(2).all(|pair| pair[0].source != pair[1].source)
}

impl Copies {
    /// Part of their time that has a kernel beside them; `None` if they take none.
    #[must_use]
    pub fn hidden(&self) -> Option<f64> {
        (self.covered > Seconds::ZERO).then(|| 1.0 - self.exposed / self.covered)
    }
}

/// Copies and fills of a run by name.
#[derive(Debug, Clone)]
pub struct Moved {
    /// As the profiler names them.
    pub name: Text,
    /// What they are, by their name.
    pub class: Arc<Class>,
    /// How many.
    pub count: u64,
    /// Their times added up.
    pub time: Seconds,
    /// Bytes that they moved, if all of them have a size.
    pub bytes: Option<Bytes>,
    /// Time of those from or to pageable memory of the host, if it is known of all of them what memory they use.
    pub pageable: Option<Seconds>,
}

/// Adds up copies and fills, longest first.
pub(super) fn moved(profile: &Profile, taxonomy: &Taxonomy) -> Vec<Moved> {
    let mut found: BTreeMap<NameId, (u64, u64, Option<u64>, Option<u64>)> = BTreeMap::new();
    for one in &profile.activities {
        let (count, time, bytes, pageable) =
            found.entry(one.name).or_insert((0, 0, Some(0), Some(0)));
        *count += 1;
        *time = time.saturating_add(one.duration);
        *bytes = bytes.zip(one.bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
        *pageable = pageable.zip(one.host_memory).map(|(sum, memory)| match memory {
            HostMemory::Pageable => sum.saturating_add(one.duration),
            HostMemory::Pinned => sum,
        });
    }
    let mut moved: Vec<Moved> = found
        .into_iter()
        .map(|(name, (count, time, bytes, pageable))| Moved {
            class: taxonomy.shared(profile.names.get(name)),
            name: profile.names.shared(name),
            count,
            time: seconds(time),
            bytes: bytes.map(|bytes| Bytes::new(bytes as f64)),
            pageable: pageable.map(seconds),
        })
        .collect();
    moved.sort_by(|one, two| two.time.total_cmp(&one.time).then_with(|| one.name.cmp(&two.name)));
    moved
}

/// What a moment of a GPU is given to, the first before the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Compute,
    Communication,
    /// Between host and device.
    HostCopy,
    /// Between devices.
    PeerCopy,
    /// Other copies, and fills.
    Copy,
}

impl Part {
    fn of(class: &Class) -> Self {
        match class.kind {
            Some(Kind::MemcpyHost) => Self::HostCopy,
            Some(Kind::MemcpyPeer) => Self::PeerCopy,
            Some(Kind::Memcpy | Kind::Memset) => Self::Copy,
            _ if class.category == Category::Communication => Self::Communication,
            _ => Self::Compute,
        }
    }
}

/// How many parts there are.
const PARTS: usize = 5;

/// What is gathered of one device.
#[derive(Debug, Default)]
struct Gathered {
    /// All work of each part.
    work: [Vec<Interval>; PARTS],
    launches: u64,
    copies: Copies,
    /// Sums in nanoseconds and bytes.
    copied: u64,
    bytes: Option<u64>,
    /// Launches of which the start or the end is not known.
    is_open: bool,
    /// Whether a time has a fraction of a microsecond.
    is_fine: bool,
}

/// The timelines of the files that record all of a GPU's work, by file and device.
pub(super) fn timelines(
    profile: &Profile,
    of_hint: &[usize],
    taxonomy: &Taxonomy,
) -> Vec<Timeline> {
    if profile.sources.iter().all(|source| source.recorded == Recorded::Launches) {
        return Vec::new();
    }
    let gathered = gather(profile, taxonomy);
    let host = HostCalls::of(profile);
    let mut timelines: Vec<Timeline> = gathered
        .into_iter()
        .filter_map(|((source, device), gathered)| {
            if gathered.is_open || gathered.launches == 0 {
                return None;
            }
            let steps =
                profile.steps.iter().filter(|step| (step.source, step.device) == (source, device));
            let hint = profile.devices.get(device.position());
            let recorded = profile.sources.get(usize::from(source))?.recorded;
            let causes = |busy: &[Interval]| host.causes(source, device, busy);
            let mut timeline = timeline(gathered, recorded, causes, steps);
            timeline.source = usize::from(source);
            timeline.device = of_hint.get(device.position()).copied().unwrap_or(0);
            timeline.ordinal = hint.and_then(|hint| hint.ordinal.clone());
            Some(timeline)
        })
        .collect();
    let number =
        |one: &Timeline| one.ordinal.as_ref().and_then(|number| number.parse::<u64>().ok());
    timelines.sort_by_key(|one| (one.source, number(one)));
    timelines
}

fn gather(profile: &Profile, taxonomy: &Taxonomy) -> BTreeMap<(u16, HintId), Gathered> {
    let mut parts: HashMap<NameId, Part> = HashMap::new();
    let mut part = |name: NameId| {
        let of = || Part::of(&taxonomy.shared(profile.names.get(name)));
        *parts.entry(name).or_insert_with(of)
    };
    let is_timeline = |source: u16| {
        let source = profile.sources.get(usize::from(source));
        source.is_some_and(|source| source.recorded != Recorded::Launches)
    };
    let mut gathered: BTreeMap<(u16, HintId), Gathered> = BTreeMap::new();
    for launch in profile.iter().filter(|launch| is_timeline(launch.head.source)) {
        let head = &launch.head;
        let of = gathered.entry((head.source, head.device)).or_default();
        let Some(start) = head.start.filter(|_| head.count == 1) else {
            of.is_open = true;
            continue;
        };
        // Shorter than the timer's resolution.
        let duration =
            launch.value(Quantity::Duration).map_or(0, |time| (time * 1e9).round() as u64);
        of.launches += 1;
        of.add(start, duration, part(head.name));
    }
    for one in profile.activities.iter().filter(|one| is_timeline(one.source)) {
        let Some(of) = gathered.get_mut(&(one.source, one.device)) else { continue };
        let Some(start) = one.start else {
            of.is_open = true;
            continue;
        };
        let part = part(one.name);
        of.add(start, one.duration, part);
        if matches!(part, Part::HostCopy | Part::PeerCopy | Part::Copy) {
            let first = of.copies.count == 0;
            of.copies.count += 1;
            of.copied = of.copied.saturating_add(one.duration);
            let sum = if first { Some(0) } else { of.bytes };
            of.bytes = sum.zip(one.bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
        }
    }
    gathered
}

impl Gathered {
    fn add(&mut self, start: u64, duration: u64, part: Part) {
        self.is_fine |= !start.is_multiple_of(1000) || !duration.is_multiple_of(1000);
        self.work[part as usize].push((start, start.saturating_add(duration)));
    }
}

fn timeline<'a>(
    gathered: Gathered,
    recorded: Recorded,
    causes: impl FnOnce(&[Interval]) -> Option<IdleCauses>,
    steps: impl Iterator<Item = &'a Step>,
) -> Timeline {
    let all = || gathered.work.iter().flatten();
    let first = all().map(|(start, _)| *start).min().unwrap_or(0);
    let last = all().map(|(_, end)| *end).max().unwrap_or(0);
    let number = all().count() as u64;
    let [of_compute, of_communication, of_host_copies, of_peer_copies, of_rest] =
        gathered.work.map(union);
    let of_other_copies: Vec<Interval> = both(&of_peer_copies, &of_rest).collect();
    let sum = |union: &[Interval]| length(union.iter().copied());
    // Computation is most of it: the others are merged first.
    let beside_compute = |one: &[Interval], other: &[Interval]| -> Vec<Interval> {
        let others: Vec<Interval> = both(one, other).collect();
        both(&of_compute, &others).collect()
    };
    let (compute, communication) = (sum(&of_compute), sum(&of_communication));
    let kernels = length(both(&of_compute, &of_communication));
    let of_copies: Vec<Interval> = both(&of_host_copies, &of_other_copies).collect();
    let whole = beside_compute(&of_communication, &of_copies);
    let busy = sum(&whole);
    let without = |copies: &[Interval], others: &[Interval]| {
        if copies.is_empty() { 0 } else { busy - sum(&beside_compute(&of_communication, others)) }
    };
    let beside_peers: Vec<Interval> = both(&of_host_copies, &of_rest).collect();
    let copies = Copies {
        time: seconds(gathered.copied),
        covered: seconds(sum(&of_copies)),
        exposed: seconds(busy - kernels),
        host_alone: seconds(without(&of_host_copies, &of_other_copies)),
        others_alone: seconds(without(&of_other_copies, &of_host_copies)),
        peers_alone: seconds(without(&of_peer_copies, &beside_peers)),
        bytes: if gathered.copies.count == 0 { Some(0) } else { gathered.bytes }
            .map(|bytes| Bytes::new(bytes as f64)),
        ..gathered.copies
    };
    let steps = steps.map(|step| StepTime {
        number: step.number,
        time: seconds(step.end.saturating_sub(step.start)),
        busy: seconds(within(&whole, step.start, step.end)),
        launches: step.launches,
        is_last: step.is_last,
    });
    Timeline {
        source: 0,
        device: 0,
        ordinal: None,
        launches: gathered.launches,
        span: seconds(last - first),
        busy: seconds(busy),
        compute: seconds(compute),
        communication: seconds(communication),
        exposed_communication: seconds(kernels - compute),
        copies: (recorded == Recorded::Everything).then_some(copies),
        idle_causes: causes(&whole),
        cut: seconds(if gathered.is_fine { 0 } else { number * 1000 }),
        steps: steps.collect(),
    }
}

fn seconds(nanoseconds: u64) -> Seconds {
    Seconds::new(nanoseconds as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(work: &[(Part, u64, u64)]) -> Timeline {
        let mut gathered = Gathered::default();
        for (part, start, end) in work {
            gathered.add(*start, end - start, *part);
        }
        let steps = [
            Step { number: 4, start: 0, end: 90, ..Step::default() },
            Step { number: 5, start: 90, end: 400, is_last: true, ..Step::default() },
        ];
        timeline(gathered, Recorded::Everything, |_| None, steps.iter())
    }

    fn whole(time: Seconds) -> u64 {
        (time.get() * 1e9).round() as u64
    }

    use Part::{Communication, Compute, Copy, HostCopy, PeerCopy};

    /// Kernels of two streams that overlap: 360 in all, 260 of the 300 with one.
    #[test]
    fn busy_time_counts_a_moment_once() {
        let found =
            of(&[(Compute, 0, 100), (Compute, 200, 300), (Compute, 60, 160), (Compute, 220, 280)]);
        assert_eq!([found.span, found.busy, found.idle()].map(whole), [300, 260, 40]);
        assert_eq!(found.copies.unwrap().hidden(), None);
        assert_eq!(found.hidden_communication(), None);
    }

    /// Nested, equal and empty work: the next one is compared with the latest end before it.
    #[test]
    fn work_inside_of_other_work_ends_nothing() {
        let found = of(&[
            (Compute, 10, 90),
            (Compute, 10, 90),
            (Compute, 30, 50),
            (Compute, 60, 80),
            (Compute, 95, 95),
            (Compute, 100, 110),
        ]);
        assert_eq!([found.span, found.busy].map(whole), [100, 90]);
    }

    /// Computation to 100, communication from 80 to 180, copies from 90 to 300 and from 250 to 320.
    #[test]
    fn what_is_exposed_has_nothing_before_it() {
        let found =
            of(&[(Compute, 0, 100), (Communication, 80, 180), (Copy, 90, 300), (Copy, 250, 320)]);
        let copies = found.copies.unwrap();
        assert_eq!(
            [found.compute, found.exposed_communication, copies.exposed, found.idle()].map(whole),
            [100, 80, 140, 0]
        );
        assert_eq!([found.communication, copies.covered].map(whole), [100, 230]);
        assert!((found.hidden_communication().unwrap() - 0.2).abs() < 1e-12);
        assert!((copies.hidden().unwrap() - 90.0 / 230.0).abs() < 1e-12);
        // The first step has 90 of them, the second the rest up to 320.
        assert_eq!(found.steps.iter().map(|step| whole(step.busy)).collect::<Vec<_>>(), [90, 230]);
    }

    /// Copies between host and device from 0 to 100, a kernel from 20 to 50, a fill from 40 to 120,
    /// communication to 5 and from 115 on.
    #[test]
    fn what_runs_alone_has_nothing_beside_it() {
        let found = of(&[
            (HostCopy, 0, 60),
            (HostCopy, 60, 100),
            (Compute, 20, 50),
            (Copy, 40, 120),
            (Communication, 0, 5),
            (Communication, 115, 130),
        ]);
        let copies = found.copies.unwrap();
        assert_eq!(
            [copies.exposed, copies.host_alone, copies.others_alone].map(whole),
            [80, 15, 15]
        );
        // Copies in both directions at the same time: without either, the other goes on.
        let found = of(&[(HostCopy, 0, 100), (HostCopy, 0, 100), (Compute, 150, 200)]);
        let copies = found.copies.unwrap();
        assert_eq!([copies.host_alone, copies.others_alone].map(whole), [100, 0]);
    }

    /// Copies between devices from 50 to 150 and 200 to 260, a kernel to 100, a fill from 240 to 250.
    #[test]
    fn copies_between_devices_are_some_of_the_others() {
        let found =
            of(&[(Compute, 0, 100), (PeerCopy, 50, 150), (PeerCopy, 200, 260), (Copy, 240, 250)]);
        let copies = found.copies.unwrap();
        assert_eq!([copies.others_alone, copies.peers_alone].map(whole), [110, 100]);
        assert_eq!(whole(copies.exposed), 110);
    }
}
