//! Grids and blocks, and each of them kept once: a million launches may have as many.

use std::hash::{Hash, Hasher};

use super::positions::Positions;

/// Extent in x, y and z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Dim3 {
    /// Extent in x.
    pub x: u32,
    /// Extent in y.
    pub y: u32,
    /// Extent in z.
    pub z: u32,
}

impl Dim3 {
    /// Returns the number of elements; the largest `u64` if there are more, which no device can launch.
    #[must_use]
    pub fn volume(self) -> u64 {
        (u64::from(self.x) * u64::from(self.y)).saturating_mul(u64::from(self.z))
    }

    /// Parses `(256, 1, 1)` as written by Nsight Compute, or `256,1,1` as written by `PyProf`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_bytes(text.as_bytes())
    }

    /// The same for a text that may not be UTF-8.
    pub(crate) fn parse_bytes(text: &[u8]) -> Option<Self> {
        Self::plain(text).or_else(|| Self::parse_other(std::str::from_utf8(text).ok()?))
    }

    fn parse_other(text: &str) -> Option<Self> {
        let inner = text.trim().trim_start_matches('(').trim_end_matches(')');
        let mut parts = inner.split(',').map(|part| part.trim().parse::<u32>().ok());
        let dim = Self { x: parts.next()??, y: parts.next()??, z: parts.next()?? };
        parts.next().is_none().then_some(dim)
    }

    /// Parses the common spellings: digits, commas, a blank after a comma, parentheses around.
    fn plain(text: &[u8]) -> Option<Self> {
        let inner = match text {
            [b'(', inside @ .., b')'] => inside,
            bare => bare,
        };
        let (mut numbers, mut rest) = ([0_u32; 3], inner);
        for (at, number) in numbers.iter_mut().enumerate() {
            if at > 0 {
                let [b',', after @ ..] = rest else { return None };
                rest = if let [b' ', after @ ..] = after { after } else { after };
            }
            let before = rest.len();
            while let [digit @ b'0'..=b'9', after @ ..] = rest {
                *number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
                rest = after;
            }
            // So many digits fit.
            if !(1..=9).contains(&(before - rest.len())) {
                return None;
            }
        }
        let [x, y, z] = numbers;
        rest.is_empty().then_some(Self { x, y, z })
    }
}

impl std::fmt::Display for Dim3 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}×{}×{}", self.x, self.y, self.z)
    }
}

/// Grid and block of a launch; old exports give only the products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Shape {
    /// Blocks in each direction.
    pub grid: Option<Dim3>,
    /// Threads per block in each direction.
    pub block: Option<Dim3>,
    /// Blocks in the grid.
    pub blocks: Option<u64>,
    /// Threads in a block.
    pub threads_per_block: Option<u64>,
}

impl Hash for Shape {
    /// Hashes four words instead of twelve parts; absent parts count as zero.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [grid, block] = [self.grid, self.block].map(|extent| {
            let Dim3 { x, y, z } = extent.unwrap_or(Dim3 { x: 0, y: 0, z: 0 });
            (u64::from(x) << 32 | u64::from(y), u64::from(z))
        });
        state.write_u64(grid.0);
        state.write_u64(block.0);
        state.write_u64(grid.1 << 32 | block.1);
        state.write_u64(self.blocks.unwrap_or(0) ^ self.threads_per_block.unwrap_or(0) << 32);
    }
}

impl Shape {
    /// Makes a shape from extents, including their products; of zeros none, which is what lost extents look like.
    #[must_use]
    pub fn new(grid: Option<Dim3>, block: Option<Dim3>) -> Self {
        let [grid, block] = [grid, block].map(|of| of.filter(|of| of.volume() > 0));
        Self {
            grid,
            block,
            blocks: grid.map(Dim3::volume),
            threads_per_block: block.map(Dim3::volume),
        }
    }
}

/// The distinct shapes of a profile.
#[derive(Debug, Default)]
pub(super) struct Shapes {
    list: Vec<Kept>,
    /// Of those that follow from grid and block.
    positions: Positions,
    /// The others: a part is unknown, or a product is not that of its parts.
    others: Vec<Shape>,
    /// The id of each of the others.
    other_ids: Vec<u32>,
    other_positions: Positions,
}

/// A shape in half a line of a processor's cache: every launch asks for its own.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct Kept {
    extents: Extents,
    /// Index among the others, plus one; zero if it follows from the extents.
    other: u32,
}

/// Grid and block, two numbers to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Extents([u64; 3]);

impl Hash for Extents {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for word in self.0 {
            state.write_u64(word);
        }
    }
}

impl Extents {
    /// Grid and block, if the whole shape follows from them.
    fn of(shape: &Shape) -> Option<Self> {
        let (grid, block) = (shape.grid?, shape.block?);
        if *shape != Shape::new(shape.grid, shape.block) {
            return None;
        }
        let word = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        Some(Self([word(grid.x, grid.y), word(grid.z, block.z), word(block.x, block.y)]))
    }

    fn shape(self) -> Shape {
        let halves = |word: u64| ((word >> 32) as u32, word as u32);
        let [grid, z, block] = self.0.map(halves);
        let extent = |(x, y): (u32, u32), z| Some(Dim3 { x, y, z });
        Shape::new(extent(grid, z.0), extent(block, z.1))
    }
}

impl Shapes {
    /// Returns the id of a shape, adding it if it is new.
    pub(super) fn id(&mut self, shape: Shape) -> u32 {
        let Self { list, positions, others, other_ids, other_positions } = self;
        let next = u32::try_from(list.len()).unwrap_or(u32::MAX);
        if let Some(extents) = Extents::of(&shape) {
            if let Some(at) = positions.find(&extents, |at| &list[at].extents) {
                return u32::try_from(at).unwrap_or(u32::MAX);
            }
            list.push(Kept { extents, other: 0 });
            positions.add(list.len() - 1, |at| &list[at].extents);
            return next;
        }
        if let Some(at) = other_positions.find(&shape, |at| &others[at]) {
            return other_ids[at];
        }
        others.push(shape);
        other_ids.push(next);
        other_positions.add(others.len() - 1, |at| &others[at]);
        let other = u32::try_from(others.len()).unwrap_or(u32::MAX);
        list.push(Kept { extents: Extents::default(), other });
        next
    }

    /// Returns the shape with this id.
    pub(super) fn get(&self, id: u32) -> Shape {
        let Kept { extents, other } = self.list[id as usize];
        other.checked_sub(1).map_or_else(|| extents.shape(), |other| self.others[other as usize])
    }

    /// Iterates over the shapes by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = Shape> {
        (0..self.list.len()).map(|id| self.get(id as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_grid_has_as_many_blocks_as_can_be_counted() {
        let most = u32::MAX;
        assert_eq!(Dim3 { x: most, y: most, z: most }.volume(), u64::MAX);
        assert_eq!(Dim3 { x: most, y: most, z: 1 }.volume(), u64::from(most) * u64::from(most));
        assert_eq!(Dim3 { x: most, y: most, z: 0 }.volume(), 0);
    }

    #[test]
    fn dimensions_are_read_in_both_spellings() {
        let dim = Dim3 { x: 256, y: 2, z: 1 };
        assert_eq!(Dim3::parse("(256, 2, 1)"), Some(dim));
        assert_eq!(Dim3::parse("256,2,1"), Some(dim));
        for bad in ["", "256", "(1,2)", "1,2,3,4", "(a, 1, 1)", "-1,1,1"] {
            assert_eq!(Dim3::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn each_shape_is_kept_once() {
        let mut shapes = Shapes::default();
        let shape = |x, threads| Shape {
            grid: Some(Dim3 { x, y: 1, z: 1 }),
            threads_per_block: threads,
            ..Shape::default()
        };
        for _ in 0..2 {
            for x in 0..1000 {
                assert_eq!(shapes.id(shape(x, None)), 2 * x);
                assert_eq!(shapes.id(shape(x, Some(0))), 2 * x + 1);
            }
        }
        assert_eq!(shapes.iter().count(), 2000);
        assert_eq!(shapes.get(7), shape(3, Some(0)));
    }

    #[test]
    fn a_shape_comes_back_as_it_was() {
        let most = u32::MAX;
        let extents = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [4, 5, 6], [most, most, most]];
        let extents = extents.map(|[x, y, z]| Some(Dim3 { x, y, z }));
        let mut all = vec![Shape::default()];
        for grid in extents {
            let other = |block| Shape { blocks: Some(7), ..Shape::new(grid, block) };
            all.extend([Shape::new(grid, None), Shape::new(None, grid)]);
            all.extend(extents.map(|block| Shape::new(grid, block)));
            all.extend(extents.map(other));
        }
        let mut shapes = Shapes::default();
        let ids: Vec<u32> = all.iter().map(|shape| shapes.id(*shape)).collect();
        assert!(ids.iter().zip(0..).all(|(id, at)| *id == at));
        assert!(shapes.iter().eq(all.iter().copied()));
        assert!(all.iter().zip(ids).all(|(shape, id)| shapes.id(*shape) == id));
    }
}
