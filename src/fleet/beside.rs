//! The tables beside the launches of a partitioned table: devices with their figures, and what names say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::manifest::{DEVICES, DeviceEntry, Manifest, NAMES, PartEntry, ceilings};
use super::scan;
use crate::analysis;
use crate::ingest::IngestError;
use crate::model::Profile;
use crate::table::frames::{self, FrameError};
use crate::table::{Cells, Facts, Form, Table, columns, device_columns, parts};
use crate::taxonomy::Taxonomy;

/// Name and major version of the schema of the table of devices.
const DEVICES_SCHEMA: &str = "rooflint/devices/1";

/// A kernel name with an operator, which may be empty.
pub(super) type Pair = (String, String);

/// Returns the table of devices as Parquet: a row for each rank and each of its devices.
pub(super) fn devices(manifest: &Manifest) -> Result<Vec<u8>, FrameError> {
    let rows: Vec<(&str, u64, &DeviceEntry)> = manifest
        .parts
        .iter()
        .flat_map(|part| {
            let entries = part.devices.iter().filter_map(|key| manifest.devices.get(key));
            entries.map(|entry| (&*part.run, part.rank, entry))
        })
        .collect();
    // As in an analysis of its files, another run does not change what a run is compared with.
    let mut of_run: BTreeMap<&str, Vec<&PartEntry>> = BTreeMap::new();
    for part in &manifest.parts {
        of_run.entry(&part.run).or_default().push(part);
    }
    let of_run: BTreeMap<&str, &str> =
        of_run.into_iter().map(|(run, parts)| (run, ceilings(parts).label())).collect();
    let entries = || rows.iter().map(|(.., entry)| *entry);
    let text =
        |of: fn(&DeviceEntry) -> Option<&str>| entries().map(move |one| Some(of(one)?.to_owned()));
    let mut columns = vec![
        ("run".to_owned(), Cells::Text(rows.iter().map(|row| Some(row.0.to_owned())).collect())),
        ("rank".to_owned(), Cells::Count(rows.iter().map(|row| Some(row.1)).collect())),
    ];
    for column in device_columns() {
        let cells = entries().map(|entry| entry.hint.get(&column.name));
        columns.push((column.name.clone(), parsed(column.form, cells)));
    }
    columns.extend([
        (
            "device_number".to_owned(),
            Cells::Count(entries().map(|entry| Some(entry.number as u64)).collect()),
        ),
        ("device_id".to_owned(), Cells::Text(text(|entry| entry.id.as_deref()).collect())),
        ("device_name".to_owned(), Cells::Text(text(|entry| Some(&entry.name)).collect())),
        (
            "ceilings".to_owned(),
            Cells::Text(rows.iter().map(|row| Some((*of_run.get(row.0)?).to_owned())).collect()),
        ),
    ]);
    for name in analysis::device_figures() {
        let cells = entries().map(|entry| entry.figures.get(&name));
        let cells = parsed(Form::Number("1"), cells);
        columns.push((name, cells));
    }
    let metadata = vec![("schema".to_owned(), DEVICES_SCHEMA.to_owned())];
    frames::parquet(&Table { height: rows.len(), columns, metadata })
}

/// Makes a column of cells as the manifest has them.
fn parsed<'a>(form: Form, cells: impl Iterator<Item = Option<&'a String>>) -> Cells<'static> {
    match form {
        Form::Text => Cells::Text(cells.map(Option::<&String>::cloned).collect()),
        Form::Truth => Cells::Truth(cells.map(|text| text?.parse().ok()).collect()),
        Form::Count => Cells::Count(cells.map(|text| text?.parse().ok()).collect()),
        Form::Share | Form::Factor | Form::Number(_) => {
            Cells::Number(cells.map(|text| text?.parse().ok()).collect())
        }
    }
}

/// Returns the names in a profile, each with each of its operators.
pub(super) fn pairs(profile: &Profile) -> BTreeSet<Pair> {
    let mut ids = BTreeSet::new();
    let mut last = None;
    for launch in profile.iter() {
        let pair = (launch.head.name, launch.head.operator);
        if last != Some(pair) {
            ids.insert(pair);
            last = Some(pair);
        }
    }
    let text = |id| profile.names.get(id).to_owned();
    ids.into_iter().map(|(name, operator)| (text(name), text(operator))).collect()
}

/// Returns the names in the parts of a manifest: from the table of names, or from the parts if it is lost.
///
/// # Errors
/// [`IngestError`] if a part cannot be read.
pub(super) fn known_pairs(
    folder: &Path,
    manifest: &Manifest,
) -> Result<BTreeSet<Pair>, IngestError> {
    let path = folder.join(NAMES);
    if let Ok(texts) = parts::texts(&path, ["kernel", "operator"]) {
        return Ok(texts.into_iter().map(|[kernel, operator]| (kernel, operator)).collect());
    }
    let mut all = BTreeSet::new();
    for part in &manifest.parts {
        let path = folder.join(&part.path);
        // A part that is gone is converted again, or the next reader says so.
        if fs::exists(&path).unwrap_or_default() {
            all.extend(pairs(&scan::read(&path, part.rows)?));
        }
    }
    Ok(all)
}

/// Returns the table of names as Parquet.
pub(super) fn names(
    pairs: &BTreeSet<Pair>,
    taxonomy: Option<Arc<Taxonomy>>,
) -> Result<Vec<u8>, FrameError> {
    let pairs = pairs.iter().map(|(kernel, operator)| (&**kernel, &**operator));
    frames::parquet(&analysis::names(pairs, taxonomy))
}

/// Returns what is known of the columns of a partitioned table: those of the launches, and the figures and ceilings of the
/// devices.
///
/// # Errors
/// [`IngestError`] if there is no such table, or a file of it cannot be read.
pub fn facts(folder: &Path) -> Result<Facts, IngestError> {
    let manifest = Manifest::of(folder)?;
    let mut facts = Facts::default();
    let mut read = |path: &Path, columns: &mut dyn Iterator<Item = (&str, Form)>| {
        parts::facts(path, columns, &mut facts).map_err(|error| {
            IngestError::new(path.display(), error.to_string())
                .help("convert the exports again into a new folder")
        })
    };
    for part in &manifest.parts {
        let all = columns().iter().map(|column| (&*column.name, column.form));
        read(&folder.join(&part.path), &mut all.into_iter())?;
    }
    let figures = analysis::device_figures();
    let figures = figures.iter().map(|name| (&**name, Form::Number("1")));
    read(&folder.join(DEVICES), &mut figures.chain([("ceilings", Form::Text)]))?;
    Ok(facts)
}
