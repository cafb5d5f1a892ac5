//! Titles of the tables of `nsys stats`, whose units are part of them: `Start (ns)`, `Thru(MB/s)`, `StcSMem (MB)`.

use crate::ingest::timeline::{Timed, per_second};

/// A title without its unit, and the unit.
pub(super) fn title(text: &str) -> (&str, &str) {
    match text.trim().strip_suffix(')').and_then(|inside| inside.split_once('(')) {
        Some((name, unit)) => (name.trim_end(), unit),
        None => (text.trim(), ""),
    }
}

/// The columns of a header by their titles.
pub(super) struct Titles<'a>(pub(super) &'a [String]);

impl Titles<'_> {
    /// Where the column with this title is.
    pub(super) fn at(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|text| title(text).0 == name)
    }

    /// A column of sizes, with its unit in bytes: of bytes where no unit is stated.
    pub(super) fn size(&self, name: &str) -> Option<(usize, f64)> {
        let at = self.at(name)?;
        let unit = match title(&self.0[at]).1 {
            "" | "B" => 1.0,
            "KB" => 1e3,
            "MB" => 1e6,
            "GB" => 1e9,
            "KiB" => 1024.0,
            "MiB" => 1_048_576.0,
            "GiB" => 1_073_741_824.0,
            _ => return None,
        };
        Some((at, unit))
    }

    /// A column of times: of nanoseconds where no unit is stated.
    pub(super) fn time(&self, name: &str) -> Option<Timed> {
        let at = self.at(name)?;
        let unit = title(&self.0[at]).1;
        let per_second = if unit.is_empty() { 1e9 } else { per_second(unit)? };
        Some(Timed { at, per_second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_taken_from_titles_of_all_eras() {
        for (text, name, unit) in [
            ("Start (ns)", "Start", "ns"),
            ("Duration(nsec)", "Duration", "nsec"),
            ("Thru(MB/s)", "Thru", "MB/s"),
            ("StcSMem (MB)", "StcSMem", "MB"),
            ("Reg/Trd", "Reg/Trd", ""),
            ("Time (%)", "Time", "%"),
            (" Name ", "Name", ""),
        ] {
            assert_eq!(title(text), (name, unit), "{text}");
        }
        let header = ["Start(sec)", "Duration (us)", "StcSMem", "Med (min)"];
        let header = header.map(str::to_owned);
        let titles = Titles(&header);
        assert_eq!(titles.time("Start").map(|time| (time.at, time.per_second)), Some((0, 1.0)));
        assert_eq!(titles.time("Duration").map(|time| time.per_second), Some(1e6));
        assert!(titles.time("Med").is_none() && titles.time("Avg").is_none());
    }
}
