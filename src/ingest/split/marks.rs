//! Where quotes, delimiters and line ends are among 64 bytes, as bit masks.
//!
//! With the widest vector instructions of the processor that it runs on; loops that the compiler was to turn into
//! them were three times slower in one build and not in another.

use fearless_simd::prelude::*;
use fearless_simd::u8x64;

/// Bytes looked at together.
pub(super) const BLOCK: usize = 64;

/// The marks of a block; bit *i* stands for byte *i*.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) quotes: u64,
    pub(super) delimiters: u64,
    /// Line feeds and carriage returns.
    pub(super) ends: u64,
}

impl Marks {
    /// The marks of a block.
    #[expect(clippy::inline_always, reason = "a call would be without these instructions")]
    #[inline(always)]
    pub(super) fn of<S: Simd>(simd: S, block: &[u8; BLOCK], delimiter: u8) -> Self {
        let bytes = u8x64::from_slice(simd, block);
        let equal = |byte| bytes.simd_eq(byte).to_bitmask();
        Self {
            quotes: equal(b'"'),
            delimiters: equal(delimiter),
            ends: equal(b'\n') | equal(b'\r'),
        }
    }
}

/// Bit *i* is the parity of the bits up to and including *i*.
#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
pub(super) fn parity(bits: u64) -> u64 {
    let mut sum = bits;
    for shift in [1, 2, 4, 8, 16, 32] {
        sum ^= sum << shift;
    }
    sum
}

#[cfg(test)]
mod tests {
    use fearless_simd::{Level, dispatch};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_bit_stands_for_its_byte(text in "[a,\"\r\n]{64}") {
            let block = text.as_bytes().first_chunk().unwrap();
            let found = dispatch!(Level::new(), simd => Marks::of(simd, block, b','));
            let baseline = dispatch!(Level::baseline(), simd => Marks::of(simd, block, b','));
            prop_assert_eq!(found, baseline);
            for (at, byte) in text.bytes().enumerate() {
                let has = |mask: u64| mask >> at & 1 == 1;
                prop_assert_eq!(has(found.quotes), byte == b'"');
                prop_assert_eq!(has(found.delimiters), byte == b',');
                prop_assert_eq!(has(found.ends), matches!(byte, b'\r' | b'\n'));
            }
        }
    }
}
