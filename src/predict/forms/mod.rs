//! Every closed form: one file a family, with a table of its forms.
#![expect(
    clippy::many_single_char_names,
    clippy::unnecessary_wraps,
    reason = "formulas and their letters; one signature for all"
)]

use super::arguments::Arguments;
use super::count::{Count, Link, Product};
use super::error::PredictError;
use super::form::{Category, Form};
use super::heads::Heads;
use super::parameter::{DTYPE, EXACT, INDEX, Kind, Parameter};
use super::window::{Convolution, Window};
use crate::model::DataType;

mod attention;
mod elementwise;
mod layers;
mod matrices;
mod movement;
mod norms;
mod optimizers;
mod others;
mod rows;
mod streams;
mod sums;

/// The families, in the order in which they are listed.
const FAMILIES: &[&[Form]] = &[
    streams::FORMS,
    sums::FORMS,
    matrices::FORMS,
    layers::FORMS,
    attention::FORMS,
    elementwise::FORMS,
    norms::FORMS,
    optimizers::FORMS,
    rows::FORMS,
    movement::FORMS,
    others::FORMS,
];

/// Every closed form, in the order in which they are listed.
pub const FORMS: &[Form] = &joined();

/// What most forms have: no other names, no tiles.
const PLAIN: Form = Form {
    name: "",
    aliases: &[],
    summary: "",
    category: Category::Other,
    parameters: &[],
    example: "",
    tiled: false,
    count: |_| Ok(Count::new()),
    derivation: "",
};

const fn how_many() -> usize {
    let (mut sum, mut family) = (0, 0);
    while family < FAMILIES.len() {
        sum += FAMILIES[family].len();
        family += 1;
    }
    sum
}

const fn joined() -> [Form; how_many()] {
    let mut all = [PLAIN; how_many()];
    let (mut at, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut one = 0;
        while one < FAMILIES[family].len() {
            all[at] = FAMILIES[family][one];
            at += 1;
            one += 1;
        }
        family += 1;
    }
    all
}

/// So many numbers of one format.
const fn elements(format: &'static str) -> [Parameter; 2] {
    [Parameter::size("n", "elements"), DTYPE.or(format)]
}

/// An operand of as many elements as the kernel has.
enum Operand {
    Read(&'static str),
    Write(&'static str),
    Update(&'static str),
}

/// So many operations for each of n elements of one format, and these operands.
fn each(
    given: &Arguments,
    what: &'static str,
    operations: f64,
    operands: &[Operand],
) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let count = Count::new().vector(what, operations * n, e).work_items(n);
    Ok(operands.iter().fold(count, |count, operand| match operand {
        Operand::Read(name) => count.read(name, n, e),
        Operand::Write(name) => count.write(name, n, e),
        Operand::Update(name) => count.update(name, n, e),
    }))
}
