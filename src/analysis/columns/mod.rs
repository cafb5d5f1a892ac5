//! What can be asked of a kernel and of a launch by name: the columns of tables and of custom rules.

mod kernels;
mod launches;
mod named;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use super::{Analysis, Kernel};
use crate::model::{Launch, MemoryLevel, Origin, Pipe, Profile, Quantity};
use crate::taxonomy::Class;
use crate::units;

/// What a column holds, and how it is shown in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Words.
    Text,
    /// Yes or no.
    Truth,
    /// A whole number.
    Count,
    /// A share of a whole, 0 to 1; shown as a percentage.
    Share,
    /// A ratio that may be greater than one; shown as a factor.
    Factor,
    /// A number in this SI unit; `1` for shares and counts that no unit tells apart.
    Number(&'static str),
}

impl Form {
    /// What the column holds, in a word, or its unit.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Truth => "true or false",
            Self::Count => "count",
            Self::Share => "share",
            Self::Factor => "ratio",
            Self::Number("1") => "number",
            Self::Number(unit) => unit,
        }
    }

    /// The unit; `1` for what has none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Number(unit) => unit,
            _ => "1",
        }
    }
}

/// A value of a column; what is missing has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Words, never empty.
    Text(&'a str),
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Count(u64),
    /// A finite number.
    Number(f64),
}

impl<'a> Cell<'a> {
    /// The value as a number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Text(_) | Self::Truth(_) => None,
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number),
        }
    }

    /// The value as a whole number, if it is one.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        if let Self::Count(count) = self { Some(count) } else { None }
    }

    /// The value as words, if it is some.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

/// What a column is asked of.
#[derive(Debug, Clone, Copy)]
pub enum Row<'a> {
    /// A kernel of an analysis.
    Kernel(&'a Analysis, &'a Kernel),
    /// A launch of a profile, with its kernel.
    Launch(&'a Profile, Launch<'a>, &'a Kernel),
}

/// Where the value of a column is found.
#[derive(Clone, Copy)]
enum Get {
    Kernel(for<'a> fn(&'a Analysis, &'a Kernel) -> Option<Cell<'a>>),
    Class(for<'a> fn(&'a Class) -> Option<Cell<'a>>),
    Launch(for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>),
    /// Work of a kernel on one pipe.
    Work(Pipe),
    /// Traffic of a kernel at one level of the memory hierarchy.
    Traffic(MemoryLevel),
    /// An average over the launches of a kernel.
    Average(Quantity),
    /// A quantity of a launch.
    Value(Quantity),
    /// How a quantity of a launch came about.
    Origin(Quantity),
    /// The same as `Launch`; tables leave it out where no launch has it.
    Rare(for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>),
    /// The least factor by which a quantity may be off; missing where it is exact.
    Low(Quantity),
    /// The greatest factor; missing where it is exact, and where nothing bounds it.
    High(Quantity),
}

/// One column of kernels or of launches.
pub struct Column {
    /// Its name, unit included.
    pub name: String,
    /// What it holds.
    pub form: Form,
    /// What it means, in a phrase.
    pub about: String,
    /// The words it can hold, where they are few and known; else empty.
    pub words: Vec<&'static str>,
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
        Self { name, form, about, words: Vec::new(), get }
    }

    /// The same, with the only words it can hold.
    fn of(mut self, words: impl IntoIterator<Item = &'static str>) -> Self {
        self.words = words.into_iter().collect();
        self
    }

    /// Its value in a row; nothing where it is missing or no finite number.
    #[must_use]
    pub fn get<'a>(&self, row: &Row<'a>) -> Option<Cell<'a>> {
        match (self.get, *row) {
            (Get::Class(get), Row::Kernel(_, kernel) | Row::Launch(_, _, kernel)) => {
                known(get(&kernel.class))
            }
            (Get::Kernel(get), Row::Kernel(analysis, kernel)) => known(get(analysis, kernel)),
            (Get::Work(pipe), Row::Kernel(_, kernel)) => {
                let work = kernel.work.iter().find(|work| work.pipe == pipe);
                known(work.map(|work| Cell::Number(work.operations.get())))
            }
            (Get::Traffic(level), Row::Kernel(_, kernel)) => {
                // The traffic of some launches is not that of the kernel.
                let counted = kernel.level(level).filter(|one| one.launches == kernel.launches);
                known(counted.map(|one| Cell::Number(one.bytes.get())))
            }
            (Get::Average(quantity), Row::Kernel(_, kernel)) => {
                known(kernel.average(quantity).map(Cell::Number))
            }
            (_, Row::Launch(profile, launch, _)) => self.of_launch(profile, &launch),
            _ => None,
        }
    }

    /// Its value in a launch, as in the canonical launch table; what its kernel's name tells is not.
    pub(super) fn of_launch<'a>(
        &self,
        profile: &'a Profile,
        launch: &Launch<'a>,
    ) -> Option<Cell<'a>> {
        known(match self.get {
            Get::Launch(get) | Get::Rare(get) => get(profile, launch),
            Get::Low(quantity) => inexact(launch, quantity).map(|origin| Cell::Number(origin.low)),
            Get::High(quantity) => {
                inexact(launch, quantity).map(|origin| Cell::Number(origin.high))
            }
            Get::Value(quantity) => launch.value(quantity).map(Cell::Number),
            Get::Origin(quantity) => {
                launch.get(quantity).map(|(_, origin)| Cell::Text(origin.kind.label()))
            }
            _ => None,
        })
    }

    /// Whether the canonical launch table leaves it out where no launch has it.
    pub(super) fn is_rare(&self) -> bool {
        matches!(self.get, Get::Rare(_) | Get::Low(_) | Get::High(_))
    }

    /// A value of it in a sentence, with unit and rounding; a dash where it is missing.
    #[must_use]
    pub fn shown(&self, cell: Option<Cell<'_>>) -> String {
        let Some(cell) = cell else { return "-".to_owned() };
        match (self.form, cell) {
            (_, Cell::Text(text)) => text.to_owned(),
            (_, Cell::Truth(truth)) => if truth { "yes" } else { "no" }.to_owned(),
            (_, Cell::Count(count)) => count.to_string(),
            (Form::Share, Cell::Number(share)) => units::percent(share),
            (Form::Factor, Cell::Number(ratio)) => units::factor(ratio),
            (Form::Number("1"), Cell::Number(number)) => units::digits(number),
            // Nobody reads kiloFLOPs per byte.
            (Form::Number("FLOP/B"), Cell::Number(number)) => {
                format!("{} FLOP/B", units::digits(number))
            }
            (Form::Number(unit), Cell::Number(number)) => units::si(number, unit),
            (_, Cell::Number(number)) => units::digits(number),
        }
    }
}

/// How a quantity came about that is not known exactly.
fn inexact<'a>(launch: &Launch<'a>, quantity: Quantity) -> Option<&'a Origin> {
    launch.get(quantity).map(|(_, origin)| origin).filter(|origin| !origin.is_exact())
}

/// What is known: no empty word, no number that is not finite.
fn known(cell: Option<Cell<'_>>) -> Option<Cell<'_>> {
    cell.filter(|cell| match cell {
        Cell::Number(number) => number.is_finite(),
        Cell::Text(text) => !text.is_empty(),
        Cell::Truth(_) | Cell::Count(_) => true,
    })
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

    /// What can be asked of a kernel.
    #[must_use]
    pub fn of_kernels() -> &'static Self {
        static KERNELS: LazyLock<Columns> = LazyLock::new(|| Columns::new(kernels::columns()));
        &KERNELS
    }

    /// What can be asked of a launch: the canonical launch table, and what its kernel's name tells.
    #[must_use]
    pub fn of_launches() -> &'static Self {
        static LAUNCHES: LazyLock<Columns> = LazyLock::new(|| Columns::new(launches::columns()));
        &LAUNCHES
    }

    /// Every column, in order.
    #[must_use]
    pub fn all(&self) -> &[Column] {
        &self.all
    }

    /// The column of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Column> {
        self.by_name.get(name).map(|position| &self.all[*position])
    }

    /// The columns of the canonical launch table for these quantities, in its order, each with the
    /// quantity it holds.
    pub(super) fn of_table(
        quantities: &[Quantity],
    ) -> impl Iterator<Item = (&'static Column, Option<Quantity>)> {
        Self::of_launches().all.iter().filter_map(|column| match column.get {
            Get::Launch(_) | Get::Rare(_) => Some((column, None)),
            Get::Low(quantity) | Get::High(quantity) if quantities.contains(&quantity) => {
                Some((column, None))
            }
            Get::Value(quantity) if quantities.contains(&quantity) => {
                Some((column, Some(quantity)))
            }
            Get::Origin(quantity) if quantities.contains(&quantity) => Some((column, None)),
            _ => None,
        })
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
            ("headroom", Some(Cell::Number(5.876)), "5.88 ×"),
            ("share", Some(Cell::Number(0.0385)), "3.9 %"),
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
