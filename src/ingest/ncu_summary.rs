//! Nsight Compute `--print-summary per-kernel`: minimum, maximum and average over a kernel's launches.

use super::ncu::{Catalogue, Identity, Preamble, Wanted, complete_shape, kind, unit};
use super::ncu_wide::Row;
use super::reading::fields;
use super::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::Head;

pub(super) const FORMAT: Format = Format {
    name: "ncu-summary",
    profiler: "Nsight Compute",
    summary: "per-kernel summary: averages over the invocations of each kernel",
    command: "ncu --import report.ncu-rep --csv --print-summary per-kernel --metrics gpu__time_duration.sum,dram__bytes.sum,… > report.csv",
    sniff,
    read,
};

fn is_header(fields: &[String]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field == name);
    ["Kernel Name", "Metric Name", "Invocations", "Average"].into_iter().all(has)
}

fn sniff(sample: &Sample) -> Sniff {
    match sample.header_with("Invocations", is_header) {
        Some(_) => Sniff::Yes("a header with Metric Name, Invocations and Average".to_owned()),
        None => Sniff::No("no header with Metric Name, Invocations and Average".to_owned()),
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Invocations") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    let find = |name: &str| header.iter().position(|field| field == name);
    let (Some(invocations), Some(name), Some(average)) =
        (find("Invocations"), find("Metric Name"), find("Average"))
    else {
        return Err(reading.error("no table found: no line is the header of this format"));
    };
    let (section, unit_column) = (find("Section Name"), find("Metric Unit"));
    let numerals = numerals(&reading.sample, average);
    reading.source.numerals = numerals.to_string();
    let mut identity = Identity::new(&header);
    let mut catalogue = Catalogue::default();
    let mut row = Row::new(numerals);
    let mut current: Option<(Vec<Vec<u8>>, Head, Vec<u8>)> = None;
    let mut records = reading.records();
    let mut record = csv::ByteRecord::new();
    let mut number = 0;
    let mut flush = |reading: &mut Reading<'_>,
                     row: &mut Row,
                     catalogue: &Catalogue,
                     current: Option<(Vec<Vec<u8>>, Head, Vec<u8>)>| {
        let Some((_, mut head, kernel)) = current else { return };
        head.id = number;
        number += 1;
        complete_shape(&mut head.shape, &row.raw);
        row.push(reading, catalogue, head, &kernel);
        row.raw.clear();
    };
    while let Some(line) = records.next(&mut record)? {
        let cell = |column: Option<usize>| {
            column.and_then(|column| record.get(column)).unwrap_or_default()
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let first = cell(Some(0));
        if first.starts_with(b"==") || cell(Some(name)) == b"Metric Name" {
            preamble.line(&text(first));
            reading.source.other_lines += 1;
            continue;
        }
        reading.source.rows += 1;
        if record.len() <= average {
            let reason = format!(
                "{} fields instead of {}: cut off or no table row",
                record.len(),
                header.len()
            );
            reading.skip(line, None, &text(record.as_slice()), reason)?;
            continue;
        }
        // All columns before the metric identify the kernel.
        let key: Vec<Vec<u8>> =
            (0..=invocations).map(|column| cell(Some(column)).to_vec()).collect();
        if current.as_ref().is_none_or(|(known, ..)| *known != key) {
            flush(reading, &mut row, &catalogue, current.take());
            let count = numerals
                .parse(cell(Some(invocations)))
                .ok()
                .flatten()
                .filter(|count| *count >= 1.0);
            let Some(count) = count else {
                reading.skip(
                    line,
                    Some("Invocations"),
                    &text(cell(Some(invocations))),
                    "cannot read as a count",
                )?;
                continue;
            };
            let mut head = identity.head(reading, &record);
            let cells = identity.device_cells(&record);
            head.device = identity.device(reading, cells, None, |hint| preamble.complete(hint));
            head.count = count as u32;
            current = Some((key, head, cell(Some(identity.kernel)).to_vec()));
        }
        let (metric, word) = (text(cell(Some(name))), text(cell(unit_column)));
        row.raw.saw(kind(&metric));
        let Some(wanted) = catalogue.row(&text(cell(section)), &metric, word == "%") else {
            continue;
        };
        match (numerals.parse(cell(Some(average))), factor(wanted, &word)) {
            (Ok(None), _) => {}
            (Ok(Some(value)), Ok(_)) if value < 0.0 && !wanted.dimension.can_be_negative() => {
                let reason = format!("{} cannot be negative", wanted.dimension.noun());
                reading.skip(line, Some(&metric), &text(cell(Some(average))), reason)?;
            }
            (Ok(Some(value)), Ok(factor)) => {
                row.raw.set(wanted.slot, value * factor);
                *reading.source.columns.entry(metric).or_default() += 1;
            }
            (_, Err(reason)) => {
                reading.skip(line, Some(&metric), &text(cell(Some(average))), reason)?
            }
            (Err(_), _) => {
                let reason = format!("cannot read as {}", wanted.dimension.noun());
                reading.skip(line, Some(&metric), &text(cell(Some(average))), reason)?;
            }
        }
    }
    flush(reading, &mut row, &catalogue, current.take());
    reading.source.dialect =
        format!("per-kernel summary, {} columns; values are averages", header.len());
    reading.source.clues.extend(preamble.clues());
    row.finish(reading);
    Ok(())
}

fn factor(wanted: Wanted, word: &str) -> Result<f64, String> {
    match unit(word) {
        Some(unit) if unit.dimension == wanted.dimension => Ok(unit.factor * wanted.factor),
        Some(_) => Err(format!("unit {word:?} is not {}", wanted.dimension.noun())),
        None => Err(format!("unknown unit {word:?}")),
    }
}

fn numerals(sample: &Sample, average: usize) -> Numerals {
    let Some((_, rest)) = sample.header_with("Invocations", is_header) else {
        return Numerals::default();
    };
    let records = sample.records(rest, 5_000);
    Numerals::detect(records.iter().filter_map(|record| record.get(average)))
}
