//! Raw pages that several processes write into one file at once: a row has the units of its own page, and which page that is
//! cannot be seen. Where all have the same units, nothing is lost.

use std::collections::BTreeMap;

use super::scales::Column;
use crate::ingest::{IngestError, Reading};

/// Where the units of rows change.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The factor of each metric of the rows that come next, by its slot.
    factors: BTreeMap<usize, f64>,
    /// The launches before each change, and the line of the units.
    at: Vec<(usize, u64)>,
}

impl Turns {
    /// Takes the units of the rows that follow.
    pub(super) fn turn(&mut self, reading: &Reading<'_>, columns: &[Column], line: u64) {
        let factors: BTreeMap<usize, f64> =
            columns.iter().filter_map(|column| Some((column.slot, column.factor()?))).collect();
        let differs = |(slot, factor): (&usize, &f64)| {
            self.factors.get(slot).is_some_and(|before| before != factor)
        };
        if factors.iter().any(differs) {
            self.at.push((reading.launches(), line));
        }
        // A page without a metric says nothing of its unit.
        self.factors.extend(factors);
    }

    /// Whether each row can only have the units of the page above it.
    ///
    /// # Errors
    /// When behind other units the launches of a process go on, beside those of another one.
    pub(super) fn check(&self, reading: &Reading<'_>) -> Result<(), IngestError> {
        let Some((first, _)) = self.at.first() else { return Ok(()) };
        // The last launch of each process so far.
        let mut last: BTreeMap<u32, u32> = BTreeMap::new();
        let begin = reading.launches() - (reading.source.launches as usize).min(reading.launches());
        for head in (begin..*first).map(|row| reading.head(row)) {
            last.insert(head.process, head.id);
        }
        for (place, (from, line)) in self.at.iter().enumerate() {
            let to = self.at.get(place + 1).map_or(reading.launches(), |(next, _)| *next);
            // The first launch of each process under these units, and the last.
            let mut here: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
            for head in (*from..to).map(|row| reading.head(row)) {
                here.entry(head.process).or_insert((head.id, head.id)).1 = head.id;
            }
            let goes_on = |(process, (id, _)): (&u32, &(u32, u32))| {
                last.get(process).is_some_and(|last| id > last).then_some(*process)
            };
            let old = here.iter().find_map(goes_on);
            let new = here.keys().copied().find(|process| !last.contains_key(process));
            // Two headers before the first launch: either may be that of a row.
            let both = match (last.is_empty(), here.len()) {
                (true, 2..) => here.keys().next().copied().zip(here.keys().nth(1).copied()),
                _ => old.zip(new),
            };
            if let Some((one, other)) = both {
                return Err(reading
                    .error(format!(
                        "pages of processes {one} and {other} are written into each other in different units: which \
                         units a row has cannot be seen"
                    ))
                    .line(*line)
                    .help("export with --print-units base, or each process by itself: ncu -o run-%p APP"));
            }
            last.extend(here.into_iter().map(|(process, (_, id))| (process, id)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::Quantity;

    fn page(micro: bool) -> String {
        let (time, bytes) = if micro { ("us", "Mbyte") } else { ("ms", "Gbyte") };
        format!(
            "ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,dram__bytes.sum\n,,,,,,,{time},{bytes}\n"
        )
    }

    fn row(id: u32, process: u32, time: &str) -> String {
        format!("{id},{process},k,\"(256, 1, 1)\",\"(1024, 1, 1)\",0,9.0,{time},1.000000\n")
    }

    fn read(parts: &[String]) -> Result<f64, String> {
        let found = read_text("run.csv", &parts.concat(), &Options::default());
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.iter().filter_map(|launch| launch.value(Quantity::Duration)).sum())
    }

    #[test]
    fn rows_of_two_pages_in_different_units_are_refused_where_they_mix() {
        let (micro, milli) = (page(true), page(false));
        let mixed = [
            micro.clone(),
            row(0, 100, "500.000000"),
            milli.clone(),
            row(0, 200, "1.000000"),
            row(1, 100, "501.000000"),
        ];
        let error = read(&mixed).unwrap_err();
        let says = "run.csv:5: pages of processes 100 and 200 are written into each other in different units: \
                    which units a row has cannot be seen";
        assert_eq!(error, says);
        let headers = [micro.clone(), milli.clone(), row(0, 100, "500.0"), row(0, 200, "1.0")];
        assert!(
            read(&headers).unwrap_err().starts_with("run.csv:4: pages of processes 100 and 200")
        );
        // In the same units, one after the other, or of one process, they are read.
        let same = [
            micro.clone(),
            row(0, 100, "500"),
            micro.clone(),
            row(0, 200, "1"),
            row(1, 100, "499"),
        ];
        assert!((read(&same).unwrap() - 1000e-6).abs() < 1e-12);
        let after =
            [micro.clone(), row(0, 100, "500"), milli.clone(), row(0, 200, "1"), row(1, 200, "2")];
        assert!((read(&after).unwrap() - 3500e-6).abs() < 1e-12);
        let again = [
            micro.clone(),
            row(0, 100, "500"),
            milli.clone(),
            row(0, 100, "0.7"),
            row(0, 200, "1"),
        ];
        assert!((read(&again).unwrap() - 2200e-6).abs() < 1e-12);
        let other = micro
            .replace("gpu__time_duration.sum", "gpc__cycles_elapsed.max")
            .replace("us", "cycle");
        let between = [
            micro.clone(),
            row(0, 100, "500"),
            other,
            milli.clone(),
            row(0, 200, "1"),
            row(1, 100, "501"),
        ];
        assert!(read(&between).unwrap_err().contains("processes 100 and 200"));
        let parts = [micro, row(0, 100, "500"), milli, row(1, 100, "1")];
        assert!((read(&parts).unwrap() - 1500e-6).abs() < 1e-12);
    }
}
