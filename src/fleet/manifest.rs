//! The manifest of a partitioned launch table: which parts there are, what they were made from, what they hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::analysis::{CeilingSet, DeviceRow};
use crate::ingest::IngestError;
use crate::json;
use crate::plain;
use crate::table::SCHEMA;
use crate::unfinished::Unfinished;

/// Name of the manifest in the folder of the table.
pub const MANIFEST: &str = "_rooflint.json";

/// Name of the table of devices in that folder.
pub const DEVICES: &str = "devices.parquet";

/// Name of the table of what kernel names say in that folder.
pub const NAMES: &str = "names.parquet";

/// Name and version of the layout.
pub const LAYOUT: &str = "rooflint/partitions/1";

/// The parts of a partitioned launch table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Name and version of the layout.
    pub schema: String,
    /// Schema of the launch tables in the parts.
    pub launches: String,
    /// Ceilings that an analysis of all parts uses if none are asked for.
    pub ceilings: String,
    /// The devices by their key in [`PartEntry::devices`].
    pub devices: BTreeMap<String, DeviceEntry>,
    /// The parts by path.
    pub parts: Vec<PartEntry>,
}

/// A device with its figures.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct DeviceEntry {
    /// What launches on it have in the columns of the launch table that name a device.
    pub hint: BTreeMap<String, String>,
    /// Number among the devices of the rank.
    pub number: usize,
    /// Id in the catalog.
    pub id: Option<String>,
    /// Name for reports.
    pub name: String,
    /// Figures by column; numbers as text, so that they come back to the last digit.
    pub figures: BTreeMap<String, String>,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartEntry {
    /// Path in the folder of the table, with `/`.
    pub path: String,
    /// Name of the run.
    pub run: String,
    /// Number of the rank.
    pub rank: u64,
    /// Its positions on axes of parallelism by axis, as the names of its files say them; left out if they say none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub positions: BTreeMap<String, u64>,
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
    /// Keys of its devices.
    pub devices: Vec<String>,
    /// The device that was named for it, whatever its launches say; left out if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Fingerprint of the options with which its sources were read, such as the mapping; left out by versions that did
    /// not keep it. A part that was read in another way, or in one that is not known, is converted again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_as: Option<String>,
    /// Fingerprint of all devices that were known when its devices were looked up; they are looked up again where it
    /// is another or left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_devices: Option<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
}

impl PartEntry {
    /// Returns the device of its launches: the one that is asked for, else the one that was named for it; `None` leaves
    /// it to the launches.
    #[must_use]
    pub fn device<'a>(&'a self, asked: Option<&'a str>) -> Option<&'a str> {
        asked.or(self.device.as_deref())
    }
}

/// A file that a part was made from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct SourceFile {
    /// Path as given.
    pub path: String,
    /// SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

/// What says whether the rest can be read.
#[derive(Deserialize)]
struct Versions {
    schema: Option<String>,
    launches: Option<String>,
}

/// Returns the JSON schema of the manifest, as pretty-printed JSON.
#[must_use]
pub fn manifest_schema() -> String {
    json::schema::<Manifest>("partitions-1", "Manifest of a partitioned launch table")
}

impl Default for Manifest {
    fn default() -> Self {
        Self {
            schema: LAYOUT.to_owned(),
            launches: SCHEMA.to_owned(),
            ceilings: CeilingSet::Spec.label().to_owned(),
            devices: BTreeMap::new(),
            parts: Vec::new(),
        }
    }
}

impl DeviceEntry {
    /// Makes the entry of a device.
    #[must_use]
    pub fn of(row: &DeviceRow) -> Self {
        let figures = row.figures.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let hint = row.hint.iter().map(|(name, cell)| ((*name).to_owned(), cell.to_string()));
        Self {
            hint: hint.collect(),
            number: row.number,
            id: row.id.clone(),
            name: row.name.clone(),
            figures: figures.collect(),
        }
    }

    /// Returns its key in the manifest, which follows from its content.
    #[must_use]
    pub fn key(&self) -> String {
        let mut hash = Sha256::new();
        let texts = self.hint.iter().chain(&self.figures).flat_map(|(name, value)| [name, value]);
        let number = self.number.to_string();
        for text in texts.chain([&self.name, &number]) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        let id = self.id.as_deref().unwrap_or("unknown");
        let digits = hash.finalize();
        digits.iter().take(6).fold(format!("{id}-"), |text, byte| text + &format!("{byte:02x}"))
    }
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if there is none.
    ///
    /// # Errors
    /// [`IngestError`] if it cannot be read, or is of another version.
    pub fn read(folder: &Path) -> Result<Option<Self>, IngestError> {
        let path = folder.join(MANIFEST);
        match plain::text_of(&path, plain::WRITTEN) {
            Ok(text) => Self::parse(&path.display().to_string(), &text).map(Some),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => {
                let message = format!("cannot read: {}", plain::io(&cause));
                Err(IngestError::new(path.display(), message))
            }
        }
    }

    /// Reads the text of a manifest.
    ///
    /// # Errors
    /// [`IngestError`] if it is damaged or of another version.
    pub fn parse(name: &str, text: &str) -> Result<Self, IngestError> {
        let error = |message: String| {
            IngestError::new(name, message).help("convert the exports again into a new folder")
        };
        let damaged =
            |cause: serde_json::Error| error(format!("damaged manifest: {}", plain::json(&cause)));
        let versions: Versions = serde_json::from_str(text).map_err(damaged)?;
        let versions =
            [("schema", versions.schema, LAYOUT), ("launches", versions.launches, SCHEMA)];
        for (key, found, expected) in versions {
            let found = found.unwrap_or_else(|| "none".to_owned());
            if found != expected {
                return Err(error(format!("unsupported {key} {found:?} (expected {expected:?})")));
            }
        }
        serde_json::from_str(text).map_err(damaged)
    }

    /// Reads the manifest of a partitioned table.
    ///
    /// # Errors
    /// [`IngestError`] if there is none, it cannot be read, or is of another version.
    pub fn of(folder: &Path) -> Result<Self, IngestError> {
        Self::read(folder)?.ok_or_else(|| {
            let message = format!("no {MANIFEST}, so this is not a partitioned table");
            IngestError::new(folder.display(), message).help(
                "make one of the exports of the ranks first: rooflint convert FILE... -o TABLE/",
            )
        })
    }

    /// Writes the manifest, whole or not at all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        replace(&folder.join(MANIFEST), |to| json::write(to, self))
    }

    /// Sets what follows from the parts: their order, the ceilings, the devices that are in use.
    pub fn settle(&mut self) {
        self.parts.sort_by(|one, two| {
            (&one.run, one.rank, &one.path).cmp(&(&two.run, two.rank, &two.path))
        });
        ceilings(&self.parts).label().clone_into(&mut self.ceilings);
        let used: BTreeSet<&String> = self.parts.iter().flat_map(|part| &part.devices).collect();
        self.devices.retain(|key, _| used.contains(key));
    }

    /// Returns the ceilings that an analysis of all parts uses if none are asked for.
    #[must_use]
    pub fn ceilings(&self) -> CeilingSet {
        let is_clocked = self.ceilings == CeilingSet::MeasuredClock.label();
        if is_clocked { CeilingSet::MeasuredClock } else { CeilingSet::Spec }
    }
}

/// Returns the ceilings that an analysis of these parts uses if none are asked for.
pub(super) fn ceilings<'a>(parts: impl IntoIterator<Item = &'a PartEntry>) -> CeilingSet {
    let (mut is_timed, mut is_lacking) = (false, false);
    for part in parts {
        is_timed |= part.timed_rows > 0;
        is_lacking |= part.rows_without_clock > 0;
    }
    let is_clocked = is_timed && !is_lacking;
    if is_clocked { CeilingSet::MeasuredClock } else { CeilingSet::Spec }
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
    let _unfinished = Unfinished::new(&hidden);
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
