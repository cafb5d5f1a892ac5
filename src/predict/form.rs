//! Closed forms: kernels whose operations and bytes follow from their sizes.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::count::Count;
use super::error::PredictError;
use super::parameter::{Parameter, TILING};

/// One kernel whose operations and compulsory bytes are known in closed form.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// Stable name, used on the command line, in model files and in reports.
    pub name: &'static str,
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// What it computes, in one line.
    pub summary: &'static str,
    /// Kind of operation.
    pub category: Category,
    /// Its own parameters; [`Form::parameters`] has the shared ones as well.
    pub(super) parameters: &'static [Parameter],
    /// Arguments of a typical call.
    pub example: &'static str,
    /// True if it runs as a tiled matrix product.
    pub tiled: bool,
    /// True if its operations on complex numbers are counted as those on real ones.
    pub(super) is_complex: bool,
    /// Counts it; called through [`Arguments::count`].
    pub(super) count: fn(&Arguments) -> Result<Count, PredictError>,
    /// How its counts are derived, and from which source: labeled paragraphs.
    pub derivation: &'static str,
}

/// Kinds of operations, by what usually limits them.
///
/// Source: NVIDIA, *GPU Performance Background User's Guide*, "DNN Operation Categories".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Each result depends on one element of each operand: memory-bound.
    Elementwise,
    /// Each result depends on a range of elements: usually memory-bound.
    Reduction,
    /// Dot products between operands: memory-bound or compute-bound, depending on sizes.
    DotProduct,
    /// Nothing is computed.
    DataMovement,
    /// Transforms, sorting and other operations.
    Other,
}

impl Category {
    /// Returns the name in listings.
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
    /// Iterates over all parameters: its own, and those of tiled products if it is one.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        let tiling: &[Parameter] = if self.tiled { TILING } else { &[] };
        self.parameters.iter().chain(tiling)
    }

    /// Returns the usage: its name with every required parameter.
    #[must_use]
    pub fn usage(&self) -> String {
        let needed = self.parameters().filter(|one| one.default == super::Fallback::Needed);
        let keys = needed.map(|one| format!(" {}=…", one.name));
        format!("{}{}", self.name, keys.collect::<String>())
    }
}
