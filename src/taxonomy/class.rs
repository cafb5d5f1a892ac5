//! Facts derived from a kernel name: category, kind, number formats and the rest of a [`Class`].

use serde::Serialize;

use super::fused::Fused;
use super::kind::Kind;
use super::words::{Category, Direction};
use crate::model::{DataType, Precision};

/// The architecture a kernel was built for, which may differ from the device it ran on.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Architecture {
    /// Name as in the kernel name: `ampere`, `sm_90`, `gfx90a`.
    pub name: String,
    /// Compute capability, or the first of the family if only the family is named; `None` for AMD.
    pub compute_capability: Option<(u32, u32)>,
}

/// Number formats found in a name, each of which may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Formats {
    /// Format in which the first operand is computed.
    pub a: Option<DataType>,
    /// Format of the second operand of a product; that of the first if the name has one for both.
    pub b: Option<DataType>,
    /// Format of the accumulator.
    pub accumulate: Option<DataType>,
    /// Format of the result.
    pub output: Option<DataType>,
    /// Format of the first operand in memory: TF32 operands are FP32 there.
    pub stored: Option<DataType>,
    /// True if derived from letters with undocumented meaning (`nvjet`): likely, not certain.
    pub inferred: bool,
}

/// Facts derived from the name of a kernel or of its operator. They are hints and never override a
/// counter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Class {
    /// The rule that recognized the name; `None` if none did.
    pub rule: Option<String>,
    /// True if derived from the operator that launched it, because its own name is not informative.
    pub by_operator: bool,
    /// Category of the operation.
    pub category: Category,
    /// Kind of operation.
    pub kind: Option<Kind>,
    /// Library of the kernel, such as `cublas`.
    pub library: Option<String>,
    /// True if it uses tensor cores; `None` if the name does not say. Only products do.
    pub tensor: Option<bool>,
    /// Matrix instruction as in the name, such as `16x8x16` or `s1688`.
    pub mma: Option<String>,
    /// Output tile of one block, M by N.
    pub tile: Option<(u32, u32)>,
    /// Step along K.
    pub tile_k: Option<u32>,
    /// Pipeline stages of the K loop.
    pub stages: Option<u32>,
    /// Head dimension of an attention kernel.
    pub head_dim: Option<u32>,
    /// Number formats.
    pub formats: Formats,
    /// Transposition of A and B (`tn`), or order of the dimensions (`nhwc`).
    pub layout: Option<String>,
    /// True if the sum over K is split between blocks and added up afterwards.
    pub split_k: bool,
    /// Pass of training.
    pub direction: Option<Direction>,
    /// The architecture it was built for.
    pub built_for: Option<Architecture>,
    /// Widest vector access that it assumes, in elements.
    pub alignment: Option<u32>,
    /// Operators that a compiler fused into it.
    pub fused: Option<Fused>,
}

impl Class {
    /// Makes the class of a name that is not recognized.
    #[must_use]
    pub const fn unknown() -> Self {
        Self {
            rule: None,
            by_operator: false,
            category: Category::Unknown,
            kind: None,
            library: None,
            tensor: None,
            mma: None,
            tile: None,
            tile_k: None,
            stages: None,
            head_dim: None,
            formats: Formats {
                a: None,
                b: None,
                accumulate: None,
                output: None,
                stored: None,
                inferred: false,
            },
            layout: None,
            split_k: false,
            direction: None,
            built_for: None,
            alignment: None,
            fused: None,
        }
    }

    /// Returns `true` if it certainly multiplies matrices; see [`Kind::is_product`].
    #[must_use]
    pub fn is_product(&self) -> bool {
        self.kind.is_some_and(Kind::is_product)
    }

    /// Returns `true` if such kernels have threads by the number of their elements.
    #[must_use]
    pub const fn is_per_element(&self) -> bool {
        matches!(self.category, Category::Elementwise | Category::DataMovement)
    }

    /// Returns `true` if it is bound by a link to the host or to another device, not by this
    /// device's roofs.
    #[must_use]
    pub fn crosses_link(&self) -> bool {
        self.category == Category::Communication
            || matches!(self.kind, Some(Kind::MemcpyHost | Kind::MemcpyPeer | Kind::PageFault))
    }

    /// Returns the precision of its multiplications, if the name says.
    ///
    /// Mixed operands are widened to the wider one. FP32 operands on tensor cores are multiplied as
    /// TF32 or in several parts of BF16; the name does not say which.
    #[must_use]
    pub fn precision(&self) -> Option<Precision> {
        let a = self.formats.a?;
        let wide = a.wider(self.formats.b.unwrap_or(a));
        let ambiguous = wide == DataType::Fp32 && self.tensor == Some(true);
        (!ambiguous).then(|| wide.precision())
    }
}
