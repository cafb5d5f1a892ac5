//! A closed form: a kernel whose operations and bytes follow from its sizes.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::arguments::Arguments;
use super::count::Count;
use super::error::{PredictError, nearest};
use super::forms::FORMS;
use super::parameter::{Parameter, TILING};

/// One kernel whose operations and compulsory bytes are known in closed form.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Stable name, used on the command line, in model files and in reports.
    pub name: &'static str,
    /// Other names it is found by.
    pub aliases: &'static [&'static str],
    /// What it computes, in one line.
    pub summary: &'static str,
    /// What kind of operation it is.
    pub category: Category,
    /// Its own parameters; [`Form::parameters`] has the shared ones as well.
    pub(super) parameters: &'static [Parameter],
    /// Arguments of a typical call.
    pub example: &'static str,
    /// Whether it runs as a tiled matrix product.
    pub tiled: bool,
    /// Counts it; called through [`Arguments::count`].
    pub(super) count: fn(&Arguments) -> Result<Count, PredictError>,
    /// How its counts are derived, and from which source: labeled paragraphs.
    pub derivation: &'static str,
}

/// Kinds of operations, by what usually limits them.
///
/// Source: NVIDIA, *GPU Performance Background User's Guide*, "DNN Operation Categories".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Each result depends on one element of each operand: memory-limited.
    Elementwise,
    /// Each result depends on a range of elements: usually memory-limited.
    Reduction,
    /// Dot products between operands: limited by either, depending on sizes.
    DotProduct,
    /// Nothing is computed.
    DataMovement,
    /// Transforms, sorting and what fits nowhere else.
    Other,
}

impl Category {
    /// The name in listings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Elementwise => "elementwise",
            Self::Reduction => "reduction",
            Self::DotProduct => "dot product",
            Self::DataMovement => "data movement",
            Self::Other => "other",
        }
    }
}

impl Form {
    /// Every parameter: its own, and those of tiled products where it is one.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let tiling: &[Parameter] = if self.tiled { TILING } else { &[] };
        self.parameters.iter().chain(tiling)
    }

    /// How to call it: its name with every parameter that must be given.
    #[must_use]
    pub fn usage(&self) -> String {
        let needed = self.parameters().filter(|one| one.default == super::Fallback::Needed);
        let keys = needed.map(|one| format!(" {}=…", one.name));
        format!("{}{}", self.name, keys.collect::<String>())
    }
}

/// As in a listing: with all parameters and the derivation.
impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Form", 7)?;
        fields.serialize_field("name", self.name)?;
        fields.serialize_field("aliases", self.aliases)?;
        fields.serialize_field("summary", self.summary)?;
        fields.serialize_field("category", &self.category)?;
        fields.serialize_field("parameters", &self.parameters().collect::<Vec<_>>())?;
        fields.serialize_field("example", self.example)?;
        fields.serialize_field("derivation", self.derivation)?;
        fields.end()
    }
}

/// The closed form of this name or alias; `_` and capitals are accepted.
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Fallback;
    use super::*;

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
    fn a_listing_has_all_parameters() {
        let json = serde_json::to_value(form("gemm").unwrap()).unwrap();
        let names = json["parameters"].as_array().unwrap().iter().map(|one| &one["name"]);
        let names: Vec<_> = names.collect();
        assert_eq!(names.len(), form("gemm").unwrap().parameters().count());
        assert!(names.contains(&&"tile_m".into()) && names.contains(&&"beta".into()));
        assert!(json["derivation"].as_str().unwrap().contains("2MNK"));
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
