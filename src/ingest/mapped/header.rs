//! Where the mapped columns of a table are named, and what is wrong if they are not.

use super::is_titled;
use super::mapping::Mapping;
use crate::ingest::rows::fields;
use crate::ingest::{IngestError, Reading};

/// The first line that has the mapped columns but for optional ones, or else the one with most of them, and its fields.
///
/// # Errors
/// When it lacks one, or has one twice.
pub(super) fn header(
    reading: &Reading<'_>,
    mapping: &Mapping,
) -> Result<(u64, Vec<String>), IngestError> {
    let columns = mapping.columns();
    let mut best: Option<(usize, u64, Vec<String>)> = None;
    for (line, text) in (1..).zip(reading.sample.lines()) {
        let fields = fields(text, mapping.delimiter);
        let is_there = |column: &&&str| fields.iter().any(|field| is_titled(field, column));
        let known = columns.iter().filter(is_there).count();
        // Without any match the first line that looks like a table is shown.
        let better = best.as_ref().is_none_or(|(most, _, _)| known > *most);
        // A table further down may have more of the optional ones; its header is met when it is read.
        let is_header =
            columns.iter().all(|column| is_there(&column) || mapping.is_optional(column));
        if is_header || (better && (known > 0 || fields.len() > 1)) {
            best = Some((known, line, fields));
        }
        if is_header {
            break;
        }
    }
    let Some((_, line, header)) = best else {
        return Err(reading
            .error(format!(
                "no table found: no line has fields separated by {:?}",
                char::from(mapping.delimiter)
            ))
            .help(format!(
                "set the delimiter of the file in the mapping, such as delimiter = \"{}\"",
                if mapping.delimiter == b';' { ',' } else { ';' }
            )));
    };
    lacks(reading, mapping, &header).map_err(|error| error.line(line))?;
    Ok((line, header))
}

/// Checks that a table has each column of a mapping once.
///
/// # Errors
/// When it lacks one that is not optional, or has one twice.
pub(super) fn lacks(
    reading: &Reading<'_>,
    mapping: &Mapping,
    header: &[String],
) -> Result<(), IngestError> {
    for column in mapping.columns() {
        match header.iter().filter(|field| is_titled(field, column)).count() {
            1 => {}
            0 if mapping.is_optional(column) => {}
            // As the sum of its channels.
            0 if mapping.places(column, header).is_some() => {}
            0 => return Err(missing(reading, mapping, column, header)),
            count => {
                let message = format!(
                    "the header has {count} columns {column:?}, which {} names",
                    mapping.path
                );
                return Err(reading.error(message).help("rename all but one of them"));
            }
        }
    }
    Ok(())
}

/// A column that the mapping names and the table lacks.
pub(super) fn missing(
    reading: &Reading<'_>,
    mapping: &Mapping,
    column: &str,
    header: &[String],
) -> IngestError {
    let similarity =
        |field: &String| crate::plain::likeness(&field.to_lowercase(), &column.to_lowercase());
    let nearest = header
        .iter()
        .map(|field| (similarity(field), field))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(similarity, _)| *similarity > 0.7);
    let titles: Vec<String> = header.iter().map(|field| format!("{field:?}")).collect();
    let titles = match titles.as_slice() {
        [] => "no record has it".to_owned(),
        titles => format!("the header has {}", titles.join(", ")),
    };
    let error =
        reading.error(format!("no column {column:?}, which {} names; {titles}", mapping.path));
    match nearest {
        _ if mapping.is_built_in => error.help(format!(
            "the built-in mapping {} is for other tables; write one for this table: rooflint inspect {} \
             --suggest-map > MAPPING.toml",
            mapping.path,
            crate::plain::file(&reading.source.path)
        )),
        Some((_, field)) => error.help(format!("did you mean {field:?}?")),
        None => error.help(format!("name the columns of this file in {}", mapping.path)),
    }
}
