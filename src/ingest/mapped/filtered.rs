//! Rows that the filters of a mapping leave out: by which filter, what its column holds, and filters that fit no row.

use super::mapping::{Filter, Mapping};
use crate::ingest::rows::Row;
use crate::ingest::{IngestError, Reading};
use crate::plain::{counted, did_you_mean};

/// So many texts of a column are listed.
const LISTED: usize = 5;

/// The filters of a mapping at the columns of a table.
pub(super) struct Filters<'a> {
    /// The number of each in the mapping, and where its column is.
    at: Vec<(usize, usize, &'a Filter)>,
    found: LeftOut,
}

/// What the filters of a mapping found in the rows of a file.
#[derive(Default)]
pub(super) struct LeftOut {
    /// How many rows are left out.
    rows: u64,
    /// What the filter found that left out the first of them.
    example: Option<String>,
    /// By the number of the filter in the mapping.
    filters: Vec<Found>,
}

/// What a filter found.
#[derive(Default, Clone)]
struct Found {
    /// Whether a table has its column.
    is_there: bool,
    /// Whether a row has one of its texts.
    fits: bool,
    /// How many rows it left out.
    rows: u64,
    /// The first texts of rows that it left out, each once.
    texts: Vec<String>,
}

impl<'a> Filters<'a> {
    /// Those whose columns the table has.
    pub(super) fn new(mapping: &'a Mapping, at: impl Fn(&str) -> Option<usize>) -> Self {
        let mut found = LeftOut::default();
        found.filters.resize(mapping.filters.len(), Found::default());
        let numbered = mapping.filters.iter().enumerate();
        let at: Vec<_> = numbered
            .filter_map(|(number, filter)| Some((number, at(&filter.column)?, filter)))
            .collect();
        for (number, ..) in &at {
            found.filters[*number].is_there = true;
        }
        Self { at, found }
    }

    /// Whether a row is left out; counts it if so.
    pub(super) fn leave_out(&mut self, row: &Row) -> bool {
        let mut by = None;
        for (number, at, filter) in &self.at {
            let found = &mut self.found.filters[*number];
            // Behind one that leaves the row out, others are only asked whether they fit any row.
            if by.is_some() && found.fits {
                continue;
            }
            let fits = filter.fits(row.cell(*at));
            found.fits |= fits;
            if by.is_none() && fits != filter.only {
                by = Some((*number, *at));
            }
        }
        let Some((number, at)) = by else { return false };
        let found = &mut self.found.filters[number];
        found.rows += 1;
        self.found.rows += 1;
        if found.texts.len() < LISTED {
            let text = String::from_utf8_lossy(row.cell(at));
            self.found.example.get_or_insert_with(|| text.clone().into_owned());
            if !found.texts.iter().any(|known| *known == text) {
                found.texts.push(text.into_owned());
            }
        }
        true
    }

    /// What they found here and, in tables of the file before this one, already.
    pub(super) fn end(self, before: LeftOut) -> LeftOut {
        let mut all = self.found;
        all.rows += before.rows;
        all.example = before.example.or(all.example);
        for (one, before) in all.filters.iter_mut().zip(before.filters) {
            one.is_there |= before.is_there;
            one.fits |= before.fits;
            one.rows += before.rows;
            let later = std::mem::replace(&mut one.texts, before.texts);
            for text in later {
                if one.texts.len() < LISTED && !one.texts.contains(&text) {
                    one.texts.push(text);
                }
            }
        }
        all
    }
}

impl LeftOut {
    /// Says in the clues of the file what is left out, and which filters fit no row: of many files some may have none.
    ///
    /// # Errors
    /// Where a file has rows and no launch, of which filters leave out some.
    pub(super) fn say(
        &self,
        reading: &mut Reading<'_>,
        mapping: &Mapping,
        has_launches: bool,
    ) -> Result<(), IngestError> {
        if has_launches && !mapping.is_built_in {
            for (filter, found) in mapping.filters.iter().zip(&self.filters) {
                if !filter.only && found.is_there && !found.fits {
                    let place = format!("{}:{}", mapping.path, filter.line);
                    let clue =
                        format!("no row fits {filter} of {place}: nothing is left out by it");
                    reading.source.clues.push(clue);
                }
            }
        }
        let Some(example) = &self.example else { return Ok(()) };
        if has_launches {
            let rows =
                counted(self.rows, "row that is not a kernel is", "rows that are not kernels are");
            reading.source.clues.push(format!("{rows} left out, such as {example:?}"));
            return Ok(());
        }
        let left_out = self.left_out(mapping, example);
        // The rows that stay are the kernels: why they cannot be read comes first.
        if let Some(error) = reading.unreadable() {
            let help = error.next_step().unwrap_or_default().to_owned();
            let message = format!("{}; {left_out}", error.reason());
            return Err(reading.error(message).help(help));
        }
        let error = reading.error(format!("no row is a kernel: {left_out}"));
        Err(if mapping.is_built_in {
            error.help("use the profiler's export of kernels")
        } else {
            let near = self.meant(mapping).map_or_else(String::new, |near| near + " ");
            error.help(format!(
                "{near}correct [rows] in {}, or use the profiler's export of kernels",
                mapping.path
            ))
        })
    }

    /// Which rows are left out by what.
    fn left_out(&self, mapping: &Mapping, example: &str) -> String {
        if mapping.is_built_in {
            let rows = counted(self.rows, "row", "rows");
            let are = if self.rows == 1 { "is" } else { "are" };
            return format!("{rows} such as {example:?} {are} left out");
        }
        let by = |(filter, found): (&Filter, &Found)| {
            let texts: Vec<String> = found.texts.iter().map(|text| format!("{text:?}")).collect();
            let more = if found.texts.len() < LISTED { "" } else { ", …" };
            format!(
                "{filter} of {}:{} leaves out {}, where {:?} is {}{more}",
                mapping.path,
                filter.line,
                counted(found.rows, "row", "rows"),
                filter.column,
                texts.join(", "),
            )
        };
        let filters = mapping.filters.iter().zip(&self.filters);
        let parts: Vec<String> = filters.filter(|(_, found)| found.rows > 0).map(by).collect();
        parts.join("; ")
    }

    /// Asks for the text that was probably meant by one that no row has.
    fn meant(&self, mapping: &Mapping) -> Option<String> {
        let mut filters = mapping.filters.iter().zip(&self.filters);
        let (filter, found) = filters.find(|(filter, found)| filter.only && !found.fits)?;
        let texts = || found.texts.iter().map(String::as_str);
        let near = |known: &String| {
            let same = texts().find(|text| text.to_lowercase() == known.to_lowercase());
            let asked = match same {
                Some(text) => format!("did you mean {text:?}? "),
                None => did_you_mean(known, texts()),
            };
            Some(asked.trim_end().to_owned()).filter(|asked| !asked.is_empty())
        };
        filter.texts.iter().find_map(near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::model::Profile;

    const COLUMNS: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\n";

    fn read(csv: &str, rows: &str) -> Result<Profile, String> {
        let map = format!("delimiter = ';'\n[rows]\n{rows}\n{COLUMNS}");
        let map = Some(Mapping::from_toml(&map, "map.toml").unwrap());
        let options = Options { map, ..Options::default() };
        read_text("table.csv", csv, &options)
            .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))
    }

    const TABLE: &str = "name;dur;kind\nmy_conv;1;KERNEL\nmy_conv2d;2;KERNEL\ngemm;3;KERNEL\n\
                         void scale(float*);4;KERNEL\nvoid scale(float*, float*);5;KERNEL\n";

    /// A leading `*` matched nothing, and said nothing.
    #[test]
    fn a_star_stands_anywhere() {
        for (rows, left) in [
            ("leave_out = { name = ['*conv*'] }", 3),
            ("leave_out = { name = '*conv' }", 4),
            ("leave_out = { name = 'my_*2d' }", 4),
            ("leave_out = { name = ['my_*'] }", 3),
            ("leave_out = { name = 'gemm' }", 4),
            ("only = { name = '*conv*' }", 2),
            ("only = { kind = '*NEL', name = '*m*' }", 3),
            // A pointer is not a wildcard.
            ("only = { name = 'void scale(float*)' }", 1),
            ("only = { name = 'void scale(*)' }", 2),
            ("only = { name = 'void scale(float*)*' }", 1),
        ] {
            let profile = read(TABLE, rows).unwrap();
            assert_eq!(profile.launches.len(), left, "{rows}");
            assert_eq!(profile.notes, [""; 0], "{rows}");
        }
    }

    #[test]
    fn a_filter_that_fits_no_row_is_noted_with_its_line() {
        let clues = |table: &str, rows: &str| {
            let mut clues = read(table, rows).unwrap().sources.remove(0).clues;
            clues.retain(|clue| clue.starts_with("no row fits"));
            clues
        };
        let found = clues(TABLE, "leave_out = { name = ['*pool*', 'x'] }");
        let clue = "no row fits leave_out = { name = [\"*pool*\", \"x\"] } of map.toml:3: \
                    nothing is left out by it";
        assert_eq!(found, [clue]);
        // Rows that another filter leaves out count, too.
        let table = format!("{TABLE}[CUDA memcpy];9;MEMCPY\n");
        let rows = "only = { kind = 'KERNEL' }\nleave_out = { name = '[CUDA *' }";
        assert_eq!(clues(&table, rows), [""; 0]);
        // As do those of a table further down.
        let two = format!("{TABLE}name;dur;kind\npool;1;KERNEL\n");
        assert_eq!(clues(&two, "leave_out = { name = '*pool*' }"), [""; 0]);
    }

    #[test]
    fn filters_that_leave_out_all_rows_are_the_cause() {
        let table = format!("{TABLE}copy;9;MEMCPY\n");
        assert_eq!(
            read(&table, "only = { kind = 'kernel' }").unwrap_err(),
            "table.csv: no row is a kernel: only = { kind = \"kernel\" } of map.toml:3 leaves out 6 rows, \
             where \"kind\" is \"KERNEL\", \"MEMCPY\" | did you mean \"KERNEL\"? correct [rows] in map.toml, \
             or use the profiler's export of kernels",
        );
        let rows = "only = { kind = 'KERNEL' }\nleave_out = { name = '*' }";
        let error = read(&table, rows).unwrap_err();
        for says in [
            "only = { kind = \"KERNEL\" } of map.toml:3 leaves out 1 row, where \"kind\" is \"MEMCPY\"; ",
            "leave_out = { name = \"*\" } of map.toml:4 leaves out 5 rows, where \"name\" is \"my_conv\", ",
        ] {
            assert!(error.contains(says), "{error}");
        }
    }

    /// The rows of kernels were skipped, and the message named a copy.
    #[test]
    fn rows_that_cannot_be_read_come_before_those_that_are_left_out() {
        let table = "name;dur;kind\ngemm;-3;KERNEL\ncopy;9;MEMCPY\n";
        assert_eq!(
            read(table, "only = { kind = 'KERNEL' }").unwrap_err(),
            "table.csv: no launch could be read; 1 row is skipped, the first in line 2: dur \"-3\": negative; \
             only = { kind = \"KERNEL\" } of map.toml:3 leaves out 1 row, where \"kind\" is \"MEMCPY\" | \
             correct the column in the mapping, or the table",
        );
    }
}
