//! Where quotes, delimiters and line ends are among 64 bytes, as bit masks.
//!
//! With the vector instructions of whatever machine it is built for; loops that the compiler was to
//! turn into them were three times slower in one build and not in another.

use wide::u8x64;

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
    #[inline]
    pub(super) fn of(block: &[u8; BLOCK], delimiter: u8) -> Self {
        let bytes = u8x64::new(*block);
        let equal = |byte| bytes.simd_eq(u8x64::splat(byte));
        Self {
            quotes: equal(b'"').to_bitmask(),
            delimiters: equal(delimiter).to_bitmask(),
            ends: (equal(b'\n') | equal(b'\r')).to_bitmask(),
        }
    }
}

/// Bit *i* is the parity of the bits up to and including *i*.
#[inline]
pub(super) fn parity(bits: u64) -> u64 {
    let mut sum = bits;
    for shift in [1, 2, 4, 8, 16, 32] {
        sum ^= sum << shift;
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_bit_stands_for_its_byte(text in "[a,\"\r\n]{64}") {
            let found = Marks::of(text.as_bytes().first_chunk().unwrap(), b',');
            for (at, byte) in text.bytes().enumerate() {
                let has = |mask: u64| mask >> at & 1 == 1;
                prop_assert_eq!(has(found.quotes), byte == b'"');
                prop_assert_eq!(has(found.delimiters), byte == b',');
                prop_assert_eq!(has(found.ends), matches!(byte, b'\r' | b'\n'));
            }
        }
    }
}
