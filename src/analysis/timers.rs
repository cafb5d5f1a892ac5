//! Timer resolution of the files, and the part of the run that is too short for it.

use crate::model::{Profile, Quantity};
use crate::units::{ExactSum, Seconds};

/// The durations of one file.
#[derive(Debug, Clone, PartialEq)]
pub struct Timer {
    /// Index among the sources.
    pub source: usize,
    /// Number of launches with a duration.
    pub launches: u64,
    /// True if every duration is a multiple of a microsecond.
    pub whole_micros: bool,
    /// Number of launches shorter than [`Timer::SHORT`], and their time.
    pub short: (u64, Seconds),
    /// Distinct durations among the short launches, counted up to [`Timer::COUNTED`]. Long launches
    /// are less informative, because milliseconds may be rounded to whole microseconds.
    pub values: usize,
}

impl Timer {
    /// Limit for counting distinct durations.
    pub const COUNTED: usize = 16;

    /// A microsecond is more than 5% of a shorter launch.
    pub const SHORT: Seconds = Seconds::new(20e-6);

    /// Returns the timers of a profile's files, except files without durations.
    pub(super) fn all(profile: &Profile) -> Vec<Self> {
        let mut seen: Vec<Seen> = profile.sources.iter().map(|_| Seen::default()).collect();
        let launches = &profile.launches;
        for row in 0..launches.len() {
            let time = launches.value(row, Quantity::Duration).filter(|time| *time > 0.0);
            if let Some(time) = time
                && let Some(seen) = seen.get_mut(usize::from(launches.source(row)))
            {
                seen.add(time, launches.count(row));
            }
        }
        let timers = seen.into_iter().enumerate().filter(|(_, seen)| seen.launches > 0);
        timers
            .map(|(source, seen)| Self {
                source,
                launches: seen.launches,
                whole_micros: !seen.is_fine,
                short: (seen.short, Seconds::new(seen.short_time.get())),
                values: seen.values.len(),
            })
            .collect()
    }
}

/// Durations of a file so far.
#[derive(Debug, Default)]
struct Seen {
    launches: u64,
    is_fine: bool,
    values: Vec<u64>,
    short: u64,
    short_time: ExactSum,
}

impl Seen {
    /// Adds the duration, in seconds, of a launch that stands for so many.
    fn add(&mut self, time: f64, count: u32) {
        /// Profilers write nanoseconds at best; smaller remainders are rounding.
        const ROUNDING: f64 = 1e-4;
        self.launches += u64::from(count);
        let micros = time * 1e6;
        self.is_fine |= (micros - micros.round()).abs() > ROUNDING;
        // Microseconds are read as such: 20 of them are not a little less.
        if (time * 1e9).round() < (Timer::SHORT.get() * 1e9).round() {
            self.short += u64::from(count);
            self.short_time.add(time * f64::from(count));
            // In picoseconds, so that durations that are not whole count as different too.
            let value = (time * 1e12).round() as u64;
            if self.values.len() < Timer::COUNTED && !self.values.contains(&value) {
                self.values.push(value);
            }
        }
    }
}
