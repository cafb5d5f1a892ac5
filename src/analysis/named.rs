//! What the names of kernels say, as a table: engines have no taxonomy.

use std::sync::Arc;

use super::design::{Names, Spare};
use super::groups::Groups;
use crate::law::Nature;
use crate::model::{Head, KernelName, Profile, Values};
use crate::scalar::{Constant, Word};
use crate::table::{Cell, Cells, Form, Table};
use crate::taxonomy::{Class, Taxonomy};

/// Name and major version of the schema of the table of names.
pub const NAMES_SCHEMA: &str = "rooflint/names/1";

/// What a name and an operator say of a kernel.
struct Named<'a> {
    kernel: &'a str,
    operator: &'a str,
    /// What all spellings of the name have in common, and no other name.
    identity: String,
    class: Arc<Class>,
    nature: Nature<f64>,
    is_persistent: bool,
    spare: Spare,
}

type Get = for<'a> fn(&'a Named<'a>) -> Option<Cell<'a>>;

/// The columns: name, type, value.
const COLUMNS: [(&str, Form, Get); 19] = [
    ("kernel", Form::Text, |name| Some(Cell::word(name.kernel))),
    ("operator", Form::Text, |name| Some(Cell::word(name.operator))),
    ("kernel_identity", Form::Text, |name| Some(Cell::word(&name.identity))),
    ("category", Form::Text, |name| Some(Cell::word(name.class.category.key()))),
    ("kind", Form::Text, |name| name.class.kind.map(|kind| Cell::word(kind.key()))),
    ("tensor", Form::Truth, |name| name.class.tensor.map(Cell::Truth)),
    ("crosses_link", Form::Truth, |name| Some(Cell::Truth(name.class.crosses_link()))),
    ("is_matrix_product", Form::Truth, |name| Some(Cell::Truth(name.class.is_product()))),
    ("is_per_element", Form::Truth, |name| Some(Cell::Truth(name.class.is_per_element()))),
    ("is_persistent_by_name", Form::Truth, |name| Some(Cell::Truth(name.is_persistent))),
    ("is_serial_by_name", Form::Truth, |name| Some(Cell::Truth(name.spare == Spare::Nothing))),
    ("has_work_by_name", Form::Truth, |name| Some(Cell::Truth(name.spare == Spare::Work))),
    ("moves_data", Form::Truth, |name| Some(Cell::Truth(name.nature.moves_data))),
    ("is_product", Form::Truth, |name| Some(Cell::Truth(name.nature.is_product))),
    ("product_format", Form::Text, |name| Some(Cell::word(name.nature.product.key()))),
    ("uncounted_tensor", Form::Count, |name| rank(name.nature.tensor)),
    ("uncounted_fp64", Form::Count, |name| rank(name.nature.fp64)),
    ("uncounted_fp32", Form::Count, |name| rank(name.nature.fp32)),
    ("uncounted_fp16", Form::Count, |name| rank(name.nature.fp16)),
];

fn rank(word: impl Word) -> Option<Cell<'static>> {
    match word.constant() {
        Constant::Rank(rank) => Some(Cell::Count(u64::from(rank))),
        Constant::Text(_) => None,
    }
}

/// Makes the table of what names say, a row for each name and operator, in their order. A missing operator is an
/// empty text, which a cell does not keep: it is missing in the table.
pub fn names<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    taxonomy: Option<Arc<Taxonomy>>,
) -> Table<'static> {
    let mut groups = Groups::new(taxonomy);
    let mut profile = Profile::default();
    let pairs: Vec<(&str, &str)> = pairs.into_iter().collect();
    for (kernel, operator) in &pairs {
        let [name, operator] = [kernel, operator].map(|text| profile.names.id(text));
        profile.launches.push(Head { name, operator, ..Head::default() }, &Values::default());
    }
    let mut rows = Vec::with_capacity(pairs.len());
    for (row, (kernel, operator)) in pairs.iter().enumerate() {
        let group = groups.of(&profile, row, 0);
        let nature = groups.nature(&profile, group);
        let class = groups.class(group);
        let (head, overload) = KernelName::identity(kernel);
        let named = Names { full: kernel, short: &KernelName::short(&head) };
        rows.push(Named {
            kernel,
            operator,
            identity: if overload.is_empty() {
                head.into_owned()
            } else {
                format!("{head}({overload})")
            },
            is_persistent: named.is_persistent(),
            spare: named.spare(&class),
            class,
            nature,
        });
    }
    let columns = COLUMNS
        .iter()
        .map(|(name, form, get)| ((*name).to_owned(), Cells::of(*form, rows.iter().map(get))));
    let metadata = vec![("schema".to_owned(), NAMES_SCHEMA.to_owned())];
    Table { height: rows.len(), columns: columns.collect(), metadata }
}
