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
    let mut flags = [0_u8; BLOCK];
    for (flag, byte) in flags.iter_mut().zip(block) {
        *flag = u8::from(is_meant(*byte));
    }
    let mut bits = 0;
    for (at, eight) in flags.chunks_exact(8).enumerate() {
        let mut word = [0; 8];
        word.copy_from_slice(eight);
        // Moves the lowest bit of each byte into the highest byte, in order.
        let byte = u64::from_le_bytes(word).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= byte << (8 * at);
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
