//! Kinds of kernels, each in one category, with or without matrix products.

use serde::{Serialize, Serializer};

use super::words::Category;

macro_rules! kinds {
    ($($variant:ident, $key:literal, $category:ident, $product:literal;)*) => {
        /// Kind of a kernel's operation; each kind belongs to one [`Category`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are the field's terms")]
        pub enum Kind { $($variant),* }

        impl Kind {
            /// All kinds, by category.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant),*];

            /// Returns the name in files and JSON, such as `conv-dgrad`.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Kind::$variant => $key),* }
            }

            /// Returns the category of the kind.
            #[must_use]
            pub const fn category(self) -> Category {
                const CATEGORIES: &[Category] = &[$(Category::$category),*];
                CATEGORIES[self as usize]
            }

            /// Returns `true` if kernels of this kind multiply matrices, so that tensor cores could
            /// do the work.
            ///
            /// Products with a vector or a sparse matrix, depthwise convolutions and factorisations
            /// are dot products too, but do not count here.
            #[must_use]
            pub const fn is_product(self) -> bool {
                const PRODUCTS: &[bool] = &[$($product),*];
                PRODUCTS[self as usize]
            }
        }
    };
}

kinds! {
    Gemm, "gemm", DotProduct, true;
    ConvFprop, "conv-fprop", DotProduct, true;
    ConvDgrad, "conv-dgrad", DotProduct, true;
    ConvWgrad, "conv-wgrad", DotProduct, true;
    AttentionFwd, "attention-fwd", DotProduct, true;
    AttentionBwd, "attention-bwd", DotProduct, true;
    AttentionDecode, "attention-decode", DotProduct, true;
    Rnn, "rnn", DotProduct, true;
    Gemv, "gemv", DotProduct, false;
    Sparse, "sparse", DotProduct, false;
    ConvDepthwise, "conv-depthwise", DotProduct, false;
    Solver, "solver", DotProduct, false;
    Elementwise, "elementwise", Elementwise, false;
    Activation, "activation", Elementwise, false;
    Dropout, "dropout", Elementwise, false;
    Rope, "rope", Elementwise, false;
    Quantize, "quantize", Elementwise, false;
    Optimizer, "optimizer", Elementwise, false;
    Interpolate, "interpolate", Elementwise, false;
    RnnCell, "rnn-cell", Elementwise, false;
    GemmAux, "gemm-aux", Elementwise, false;
    WinogradTransform, "winograd-transform", Elementwise, false;
    AttentionAux, "attention-aux", Elementwise, false;
    Reduce, "reduce", Reduction, false;
    Softmax, "softmax", Reduction, false;
    Loss, "loss", Reduction, false;
    Layernorm, "layernorm", Reduction, false;
    Rmsnorm, "rmsnorm", Reduction, false;
    Groupnorm, "groupnorm", Reduction, false;
    Batchnorm, "batchnorm", Reduction, false;
    Pooling, "pooling", Reduction, false;
    Histogram, "histogram", Reduction, false;
    SplitKReduce, "split-k-reduce", Reduction, false;
    AttentionCombine, "attention-combine", Reduction, false;
    Memcpy, "memcpy", DataMovement, false;
    MemcpyHost, "memcpy-host", DataMovement, false;
    MemcpyPeer, "memcpy-peer", DataMovement, false;
    Memset, "memset", DataMovement, false;
    Copy, "copy", DataMovement, false;
    Cast, "cast", DataMovement, false;
    Fill, "fill", DataMovement, false;
    Layout, "layout", DataMovement, false;
    Transpose, "transpose", DataMovement, false;
    Concat, "concat", DataMovement, false;
    Gather, "gather", DataMovement, false;
    Scatter, "scatter", DataMovement, false;
    Select, "select", DataMovement, false;
    Embedding, "embedding", DataMovement, false;
    ConvAux, "conv-aux", DataMovement, false;
    Collective, "collective", Communication, false;
    Fft, "fft", Other, false;
    Sort, "sort", Other, false;
    Topk, "topk", Other, false;
    Scan, "scan", Other, false;
    Random, "random", Other, false;
    Stencil, "stencil", Other, false;
    PageFault, "page-fault", Other, false;
    Other, "other", Other, false;
}

impl Kind {
    /// Returns the kind with this key.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.key() == key)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_products_are_dot_products() {
        for (position, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(*kind as usize, position);
            assert_eq!(Kind::from_key(kind.key()), Some(*kind));
            assert_ne!(kind.category(), Category::Unknown);
            assert!(!kind.is_product() || kind.category() == Category::DotProduct);
        }
    }
}
