//! Partials as documents: what an edge collector sends of a rank, and what merging makes of them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::rows::Rows;
use super::scan::{Gathered, Rank, gaps, other_devices};
use crate::analysis::{
    CeilingSet, KernelPart, KernelRanks, Options, Partial, RankFigures, RankId, Sketch,
};
use crate::catalog::Catalog;
use crate::ingest::IngestError;
use crate::model::Profile;
use crate::plain;
use crate::table::{Cell, Header, Row, columns, guarded};

/// Name and version of the document.
pub const PARTIAL: &str = "rooflint/partial/1";

/// Ending of files that folders are searched for.
const ENDING: &str = ".partial.json";

#[derive(Serialize, Deserialize)]
struct Document {
    schema: String,
    ceilings: String,
    rows: u64,
    ranks: Vec<RankDocument>,
    kernels: Vec<KernelDocument>,
}

#[derive(Serialize, Deserialize)]
struct RankDocument {
    run: String,
    rank: u64,
    #[serde(flatten)]
    figures: RankFigures,
}

/// A kernel: its longest launch, and the sums of all.
#[derive(Serialize, Deserialize)]
struct KernelDocument {
    /// Cells of the launch table; numbers as text, so that they come back to the last digit.
    launch: BTreeMap<String, String>,
    device: Option<String>,
    /// Exact sums, as terms that do not overlap; `null` is infinite.
    figures: BTreeMap<String, Vec<Option<f64>>>,
    /// Classes of the sketch of launch times, with counts.
    times: Vec<(i32, u64)>,
    ranks: RanksDocument,
}

#[derive(Serialize, Deserialize)]
struct RanksDocument {
    least: Option<(String, u64, f64)>,
    greatest: Option<(String, u64, f64)>,
    /// Times of the ranks while there are few.
    times_s: Vec<f64>,
    /// Classes of their sketch where there are many.
    sketch: Option<Vec<(i32, u64)>>,
}

/// Writes merged ranks as a partial.
///
/// # Errors
/// Those of the writer.
pub fn write_partial(gathered: &Gathered, to: impl Write) -> io::Result<()> {
    let partial = &gathered.partial;
    let ranks = gathered.ranks.iter().map(|rank| RankDocument {
        run: rank.id.run.to_string(),
        rank: rank.id.rank,
        figures: rank.figures.clone(),
    });
    let document = Document {
        schema: PARTIAL.to_owned(),
        ceilings: partial.ceilings().unwrap_or(CeilingSet::Spec).label().to_owned(),
        rows: gathered.rows,
        ranks: ranks.collect(),
        kernels: partial.parts().map(|part| kernel(partial.profile(), part)).collect(),
    };
    crate::json::write(to, &document)
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
        let inside = entries.flatten().map(|entry| entry.path());
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

/// Merges partials, one in memory at a time; the result does not depend on their order or grouping.
///
/// # Errors
/// [`IngestError`] if a partial cannot be read, is of another version or other ceilings, or has a rank that another
/// one has.
pub fn merge_partials(
    files: &[PathBuf],
    catalog: &Catalog,
    options: &Options,
) -> Result<Gathered, IngestError> {
    let mut merged = Partial::default();
    let mut ranks: Vec<Rank> = Vec::new();
    // Which file each rank is of, by its number among the files.
    let mut owners: BTreeMap<RankId, usize> = BTreeMap::new();
    let mut rows = 0;
    for (number, file) in files.iter().enumerate() {
        let document = read(file)?;
        let error = |message: String| IngestError::new(file.display(), message);
        for rank in document.ranks {
            let id = RankId { run: rank.run.into(), rank: rank.rank };
            if let Some(owner) = owners.insert(id.clone(), number) {
                let other = files.get(owner).map(|other| other.display().to_string());
                let message = format!("rank {id} is in {} too", other.unwrap_or_default());
                return Err(error(message).help(
                    "merge each rank once; ranks of another run get --run NAME when they are summarized",
                ));
            }
            ranks.push(Rank { id, figures: rank.figures });
        }
        let known = [CeilingSet::Spec, CeilingSet::MeasuredClock, CeilingSet::Achievable];
        let ceilings = known.into_iter().find(|set| set.label() == document.ceilings);
        let ceilings =
            ceilings.ok_or_else(|| error(format!("unknown ceilings {:?}", document.ceilings)))?;
        if merged.ceilings().is_some_and(|first| first != ceilings) {
            let message = format!("made with ceilings {}, others with others", ceilings.label());
            return Err(error(message).help("summarize all ranks with the same --ceilings"));
        }
        rows += document.rows;
        let partial = partial(document.kernels, ceilings, catalog, options)
            .map_err(|message| error(message).help(AGAIN))?;
        merged.merge(partial);
    }
    ranks.sort_by(|one, two| one.id.cmp(&two.id));
    let mut notes = gaps(ranks.iter().map(|rank| &rank.id));
    notes.extend(other_devices(&ranks));
    Ok(Gathered { partial: merged.ordered(), ranks, notes, rows })
}

const AGAIN: &str = "summarize the rank again";

fn read(file: &Path) -> Result<Document, IngestError> {
    let error = |message: String| IngestError::new(file.display(), message).help(AGAIN);
    let text = fs::read_to_string(file)
        .map_err(|cause| error(format!("cannot read: {}", plain::io(&cause))))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|cause| error(format!("damaged partial: {}", plain::json(&cause))))?;
    let found = document.get("schema").and_then(Value::as_str).unwrap_or("none");
    if found != PARTIAL {
        return Err(error(format!("unsupported schema {found:?} (expected {PARTIAL:?})")));
    }
    serde_json::from_value(document).map_err(|cause| error(format!("damaged partial: {cause}")))
}

fn partial(
    kernels: Vec<KernelDocument>,
    ceilings: CeilingSet,
    catalog: &Catalog,
    options: &Options,
) -> Result<Partial, String> {
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
        parts.push(KernelPart {
            row,
            device: kernel.device,
            figures: figures
                .map(|(name, terms)| (name, terms.into_iter().map(unbounded).collect()))
                .collect(),
            times: kernel.times.into_iter().collect(),
            ranks: KernelRanks::from_parts(
                end(kernel.ranks.least),
                end(kernel.ranks.greatest),
                kernel.ranks.times_s,
                kernel.ranks.sketch.map(|classes| classes.into_iter().collect::<Sketch>()),
            ),
        });
    }
    Partial::from_parts(&rows.finish(), parts, ceilings, catalog, options)
}
