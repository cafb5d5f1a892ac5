//! The manifest of a partitioned launch table: which parts there are, what they were made from, what they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::analysis::{CeilingSet, DeviceRow};
use crate::ingest::IngestError;
use crate::plain;
use crate::table::{Cell, SCHEMA};

/// Name of the manifest in the folder of the table.
pub const MANIFEST: &str = "_rooflint.json";

/// Name of the table of devices in that folder.
pub const DEVICES: &str = "devices.parquet";

/// Name and version of the layout.
pub const LAYOUT: &str = "rooflint/partitions/1";

/// The parts of a partitioned launch table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name and version of the layout, [`LAYOUT`].
    pub schema: String,
    /// Schema of the launch tables in the parts.
    pub launches: String,
    /// Ceilings that an analysis of all parts uses if none are asked for.
    pub ceilings: String,
    /// Figures of the devices, as `devices.parquet` has them.
    pub devices: BTreeSet<DeviceEntry>,
    /// The parts by path.
    pub parts: Vec<PartEntry>,
}

/// A device with its figures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceEntry {
    /// Name as the launches have it.
    pub device: Option<String>,
    /// Id in the catalog.
    pub id: Option<String>,
    /// Name for reports.
    pub name: String,
    /// Figures by column; numbers as text, so that they come back to the last digit.
    pub figures: BTreeMap<String, String>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Path in the folder of the table, with `/`.
    pub path: String,
    /// Name of the run.
    pub run: String,
    /// Number of the rank.
    pub rank: u64,
    /// The files that it was made from.
    pub sources: Vec<SourceFile>,
    /// Rows.
    pub rows: u64,
    /// Launches that the rows stand for.
    pub launches: u64,
    /// Sum of their durations, in seconds.
    pub duration_s: f64,
    /// Rows with a duration.
    pub timed_rows: u64,
    /// Rows with a duration that lack the SM clock.
    pub rows_without_clock: u64,
    /// First start, in nanoseconds; `None` if no launch has one.
    pub first_start_ns: Option<u64>,
    /// Last end, in nanoseconds.
    pub last_end_ns: Option<u64>,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// A file that a part was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceFile {
    /// Path as given.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema: LAYOUT.to_owned(),
            launches: SCHEMA.to_owned(),
            ceilings: CeilingSet::Spec.label().to_owned(),
            devices: BTreeSet::new(),
            parts: Vec::new(),
        }
    }
}

impl DeviceEntry {
    /// Makes the entry of a device.
    #[must_use]
    pub fn of(row: &DeviceRow) -> Self {
        let shown = |(name, _, cell): &(String, _, Option<Cell<'static>>)| {
            cell.as_ref().map(|cell| (name.clone(), cell.to_string()))
        };
        Self {
            device: row.device.clone(),
            id: row.id.clone(),
            name: row.name.clone(),
            figures: row.figures.iter().filter_map(shown).collect(),
        }
    }
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if there is none.
    ///
    /// # Errors
    /// [`IngestError`] if it cannot be read, or is of another version.
    pub fn read(folder: &Path) -> Result<Option<Self>, IngestError> {
        let path = folder.join(MANIFEST);
        let error = |message: String| IngestError::new(path.display(), message);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(error(format!("cannot read: {}", plain::io(&cause)))),
        };
        let again = "convert the exports again into a new folder";
        let document: Value = serde_json::from_str(&text).map_err(|cause| {
            error(format!("damaged manifest: {}", plain::json(&cause))).help(again)
        })?;
        for (key, expected) in [("schema", LAYOUT), ("launches", SCHEMA)] {
            let found = document.get(key).and_then(Value::as_str).unwrap_or("none");
            if found != expected {
                let message = format!("unsupported {key} {found:?} (expected {expected:?})");
                return Err(error(message).help(again));
            }
        }
        serde_json::from_value(document)
            .map(Some)
            .map_err(|cause| error(format!("damaged manifest: {cause}")).help(again))
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(MANIFEST), |to| crate::json::write(to, self))
    }

    /// Sets what follows from the parts: their order, the ceilings, the devices that are in use.
    pub fn settle(&mut self) {
        self.parts.sort_by(|one, two| {
            (&one.run, one.rank, &one.path).cmp(&(&two.run, two.rank, &two.path))
        });
        let timed: u64 = self.parts.iter().map(|part| part.timed_rows).sum();
        let without: u64 = self.parts.iter().map(|part| part.rows_without_clock).sum();
        let is_clocked = timed > 0 && without == 0;
        let ceilings = if is_clocked { CeilingSet::MeasuredClock } else { CeilingSet::Spec };
        ceilings.label().clone_into(&mut self.ceilings);
        let used: BTreeSet<&String> = self.parts.iter().flat_map(|part| &part.devices).collect();
        self.devices.retain(|device| used.contains(&device.name));
    }

    /// Returns the ceilings that an analysis of all parts uses if none are asked for.
    #[must_use]
    pub fn ceilings(&self) -> CeilingSet {
        let is_clocked = self.ceilings == CeilingSet::MeasuredClock.label();
        if is_clocked { CeilingSet::MeasuredClock } else { CeilingSet::Spec }
    }
}

/// Writes a file that appears whole or not at all.
pub(super) fn replace(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    // Hidden, and without the ending that engines look for.
    name.push(format!(".{}.tmp", std::process::id()));
    let hidden = path.with_file_name(format!(".{}", name.to_string_lossy()));
    let written = File::create(&hidden).and_then(|mut file| {
        write(&mut file)?;
        file.flush()?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&hidden, path));
    if placed.is_err() {
        // What is left of it is of no use; that it cannot be removed is not the error to report.
        let _ = fs::remove_file(&hidden);
    }
    placed
}

/// Returns the SHA-256 of a file's content, in hexadecimal.
pub(super) fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    Ok(hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}
