//! Counters of AMD's tables, kept for other passes of the same run: a sum over counters of two passes is in neither.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::mapping::Mapping;
use crate::ingest::passes::{Formula, Pass};
use crate::ingest::rows::Row;
use crate::ingest::{Numerals, Reading};

/// What a table with a row for each launch has beside its counters.
pub(in crate::ingest) struct Layout {
    /// Titles of the column that tells processes apart, separated by blanks.
    pub(in crate::ingest) process: &'static str,
    /// Titles of columns that describe a launch, separated by blanks; others are counters.
    pub(in crate::ingest) columns: &'static str,
}

/// The counters of a table with a row for each launch.
pub(super) struct Counters<'a> {
    mappings: &'a [Mapping],
    /// Those that formulas have, each with its columns, which add up to it.
    known: Vec<(&'a str, Vec<usize>)>,
    unused: Vec<String>,
    process: Option<usize>,
    /// Whether a formula lacks a counter, so that those of another pass may complete it.
    is_part: bool,
    passes: Passes,
}

impl<'a> Counters<'a> {
    /// Those of a table with these titles that is read by a mapping; nothing if it has none.
    pub(super) fn new(
        layout: &Layout,
        mapping: &Mapping,
        mappings: &'a [Mapping],
        titles: &[String],
    ) -> Option<Self> {
        let mut known: Vec<(&str, Vec<usize>)> = Vec::new();
        for one in mappings {
            for (_, name) in one.values.iter().flat_map(|value| &value.terms) {
                if known.iter().all(|(known, _)| known != name)
                    && let Some(places) = one.places(name, titles)
                {
                    known.push((name, places));
                }
            }
        }
        let used: HashSet<usize> = known.iter().flat_map(|(_, places)| places).copied().collect();
        let is_among = |title: &str, titles: &str| titles.split(' ').any(|one| one == title);
        let is_unused =
            |(at, title): &(usize, &String)| !used.contains(at) && !is_among(title, layout.columns);
        let unused: Vec<String> =
            titles.iter().enumerate().filter(is_unused).map(|(_, title)| title.clone()).collect();
        if known.is_empty() && unused.is_empty() {
            return None;
        }
        let mut terms = mapping.values.iter().flat_map(|value| &value.terms);
        Some(Self {
            mappings,
            is_part: terms.any(|(_, name)| known.iter().all(|(known, _)| known != name)),
            known,
            unused,
            process: titles.iter().position(|title| is_among(title, layout.process)),
            passes: Passes::default(),
        })
    }

    /// Adds those of a row, which became this launch of the file.
    pub(super) fn add(&mut self, row: &Row, numerals: Numerals, launch: u64) {
        let process = self.process.and_then(|at| numerals.whole(row.cell(at)).ok().flatten());
        let sum = |places: &[usize]| {
            places.iter().try_fold(0.0, |sum, at| Some(sum + numerals.parse(row.cell(*at)).ok()??))
        };
        let value = |(counter, (_, places)): (usize, &(&str, Vec<usize>))| {
            // What a whole table lacks is a cell that cannot be read, which other passes do not complete.
            (counter, if self.is_part { sum(places).unwrap_or(f64::NAN) } else { f64::NAN })
        };
        let counters = self.known.iter().enumerate().map(value).collect();
        self.passes.add(process, launch, counters);
    }

    /// Leaves them to the other files.
    pub(super) fn end(self, reading: &mut Reading<'_>) {
        let names: Vec<&str> = self.known.iter().map(|(name, _)| *name).collect();
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
