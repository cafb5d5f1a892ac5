//! Which rank a file is of, and its positions on the axes of parallelism, by its name or that of its folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::ingest::IngestError;

/// The positions of a rank: axis of parallelism, place on it from 0.
pub type Positions = Vec<(Arc<str>, u64)>;

/// The files of one rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankFiles {
    /// Number of the rank.
    pub rank: u64,
    /// Its files in order: one, or those of its folder.
    pub files: Vec<PathBuf>,
    /// Positions that the names say.
    pub positions: Positions,
}

/// Ranks by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Numbered {
    /// The ranks in order.
    pub ranks: Vec<RankFiles>,
    /// The axes whose positions give the numbers, the slowest first, where no name has the word `rank`.
    pub by: Vec<Arc<str>>,
}

/// Axes with their abbreviation, and the word that needs `=`, `rank` or `parallel` beside it.
///
/// Spellings of traces: `dp0_pp0_tp1_dcp0_ep1_rank1` (vLLM), `-TP-0-DP-1-PP-0-EP-0` (`SGLang`),
/// `tensor_model_parallel_rank_0` (Megatron).
const AXES: [(&str, &str, &str); 7] = [
    ("data", "dp", "data"),
    ("tensor", "tp", "tensor"),
    ("pipeline", "pp", "pipeline"),
    ("expert", "ep", "expert"),
    ("context", "cp", "context"),
    ("decode-context", "dcp", ""),
    ("prefill-context", "pcp", ""),
];

/// Words before `rank` that make it another number than that of the rank among all.
const PARTIAL_RANKS: [&str; 7] = ["mp", "sp", "etp", "edp", "local", "node", "group"];

/// What a name says of a rank.
#[derive(Debug, Default)]
struct Named {
    rank: Option<u64>,
    /// `None` where the name gives two positions on an axis.
    positions: Vec<(&'static str, Option<u64>)>,
}

impl Named {
    fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let pieces = pieces(&name);
        let mut named = Self::default();
        for (at, piece) in pieces.iter().enumerate() {
            let Some(number) = piece.parse().ok().filter(|_| is_digit(piece)) else { continue };
            let is_end = pieces.get(at + 1).is_none_or(|next| !is_word(next));
            named.add(&before(&pieces[..at]), number, is_end);
        }
        named
    }

    /// Adds a number by the words before it, the nearest first; `is_end` where no letter follows it.
    fn add(&mut self, words: &[&str], number: u64, is_end: bool) {
        let is_joined = words.first() == Some(&"=");
        let words: Vec<&str> = words.iter().copied().filter(|word| *word != "=").collect();
        let is_link = |word: &&&str| ["rank", "parallel", "model"].contains(*word);
        let links = words.iter().take_while(is_link).count();
        let (of, is_full) = (words.get(links).copied(), is_joined || links > 0);
        let axis = of.and_then(|of| match words.get(links + 1) {
            // What ZeRO divides is spread over the data-parallel ranks.
            Some(&"zero") if of == "pp" && links > 0 => Some("data"),
            _ => AXES
                .iter()
                .find(|(_, short, long)| of == *short || is_full && of == *long)
                .map(|(axis, ..)| *axis),
        });
        if let Some(axis) = axis {
            if is_end {
                match self.positions.iter_mut().find(|(known, _)| *known == axis) {
                    None => self.positions.push((axis, Some(number))),
                    Some((_, known)) => *known = known.filter(|known| *known == number),
                }
            }
        } else if links == 1
            && words.first() == Some(&"rank")
            && !of.is_some_and(|of| PARTIAL_RANKS.contains(&of))
        {
            self.rank.get_or_insert(number);
        }
    }
}

fn is_digit(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_digit())
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns the words before a number, the nearest first, as far as they are joined to it; `=` first if it is between.
fn before<'a>(pieces: &[&'a str]) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut rest = pieces.iter().rev().peekable();
    while let Some(piece) = rest.next() {
        if is_word(piece) {
            // Letters after a digit are a part of something else.
            if rest.peek().is_some_and(|next| is_digit(next)) {
                break;
            }
            words.push(*piece);
        } else if is_digit(piece) || !piece.chars().all(|c| "-_=. ".contains(c)) {
            break;
        } else if words.is_empty() && piece.contains('=') {
            words.push("=");
        }
    }
    words
}

/// Returns the number after the word `rank` in a name: `rank3`, `rank-03`, `rank=3`, `step_rank_3.csv`; not that of
/// `tp_rank_3` or `local_rank3`.
#[must_use]
pub fn rank_in(name: &str) -> Option<u64> {
    Named::of(name).rank
}

/// Returns the positions on axes of parallelism that the names in a path say, the file's before those of its
/// folders: `tp0_pp1`, `tp=0,pp=1`, `TP-0-DP-1`, `tensor_parallel_rank_0`. An axis with two positions in one name is left
/// out.
#[must_use]
pub fn positions_in(path: &Path) -> Positions {
    let mut positions: Vec<(&str, Option<u64>)> = Vec::new();
    for component in path.components() {
        let Component::Normal(name) = component else { continue };
        for (axis, position) in Named::of(&name.to_string_lossy()).positions {
            positions.retain(|(known, _)| *known != axis);
            positions.push((axis, position));
        }
    }
    let known = positions.into_iter().filter_map(|(axis, at)| Some((Arc::from(axis), at?)));
    known.collect()
}

/// Groups files by rank. A rank is named by the file (`rank3.csv`) or by its folder, whose files it has then
/// all (`rank=3/`). Where no name has the word `rank`, positions on axes of parallelism number the ranks if they are a
/// whole grid; else the only number in which the names differ is the rank. A file that is alone is rank 0.
///
/// # Errors
/// [`IngestError`] if a file has no rank, or two files or folders are of one rank.
pub fn by_rank(files: &[PathBuf]) -> Result<Numbered, IngestError> {
    let has_no_rank = |file: &PathBuf| nearest(file, |name| name.rank.is_some()).is_none();
    let mut grid = Grid::default();
    if files.iter().all(has_no_rank) {
        grid = Grid::of(files).unwrap_or_default();
    }
    let numbered = if grid.numbers.is_empty() { numbers(files) } else { BTreeMap::new() };
    let mut places: BTreeMap<u64, (PathBuf, Vec<PathBuf>)> = BTreeMap::new();
    for file in files {
        let (rank, place) = named(file)
            .or_else(|| Some((*grid.numbers.get(file)?, nearest(file, has_positions)?)))
            .or_else(|| Some((*numbered.get(file)?, file.clone())))
            .ok_or_else(|| unnumbered(file))?;
        let (first, known) = places.entry(rank).or_insert_with(|| (place.clone(), Vec::new()));
        if *first != place {
            let message = format!("rank {rank} twice: {} is of the same rank", first.display());
            return Err(IngestError::new(file.display(), message)
                .help("rename one; files of one rank go into one folder, ranks of another run get --run NAME"));
        }
        known.push(file.clone());
    }
    let ranks = places.into_iter().map(|(rank, (place, files))| RankFiles {
        rank,
        files,
        positions: positions_in(&place),
    });
    Ok(Numbered { ranks: ranks.collect(), by: grid.axes })
}

fn unnumbered(file: &Path) -> IngestError {
    let (message, help) = if positions_in(file).is_empty() {
        (
            "no rank in the name of the file or its folder",
            "call it such as rank-0.csv, or put the files of a rank into a folder rank=0",
        )
    } else {
        (
            "no rank in the name of the file or its folder, and the positions in the names do not number the ranks: some \
             are missing",
            "give all ranks at once, or add their numbers to the names, such as rank0_tp0_pp0.csv",
        )
    };
    IngestError::new(file.display(), message).help(help)
}

fn has_positions(name: &Named) -> bool {
    !name.positions.is_empty()
}

/// Returns the file or the nearest folder of it whose name fits.
fn nearest(file: &Path, fits: impl Fn(&Named) -> bool) -> Option<PathBuf> {
    let is_it = |path: &&Path| {
        path.file_name().is_some_and(|name| fits(&Named::of(&name.to_string_lossy())))
    };
    file.ancestors().find(is_it).map(Path::to_owned)
}

/// Returns whether a run can be called so: the name is a folder's.
#[must_use]
pub fn is_run_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    !name.is_empty() && !name.starts_with('.') && name.chars().all(fits)
}

/// Returns the rank of a file, and the file or folder that is named after it.
fn named(file: &Path) -> Option<(u64, PathBuf)> {
    let place = nearest(file, |name| name.rank.is_some())?;
    Some((rank_in(&place.file_name()?.to_string_lossy())?, place))
}

/// Ranks numbered by their positions.
#[derive(Default)]
struct Grid<'f> {
    axes: Vec<Arc<str>>,
    numbers: BTreeMap<&'f PathBuf, u64>,
}

impl<'f> Grid<'f> {
    /// Numbers files by the axes in their names, the last the fastest; an axis that follows from those before it, as
    /// that of experts does, is left out. `None` unless every file has all axes and no place is empty.
    fn of(files: &'f [PathBuf]) -> Option<Self> {
        let positions: Vec<Positions> = files
            .iter()
            .map(|file| nearest(file, has_positions).map(|place| positions_in(&place)))
            .collect::<Option<_>>()?;
        let names = |of: &Positions| -> Vec<Arc<str>> {
            of.iter().map(|(axis, _)| Arc::clone(axis)).collect()
        };
        let axes = names(positions.first()?);
        if positions.iter().any(|one| names(one) != axes) {
            return None;
        }
        let mut kept: Vec<usize> = Vec::new();
        let count = |axes: &[usize]| {
            let tuple = |one: &Positions| axes.iter().map(|axis| one[*axis].1).collect::<Vec<_>>();
            positions.iter().map(tuple).collect::<BTreeSet<_>>().len()
        };
        for axis in 0..axes.len() {
            let with: Vec<usize> = kept.iter().copied().chain([axis]).collect();
            if count(&with) > count(&kept).max(1) {
                kept = with;
            }
        }
        let places = |axis: usize| positions.iter().map(move |one| one[axis].1);
        let (first, faster) = kept.split_first()?;
        let mut sizes = Vec::new();
        for axis in faster {
            let there: BTreeSet<u64> = places(*axis).collect();
            let is_whole = (0..).zip(&there).all(|(at, place)| at == *place);
            sizes.push(is_whole.then_some(there.len() as u64)?);
        }
        let slowest: BTreeSet<u64> = places(*first).collect();
        let cells = sizes.iter().try_fold(slowest.len() as u64, |all, size| all.checked_mul(*size));
        if cells != Some(count(&kept) as u64) {
            return None;
        }
        let number = |one: &Positions| {
            let faster = faster.iter().zip(&sizes);
            faster.into_iter().try_fold(one[*first].1, |number, (axis, size)| {
                number.checked_mul(*size)?.checked_add(one[*axis].1)
            })
        };
        let numbers = files.iter().zip(&positions);
        let numbers =
            numbers.map(|(file, one)| Some((file, number(one)?))).collect::<Option<_>>()?;
        let axes = kept.iter().map(|axis| Arc::clone(&axes[*axis])).collect();
        Some(Self { axes, numbers })
    }
}

/// Returns the ranks of files that differ by one number.
fn numbers(files: &[PathBuf]) -> BTreeMap<&PathBuf, u64> {
    if let [file] = files {
        return BTreeMap::from([(file, 0)]);
    }
    let texts: Vec<String> = files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
    let parts: Vec<Vec<&str>> = texts.iter().map(|text| pieces(text)).collect();
    let Some(first) =
        parts.first().filter(|first| parts.iter().all(|one| one.len() == first.len()))
    else {
        return BTreeMap::new();
    };
    let differs = |at: &usize| parts.iter().any(|one| one[*at] != first[*at]);
    let mut differing = (0..first.len()).filter(differs);
    let (Some(at), None) = (differing.next(), differing.next()) else { return BTreeMap::new() };
    let ranks: Option<BTreeMap<&PathBuf, u64>> = files
        .iter()
        .zip(&parts)
        .map(|(file, pieces)| Some((file, pieces[at].parse().ok()?)))
        .collect();
    ranks.unwrap_or_default()
}

/// Splits a text into runs of digits, of letters and of what lies between them.
fn pieces(text: &str) -> Vec<&str> {
    let kind = |c: char| (c.is_ascii_digit(), c.is_ascii_alphabetic());
    let (mut pieces, mut start, mut last) = (Vec::new(), 0, None);
    for (at, c) in text.char_indices() {
        if last.is_some_and(|last| last != kind(c)) {
            pieces.push(&text[start..at]);
            start = at;
        }
        last = Some(kind(c));
    }
    pieces.extend(Some(&text[start..]).filter(|rest| !rest.is_empty()));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(files: &[&str]) -> Vec<PathBuf> {
        files.iter().map(PathBuf::from).collect()
    }

    fn ranks(files: &[&str]) -> Result<Vec<(u64, usize)>, String> {
        let found = by_rank(&paths(files)).map_err(|error| error.to_string())?;
        Ok(found.ranks.iter().map(|one| (one.rank, one.files.len())).collect())
    }

    fn positions(path: &str) -> String {
        let known = positions_in(Path::new(path));
        known.iter().map(|(axis, at)| format!("{axis}={at}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_rank_is_named_by_the_file_or_its_folder() {
        for (name, rank) in [
            ("rank3.csv", Some(3)),
            ("Rank-003.csv.gz", Some(3)),
            ("step_rank_12_of_16.csv", Some(12)),
            ("rank=7", Some(7)),
            ("rank0_trace.json", Some(0)),
            ("dp0_pp0_tp1_dcp0_ep1_rank9.1738000000000.pt.trace.json.gz", Some(9)),
            ("frank3.csv", None),
            ("rank.csv", None),
            ("h100.csv", None),
            ("tp_rank_3.csv", None),
            ("mp_rank_03.csv", None),
            ("node1_local_rank3.csv", None),
        ] {
            assert_eq!(rank_in(name), rank, "{name}");
        }
        assert_eq!(
            ranks(&["a/rank=1/x.csv", "a/rank=1/y.csv", "a/rank0.csv"]),
            Ok(vec![(0, 1), (1, 2)])
        );
    }

    #[test]
    fn names_say_positions_in_the_spellings_of_traces() {
        for (path, expected) in [
            ("tp0_pp1_dp3.csv", "tensor=0 pipeline=1 data=3"),
            ("run/tp=0,pp=1/rank3.csv", "tensor=0 pipeline=1"),
            ("dp0-tp1-pp2-ep0.csv", "data=0 tensor=1 pipeline=2 expert=0"),
            ("1754.25-TP-3-DP-1-PP-0-EP-2.trace.json.gz", "tensor=3 data=1 pipeline=0 expert=2"),
            (
                "dp0_pp2_tp1_dcp0_ep1_rank9.174.pt.trace.json.gz",
                "data=0 pipeline=2 tensor=1 decode-context=0 expert=1",
            ),
            ("tensor_model_parallel_rank_2.csv", "tensor=2"),
            ("zero_pp_rank_3_mp_rank_00.csv", "data=3"),
            ("data=3,expert=1.csv", "data=3 expert=1"),
            ("cp_rank1.csv", "context=1"),
            // Sizes in the name of the job give way to the positions in that of the file.
            ("llama-tp8-pp4/tp3_pp1.csv", "tensor=3 pipeline=1"),
            // Two positions on one axis: either could be the size.
            ("tp8_run_tp3_dp1.csv", "data=1"),
            ("tp3_again_tp3.csv", "tensor=3"),
            ("data_3.csv", ""),
            ("http2.csv", ""),
            ("ab3ep4f.csv", ""),
            ("h100tp3.csv", ""),
            ("tp3x.csv", ""),
            ("tp+3.csv", ""),
        ] {
            assert_eq!(positions(path), expected, "{path}");
        }
    }

    #[test]
    fn positions_number_the_ranks_where_they_are_a_whole_grid() {
        let numbered = |files: &[&str]| {
            let found = by_rank(&paths(files)).map_err(|error| error.to_string())?;
            let ranks =
                found.ranks.iter().map(|one| (one.rank, one.files[0].display().to_string()));
            Ok::<_, String>((found.by.join(" "), ranks.collect::<Vec<_>>()))
        };
        let grid = ["dp1_tp0_ep1", "dp0_tp1_ep0", "dp0_tp0_ep0", "dp1_tp1_ep1"];
        let (by, ranks) = numbered(&grid).unwrap();
        // Experts follow from the data-parallel position.
        assert_eq!(by, "data tensor");
        let order = ["dp0_tp0_ep0", "dp0_tp1_ep0", "dp1_tp0_ep1", "dp1_tp1_ep1"];
        assert_eq!(ranks, (0..).zip(order.map(str::to_owned)).collect::<Vec<_>>());
        // A later part of the slowest axis keeps its numbers.
        let later = ["dp2_tp0", "dp2_tp1", "dp3_tp0", "dp3_tp1"];
        assert_eq!(numbered(&later).unwrap().1[1], (5, "dp2_tp1".to_owned()));
        let error = numbered(&["dp0_tp0", "dp0_tp1", "dp1_tp0"]).unwrap_err();
        assert!(error.contains("do not number the ranks"), "{error}");
        // One axis: its positions, whatever else differs.
        let (by, ranks) = numbered(&["17.25-TP-5.json", "17.31-TP-4.json"]).unwrap();
        assert_eq!((by.as_str(), ranks[0].0, ranks[1].0), ("tensor", 4, 5));
        // A number of the rank comes first, and nothing is mixed.
        assert_eq!(numbered(&["tp0_rank7", "tp1_rank8"]).unwrap().1[0].0, 7);
        assert!(numbered(&["tp0_rank7", "tp1"]).is_err());
        assert_eq!(ranks_of_folders(), Ok(vec![(0, 2), (1, 1)]));
    }

    fn ranks_of_folders() -> Result<Vec<(u64, usize)>, String> {
        ranks(&["tp0/a.csv", "tp0/b.csv", "tp1/a.csv"])
    }

    #[test]
    fn names_without_the_word_differ_by_one_number() {
        assert_eq!(ranks(&["run-2.csv", "run-10.csv"]), Ok(vec![(2, 1), (10, 1)]));
        assert_eq!(ranks(&["run-tp8-2.csv", "run-tp8-10.csv"]), Ok(vec![(2, 1), (10, 1)]));
        assert_eq!(ranks(&["local_rank2.csv", "local_rank3.csv"]), Ok(vec![(2, 1), (3, 1)]));
        assert_eq!(ranks(&["h100.csv"]), Ok(vec![(0, 1)]));
        assert!(ranks(&["a1-b1.csv", "a2-b2.csv"]).unwrap_err().contains("no rank in the name"));
        assert!(ranks(&["a.csv", "b.csv"]).is_err());
    }

    #[test]
    fn a_rank_given_twice_is_refused() {
        let error = ranks(&["x/rank0.csv", "y/rank0.csv"]).unwrap_err();
        assert_eq!(error, "y/rank0.csv: rank 0 twice: x/rank0.csv is of the same rank");
    }
}
