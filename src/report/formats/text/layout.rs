//! Which columns of a table are drawn at a width, and how wide each is.

use unicode_width::UnicodeWidthStr;

use crate::report::document::{Drawn, Form, Table};
use crate::report::view::Style;

/// A name is never elided below this many columns.
const NARROWEST_NAME: usize = 14;

/// Where columns that nothing may push out need the room, names are elided to this.
const LEAST_NAME: usize = 8;

/// Words in a table are never elided below this many columns.
const NARROWEST_TEXT: usize = 8;

/// Names are elided to this before a column is left out.
const SHORT_NAME: usize = 24;

/// Columns of the terminal from which on ranges stand beside numbers: on narrower ones they would push
/// out columns that say more.
const ROOM_FOR_RANGE: usize = 132;

/// Fewest columns for which a remark is broken into lines.
pub(super) const REMARK: usize = 30;

/// A table as it is drawn at a width.
pub(super) struct Layout {
    pub(super) drawn: Drawn,
    pub(super) columns: Columns,
}

impl Layout {
    /// With ranges where they push out no column, else without.
    pub(super) fn of(table: &Table, style: &Style) -> Self {
        let drawn = |wide: bool| {
            let mut drawn = table.drawn(wide);
            // Symbols that are spelled out are wider.
            for cell in drawn.titles.iter_mut().chain(drawn.rows.iter_mut().flatten()) {
                *cell = style.adapted(std::mem::take(cell));
            }
            let columns = Columns::fit(table, &drawn, style);
            Self { drawn, columns }
        };
        let wide = style.width.is_none_or(|width| width >= ROOM_FOR_RANGE);
        let layout = drawn(wide);
        if wide && !layout.columns.hidden.is_empty() { drawn(false) } else { layout }
    }
}

/// Widths of the columns that are drawn.
pub(super) struct Columns {
    pub(super) widths: Vec<usize>,
    pub(super) hidden: Vec<usize>,
    /// The widths of columns as their cells have them.
    natural: Vec<usize>,
    /// The column that is elided first.
    elastic: Option<usize>,
    /// The last column, where its words are broken into lines.
    pub(super) wrapped: Option<usize>,
    /// Columns of the terminal at which nothing is left out.
    pub(super) needed: usize,
}

/// The room that cells of a form usually need: which columns are shown depends on the width of the
/// terminal, not on what a file happens to hold.
const fn usual(form: Form) -> usize {
    match form {
        Form::Name => SHORT_NAME,
        Form::Whole => 15,
        Form::Tera(_) => 14,
        Form::Text | Form::Si(_) | Form::Tenths(_) => 10,
        Form::Time | Form::TimeChange | Form::Change | Form::Factor => 7,
        Form::Digits | Form::Share => 6,
        Form::Count => 4,
    }
}

impl Columns {
    fn fit(table: &Table, drawn: &Drawn, style: &Style) -> Self {
        let titles: Vec<usize> = drawn.titles.iter().map(|title| title.width()).collect();
        let mut natural = titles.clone();
        for row in &drawn.rows {
            for (width, cell) in natural.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let elastic = table.columns.iter().position(|column| column.form == Form::Name);
        let widths = natural.clone();
        let mut columns =
            Self { widths, hidden: Vec::new(), natural, elastic, wrapped: None, needed: 0 };
        let Some(terminal) = style.width else { return columns };
        // Words at the end of a row can be broken into lines before anything is left out.
        let words = table.columns.len().saturating_sub(1);
        let is_words = table.columns.last().is_some_and(|column| column.form == Form::Text);
        let smallest = |at: usize, width: usize| match table.columns[at].form {
            Form::Name => width.min(SHORT_NAME).max(titles[at]),
            Form::Text if is_words && at == words => width.min(REMARK),
            _ => width,
        };
        let natural = |at: usize| smallest(at, columns.natural[at]);
        let usually = |at: usize| smallest(at, titles[at].max(usual(table.columns[at].form)));
        let total = |hidden: &[usize], width: &dyn Fn(usize) -> usize| -> usize {
            let drawn = (0..table.columns.len()).filter(|at| !hidden.contains(at));
            drawn.map(|at| width(at) + 2).sum()
        };
        columns.needed = total(&[], &natural).max(total(&[], &usually));
        let mut spare: Vec<usize> = (0..table.columns.len()).collect();
        spare.retain(|at| table.columns[*at].spare > 0);
        spare.sort_by_key(|at| std::cmp::Reverse(table.columns[*at].spare));
        let mut hidden = Vec::new();
        for at in spare {
            if total(&hidden, &natural).max(total(&hidden, &usually)) <= terminal {
                break;
            }
            hidden.push(at);
        }
        columns.hidden = hidden;
        let words = is_words.then_some(words);
        columns.shrink(table, terminal, words, NARROWEST_NAME);
        if !columns.fits(terminal, words) {
            columns.break_titles(table, drawn);
            columns.shrink(table, terminal, words, NARROWEST_NAME);
        }
        if !columns.fits(terminal, words) {
            columns.shrink(table, terminal, words, LEAST_NAME);
        }
        while !columns.fits(terminal, words) {
            let Some(at) = columns.last_resort(table) else { break };
            columns.hidden.push(at);
            columns.shrink(table, terminal, words, LEAST_NAME);
        }
        columns
    }

    /// Columns that rows have too many, with the words at their end broken into lines.
    fn over(&self, terminal: usize, words: Option<usize>) -> usize {
        let words = words.filter(|at| !self.hidden.contains(at));
        // On the narrowest terminals names say more than long lines of words.
        let least = REMARK.min(terminal / 2);
        let beyond = words.map_or(0, |at| self.widths[at].saturating_sub(least));
        self.used().saturating_sub(beyond).saturating_sub(terminal)
    }

    fn fits(&self, terminal: usize, words: Option<usize>) -> bool {
        self.over(terminal, words) == 0
    }

    /// Makes columns of numbers as wide as their cells and the longest word of their titles.
    fn break_titles(&mut self, table: &Table, drawn: &Drawn) {
        for at in (0..table.columns.len()).filter(|at| table.columns[*at].form.is_number()) {
            let words = drawn.titles[at].split(' ').map(UnicodeWidthStr::width);
            let cells = drawn.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.width());
            self.natural[at] = words.chain(cells).max().unwrap_or_default();
        }
        self.widths.clone_from(&self.natural);
    }

    /// The widest column of numbers between the name and the last column: rows that are broken by the terminal are
    /// harder to read than rows without it.
    fn last_resort(&self, table: &Table) -> Option<usize> {
        let last = table.columns.len().saturating_sub(1);
        let numbers = (0..last).filter(|at| {
            let is_beside = self.elastic.is_none_or(|name| *at > name);
            is_beside && table.columns[*at].form.is_number() && !self.hidden.contains(at)
        });
        numbers.max_by_key(|at| self.widths[*at])
    }

    /// Titles as lines, the last words of each in the last line.
    pub(super) fn titles(&self, titles: &[String]) -> Vec<Vec<String>> {
        let mut broken: Vec<Vec<String>> = Vec::new();
        for (title, width) in titles.iter().zip(&self.widths) {
            let mut lines: Vec<String> = vec![String::new()];
            for word in title.split(' ') {
                match lines.last_mut() {
                    Some(line) if line.is_empty() => line.push_str(word),
                    Some(line) if line.width() + 1 + word.width() <= *width => {
                        line.push(' ');
                        line.push_str(word);
                    }
                    _ => lines.push(word.to_owned()),
                }
            }
            broken.push(lines);
        }
        let is_drawn = |at: &usize| !self.hidden.contains(at);
        let shown = (0..broken.len()).filter(is_drawn).map(|at| broken[at].len());
        let most = shown.max().unwrap_or(1);
        (0..most)
            .map(|line| {
                let of = |title: &Vec<String>| {
                    let above = most.saturating_sub(title.len());
                    line.checked_sub(above)
                        .and_then(|at| title.get(at))
                        .cloned()
                        .unwrap_or_default()
                };
                broken.iter().map(of).collect()
            })
            .collect()
    }

    /// Makes room: names give way first, then the words at the end, then other words.
    fn shrink(&mut self, table: &Table, terminal: usize, words: Option<usize>, name: usize) {
        let words = words.filter(|at| !self.hidden.contains(at));
        if let Some(at) = self.elastic {
            self.widths[at] = self.natural[at];
            let width = self.widths[at];
            self.widths[at] = width.saturating_sub(self.over(terminal, words)).max(name.min(width));
        }
        while !self.fits(terminal, words) {
            let texts = (0..table.columns.len()).filter(|at| {
                table.columns[*at].form == Form::Text
                    && Some(*at) != words
                    && !self.hidden.contains(at)
            });
            let Some(widest) = texts.max_by_key(|at| self.widths[*at]) else { break };
            if self.widths[widest] <= NARROWEST_TEXT {
                break;
            }
            self.widths[widest] -= 1;
        }
        self.wrapped = words.filter(|_| self.used() > terminal);
    }

    /// The columns whose cells do not fit.
    pub(super) fn elided(&self) -> impl Iterator<Item = usize> {
        let all = self.widths.iter().zip(&self.natural).enumerate();
        let narrow = all.filter(|(_, (width, natural))| width < natural).map(|(at, _)| at);
        narrow.filter(|at| !self.hidden.contains(at) && Some(*at) != self.wrapped)
    }

    pub(super) fn used(&self) -> usize {
        let drawn = self.widths.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at));
        drawn.map(|(_, width)| width + 2).sum()
    }

    pub(super) fn draw(&self, table: &Table, cells: &[String]) -> String {
        let mut row = String::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at)) {
            let width = self.widths[at];
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            row.push_str("  ");
            if table.columns[at].form.is_number() {
                row.push_str(&format!("{pad}{cell}"));
            } else {
                row.push_str(&format!("{cell}{pad}"));
            }
        }
        row.trim_end().to_owned()
    }
}
