//! Launches that take longer than any does: their times are in another unit, or a counter overflowed.

use crate::model::{Profile, Quantity};
use crate::plain::counted;
use crate::units::si;

/// No launch runs for a day, in seconds.
const DAY: f64 = 86_400.0;

/// Says that there are such launches, and names the longest: what follows from their times is as wrong as they are.
pub(super) fn tell(profile: &mut Profile) {
    let mut launches = 0;
    let mut longest: Option<(f64, usize)> = None;
    for row in 0..profile.launches.len() {
        let time = profile.launches.get(row, Quantity::Duration).map_or(0.0, |(time, _)| time);
        if time > DAY {
            launches += u64::from(profile.launches.count(row));
            if longest.is_none_or(|(most, _)| time > most) {
                longest = Some((time, row));
            }
        }
    }
    let Some((time, row)) = longest else { return };
    let launch = profile.launch(row);
    let note = format!(
        "{} longer than a day, the longest {} ({}): the times are in another unit, or the clock of the profiler jumped",
        counted(launches, "launch takes", "launches take"),
        si(time, "s"),
        launch.kernel()
    );
    profile.check(note);
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    #[test]
    fn a_launch_of_days_is_named() {
        let notes = |time: &str| {
            let text = format!(
                "\"Kernel\",\"Op\",\"Sil(ns)\"\n\"a\",\"x\",\"5\"\n\"b\",\"x\",\"{time}\"\n"
            );
            read_text("t.csv", &text, &Options::default()).unwrap().notes
        };
        let found = notes("2e14");
        assert!(
            found.iter().any(|note| note
                .starts_with("1 launch takes longer than a day, the longest 200000 s (b)")),
            "{found:?}"
        );
        assert!(notes("8e13").is_empty());
    }
}
