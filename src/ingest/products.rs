//! Products of matrices that a device counts apart by format, as AMD's do: none of one format does not mean none at all.

use crate::model::{Engine, Pipe, Quantity};

/// The formats of most products.
const PRODUCTS: [Quantity; 2] =
    [Quantity::Work(Pipe::Fp16Matrix), Quantity::Work(Pipe::Bf16Matrix)];

/// Whether a mapping counts products of a half format of which a table, or a launch, has no counts.
pub(super) fn lacks_products(
    all: impl Iterator<Item = Quantity>,
    there: impl Iterator<Item = Quantity>,
) -> bool {
    let there: Vec<Quantity> = there.collect();
    let mut wanted = all.filter(|quantity| PRODUCTS.contains(quantity));
    wanted.any(|quantity| !there.contains(&quantity))
}

/// Whether it is work on matrix engines.
pub(super) fn is_product(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Work(pipe) if pipe.engine() == Engine::Matrix)
}
