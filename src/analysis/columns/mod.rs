//! Columns of kernels and launches, each declared once: name with unit, type, meaning, source, and
//! where it is shown. JSON, CSV, page, custom rules, schema and documents follow from them.

mod kernels;
mod named;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::{Analysis, Kernel};
use crate::model::{Launch, MemoryLevel, Pipe, Profile, Quantity};
use crate::table::{self, Cell, Form, LaunchColumn};
use crate::taxonomy::Class;

/// The row from which a column takes its value.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// A kernel of an analysis.
    Kernel(&'a Analysis, &'a Kernel),
    /// A launch of a profile, with its kernel.
    Launch(&'a Profile, Launch<'a>, &'a Kernel),
}

/// Source of a column's value.
#[derive(Clone, Copy)]
enum Get {
    Kernel(for<'a> fn(&'a Analysis, &'a Kernel) -> Option<Cell<'a>>),
    Class(for<'a> fn(&'a Class) -> Option<Cell<'a>>),
    /// Work of a kernel on one pipe.
    Work(Pipe),
    /// Traffic of a kernel at one level of the memory hierarchy.
    Traffic(MemoryLevel),
    /// An average over the launches of a kernel.
    Average(Quantity),
    /// A column of the launch table.
    Launch(&'static LaunchColumn),
}

/// Where a column is shown. Custom rules can use all columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// In every report: JSON and CSV.
    Report,
    /// In CSV; JSON nests it in another object, such as `levels`.
    Nested,
    /// Only in custom rules.
    Rules,
}

/// One column of kernels or of launches.
pub struct Column {
    /// Name, including the unit.
    pub name: String,
    /// Type of its values.
    pub form: Form,
    /// Meaning, as a phrase.
    pub about: String,
    /// Possible words, if they are few and known; otherwise empty.
    pub words: Vec<&'static str>,
    /// Where it is shown.
    pub place: Place,
    /// True if every kernel has it; text may be empty.
    pub is_always: bool,
    get: Get,
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Column").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.form) == (&other.name, other.form)
    }
}

impl Column {
    fn new(name: &str, form: Form, about: &str, get: Get) -> Self {
        let (name, about) = (name.to_owned(), about.to_owned());
        let (words, place) = (Vec::new(), Place::Rules);
        Self { name, form, about, words, place, is_always: false, get }
    }

    /// Sets where it is shown.
    fn shown_in(mut self, place: Place) -> Self {
        self.place = place;
        self
    }

    /// Marks it as present for every kernel.
    fn always(mut self) -> Self {
        self.is_always = true;
        self
    }

    /// Sets the possible words.
    fn of(mut self, words: impl IntoIterator<Item = &'static str>) -> Self {
        self.words = words.into_iter().collect();
        self
    }

    /// Returns its value in a row; `None` if it is missing or not finite.
    #[must_use]
    pub fn get<'a>(&self, row: &Row<'a>) -> Option<Cell<'a>> {
        match (self.get, *row) {
            (Get::Class(get), Row::Kernel(_, kernel) | Row::Launch(_, _, kernel)) => {
                get(&kernel.class)
            }
            (Get::Kernel(get), Row::Kernel(analysis, kernel)) => get(analysis, kernel),
            (Get::Work(pipe), Row::Kernel(_, kernel)) => {
                let work = kernel.work.iter().find(|work| work.pipe == pipe);
                work.map(|work| Cell::Number(work.operations.get()))
            }
            (Get::Traffic(level), Row::Kernel(_, kernel)) => {
                // The traffic of some launches is not that of the kernel.
                let counted = kernel.level(level).filter(|one| one.launches == kernel.launches);
                counted.map(|one| Cell::Number(one.bytes.get()))
            }
            (Get::Average(quantity), Row::Kernel(_, kernel)) => {
                kernel.average(quantity).map(Cell::Number)
            }
            (Get::Launch(column), Row::Launch(profile, launch, _)) => column.get(profile, &launch),
            _ => None,
        }
        .and_then(Cell::known)
    }

    /// Formats a value for a sentence, with unit and rounding; a dash if it is missing.
    #[must_use]
    pub fn shown(&self, cell: Option<Cell<'_>>) -> String {
        self.form.shown(cell)
    }
}

/// The columns of one kind of row, by name and in order.
#[derive(Debug)]
pub struct Columns {
    all: Vec<Column>,
    by_name: HashMap<String, usize>,
}

impl Columns {
    fn new(all: Vec<Column>) -> Self {
        let named = all.iter().enumerate();
        let by_name = named.map(|(position, one)| (one.name.clone(), position)).collect();
        Self { all, by_name }
    }

    /// Returns the columns of kernels.
    #[must_use]
    pub fn of_kernels() -> &'static Self {
        static KERNELS: LazyLock<Columns> = LazyLock::new(|| Columns::new(kernels::columns()));
        &KERNELS
    }

    /// Returns the columns of launches: the canonical launch table, and facts from the kernel's
    /// name.
    #[must_use]
    pub fn of_launches() -> &'static Self {
        static LAUNCHES: LazyLock<Columns> = LazyLock::new(|| {
            let launches = table::columns().iter().map(|one| {
                let column = Column::new(&one.name, one.form, &one.about, Get::Launch(one));
                column.of(one.words.iter().copied())
            });
            Columns::new(launches.chain(named::columns()).collect())
        });
        &LAUNCHES
    }

    /// Returns all columns, in order.
    #[must_use]
    pub fn all(&self) -> &[Column] {
        &self.all
    }

    /// Returns the column with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Column> {
        self.by_name.get(name).map(|position| &self.all[*position])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_can_be_written_in_expressions() {
        for columns in [Columns::of_kernels(), Columns::of_launches()] {
            assert_eq!(columns.by_name.len(), columns.all.len());
            for one in columns.all() {
                let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                assert!(one.name.chars().all(is_word), "{}", one.name);
                assert!(one.name.starts_with(|c: char| c.is_ascii_lowercase()), "{}", one.name);
                assert!(!one.about.is_empty() && !one.about.contains('|'), "{}", one.name);
            }
        }
    }

    #[test]
    fn values_are_shown_with_unit_and_rounding() {
        let columns = Columns::of_kernels();
        for (name, cell, shown) in [
            ("headroom", Some(Cell::Number(5.876)), "5.88×"),
            ("share", Some(Cell::Number(0.0385)), "3.9%"),
            ("measured_s", Some(Cell::Number(1.884e-3)), "1.88 ms"),
            ("bytes", Some(Cell::Number(1.0663e9)), "1.07 GB"),
            ("blocks", Some(Cell::Count(65_536)), "65536"),
            ("achieved_occupancy", Some(Cell::Number(0.9104)), "0.91"),
            ("arithmetic_intensity_flop_per_byte", Some(Cell::Number(1365.3)), "1365 FLOP/B"),
            ("sm_clock_hz", Some(Cell::Number(1.59e9)), "1.59 GHz"),
            ("tensor", Some(Cell::Truth(true)), "yes"),
            ("headroom", None, "-"),
        ] {
            assert_eq!(columns.get(name).unwrap().shown(cell), shown, "{name}");
        }
    }
}
