//! Where quotes, delimiters and line ends are among 64 bytes, as bit masks.
//!
//! Plain loops over arrays of a fixed size, which the compiler turns into vector instructions of
//! whatever machine it builds for.

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
        Self {
            quotes: mask(block, |byte| byte == b'"'),
            delimiters: mask(block, |byte| byte == delimiter),
            ends: mask(block, |byte| byte == b'\n' || byte == b'\r'),
        }
    }
}

/// One bit for each byte that is meant.
#[inline]
fn mask(block: &[u8; BLOCK], is_meant: impl Fn(u8) -> bool) -> u64 {
    // Bit k of byte j stands for byte 8k + j.
    let mut columns = [0_u8; 16];
    for (four, bytes) in block.chunks_exact(16).enumerate() {
        for (at, (column, byte)) in columns.iter_mut().zip(bytes).enumerate() {
            let weight = 1 << (2 * four + at / 8);
            *column |= if is_meant(*byte) { weight } else { 0 };
        }
    }
    let both = u128::from_le_bytes(columns);
    transposed(both as u64 | (both >> 64) as u64)
}

/// Eight rows of eight bits turned into columns.
#[inline]
fn transposed(mut bits: u64) -> u64 {
    for (shift, upper) in
        [(7, 0x00aa_00aa_00aa_00aa), (14, 0x0000_cccc_0000_cccc), (28, 0x0000_0000_f0f0_f0f0)]
    {
        let other = (bits ^ bits >> shift) & upper;
        bits ^= other ^ other << shift;
    }
    bits
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
        fn each_bit_stands_for_its_byte(bytes in prop::collection::vec(any::<bool>(), BLOCK)) {
            let text: Vec<u8> = bytes.iter().map(|is_mark| if *is_mark { b',' } else { b'a' }).collect();
            let found = mask(text.first_chunk().unwrap(), |byte| byte == b',');
            for (at, is_mark) in bytes.into_iter().enumerate() {
                prop_assert_eq!(found >> at & 1 == 1, is_mark);
            }
        }
    }
}
