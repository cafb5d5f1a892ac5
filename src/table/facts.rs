//! What is known of the columns of a table without reading its rows.

use std::collections::BTreeMap;

use super::cell::Cell;

/// What is known of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// No row has a value.
    Missing,
    /// Every row has this value.
    Constant(Cell<'static>),
    /// Every row has a value.
    Filled,
    /// Rows may have a value or not.
    Mixed,
}

impl Fact {
    /// Returns what is known of the rows of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (one, other) if one == other => one,
            (Self::Missing | Self::Mixed, _) | (_, Self::Missing | Self::Mixed) => Self::Mixed,
            _ => Self::Filled,
        }
    }
}

/// What is known of the columns of tables, by name; nothing of those that are not in it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts(BTreeMap<String, Fact>);

impl Facts {
    /// Adds what is known of a column in more rows.
    pub fn add(&mut self, column: &str, fact: Fact) {
        let known = match self.0.remove(column) {
            Some(known) => known.and(fact),
            None => fact,
        };
        self.0.insert(column.to_owned(), known);
    }

    /// Returns what is known of a column.
    #[must_use]
    pub fn of(&self, column: &str) -> &Fact {
        self.0.get(column).unwrap_or(&Fact::Mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cell, Fact, Facts};

    #[test]
    fn a_constant_is_that_of_all_rows() {
        let word = |text| Fact::Constant(Cell::word(text));
        let mut facts = Facts::default();
        for (column, fact) in [
            ("same", word("a")),
            ("same", word("a")),
            ("other", word("a")),
            ("other", word("b")),
            ("gone", Fact::Missing),
            ("gone", Fact::Missing),
            ("some", Fact::Missing),
            ("some", word("a")),
            ("full", word("a")),
            ("full", Fact::Filled),
        ] {
            facts.add(column, fact);
        }
        let found =
            ["same", "other", "gone", "some", "full", "none"].map(|name| facts.of(name).clone());
        let full = Fact::Filled;
        assert_eq!(found, [word("a"), full.clone(), Fact::Missing, Fact::Mixed, full, Fact::Mixed]);
    }
}
