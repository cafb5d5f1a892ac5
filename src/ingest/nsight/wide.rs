//! Nsight Compute raw page: one row per launch, one column per metric, units in the second row.

use super::row::Row;
use super::{
    Attributes, BEST, Catalog, Dimension, Gathered, Identity, Preamble, complete_shape, kind, unit,
};
use crate::ingest::reading::fields;
use crate::ingest::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "ncu-wide",
    profiler: Profiler::NsightCompute,
    summary: "raw page: one row per launch, one column per metric, a row of units",
    command: BEST,
    sniff,
    read,
};

fn is_header(fields: &[String]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field == name);
    fields.len() >= 8 && has("Kernel Name") && has("ID") && !has("Metric Name")
}

fn sniff(sample: &Sample) -> Sniff {
    match sample.header(|line| line.contains("Kernel Name"), is_header) {
        Some((header, _)) => {
            Sniff::Yes(format!("a header of {} columns with ID and Kernel Name", header.len()))
        }
        None => Sniff::No("no header with ID and Kernel Name and without Metric Name".to_owned()),
    }
}

/// A metric column that is read.
struct Column {
    field: usize,
    slot: usize,
    dimension: Dimension,
    name: String,
    scale: Scale,
    launches: u64,
}

/// Factor to the base unit, or why there is none.
enum Scale {
    Factor(f64),
    Unusable(String),
    /// Reported once already.
    Reported,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Kernel Name") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    let mut identity = Identity::new(&header);
    let attributes = Attributes::new(&header);
    let mut catalog = Catalog::default();
    let mut columns: Vec<Column> = Vec::new();
    let mut kinds = Gathered::default();
    for (field, name) in header.iter().enumerate() {
        kinds.saw(kind(name));
        if let Some(wanted) = catalog.metric(name) {
            columns.push(Column {
                field,
                slot: wanted.slot,
                dimension: wanted.dimension,
                name: name.clone(),
                scale: Scale::Unusable("no units row before this row".to_owned()),
                launches: 0,
            });
        }
    }
    let numerals = numerals(&reading.sample, &columns);
    reading.source.numerals = numerals.to_string();
    let mut state = Row::new(numerals);
    let mut records = reading.records();
    let mut record = csv::ByteRecord::new();
    let mut described = Vec::new();
    while let Some(line) = records.next(&mut record)? {
        if preamble.takes(reading, &record, (identity.kernel, "Kernel Name")) {
            continue;
        }
        if record.len() == header.len()
            && identity.is_blank(&record)
            && record.get(identity.kernel).is_none_or(<[u8]>::is_empty)
        {
            scale(&mut columns, &record);
            state.units = style(&columns, &record);
        } else if record.len() != header.len() {
            reading.source.rows += 1;
            reading.misfit(line, &record, header.len())?;
        } else if identity.key(&record).is_none() {
            reading.source.rows += 1;
            let text = String::from_utf8_lossy(record.get(0).unwrap_or_default()).into_owned();
            reading.skip(line, Some("ID"), &text, "launch number is no number")?;
        } else {
            reading.source.rows += 1;
            state.raw.clear();
            state.raw.saw_as(&kinds);
            cells(&mut state, reading, &mut columns, &record, line)?;
            let parse = |cell: &[u8]| numerals.parse(cell).ok().flatten();
            let cells = identity.device_cells(&record);
            attributes.cells(&record, &mut described);
            let device = identity.device(reading, cells, &described, |hint| {
                attributes.complete(hint, &record, parse);
                preamble.complete(hint);
            });
            let (mut head, kernel) = identity.head(reading, &record);
            head.device = device;
            complete_shape(&mut head.shape, &state.raw);
            state.push(reading, &catalog, head, kernel);
        }
    }
    finish(reading, &identity, &columns, &state, &mut preamble, &catalog, header.len());
    Ok(())
}

fn finish(
    reading: &mut Reading<'_>,
    identity: &Identity,
    columns: &[Column],
    state: &Row,
    preamble: &mut Preamble,
    catalog: &Catalog,
    width: usize,
) {
    let age = if identity.is_new() { "2023 or later" } else { "2022 or earlier" };
    reading.source.dialect = format!("raw page of {age}, {width} columns, {} units", state.units);
    preamble.tell(&mut reading.source);
    reading.source.clues.extend(catalog.clues());
    for column in columns.iter().filter(|column| column.launches > 0) {
        reading.source.columns.insert(column.name.clone(), column.launches);
    }
    state.finish(reading);
}

/// Decides the locale from the metric cells of the sample.
fn numerals(sample: &Sample, columns: &[Column]) -> Numerals {
    let Some((_, rest)) = sample.header(|line| line.contains("Kernel Name"), is_header) else {
        return Numerals::default();
    };
    let records = sample.records(rest, 400);
    Numerals::detect(
        records
            .iter()
            .flat_map(|record| columns.iter().filter_map(|column| record.get(column.field))),
    )
}

/// Takes the factors from a units row.
fn scale(columns: &mut [Column], record: &csv::ByteRecord) {
    for column in columns {
        let word =
            String::from_utf8_lossy(record.get(column.field).unwrap_or_default()).into_owned();
        column.scale = match unit(&word) {
            Some(unit) if unit.dimension == column.dimension => Scale::Factor(unit.factor),
            // Rates of tensor operations and some peaks per cycle are printed without a unit.
            Some(unit) if word.is_empty() && unitless(column.dimension) => {
                Scale::Factor(unit.factor)
            }
            Some(_) if word.is_empty() => Scale::Unusable("no unit".to_owned()),
            Some(_) => Scale::Unusable(format!("unit {word:?} is not {}", column.dimension.noun())),
            None => Scale::Unusable(format!("unknown unit {word:?}")),
        };
    }
}

/// Dimensions that ncu prints without a unit for some metrics, always in base units then.
fn unitless(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::BytesPerCycle | Dimension::CountPerSecond)
}

/// Whether units are base or scaled, for the dialect.
fn style(columns: &[Column], record: &csv::ByteRecord) -> &'static str {
    let scaled = columns.iter().any(|column| {
        let base = if column.dimension == Dimension::Time { 1e-9 } else { 1.0 };
        matches!(column.scale, Scale::Factor(factor) if factor > base)
    });
    let long = columns
        .iter()
        .filter_map(|column| record.get(column.field))
        .any(|word| word.ends_with(b"second"));
    match (scaled, long) {
        (true, true) => "scaled (long words: before 2025.3)",
        (true, false) => "scaled (short words: 2025.3 or later)",
        (false, true) => "base (long words: before 2025.3)",
        (false, false) => "base",
    }
}

/// Gathers the cells of a launch.
fn cells(
    row: &mut Row,
    reading: &mut Reading<'_>,
    columns: &mut [Column],
    record: &csv::ByteRecord,
    line: u64,
) -> Result<(), IngestError> {
    for column in columns {
        let cell = record.get(column.field).unwrap_or_default();
        match row.numerals.parse(cell) {
            Ok(None) => {}
            Ok(Some(value)) if value < 0.0 && !column.dimension.can_be_negative() => {
                let reason = format!("{} cannot be negative", column.dimension.noun());
                let text = String::from_utf8_lossy(cell).into_owned();
                reading.skip(line, Some(&column.name), &text, reason)?;
            }
            Ok(Some(value)) => match &column.scale {
                Scale::Factor(factor) => {
                    column.launches += 1;
                    row.raw.set(column.slot, value * factor);
                }
                Scale::Unusable(reason) => {
                    let reason = format!("{reason}, column left out");
                    column.scale = Scale::Reported;
                    let text = String::from_utf8_lossy(cell).into_owned();
                    reading.skip(line, Some(&column.name), &text, reason)?;
                }
                Scale::Reported => {}
            },
            Err(_) => {
                let reason = format!("cannot read as {}", column.dimension.noun());
                let text = String::from_utf8_lossy(cell).into_owned();
                reading.skip(line, Some(&column.name), &text, reason)?;
            }
        }
    }
    Ok(())
}
