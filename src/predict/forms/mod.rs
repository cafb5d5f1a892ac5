//! All closed forms: one file per family, with a table of its forms.
#![expect(
    clippy::many_single_char_names,
    clippy::unnecessary_wraps,
    reason = "formulas and their letters; one signature for all"
)]

use super::arguments::Arguments;
use super::count::{Count, Link, Product};
use super::error::{PredictError, nearest};
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

/// All closed forms, family by family, in the order in which they are listed.
pub const FORMS: &[Form] = joined!(
    Form,
    &[
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
    ]
);

/// Returns the closed form with this name or alias; `_` and capitals are accepted.
///
/// # Errors
/// [`PredictError::UnknownForm`] with similar names.
pub fn form(name: &str) -> Result<&'static Form, PredictError> {
    let wanted = name.trim().to_ascii_lowercase().replace('_', "-");
    let names =
        |form: &'static Form| std::iter::once(form.name).chain(form.aliases.iter().copied());
    let found = FORMS.iter().find(|form| names(form).any(|name| name == wanted));
    found.ok_or_else(|| {
        let nearest = nearest(&wanted, FORMS.iter().flat_map(names));
        PredictError::UnknownForm { name: name.to_owned(), nearest }
    })
}

/// Defaults of most forms: no aliases, no tiles.
const PLAIN: Form = Form {
    name: "",
    aliases: &[],
    summary: "",
    category: Category::Other,
    parameters: &[],
    example: "",
    tiled: false,
    is_complex: false,
    count: |_| Ok(Count::new()),
    derivation: "",
};

/// Parameters of a vector: its length and its format.
const fn elements(format: &'static str) -> [Parameter; 2] {
    [Parameter::size("n", "elements"), DTYPE.or(format)]
}

/// An operand with as many elements as the kernel has.
enum Operand {
    Read(&'static str),
    Write(&'static str),
    Update(&'static str),
}

/// Counts this many operations per element for n elements of one format, and these operands.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::predict::Fallback;

    #[test]
    fn every_form_counts_its_example_and_tells_its_derivation() {
        for form in FORMS {
            let arguments = Arguments::parse(form, form.example.split(' ')).unwrap();
            let count = arguments.count().unwrap();
            assert!(count.bytes().get() > 0.0, "{}", form.name);
            assert_eq!(count.product.is_some(), form.tiled, "{}", form.name);
            let text = form.derivation;
            assert!(text.starts_with(&format!("`{}`: ", form.name)), "{}", form.name);
            for part in ["FLOPs: ", "Bytes: ", "Source: "] {
                assert!(text.contains(&format!("\n{part}")), "{}: {part}", form.name);
            }
        }
    }

    #[test]
    fn names_aliases_and_parameters_are_unique_and_defaults_readable() {
        let mut names = BTreeSet::new();
        for form in FORMS {
            for name in std::iter::once(&form.name).chain(form.aliases) {
                assert!(names.insert(*name), "{name}");
            }
            let mut before = BTreeSet::new();
            for parameter in form.parameters() {
                if let Fallback::SameAs(other) = parameter.default {
                    assert!(before.contains(other), "{} {}", form.name, parameter.name);
                }
                assert!(before.insert(parameter.name), "{} {}", form.name, parameter.name);
            }
        }
    }

    #[test]
    fn every_operand_is_named_once() {
        for form in FORMS {
            let count = Arguments::parse(form, form.example.split(' ')).unwrap().count().unwrap();
            let names: BTreeSet<_> = count.traffic.iter().map(|one| one.operand).collect();
            assert_eq!(names.len(), count.traffic.len(), "{}", form.name);
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_similar_ones() {
        assert!(form("Batch_Norm").unwrap_err().to_string().contains("\"batchnorm\""));
        assert_eq!(form("SAXPY").unwrap().name, "axpy");
        assert_eq!(form("layernorm_backward").unwrap().name, "layernorm-backward");
    }
}
