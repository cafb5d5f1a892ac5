//! Counters of AMD's tables, kept for other passes of the same run: a sum over counters of two passes is in neither.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::mapping::Mapping;
use crate::ingest::passes::{Formula, Pass};
use crate::ingest::rows::Row;
use crate::ingest::{Numerals, Reading};

/// What a table with a row for each launch has beside its counters.
pub(in crate::ingest) struct Layout {
    /// Titles of the column with the process, separated by blanks.
    pub(in crate::ingest) process: &'static str,
    /// Titles of columns that describe a launch, separated by blanks.
    pub(in crate::ingest) columns: &'static str,
}

impl Layout {
    /// Whether a title is that of a counter: of a unit of the device (`SQ_WAVES`, `TCC_HIT[3]`), or of what rocprof derives
    /// (`GPUBusy`, `VALUInsts`). Copies of columns, which pandas numbers, describe a launch as the first do.
    fn is_counter(&self, title: &str) -> bool {
        const DERIVED: [&str; 9] = [
            "Busy",
            "Wavefronts",
            "Insts",
            "Utilization",
            "Hit",
            "Stalled",
            "Size",
            "ByLDS",
            "Conflict",
        ];
        let number = title.rfind(['_', '.']).filter(|at| {
            let number = &title[at + 1..];
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        let bare = &title[..number.unwrap_or(title.len())];
        let is_of_unit = bare.contains('_')
            && bare.bytes().all(|byte| {
                byte.is_ascii_uppercase() || byte.is_ascii_digit() || b"_[]".contains(&byte)
            });
        let name = bare.strip_suffix("_sum").unwrap_or(bare);
        let is_sum = name != bare && name.bytes().all(|byte| !byte.is_ascii_lowercase());
        !is_among(bare, self.columns)
            && (is_of_unit || is_sum || DERIVED.iter().any(|end| bare.ends_with(end)))
    }
}

fn is_among(title: &str, titles: &str) -> bool {
    titles.split(' ').any(|one| one == title)
}

/// A counter that formulas have.
struct Known<'a> {
    name: &'a str,
    /// Its columns, which add up to it.
    places: Vec<usize>,
    /// Whether a formula lacks another one, which another pass may have.
    is_part: bool,
}

/// The counters of a table with a row for each launch.
pub(super) struct Counters<'a> {
    mappings: &'a [Mapping],
    known: Vec<Known<'a>>,
    /// Those that no formula has.
    unused: Vec<String>,
    process: Option<usize>,
    passes: Passes,
}

impl<'a> Counters<'a> {
    /// Those of a table with these titles; nothing if it has none.
    pub(super) fn new(layout: &Layout, mappings: &'a [Mapping], titles: &[String]) -> Option<Self> {
        let formulas = || mappings.iter().flat_map(|one| &one.values).map(|value| &value.terms);
        let mut known: Vec<Known<'_>> = Vec::new();
        for one in mappings {
            for (_, name) in one.values.iter().flat_map(|value| &value.terms) {
                if known.iter().all(|known| known.name != name)
                    && let Some(places) = one.places(name, titles)
                {
                    known.push(Known { name, places, is_part: false });
                }
            }
        }
        let names: HashSet<&str> = known.iter().map(|one| one.name).collect();
        for one in &mut known {
            let has = |terms: &&Vec<(f64, String)>| terms.iter().any(|(_, name)| name == one.name);
            let lacks = |terms: &Vec<(f64, String)>| {
                terms.iter().any(|(_, name)| !names.contains(name.as_str()))
            };
            one.is_part = formulas().filter(has).any(lacks);
        }
        let used: HashSet<usize> = known.iter().flat_map(|one| &one.places).copied().collect();
        let is_unused =
            |(at, title): &(usize, &String)| !used.contains(at) && layout.is_counter(title);
        let unused: Vec<String> =
            titles.iter().enumerate().filter(is_unused).map(|(_, title)| title.clone()).collect();
        if known.is_empty() && unused.is_empty() {
            return None;
        }
        Some(Self {
            mappings,
            known,
            unused,
            process: titles.iter().position(|title| is_among(title, layout.process)),
            passes: Passes::default(),
        })
    }

    /// Adds those of a row, which became this launch of the file: those that other passes complete.
    pub(super) fn add(&mut self, row: &Row, numerals: Numerals, launch: u64) {
        let process = self.process.and_then(|at| numerals.whole(row.cell(at)).ok().flatten());
        let sum = |places: &[usize]| {
            places.iter().try_fold(0.0, |sum, at| Some(sum + numerals.parse(row.cell(*at)).ok()??))
        };
        let value = |(counter, one): (usize, &Known<'_>)| {
            let sum = if one.is_part { sum(&one.places) } else { None };
            (counter, sum.unwrap_or(f64::NAN))
        };
        let counters = self.known.iter().enumerate().map(value).collect();
        self.passes.add(process, launch, counters);
    }

    /// Leaves them to the other files.
    pub(super) fn end(self, reading: &mut Reading<'_>) {
        let names: Vec<&str> = self.known.iter().map(|one| one.name).collect();
        let unused = self.unused;
        self.passes.end(reading, self.mappings, &names, |_| unused.clone());
    }
}

/// The counters of launches by process: those of other files may complete them.
#[derive(Default)]
pub(super) struct Passes(BTreeMap<Option<u32>, Counted>);

/// The counters that launches of a process have, and those of each.
#[derive(Default)]
struct Counted {
    counters: Vec<usize>,
    launches: Vec<(usize, Vec<(usize, f64)>)>,
}

impl Passes {
    /// Adds a launch of a process: its place among those of the file, and its counters; those that are no number it lacks.
    pub(super) fn add(&mut self, process: Option<u32>, at: u64, mut counters: Vec<(usize, f64)>) {
        let Counted { counters: seen, launches } = self.0.entry(process).or_default();
        for (counter, _) in &mut counters {
            let place = seen.iter().position(|one| one == counter).unwrap_or_else(|| {
                seen.push(*counter);
                seen.len() - 1
            });
            *counter = place;
        }
        counters.retain(|(_, value)| !value.is_nan());
        counters.shrink_to_fit();
        launches.push((usize::try_from(at).unwrap_or(usize::MAX), counters));
    }

    /// Leaves a pass for each process, with the names of the counters and those that no formula of the mappings has.
    pub(super) fn end(
        self,
        reading: &mut Reading<'_>,
        mappings: &[Mapping],
        names: &[&str],
        unused: impl Fn(Option<u32>) -> Vec<String>,
    ) {
        let formulas = Arc::new(mappings.iter().map(formulas).collect());
        for (process, Counted { counters, launches }) in self.0 {
            reading.may_be_completed(Pass {
                formulas: Arc::clone(&formulas),
                source: 0,
                counters: counters.into_iter().map(|at| names[at].to_owned()).collect(),
                unused: unused(process),
                launches,
            });
        }
    }
}

fn formulas(mapping: &Mapping) -> Vec<Formula> {
    let values = mapping.values.iter();
    values
        .map(|value| Formula {
            quantity: value.quantity,
            terms: value.terms.clone(),
            over: None,
            scale: value.scale,
            origin: value.origin(),
            of_some: None,
        })
        .collect()
}
