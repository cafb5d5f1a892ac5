//! `radix-sort`: n keys, alone or with values, sorted by digits of 8 bits.
//!
//! FLOPs: 0; the work is on integers and not counted.
//! Bytes: (k/8)·2(key + value) + key per element for keys of k bits; each digit reads and writes
//! everything, and one pass at the start counts the digits.
//! Source: A. Adinets, D. Merrill, *Onesweep*, 2022, arXiv 2206.01784.

use super::{Arguments, Category, Count, Form, Kind, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "radix-sort",
    aliases: &["sort"],
    summary: "keys, or keys with values, sorted",
    category: Category::Other,
    parameters: &[
        Parameter::size("n", "keys"),
        Parameter::data_type("key", "format of the keys").or("int32"),
        Parameter::data_type("value", "format of the values").of(Kind::DataTypeOrNone).or("none"),
        Parameter::size("digit", "key bits sorted in one pass").or("8"),
    ],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, key) = (given.number("n"), given.data_type("key"));
    let passes = (key.bits() / given.number("digit")).ceil();
    let sorted = Count::new().moved("keys", n, key, passes + 1.0, passes).work_items(n);
    Ok(match given.optional_data_type("value") {
        Some(value) => sorted.moved("values", n, value, passes, passes),
        None => sorted,
    })
}
