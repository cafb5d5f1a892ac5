//! What the header of a raw page says of the rows below it, and what its first rows show.

use std::collections::VecDeque;

use super::row::value_end;
use super::scales::{Column, Decimals, Digits, see, without_units};
use super::{Attributes, Catalog, Gathered, Identity, content, kind, rank};
use crate::ingest::decimal::Evidence;
use crate::ingest::headers::header_of;
use crate::ingest::sample::{FirstRows, as_text};
use crate::ingest::{Numerals, Sample};

pub(super) fn is_header(fields: &[String]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field == name);
    fields.len() >= 8 && has("Kernel Name") && has("ID") && !has("Metric Name")
}

/// What a header says of the rows below it. Concatenated exports have a header each, which may name
/// other columns or the same in another order.
#[derive(Clone)]
pub(super) struct Map {
    pub(super) identity: Identity,
    pub(super) attributes: Attributes,
    pub(super) columns: Vec<Column>,
    pub(super) kinds: Gathered,
    pub(super) width: usize,
    /// Whether a metric has several columns.
    pub(super) has_twins: bool,
}

impl Map {
    pub(super) fn new(header: &[String], catalog: &mut Catalog) -> Self {
        let mut columns: Vec<Column> = Vec::new();
        let mut kinds = Gathered::default();
        for (field, title) in header.iter().enumerate() {
            kinds.saw(kind(title));
            columns.extend(Column::of(field, title, catalog));
        }
        without_units(&mut columns);
        // Of a value with several names the first cell stays: the better name comes first.
        for at in 0..columns.len() {
            for before in 0..at {
                let (one, two) = (&columns[before], &columns[at]);
                if one.slot == two.slot && rank(&two.name) < rank(&one.name) {
                    columns.swap(before, at);
                }
            }
        }
        for at in 0..columns.len() {
            let name = &columns[at].name;
            columns[at].twin = columns[..at].iter().position(|column| column.name == *name);
        }
        Self {
            identity: Identity::new(header),
            attributes: Attributes::new(header),
            has_twins: columns.iter().any(|column| column.twin.is_some()),
            columns,
            kinds,
            width: header.len(),
        }
    }

    /// The same, with no launch counted and no device met.
    pub(super) fn like(&self) -> Self {
        let mut map = Self { identity: self.identity.like(), ..self.clone() };
        map.columns.iter_mut().for_each(|column| column.launches = 0);
        map
    }
}

/// The rows of the table that are in the sample.
pub(super) fn first_rows(sample: &Sample) -> FirstRows {
    const ROWS: usize = 400;
    let found = sample.header(|line| line.contains("Kernel Name"), is_header);
    sample.records(found.map_or("", |(_, rest)| rest), ROWS)
}

/// What the metric cells of the first rows show of how numbers are written. A header inside the table names the columns
/// of the records below it.
pub(super) fn evidence(rows: &FirstRows, first: &Map, catalog: &mut Catalog) -> Evidence {
    let mut evidence = Evidence::default();
    let mut again = None;
    let mut contents = None;
    let has_headers = rows.has("Kernel Name");
    for record in rows.iter() {
        let header = has_headers.then(|| header_of(&record, "Kernel Name", is_header)).flatten();
        if let Some(header) = header {
            (again, contents) = (Some(Map::new(&header, catalog)), None);
            continue;
        }
        let map = again.as_ref().unwrap_or(first);
        let contents: &Vec<_> = contents.get_or_insert_with(|| {
            let is_units = record.get(map.identity.kernel).is_none_or(<[u8]>::is_empty);
            let word = |one: &Column| {
                let below = record.get(one.field).filter(|_| is_units).map(as_text);
                below.or(one.titled.as_deref()).unwrap_or_default().to_owned()
            };
            let columns = map.columns.iter();
            columns.map(|one| (one.field, content(&one.name, &word(one)))).collect()
        });
        for (field, content) in contents {
            let cell = record.get(*field).unwrap_or_default();
            evidence.add(&cell[..value_end(cell)], *content, || None);
        }
    }
    evidence
}

/// The decimals in the first launches of the tables, a header inside the page begins another one.
pub(super) fn decimals(
    rows: &FirstRows,
    first: &Map,
    catalog: &mut Catalog,
    numerals: Numerals,
) -> VecDeque<Decimals> {
    const LAUNCHES: usize = 64;
    let mut tables = VecDeque::new();
    let (mut again, mut seen) = (None::<Map>, 0);
    let mut digits = Digits::new();
    let has_headers = rows.has("Kernel Name");
    for record in rows.iter() {
        let columns = &again.as_ref().unwrap_or(first).columns;
        let header = has_headers.then(|| header_of(&record, "Kernel Name", is_header)).flatten();
        if let Some(header) = header {
            tables.push_back(Decimals::of(columns, &digits));
            digits.clear();
            (again, seen) = (Some(Map::new(&header, catalog)), 0);
        } else if seen < LAUNCHES {
            see(&mut digits, columns, &record, numerals);
            seen += 1;
        } else if !has_headers {
            break;
        }
    }
    tables.push_back(Decimals::of(&again.as_ref().unwrap_or(first).columns, &digits));
    tables
}
