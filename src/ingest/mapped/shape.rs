//! Grid and block of a row.

use super::mapping::{Extent, Mapping};
use crate::ingest::rows::Row;
use crate::ingest::{IngestError, Numerals};
use crate::model::{Dim3, Shape};

/// Where grid and block are: in three columns, in one, or nowhere.
pub(super) struct ShapeAt {
    grid: Vec<usize>,
    block: Vec<usize>,
    /// Whether the grid counts threads. Profilers that do so write one column as a product.
    in_threads: bool,
}

impl ShapeAt {
    /// Finds the columns of a mapping that a table has.
    pub(super) fn new(mapping: &Mapping, found: impl Fn(&str) -> Option<usize>) -> Self {
        let at = |extent: &Option<Extent>| {
            let columns = extent.iter().flat_map(|extent| &extent.columns);
            columns.map_while(|column| found(column)).collect()
        };
        Self {
            grid: at(&mapping.grid),
            block: at(&mapping.block),
            in_threads: mapping.grid.as_ref().is_some_and(|grid| grid.threads),
        }
    }

    /// Reads them from a row. `skip` counts a cell that cannot be read, with the reason.
    ///
    /// # Errors
    /// When `skip` refuses the cell.
    pub(super) fn read(
        &self,
        row: &Row,
        numerals: Numerals,
        mut skip: impl FnMut(usize, &str) -> Result<(), IngestError>,
    ) -> Result<Shape, IngestError> {
        let (grid, blocks) = self.extent(row, numerals, &self.grid, &mut skip)?;
        let (block, threads) = self.extent(row, numerals, &self.block, &mut skip)?;
        let mut shape = if self.in_threads {
            // The last block of a direction may be partly used.
            let covered = grid.zip(block).and_then(|(grid, block)| {
                let blocks = |all: u32, one: u32| (one > 0).then(|| all.div_ceil(one));
                let (x, y) = (blocks(grid.x, block.x)?, blocks(grid.y, block.y)?);
                Some(Dim3 { x, y, z: blocks(grid.z, block.z)? })
            });
            let mut shape = Shape::new(covered, block);
            let blocks = blocks.zip(threads).filter(|(_, threads)| *threads > 0);
            shape.blocks =
                shape.blocks.or_else(|| blocks.map(|(all, threads)| all.div_ceil(threads)));
            shape
        } else {
            let mut shape = Shape::new(grid, block);
            shape.blocks = shape.blocks.or(blocks);
            shape
        };
        shape.threads_per_block = shape.threads_per_block.or(threads);
        Ok(shape)
    }

    /// The extents of a grid or block, and their product where it stands alone.
    fn extent(
        &self,
        row: &Row,
        numerals: Numerals,
        at: &[usize],
        skip: &mut impl FnMut(usize, &str) -> Result<(), IngestError>,
    ) -> Result<(Option<Dim3>, Option<u64>), IngestError> {
        match *at {
            [x, y, z] => {
                let mut parts = [None; 3];
                for (part, at) in parts.iter_mut().zip([x, y, z]) {
                    match numerals.whole(row.cell(at)) {
                        Ok(number) => *part = number,
                        Err(reason) => skip(at, reason)?,
                    }
                }
                let extent = match parts {
                    [Some(x), Some(y), Some(z)] => Some(Dim3 { x, y, z }),
                    _ => None,
                };
                Ok((extent, None))
            }
            [at] => {
                let cell = row.cell(at);
                let product = numerals.whole(cell);
                let extent = Dim3::parse(&row.text(at).replace(['x', 'X', '×', '*'], ","));
                // `1,139,968` is one number, or three.
                let is_either = extent.is_some() && product.is_ok() && is_grouped(cell);
                if is_either && !self.in_threads && numerals.is_grouped() {
                    skip(at, "three extents or one number with grouped digits")?;
                    return Ok((None, None));
                }
                match (extent, product) {
                    (Some(extent), _) if !(is_either && self.in_threads) => {
                        Ok((Some(extent), None))
                    }
                    (_, Ok(product)) => {
                        Ok((None, product.filter(|product| *product > 0).map(u64::from)))
                    }
                    (_, Err(_)) => {
                        skip(at, "neither extents nor a whole number").map(|()| (None, None))
                    }
                }
            }
            _ => Ok((None, None)),
        }
    }
}

/// Whether a cell is digits in groups of three with commas between, and nothing else.
fn is_grouped(cell: &[u8]) -> bool {
    let mut groups = cell.trim_ascii().split(|byte| *byte == b',');
    let is_digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && is_digits(first))
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Mapping, Options, read};
    use crate::model::{Profile, Quantity};

    fn read_text(text: &str, map: Option<&str>) -> Profile {
        let map = map.map(|map| Mapping::from_toml(map, "map.toml").unwrap());
        read(&[Input::text("t.csv", text)], &Options { map, ..Options::default() }).unwrap()
    }

    /// 1,139,968 work-items in groups of 256 are 4,453 groups, not 1 × 139 × 968.
    #[test]
    fn grouped_digits_of_a_count_of_work_items_are_one_number() {
        let text = "Index,KernelName,gpu-id,queue-id,grd,wgr,BeginNs,EndNs\n\
            0,a,1,0,\"1,139,968\",256,\"1,000,000\",\"1,004,000\"\n\
            1,b,1,0,\"155,648\",\"1,024\",\"2,000,000\",\"2,000,500\"\n";
        let profile = read_text(text, None);
        assert_eq!(profile.sources[0].format, "rocprof-v1");
        let [a, b] = [0, 1].map(|at| profile.launch(at));
        assert_eq!((a.head.shape.grid, a.head.shape.blocks), (None, Some(4453)));
        assert_eq!((b.head.shape.blocks, b.head.shape.threads_per_block), (Some(152), Some(1024)));
        assert_eq!(a.value(Quantity::Duration), Some(4_000_000.0 * 1e-12));
        assert_eq!(profile.sources[0].skips.count, 0);
    }

    #[test]
    fn blocks_in_a_file_that_groups_digits_are_extents_only_where_that_is_certain() {
        let map =
            "[columns]\nkernel = 'name'\ntime = { column = 'us', unit = 'us' }\ngrid = 'grid'";
        let table = |time: &str| {
            format!(
                "name,us,grid\na,{time},\"256,128,100\"\nb,2.5,\"(256,128,100)\"\nc,2.5,\"64,128,1\"\n"
            )
        };
        let blocks = |profile: &Profile| [0, 1, 2].map(|at| profile.launch(at).head.shape.blocks);
        let plain = read_text(&table("1234.5"), Some(map));
        assert_eq!(blocks(&plain), [Some(3_276_800), Some(3_276_800), Some(8192)]);
        let grouped = read_text(&table("\"1,234.5\""), Some(map));
        assert_eq!(blocks(&grouped), [None, Some(3_276_800), Some(8192)]);
        let skips = &grouped.sources[0].skips;
        assert_eq!(
            (skips.count, skips.first[0].line, &*skips.first[0].text),
            (1, 2, "256,128,100")
        );
        assert_eq!(skips.first[0].reason, "three extents or one number with grouped digits");
    }
}
