//! How the numbers of a mapped table are written, by what its rows can mean.

use super::is_titled;
use super::mapping::{Instant, Mapping, Time, Value};
use super::units::number_of;
use crate::ingest::decimal::{Content, DecimalSign, Evidence};
use crate::ingest::rows::fields;
use crate::ingest::{Numerals, Reading};
use crate::model::Quantity;
use crate::units;

/// How many records decide how numbers are written.
const NUMERAL_RECORDS: usize = 1000;

/// What the cells of the sample show of how numbers are written.
pub(super) fn evidence(
    reading: &Reading<'_>,
    mapping: &Mapping,
    header_line: u64,
    header: &[String],
) -> Evidence {
    let at = |column: &str| header.iter().position(|field| is_titled(field, column));
    let (time, _) = times(mapping);
    let values = time.into_iter().chain(&mapping.values);
    let values: Vec<(&Value, usize)> =
        values.filter_map(|value| Some((value, at(value.column()?)?))).collect();
    let numeric = numeric(mapping, at);
    let skipped = usize::try_from(header_line).unwrap_or(usize::MAX);
    let lines = reading.sample.lines().skip(skipped).take(NUMERAL_RECORDS);
    let records: Vec<Vec<String>> = lines.map(|line| fields(line, mapping.delimiter)).collect();
    let mut evidence = Evidence::default();
    for (line, record) in (header_line + 1..).zip(&records) {
        for (at, content) in &numeric {
            let place = || Some((line, header[*at].clone()));
            evidence.add(number_of(record.get(*at).map_or(&[], String::as_bytes)), *content, place);
        }
        if time.is_some() {
            possible(&mut evidence, &values, record);
        }
    }
    let is_read = |at: usize| {
        is_titled(&header[at], &mapping.kernel) || numeric.iter().any(|(one, _)| *one == at)
    };
    let others = (0..header.len()).filter(|at| !is_read(*at));
    if let Some((title, cell)) = others.into_iter().find_map(|at| {
        let cell = decimal_comma(&records, at)?;
        Some((&header[at], cell))
    }) {
        evidence.doubt(format!("{cell:?} of the column {title:?} has a decimal comma"));
    }
    evidence
}

/// The column of times, or those of their starts and ends.
fn times(mapping: &Mapping) -> (Option<&Value>, Option<[&Instant; 2]>) {
    match &mapping.time {
        Time::Column(value) => (Some(value), None),
        Time::Span { start, end } => (None, Some([start, end])),
    }
}

/// The places of the columns with numbers, and what they hold; `at` says where a column is.
pub(super) fn numeric(
    mapping: &Mapping,
    at: impl Fn(&str) -> Option<usize>,
) -> Vec<(usize, Content)> {
    let (time, instants) = times(mapping);
    let values = time.into_iter().chain(&mapping.values);
    let values = values.filter_map(|value| Some((at(value.column()?)?, value.content())));
    let instants = instants.into_iter().flatten().filter_map(|instant| at(&instant.column));
    let start = mapping.start.iter().filter_map(|start| at(&start.column));
    let counts = mapping.launches.iter().filter_map(|launches| at(&launches.column));
    values
        .chain(counts.chain(instants).map(|at| (at, Content::Whole)))
        .chain(start.map(|at| (at, Content::Any)))
        .collect()
}

/// A cell with a decimal comma in a column that is not mapped and has one number in each row: extents, versions and lists
/// are no numbers.
fn decimal_comma(records: &[Vec<String>], at: usize) -> Option<String> {
    let mut evidence = Evidence::default();
    let cells = records.iter().filter_map(|record| record.get(at));
    for cell in cells.filter(|cell| !cell.trim().is_empty()) {
        if cell.matches(',').count() > 1 || !cell.trim().starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        evidence.add(cell.as_bytes(), Content::Any, || None);
    }
    evidence.decimal_comma().map(str::to_owned)
}

/// Adds a reason where a row makes sense with one decimal sign only. The time is the first value.
fn possible(evidence: &mut Evidence, values: &[(&Value, usize)], record: &[String]) {
    /// No device memory moves so many bytes per second, no device does so many operations.
    const MOST_BYTES: f64 = 1e14;
    const MOST_WORK: f64 = 1e18;
    /// A kernel takes longer than this, and not as long as that, in seconds.
    const TIMES: std::ops::Range<f64> = 1e-7..3600.0;

    let fault = |sign: DecimalSign| {
        let numerals = Numerals::new(sign, true, false);
        let read = |(value, at): &(&Value, usize)| {
            let number = numerals.parse(record.get(*at)?.as_bytes()).ok()??;
            Some(number * value.scale)
        };
        let time = read(values.first()?).filter(|time| *time > 0.0)?;
        let cell = |at: usize| record.get(at).map_or("", String::as_str);
        if !TIMES.contains(&time) {
            return Some(format!(
                "a kernel would take {}: {:?}",
                units::si(time, "s"),
                cell(values[0].1)
            ));
        }
        values[1..].iter().filter(|(value, _)| !value.rate).find_map(|one| {
            let (unit, most) = match one.0.quantity {
                Quantity::DramBytes => ("B/s", MOST_BYTES),
                Quantity::Work(_) => ("FLOP/s", MOST_WORK),
                _ => return None,
            };
            let rate = read(one)? / time;
            (rate > most).then(|| format!("{:?} would be {}", cell(one.1), units::si(rate, unit)))
        })
    };
    let faults = [DecimalSign::Point, DecimalSign::Comma].map(fault);
    match faults {
        [Some(why), None] => evidence.reason(DecimalSign::Comma, format!("otherwise {why}")),
        [None, Some(why)] => evidence.reason(DecimalSign::Point, format!("otherwise {why}")),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::model::Profile;

    const NEEDED: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\n";

    fn read(csv: &str, map: &str) -> Result<Profile, String> {
        let map = Some(Mapping::from_toml(map, "map.toml").unwrap());
        let options = Options { map, ..Options::default() };
        read_text("table.csv", csv.to_owned().leak(), &options)
            .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))
    }

    #[test]
    fn a_row_that_is_named_as_a_sum_is_pointed_out() {
        let map = format!("delimiter = ';'\n{NEEDED}");
        let notes =
            |name: &str| read(&format!("name;dur\na;1.5\nb;2.5\n{name};4\n"), &map).unwrap().notes;
        let found = notes("Total");
        assert!(found.iter().any(|one| one.contains("1 row is named as a sum")), "{found:?}");
        assert!(notes("total_kernel").is_empty());
    }

    /// An empty number is not that of its row, which another launch may have.
    #[test]
    fn a_launch_without_a_number_among_others_is_no_copy() {
        let map = format!("delimiter = ';'\n{NEEDED}id = 'i'\n");
        for ids in [["2", "", "x", "9"], ["", "1", "x", "2"], ["x", "", "1", "2"]] {
            let rows = ids.map(|id| format!("a;10.5;{id}\n")).concat();
            let profile = read(&format!("name;dur;i\n{rows}"), &map).unwrap();
            assert_eq!((profile.launches.len(), profile.sources[0].repeated), (4, 0), "{ids:?}");
        }
    }

    /// 1.5 ms are 1500 of the mapping's microseconds.
    #[test]
    fn a_cell_that_has_its_own_unit_is_read_in_it() {
        let map = format!(
            "delimiter = ';'\n{NEEDED}bytes = {{ column = 'b', unit = 'MB' }}\n\
             [quantities]\nachieved_occupancy = {{ column = 'occ', unit = '1' }}\n"
        );
        let profile = read("name;dur;b;occ\na;1.5ms;3 KiB;45 %\nb;2;4;0.5\n", &map).unwrap();
        let of = |row: usize, quantity: Quantity| profile.launch(row).value(quantity).unwrap();
        let near = |found: f64, right: f64| {
            assert!((found / right - 1.0).abs() < 1e-12, "{found} {right}");
        };
        near(of(0, Quantity::Duration), 1.5e-3);
        near(of(0, Quantity::DramBytes), 3072.0);
        near(of(0, Quantity::AchievedOccupancy), 0.45);
        near(of(1, Quantity::Duration), 2e-6);
        assert_eq!(profile.sources[0].skips.count, 0);
        // A rate is not an amount, and a weight not a time.
        for cell in ["3 MB/s", "3 kg", "MB"] {
            let profile = read(&format!("name;dur;b;occ\na;1;{cell};1\n"), &map).unwrap();
            assert_eq!(profile.launch(0).value(Quantity::DramBytes), None, "{cell}");
            assert_eq!(profile.sources[0].skips.count, 1, "{cell}");
        }
        // They are evidence as others are.
        let error = read("name;dur;b;occ\na;1,234us;1;1\n", &map).unwrap_err();
        assert!(error.contains("the comma of numbers such as \"1,234\""), "{error}");
        let commas = read("name;dur;b;occ\na;1,5us;1;1\n", &map).unwrap();
        near(commas.launch(0).value(Quantity::Duration).unwrap(), 1.5e-6);
        let error = read("name;dur;b;occ\na;1.5 s/it;1;1\n", &map).unwrap_err();
        assert!(
            error.contains("dur \"1.5 s/it\": the unit behind the number is unknown"),
            "{error}"
        );
    }

    /// The columns that are read have points before three digits, and one that is not has a decimal comma.
    #[test]
    fn a_decimal_comma_beside_what_is_read_is_asked_about() {
        let map = format!("delimiter = ';'\n{NEEDED}");
        let table = |other: &str| format!("name;dur;occupancy\na;1.234;{other}\nb;5.678;{other}\n");
        let error = read(&table("40,5"), &map).unwrap_err();
        assert!(error.contains("\"40,5\" of the column \"occupancy\""), "{error}");
        assert!(error.contains("the point of numbers such as \"1.234\""), "{error}");
        assert!(error.contains("--decimal-sign"), "{error}");
        for other in ["40.5", "16,16,1", "x,5", "40"] {
            assert!(read(&table(other), &map).is_ok(), "{other}");
        }
        let stated = read(&table("40,5"), &format!("decimal = '.'\n{map}")).unwrap();
        assert_eq!(stated.launch(0).value(Quantity::Duration), Some(1.234e-6));
    }

    /// 100.123 µs or 100,123 µs: with the bytes in plain digits only one moves them in time.
    #[test]
    fn a_comma_that_may_be_of_decimals_or_thousands_is_decided_or_refused() {
        let map = format!("delimiter = ';'\n{NEEDED}bytes = {{ column = 'b', unit = 'MB' }}\n");
        let open = "name;dur;b\nk;100,123;200,456\n";
        assert_eq!(
            read(open, &map).unwrap_err(),
            "table.csv:2: column \"dur\": the comma of numbers such as \"100,123\" may be of decimals or of thousands | \
             add --decimal-sign comma or --decimal-sign point; in a mapping: decimal = \",\" or decimal = \".\"",
        );
        for (sign, time) in [(",", 100.123 * 1e-6), (".", 100_123.0 * 1e-6)] {
            let profile = read(open, &format!("decimal = '{sign}'\n{map}")).unwrap();
            assert_eq!(profile.launch(0).value(Quantity::Duration), Some(time), "{sign}");
            assert_eq!(profile.notes, [""; 0]);
        }
        let time = |csv: &str| {
            let profile = read(csv, &map).unwrap();
            (profile.launch(0).value(Quantity::Duration).unwrap(), profile.notes.join("; "))
        };
        // 200 GB in 100 ms are 2 TB/s; in 100 µs they would be 2 PB/s.
        let (seconds, note) = time("name;dur;b\nk;100,123;200000\n");
        assert_eq!(seconds, 100_123.0 * 1e-6);
        assert!(
            note.contains("those of thousands, because otherwise \"200000\" would be 2.00 PB/s"),
            "{note}"
        );
        // Points may group digits, too: of a time that no kernel takes, or of a start.
        let points =
            format!("{NEEDED}start = {{ column = 's', unit = 'ns' }}\n").replace("'us'", "'ns'");
        for (csv, note) in [
            (
                "name,dur,s\nk,2.176,5\n",
                "points in numbers are read as those of thousands, because otherwise",
            ),
            ("name,dur,s\nk,184.320,2.860.736.409\n", ""),
        ] {
            let profile = read(csv, &points).unwrap();
            let cell = csv.split(',').nth(3).unwrap().replace('.', "");
            let time = cell.parse::<f64>().unwrap() * 1e-9;
            assert_eq!(profile.launch(0).value(Quantity::Duration), Some(time), "{csv}");
            assert!(profile.notes.join("; ").contains(note), "{:?}", profile.notes);
        }
        // No group begins with a zero.
        let (seconds, note) = time("name;dur;b\nk;0,002;1\n");
        assert_eq!((seconds, note.as_str()), (0.002 * 1e-6, ""));
        let seconds = map.replace("'us'", "'s'");
        let profile = read("name;dur;b\nk;7,250;1\n", &seconds).unwrap();
        assert_eq!(profile.launch(0).value(Quantity::Duration), Some(7.25));
        assert!(
            profile.notes[0].contains("those of decimals, because otherwise"),
            "{:?}",
            profile.notes
        );
    }
}
