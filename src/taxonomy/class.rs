//! What a name tells: category, kind, number formats and the rest of a [`Class`].

use serde::Serialize;

use super::fused::Fused;
use super::kind::Kind;
use super::words::{Category, Direction};
use crate::model::{DataType, Precision};

/// The architecture a kernel was built for; not the device it ran on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Architecture {
    /// As in the name: `ampere`, `sm_90`, `gfx90a`.
    pub name: String,
    /// Compute capability, the family's first where only a family is named; none for AMD.
    pub compute_capability: Option<(u32, u32)>,
}

/// Number formats a name tells; each is missing where it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Formats {
    /// First operand, as it is multiplied or computed on.
    pub a: Option<DataType>,
    /// Second operand of a product; the first's format where the name tells one for both.
    pub b: Option<DataType>,
    /// The accumulator.
    pub accumulate: Option<DataType>,
    /// The result.
    pub output: Option<DataType>,
    /// The first operand as it lies in memory: TF32 operands are FP32 there.
    pub stored: Option<DataType>,
    /// Read from letters whose meaning is not documented (`nvjet`): likely, not certain.
    pub inferred: bool,
}

/// What the name of a kernel tells, or that of its operator. A hint: it never overrides a counter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Class {
    /// The rule that recognized the name; `None` if none did.
    pub rule: Option<String>,
    /// Told by the operator that launched it, as its own name tells nothing.
    pub by_operator: bool,
    /// The family of the operation.
    pub category: Category,
    /// The operation.
    pub kind: Option<Kind>,
    /// Where the kernel comes from, such as `cublas`.
    pub library: Option<String>,
    /// Whether it uses tensor cores; `None` where the name does not tell. Only products do.
    pub tensor: Option<bool>,
    /// The matrix instruction as in the name, such as `16x8x16` or `s1688`.
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
    /// The sum over K is divided between blocks and added up afterwards.
    pub split_k: bool,
    /// The pass of training.
    pub direction: Option<Direction>,
    /// The architecture it was built for.
    pub built_for: Option<Architecture>,
    /// Widest vector access it assumes, in elements.
    pub alignment: Option<u32>,
    /// The operators a compiler fused into it.
    pub fused: Option<Fused>,
}

impl Class {
    /// A name that tells nothing.
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

    /// Whether it multiplies matrices for certain; see [`Kind::is_product`].
    #[must_use]
    pub fn is_product(&self) -> bool {
        self.kind.is_some_and(Kind::is_product)
    }

    /// Whether it is bound by a link to the host or to another device, not by this device's roofs.
    #[must_use]
    pub fn crosses_link(&self) -> bool {
        self.category == Category::Communication
            || matches!(self.kind, Some(Kind::MemcpyHost | Kind::MemcpyPeer | Kind::PageFault))
    }

    /// The precision of its multiplications, if the name tells.
    ///
    /// Mixed operands are widened to the wider one. FP32 operands on tensor cores are multiplied as
    /// TF32 or in several parts of BF16, which the name does not tell.
    #[must_use]
    pub fn precision(&self) -> Option<Precision> {
        let a = self.formats.a?;
        let wide = a.wider(self.formats.b.unwrap_or(a));
        let ambiguous = wide == DataType::Fp32 && self.tensor == Some(true);
        (!ambiguous).then(|| wide.precision())
    }
}
