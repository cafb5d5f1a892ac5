//! What a report says, before it has a format: sections of facts, sentences, lists, tables and figures.
//!
//! A subject (a run, a kernel, a gate's decision, a trend …) becomes a [`Document`] once; every format
//! of [`super::formats`] draws any document. Texts are plain: formats escape, wrap and color them.

mod table;

pub use table::{Cell, Column, Form, Row, Table};
pub(super) use table::{Drawn, MISSING};

use crate::analysis::Segment;

/// One report.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// What it is about: the heading of Markdown and of pages.
    pub title: String,
    /// Whether the terminal shows the title too; most reports begin with what they conclude.
    pub is_titled: bool,
    /// What it says, in order.
    pub blocks: Vec<Block>,
}

/// A part of a document.
#[derive(Debug, Clone)]
pub enum Block {
    /// Labels with what is to say of each: the first lines of a report.
    Facts(Vec<Fact>),
    /// Sentences that belong together.
    Paragraph(String),
    /// Items, one below the other.
    List(Vec<Item>),
    /// Items in an order that matters.
    Steps(Vec<Item>),
    /// A whole divided into parts, as one bar.
    Bar(Vec<Segment>),
    /// Rows and columns.
    Table(Table),
    /// Labeled values, each with a remark: arithmetic, line by line.
    Figures(Vec<Figure>),
    /// Text to be copied as it is: a command, a configuration.
    Code(String),
    /// A part with a title.
    Section(Section),
}

/// A label and what is to say of it.
#[derive(Debug, Clone)]
pub struct Fact {
    /// One or two words.
    pub label: &'static str,
    /// A sentence, or several of equal weight.
    pub lines: Vec<String>,
    /// How good or bad the news is.
    pub tone: Tone,
    /// Lines that a terminal shows; the others are counted.
    pub most: usize,
    /// Up to which percentage of a limited format it may fill, where it has several lines.
    pub room: u8,
    /// Whether its lines are commands to be copied, which a terminal does not break.
    pub is_to_copy: bool,
}

impl Fact {
    /// A label with one sentence.
    #[must_use]
    pub fn new(label: &'static str, line: impl Into<String>) -> Self {
        Self::list(label, vec![line.into()], usize::MAX)
    }

    /// A label with lines, of which a terminal shows `most`.
    #[must_use]
    pub fn list(label: &'static str, lines: Vec<String>, most: usize) -> Self {
        Self { label, lines, tone: Tone::Plain, most, room: 100, is_to_copy: false }
    }

    /// The same of lines that are commands to be copied.
    #[must_use]
    pub fn to_copy(mut self) -> Self {
        self.is_to_copy = true;
        self
    }

    /// The same with a limit to the percentage of a limited format that it may fill.
    #[must_use]
    pub fn room(mut self, percent: u8) -> Self {
        self.room = percent;
        self
    }

    /// The same in another tone.
    #[must_use]
    pub fn toned(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

/// How good or bad news are. Words say it too: color is never alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// Passed, faster.
    Good,
    /// Not certain.
    Doubtful,
    /// Failed, slower.
    Bad,
}

/// An item of a list.
#[derive(Debug, Clone, Default)]
pub struct Item {
    /// What stands before the text, made prominent; empty for none.
    pub label: String,
    /// The item itself.
    pub text: String,
    /// What belongs to it, a line each.
    pub details: Vec<String>,
    /// A page that says more about the label; shown where a terminal can open it.
    pub link: Option<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl Item {
    /// An item that begins with a label.
    #[must_use]
    pub fn labeled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self { label: label.into(), text: text.into(), ..Self::default() }
    }

    /// The same with a page about its label, if there is one.
    #[must_use]
    pub fn linked(mut self, link: Option<String>) -> Self {
        self.link = link;
        self
    }

    /// The same with lines below it.
    #[must_use]
    pub fn with(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}

/// A labeled value with a remark.
#[derive(Debug, Clone)]
pub struct Figure {
    /// A symbol or a few words.
    pub label: String,
    /// The value with its unit; may be empty where the remark says all.
    pub value: String,
    /// How it came about; may be empty.
    pub remark: String,
}

impl Figure {
    /// A labeled value with a remark.
    #[must_use]
    pub fn new(
        label: impl Into<String>,
        value: impl Into<String>,
        remark: impl Into<String>,
    ) -> Self {
        Self { label: label.into(), value: value.into(), remark: remark.into() }
    }
}

/// A part with a title.
#[derive(Debug, Clone)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What it says.
    pub blocks: Vec<Block>,
    /// Whether formats that can hide its content until it is asked for do so.
    pub is_folded: bool,
    /// Up to which percentage of a limited format it may fill: what comes first must not crowd out
    /// what comes later.
    pub room: u8,
    /// How much of its tables and lists a terminal shows; the rest is counted.
    pub brief: Brief,
}

/// How much of a section a terminal shows: a decision is read on one screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    /// Rows of a table, items of a list.
    pub items: usize,
    /// Details of an item.
    pub details: usize,
}

impl Default for Brief {
    fn default() -> Self {
        Self { items: usize::MAX, details: usize::MAX }
    }
}

impl Document {
    /// A document that begins with what it concludes, and shows its title only where there is a page.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// A document that shows its title everywhere.
    #[must_use]
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), is_titled: true, blocks: Vec::new() }
    }

    /// Adds a block.
    pub fn push(&mut self, block: Block) {
        self.blocks.push(block);
    }

    /// Adds a section, unless it would be empty.
    pub fn section(&mut self, title: impl Into<String>, blocks: Vec<Block>) {
        self.add(Section::new(title, blocks));
    }

    /// Adds a section that formats may fold, unless it would be empty.
    pub fn folded(&mut self, title: impl Into<String>, blocks: Vec<Block>) {
        self.add(Section { is_folded: true, ..Section::new(title, blocks) });
    }

    /// Adds a section, unless it is empty.
    pub fn add(&mut self, section: Section) {
        if !section.is_empty() {
            self.blocks.push(Block::Section(section));
        }
    }

    /// Every table with the titles of the sections that hold it, in order.
    #[must_use]
    pub fn tables(&self) -> Vec<(String, &Table)> {
        fn collect<'a>(blocks: &'a [Block], title: &str, all: &mut Vec<(String, &'a Table)>) {
            for block in blocks {
                match block {
                    Block::Table(table) => all.push((title.to_owned(), table)),
                    Block::Section(section) => collect(&section.blocks, &section.title, all),
                    _ => {}
                }
            }
        }
        let mut all = Vec::new();
        collect(&self.blocks, &self.title, &mut all);
        all
    }
}

impl Section {
    /// A section in the open.
    #[must_use]
    pub fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self { title: title.into(), blocks, is_folded: false, room: 100, brief: Brief::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.iter().all(Block::is_empty)
    }
}

impl Block {
    /// A list of plain lines.
    #[must_use]
    pub fn lines(lines: Vec<String>) -> Self {
        Self::List(lines.into_iter().map(Item::from).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Facts(facts) => facts.is_empty(),
            Self::Paragraph(text) | Self::Code(text) => text.is_empty(),
            Self::List(items) | Self::Steps(items) => items.is_empty(),
            Self::Bar(segments) => segments.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Figures(figures) => figures.is_empty(),
            Self::Section(section) => section.is_empty(),
        }
    }
}

/// What a list leaves out, as its title says it: `, the first 5 of 12`, `, the first of 12`; nothing where it is whole.
#[must_use]
pub(super) fn first_of(shown: usize, all: usize) -> String {
    match shown {
        _ if all <= shown => String::new(),
        1 => format!(", the first of {all}"),
        _ => format!(", the first {shown} of {all}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_without_content_is_left_out() {
        let mut document = Document::new("run");
        document.section("nothing", vec![Block::lines(Vec::new())]);
        document.section("nested", vec![Block::Section(Section::new("inner", Vec::new()))]);
        document.section("something", vec![Block::Paragraph("here".to_owned())]);
        assert_eq!(document.blocks.len(), 1);
    }

    #[test]
    fn tables_are_found_with_the_section_that_holds_them() {
        let mut table = Table::new("kernels", vec![Column::name("kernel", "kernel")]);
        table.push([Cell::text("copy")]);
        let mut document = Document::new("run");
        document.section("Kernels", vec![Block::Table(table)]);
        let found: Vec<String> = document.tables().into_iter().map(|(title, _)| title).collect();
        assert_eq!(found, ["Kernels"]);
    }

    #[test]
    fn a_title_says_what_a_list_leaves_out() {
        assert_eq!(first_of(5, 5), "");
        assert_eq!(first_of(5, 12), ", the first 5 of 12");
    }
}
