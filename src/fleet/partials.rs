//! Partials as documents: what an edge collector sends of a rank, and what merging makes of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::own::{Known, OwnDevice};
use super::ranks::{Gathered, Rank, merged};
use super::rows::Rows;
use crate::analysis::{
    CeilingSet, KernelPart, KernelRanks, NamedDevices, Options, Partial, RankFigures, RankId,
    Sketch,
};
use crate::catalog::Catalog;
use crate::ingest::IngestError;
use crate::json;
use crate::model::Profile;
use crate::plain;
use crate::table::{Cell, Header, Row, columns, guarded};
use crate::units::{Hertz, Seconds};

/// Name and version of the document.
pub const PARTIAL: &str = "rooflint/partial/1";

/// Ending of files that folders are searched for.
const ENDING: &str = ".partial.json";

/// What says whether the rest can be read.
#[derive(Deserialize)]
struct Version {
    schema: Option<String>,
}

/// Sums of the launches of one or many ranks, which merge without rounding.
#[derive(Deserialize, JsonSchema)]
struct Document {
    /// Type and major version of this document.
    #[allow(dead_code, reason = "it is checked before the rest is read")]
    schema: String,
    /// Ceilings of the roofline times: `spec`, `measured-clock` or `achievable`.
    ceilings: String,
    /// Rows of the launch tables of all ranks.
    rows: u64,
    /// The ranks by run and number.
    #[schemars(with = "Vec<RankDocument>")]
    ranks: ReadRanks,
    /// The kernels of all ranks by name.
    kernels: Vec<KernelDocument>,
    /// Devices of users' files among those of the kernels; left out by versions that did not name them.
    own_devices: Option<Vec<OwnDevice>>,
}

/// The same as it is written, rank by rank and kernel by kernel.
#[derive(Serialize)]
struct Written<'a> {
    schema: &'static str,
    ceilings: &'static str,
    rows: u64,
    ranks: WrittenRanks<'a>,
    kernels: WrittenKernels<'a>,
    own_devices: &'a [OwnDevice],
}

/// Sums over the launches of one rank.
#[derive(Serialize, Deserialize, JsonSchema)]
struct RankDocument {
    /// Name of the run.
    run: String,
    /// Number of the rank.
    rank: u64,
    /// Its positions on axes of parallelism by axis, as the names of its files say them; left out if they say none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    positions: BTreeMap<String, u64>,
    /// What changes the meaning of its figures, one sentence each, as its export says it; left out if nothing does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    checks: Vec<String>,
    /// Names of its devices.
    devices: Vec<String>,
    /// Number of launches.
    launches: u64,
    /// Measured time.
    measured_s: Seconds,
    /// Part of it in communication and copies over links.
    communication_s: Seconds,
    /// Measured time that is compared with roofs, without kernels faster than the model allows.
    judged_s: Seconds,
    /// Roofline time of that part.
    roofline_s: Seconds,
    /// Operations of all launches.
    operations: f64,
    /// Bytes of all launches.
    bytes: f64,
    /// Average SM clock, weighted by time; `null` if no launch has one.
    sm_clock_hz: Option<Hertz>,
}

/// A kernel: its longest launch, and the sums of all.
#[derive(Serialize, Deserialize, JsonSchema)]
struct KernelDocument {
    /// Cells of the launch table by column; numbers as text, so that they come back to the last digit.
    launch: BTreeMap<String, String>,
    /// Id of its device in the catalog; `null` if it is unknown.
    device: Option<String>,
    /// Exact sums by name, as terms that do not overlap; `null` is infinite.
    figures: BTreeMap<String, Vec<Option<f64>>>,
    /// Classes of the sketch of launch times, with counts. Class n has the times up to (1.01/0.99)ⁿ seconds.
    times: Vec<(i32, u64)>,
    /// Its time in each rank.
    ranks: RanksDocument,
}

/// The time of a kernel over the ranks.
#[derive(Serialize, Deserialize, JsonSchema)]
struct RanksDocument {
    /// Run and number of the fastest rank, with its time in seconds.
    least: Option<(String, u64, f64)>,
    /// Run and number of the slowest rank, with its time in seconds.
    greatest: Option<(String, u64, f64)>,
    /// Times of the ranks in seconds, while there are few.
    times_s: Vec<f64>,
    /// Classes of their sketch where there are many.
    sketch: Option<Vec<(i32, u64)>>,
}

/// Returns the JSON schema of a partial, as pretty-printed JSON.
#[must_use]
pub fn partial_schema() -> String {
    json::schema::<Document>("partial-1", "Summary of ranks")
}

/// Texts that many ranks have, each held once.
#[derive(Default)]
struct Shared {
    texts: BTreeSet<Arc<str>>,
    lists: BTreeSet<Arc<[String]>>,
}

impl Shared {
    fn share(&mut self, rank: &mut Rank) {
        let positions = rank.positions.iter_mut().map(|(axis, _)| axis);
        for text in positions.chain([&mut rank.id.run]) {
            match self.texts.get(&**text) {
                Some(known) => *text = Arc::clone(known),
                None => drop(self.texts.insert(Arc::clone(text))),
            }
        }
        for list in [&mut rank.figures.devices, &mut rank.checks] {
            match self.lists.get(&**list) {
                Some(known) => *list = Arc::clone(known),
                None => drop(self.lists.insert(Arc::clone(list))),
            }
        }
    }
}

/// Ranks, each made compact as it is read: a document may have a million.
struct ReadRanks(Vec<Rank>);

impl<'de> Deserialize<'de> for ReadRanks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = ReadRanks;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a list of ranks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<ReadRanks, A::Error> {
                let (mut ranks, mut shared) = (Vec::new(), Shared::default());
                while let Some(document) = all.next_element::<RankDocument>()? {
                    if !document.is_possible() {
                        let message = format!("rank {} has a negative figure", document.rank);
                        return Err(A::Error::custom(message));
                    }
                    let mut rank = document.rank();
                    shared.share(&mut rank);
                    ranks.push(rank);
                }
                Ok(ReadRanks(ranks))
            }
        }
        deserializer.deserialize_seq(Reader)
    }
}

struct WrittenRanks<'a>(&'a [Rank]);

impl Serialize for WrittenRanks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(RankDocument::of))
    }
}

struct WrittenKernels<'a>(&'a Partial);

impl Serialize for WrittenKernels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.parts().map(|part| kernel(self.0.profile(), part)))
    }
}

impl RankDocument {
    fn of(rank: &Rank) -> Self {
        let figures = &rank.figures;
        let positions = rank.positions.iter();
        Self {
            run: rank.id.run.to_string(),
            rank: rank.id.rank,
            positions: positions.map(|(axis, at)| (axis.to_string(), *at)).collect(),
            checks: rank.checks.to_vec(),
            devices: figures.devices.to_vec(),
            launches: figures.launches,
            measured_s: figures.measured,
            communication_s: figures.communication,
            judged_s: figures.judged,
            roofline_s: figures.roofline,
            operations: figures.operations,
            bytes: figures.bytes,
            sm_clock_hz: figures.clock,
        }
    }

    fn is_possible(&self) -> bool {
        let times = [self.measured_s, self.communication_s, self.judged_s, self.roofline_s];
        let clock = self.sm_clock_hz.map_or(1.0, Hertz::get);
        times.into_iter().all(|time| is_amount(time.get()))
            && [self.operations, self.bytes, clock].into_iter().all(is_amount)
    }

    fn rank(self) -> Rank {
        let positions = self.positions.into_iter();
        Rank {
            id: RankId { run: self.run.into(), rank: self.rank },
            positions: positions.map(|(axis, at)| (axis.into(), at)).collect(),
            checks: self.checks.into(),
            figures: RankFigures {
                launches: self.launches,
                measured: self.measured_s,
                communication: self.communication_s,
                judged: self.judged_s,
                roofline: self.roofline_s,
                operations: self.operations,
                bytes: self.bytes,
                clock: self.sm_clock_hz,
                devices: self.devices.into(),
            },
        }
    }
}

/// Whether a figure can be one that was added up.
fn is_amount(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

/// Writes merged ranks as a partial.
///
/// # Errors
/// Those of the writer.
pub fn write_partial(gathered: &Gathered, to: impl Write) -> io::Result<()> {
    let partial = &gathered.partial;
    let document = Written {
        schema: PARTIAL,
        ceilings: partial.ceilings().unwrap_or(CeilingSet::Spec).label(),
        rows: gathered.rows,
        ranks: WrittenRanks(&gathered.ranks),
        kernels: WrittenKernels(partial),
        own_devices: &gathered.own_devices,
    };
    json::write(to, &document)
}

fn kernel(profile: &Profile, part: KernelPart) -> KernelDocument {
    let launch = profile.launch(part.row);
    let cells = columns().iter().filter_map(|column| {
        let text = match column.get(profile, &launch)? {
            Cell::Text(text) => guarded(&text),
            cell => cell.to_string(),
        };
        Some((column.name.clone(), text))
    });
    let bounded = |term: f64| Some(term).filter(|term| term.is_finite());
    let end =
        |end: Option<(RankId, f64)>| end.map(|(id, time)| (id.run.to_string(), id.rank, time));
    let figures = part.figures.into_iter();
    let (least, greatest, times_s, sketch) = part.ranks.into_parts();
    KernelDocument {
        launch: cells.collect(),
        device: part.device,
        figures: figures
            .map(|(name, terms)| (name, terms.into_iter().map(bounded).collect()))
            .collect(),
        times: part.times.classes().collect(),
        ranks: RanksDocument {
            least: end(least),
            greatest: end(greatest),
            times_s,
            sketch: sketch.map(|sketch| sketch.classes().collect()),
        },
    }
}

/// Returns the files of partials that are named, those in folders included.
///
/// # Errors
/// [`IngestError`] if a folder cannot be read or has none.
pub fn partial_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, IngestError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let error = |message: String| IngestError::new(path.display(), message);
        let entries = fs::read_dir(path).map_err(|cause| error(plain::io(&cause)))?;
        let entries: Vec<fs::DirEntry> =
            entries.collect::<io::Result<_>>().map_err(|cause| error(plain::io(&cause)))?;
        let inside = entries.iter().map(fs::DirEntry::path);
        let mut inside: Vec<PathBuf> =
            inside.filter(|path| path.to_string_lossy().ends_with(ENDING)).collect();
        if inside.is_empty() {
            return Err(error(format!("the folder has no {ENDING}"))
                .help("rooflint summarize FILE... -o rank.partial.json writes one"));
        }
        inside.sort();
        files.append(&mut inside);
    }
    Ok(files)
}

/// What the partials that were read so far say together.
#[derive(Default)]
struct Ledger {
    /// Which file each rank is of, by its number among the files: one block of memory, as a job may have a million.
    owners: HashMap<RankId, usize>,
    /// Those of the file of the lowest number that has a time.
    ceilings: Option<(usize, CeilingSet)>,
    /// Those of the file of the lowest number without any time, which ceilings change nothing of.
    untimed: Option<(usize, CeilingSet)>,
    /// Devices of users' files by id, as the file of the lowest number has them.
    own: BTreeMap<String, (usize, OwnDevice)>,
    rows: u64,
    shared: Shared,
}

/// Merges partials, one per thread in memory at a time; the result does not depend on their order or grouping.
///
/// # Errors
/// [`IngestError`] if a partial cannot be read, is of another version, other ceilings or a device that has other figures or
/// none here, or has a rank that another one has.
pub fn merge_partials(
    files: &[PathBuf],
    catalog: &Catalog,
    options: &Options,
    threads: usize,
) -> Result<Gathered, IngestError> {
    let ledger = Mutex::new(Ledger::default());
    let (devices, known) = (NamedDevices::of(catalog), Known::of(catalog));
    let shown = |file: &Path| file.display().to_string();
    let named = |number: usize| files.get(number).map_or_else(String::new, |file| shown(file));
    // Kernels of ranks without a time, by the number of their file.
    let untimed = Mutex::new(Vec::new());
    let mut whole = merged(files, threads, |number, file| {
        let text = plain::text_of(file, plain::WRITTEN).map_err(|cause| {
            let message = format!("cannot read: {}", plain::io(&cause));
            let is_missing = cause.kind() == std::io::ErrorKind::NotFound;
            let help = if is_missing { "check the path" } else { AGAIN };
            IngestError::new(file.display(), message).help(help)
        })?;
        let mut document = document(&shown(file), &text)?;
        drop(text);
        let (ceilings, ranks) = {
            let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
            ledger.enter(number, &mut document, &known, named)?
        };
        let kernels = Kernels::of(&shown(file), document, &known)?;
        let Some(ceilings) = ceilings else {
            untimed.lock().unwrap_or_else(PoisonError::into_inner).push((number, kernels));
            return Ok((Partial::default(), ranks));
        };
        Ok((kernels.partial(&shown(file), ceilings, &devices, options)?, ranks))
    })?;
    let ledger = ledger.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (number, own) in ledger.own.values() {
        known.is_same(&named(*number), own)?;
    }
    let mut untimed = untimed.into_inner().unwrap_or_else(PoisonError::into_inner);
    untimed.sort_by_key(|(number, _)| *number);
    for (number, kernels) in untimed {
        let ceilings = ledger.all();
        whole.0.merge(kernels.partial(&named(number), ceilings, &devices, options)?);
    }
    Ok(Gathered::of_summaries(whole, ledger.rows, catalog))
}

/// Reads the text of one partial.
///
/// # Errors
/// [`IngestError`] under the same conditions as [`merge_partials`].
pub fn parse_partial(
    name: &str,
    text: &str,
    catalog: &Catalog,
    options: &Options,
) -> Result<Gathered, IngestError> {
    let (devices, known) = (NamedDevices::of(catalog), Known::of(catalog));
    let mut document = document(name, text)?;
    let mut ledger = Ledger::default();
    let (_, ranks) = ledger.enter(0, &mut document, &known, |_| name.to_owned())?;
    for (_, own) in ledger.own.values() {
        known.is_same(name, own)?;
    }
    let kernels = Kernels::of(name, document, &known)?;
    let partial = kernels.partial(name, ledger.all(), &devices, options)?;
    Ok(Gathered::of_summaries((partial, ranks), ledger.rows, catalog))
}

impl Ledger {
    /// Adds a file, by its number, and takes its ranks; `named` returns the name of a file. Without a time in it there are no
    /// ceilings.
    fn enter(
        &mut self,
        number: usize,
        document: &mut Document,
        known: &Known<'_>,
        named: impl Fn(usize) -> String,
    ) -> Result<(Option<CeilingSet>, Vec<Rank>), IngestError> {
        let ceilings = &document.ceilings;
        let ceilings =
            CeilingSet::ALL.into_iter().find(|set| set.label() == ceilings).ok_or_else(|| {
                IngestError::new(named(number), format!("unknown ceilings {ceilings:?}"))
                    .help(AGAIN)
            })?;
        // Files come in any order; the later on the command line is the one that does not fit.
        let ordered = |known: usize| (known.min(number), known.max(number));
        let of = (number, ceilings);
        let mut ranks = std::mem::take(&mut document.ranks.0);
        let is_timed = ranks.iter().any(|rank| rank.figures.measured > Seconds::ZERO);
        let place = if is_timed { &mut self.ceilings } else { &mut self.untimed };
        let first = place.get_or_insert(of);
        let (earlier, later) = if number < first.0 { (of, *first) } else { (*first, of) };
        *first = earlier;
        if is_timed && earlier.1 != later.1 {
            let message = format!(
                "made with ceilings {}, {} with {}",
                later.1.label(),
                named(earlier.0),
                earlier.1.label()
            );
            return Err(IngestError::new(named(later.0), message)
                .help("summarize all ranks with the same --ceilings"));
        }
        for own in document.own_devices.iter().flatten() {
            known.has(&named(number), own)?;
            let first = self.own.entry(own.id.clone()).or_insert_with(|| (number, own.clone()));
            if first.1.figures != own.figures {
                let (earlier, later) = ordered(first.0);
                return Err(OwnDevice::differs(&named(later), &own.name, &named(earlier)));
            }
            first.0 = first.0.min(number);
        }
        for rank in &mut ranks {
            self.shared.share(rank);
            if let Some(other) = self.owners.insert(rank.id.clone(), number) {
                let (first, second) = ordered(other);
                let message = format!("rank {} is in {} too", rank.id, named(first));
                return Err(IngestError::new(named(second), message).help(
                    "merge each rank once; ranks of another run get --run NAME when they are summarized",
                ));
            }
        }
        self.rows = self.rows.saturating_add(document.rows);
        Ok((is_timed.then_some(ceilings), ranks))
    }

    /// The ceilings of all files.
    fn all(&self) -> CeilingSet {
        self.ceilings.or(self.untimed).map_or(CeilingSet::Spec, |(_, ceilings)| ceilings)
    }
}

const AGAIN: &str = "a summary of a rank is made by rooflint summarize FILE -o rank-0.partial.json; of exports, \
     rooflint convert FILE... -o TABLE/ makes a table that fleet takes";

fn document(name: &str, text: &str) -> Result<Document, IngestError> {
    let error = |message: String| IngestError::new(name, message).help(AGAIN);
    let damaged =
        |cause: serde_json::Error| error(format!("damaged partial: {}", plain::json(&cause)));
    if !text.trim_start().starts_with('{') {
        return Err(error("not a summary of a rank".to_owned()));
    }
    let version: Version = serde_json::from_str(text).map_err(damaged)?;
    let found = version.schema.unwrap_or_else(|| "none".to_owned());
    if found != PARTIAL {
        return Err(error(format!("unsupported schema {found:?} (expected {PARTIAL:?})")));
    }
    serde_json::from_str(text).map_err(damaged)
}

/// The kernels of one partial: the longest launch of each, and their sums.
struct Kernels {
    profile: Profile,
    parts: Vec<KernelPart>,
}

impl Kernels {
    /// Reads those of a document; each is of a device that is known as it was.
    fn of(name: &str, document: Document, known: &Known<'_>) -> Result<Self, IngestError> {
        let kernels = Self::read(document.kernels);
        let kernels = kernels.map_err(|message| IngestError::new(name, message).help(AGAIN))?;
        for part in &kernels.parts {
            let Some(id) = &part.device else { continue };
            let hint = kernels.profile.launches.head(part.row).device;
            let hint = kernels.profile.devices.get(hint.position()).cloned().unwrap_or_default();
            known.check(name, (id, &hint), document.own_devices.as_deref())?;
        }
        Ok(kernels)
    }

    fn partial(
        self,
        name: &str,
        ceilings: CeilingSet,
        devices: &NamedDevices<'_>,
        options: &Options,
    ) -> Result<Partial, IngestError> {
        Partial::from_parts(&self.profile, self.parts, ceilings, devices, options)
            .map_err(|message| IngestError::new(name, message).help(AGAIN))
    }

    fn read(kernels: Vec<KernelDocument>) -> Result<Self, String> {
        let mut rows = Rows::default();
        let mut parts = Vec::new();
        for (row, kernel) in kernels.into_iter().enumerate() {
            let titles: Vec<String> = kernel.launch.keys().cloned().collect();
            let cells: Vec<&String> = kernel.launch.values().collect();
            let header = Header::new(&titles);
            if let [unknown, ..] = header.unknown() {
                return Err(format!("unknown column {unknown:?}"));
            }
            let mut launch = Row::default();
            let is_usable = header.read(
                &mut launch,
                |at| cells.get(at).map_or(&[][..], |cell| cell.as_bytes()),
                |at, fault| Err(format!("column {:?}: {}", titles[at], fault.reason())),
            )?;
            if !is_usable {
                return Err("a kernel has no launch".to_owned());
            }
            rows.launch(&launch);
            let unbounded = |term: Option<f64>| term.unwrap_or(f64::INFINITY);
            let figures = kernel.figures.into_iter();
            let end = |end: Option<(String, u64, f64)>| {
                end.map(|(run, rank, time)| (RankId { run: run.into(), rank }, time))
            };
            let sketch = |classes: &[(i32, u64)]| {
                Sketch::of_classes(classes).ok_or("a kernel has launches of impossible times")
            };
            let ranks = kernel.ranks;
            let ends = [&ranks.least, &ranks.greatest].into_iter().flatten().map(|end| end.2);
            if !ranks.times_s.iter().copied().chain(ends).all(is_amount) {
                return Err("a kernel has a negative time in a rank".to_owned());
            }
            let sketched = ranks.sketch.as_deref().map(sketch).transpose()?;
            parts.push(KernelPart {
                row,
                device: kernel.device,
                figures: figures
                    .map(|(name, terms)| (name, terms.into_iter().map(unbounded).collect()))
                    .collect(),
                times: sketch(&kernel.times)?,
                ranks: KernelRanks::from_parts(
                    end(ranks.least),
                    end(ranks.greatest),
                    ranks.times_s,
                    sketched,
                ),
            });
        }
        Ok(Self { profile: rows.finish(), parts })
    }
}
