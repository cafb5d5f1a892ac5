//! Bytes as a sequence of choices, so that any bytes make a valid export. Bytes that have run out choose the first.

/// What is left of the bytes.
#[derive(Debug)]
pub(crate) struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        *first
    }

    /// A number below `end`, with as many bytes as it takes.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        let mut value = 0_u64;
        let mut range = end.saturating_sub(1);
        while range > 0 {
            value = value << 8 | u64::from(self.byte());
            range >>= 8;
        }
        value % end.max(1)
    }

    /// An index below `end`.
    pub(crate) fn index(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }

    /// Once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == times - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.index(all.len())]
    }

    pub(crate) fn shuffle<T>(&mut self, all: &mut [T]) {
        for at in (1..all.len()).rev() {
            // Without bytes everything stays where it is.
            let other = at - self.index(at + 1);
            all.swap(at, other);
        }
    }

    /// A whole number of at least 1, all orders of magnitude up to `digits` digits alike.
    pub(crate) fn amount(&mut self, digits: u32) -> u64 {
        let digits = 1 + self.below(u64::from(digits)) as u32;
        1 + self.below(10_u64.pow(digits) - 1)
    }
}
