//! Columns of facts derived from a kernel's name: hints, never counters.

use super::{Column, Get, Place};
use crate::table::{Cell, Form};
use crate::taxonomy::{Category, Class, Direction, Kind};

type Of = for<'a> fn(&'a Class) -> Option<Cell<'a>>;

fn column(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, &format!("{about}, from the name"), Get::Class(get))
}

pub(super) fn columns() -> Vec<Column> {
    use Form::{Count, Text, Truth};
    vec![
        column("category", Text, "category of the operation", |class| {
            Some(Cell::word(class.category.key()))
        })
        .of(Category::ALL.iter().map(|one| one.key()))
        .shown_in(Place::Report)
        .always(),
        column("kind", Text, "kind of operation", |class| {
            class.kind.map(|one| Cell::word(one.key()))
        })
        .of(Kind::ALL.iter().map(|one| one.key())),
        column("library", Text, "library of the kernel, such as `cublas`", |class| {
            class.library.as_deref().map(Cell::word)
        }),
        column("tensor", Truth, "true if it uses tensor cores; only products do", |class| {
            class.tensor.map(Cell::Truth)
        }),
        column("format", Text, "number format of the first operand, such as `bf16`", |class| {
            class.formats.a.map(|format| Cell::word(format.name()))
        }),
        column("tile_m", Count, "rows of a block's output tile", |class| {
            count(class.tile.map(|(rows, _)| rows))
        }),
        column("tile_n", Count, "columns of a block's output tile", |class| {
            count(class.tile.map(|(_, columns)| columns))
        }),
        column("tile_k", Count, "step along K", |class| count(class.tile_k)),
        column("stages", Count, "pipeline stages of the K loop", |class| count(class.stages)),
        column("head_dim", Count, "head dimension of attention", |class| count(class.head_dim)),
        column("alignment", Count, "widest vector access, in elements", |class| {
            count(class.alignment)
        }),
        column("layout", Text, "transposition of A and B, or order of dimensions", |class| {
            class.layout.as_deref().map(Cell::word)
        }),
        column("split_k", Truth, "true if the sum over K is split between blocks", |class| {
            Some(Cell::Truth(class.split_k))
        }),
        column("direction", Text, "pass of training", |class| {
            class.direction.map(|one| Cell::word(one.key()))
        })
        .of(Direction::ALL.iter().map(|one| one.key())),
        column("built_for", Text, "target architecture, such as `sm_90`", |class| {
            class.built_for.as_ref().map(|built| Cell::word(&built.name))
        }),
    ]
}

fn count(count: Option<u32>) -> Option<Cell<'static>> {
    count.map(|count| Cell::Count(u64::from(count)))
}
