//! The launch whose rows are being gathered, and which rows are of it.

use crate::ingest::nsight::Identity;
use crate::ingest::numerals::is_missing;
use crate::ingest::{Reading, Record};
use crate::model::{Dim3, Head, Shape};

/// The launch whose rows are being gathered.
#[derive(Default)]
pub(super) struct Current {
    pub(super) key: (u32, u32),
    pub(super) head: Head,
    process: Vec<u8>,
    id: Vec<u8>,
    /// The cell of the kernel's name, which may have a range before the name.
    kernel: Vec<u8>,
    /// Block, grid, number of the device and compute capability, as far as the rows so far have them.
    described: [Vec<u8>; 4],
}

impl Current {
    /// Takes the cells of the first row, in the memory of the launch before.
    pub(super) fn begin(&mut self, identity: &Identity, record: &Record<'_>) {
        let [process, id] = identity.number_cells(record);
        let kernel = record.get(identity.kernel).unwrap_or_default();
        let named = [(&mut self.process, process), (&mut self.id, id), (&mut self.kernel, kernel)];
        let described = self.described.iter_mut().zip(identity.described_cells(record));
        for (into, cell) in named.into_iter().chain(described) {
            into.clear();
            into.extend_from_slice(cell);
        }
    }

    /// Whether a row is of this launch. Two runs may have the same numbers and kernels, and differ in the grid or
    /// the device; a cell that one of the rows lacks tells nothing.
    pub(super) fn takes(&mut self, identity: &Identity, record: &Record<'_>) -> bool {
        let [process, id] = identity.number_cells(record);
        let kernel = record.get(identity.kernel).unwrap_or_default();
        if self.id != id || self.process != process || self.kernel != kernel {
            return false;
        }
        let cells = identity.described_cells(record);
        if self.described.iter().zip(cells).all(|(known, cell)| known == cell) {
            return true;
        }
        if self.described.iter().zip(cells).any(|(known, cell)| differ(known, cell)) {
            return false;
        }
        for (known, cell) in self.described.iter_mut().zip(cells) {
            if is_lost(known) && !is_lost(cell) {
                known.clear();
                known.extend_from_slice(cell);
            }
        }
        let [block, grid] = [0, 1].map(|at| Dim3::parse_bytes(&self.described[at]));
        self.head.shape = Shape::new(grid, block);
        true
    }

    /// Number and compute capability of the device.
    pub(super) fn device_cells(&self) -> [&[u8]; 2] {
        let [_, _, ordinal, capability] = &self.described;
        [ordinal, capability]
    }
}

/// Whether a cell says nothing.
fn is_lost(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    is_missing(cell)
        || cell == b"No-CC"
        || Dim3::parse_bytes(cell).is_some_and(|of| of.volume() == 0)
}

/// Whether two cells of a column say two things. The same may be written in two ways, as `(8, 1, 1)` and `8,1,1`, or
/// `9.0` and `9`; what cannot be compared does not differ.
fn differ(one: &[u8], two: &[u8]) -> bool {
    if one == two || is_lost(one) || is_lost(two) {
        return false;
    }
    if let (Some(one), Some(two)) = (Dim3::parse_bytes(one), Dim3::parse_bytes(two)) {
        return one != two;
    }
    // A spreadsheet may have given numbers the decimal mark of its locale.
    let number = |cell: &[u8]| {
        let text = String::from_utf8_lossy(cell.trim_ascii()).replace(',', ".");
        text.parse::<f64>().ok()
    };
    match (number(one), number(two)) {
        (Some(one), Some(two)) => one.total_cmp(&two).is_ne(),
        _ => false,
    }
}

/// Whether the launch in a row, which has the same numbers as the one with this head, may be that one: name, grid,
/// block and device agree where both have them.
pub(super) fn is_launch(reading: &Reading<'_>, row: usize, head: &Head) -> bool {
    let known = reading.head(row);
    let (shape, other) = (known.shape, head.shape);
    known.name == head.name
        && [(shape.grid, other.grid), (shape.block, other.block)]
            .into_iter()
            .all(|(one, two)| one.is_none() || two.is_none() || one == two)
        && (known.device == head.device || {
            let [one, two] = [known.device, head.device].map(|id| reading.device(id));
            let pairs =
                [(&one.ordinal, &two.ordinal), (&one.compute_capability, &two.compute_capability)];
            pairs.into_iter().all(|pair| match pair {
                (Some(one), Some(two)) => !differ(one.as_bytes(), two.as_bytes()),
                _ => true,
            })
        })
}

#[cfg(test)]
mod tests {
    use super::differ;
    use crate::ingest::{Options, read_text};

    const HEAD: &str = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,\
                        Section Name,Metric Name,Metric Unit,Metric Value\n";
    const TIME: &str = "gpu__time_duration.sum,ns";
    const BYTES: &str = "dram__bytes.sum,byte";

    /// Grid, nanoseconds and bytes of the launches of rows: ID, grid, device, metric with unit, value.
    fn launches(rows: &[[&str; 5]]) -> Vec<(Option<u32>, Option<u64>, Option<u64>)> {
        use crate::model::Quantity::{DramBytes, Duration};
        let mut text = HEAD.to_owned();
        for [id, grid, device, metric, value] in rows {
            let list = "Command line profiler metrics";
            text.push_str(&format!(
                "{id},100,app,h,k,1,7,\"(256, 1, 1)\",\"{grid}\",{device},9.0,{list},{metric},{value}\n"
            ));
        }
        let found = read_text("list.csv", text.leak(), &Options::default()).unwrap();
        let launches = found.iter().map(|one| {
            let time = one.value(Duration).map(|time| (time * 1e9).round() as u64);
            let bytes = one.value(DramBytes).map(|bytes| bytes as u64);
            (one.head.shape.grid.map(|grid| grid.x), time, bytes)
        });
        launches.collect()
    }

    /// Two runs with the same process, ID and kernel, one after the other.
    #[test]
    fn another_grid_or_device_is_another_launch() {
        let rows = launches(&[
            ["0", "(1, 1, 1)", "0", TIME, "100"],
            ["0", "(1, 1, 1)", "0", BYTES, "5"],
            ["0", "(2, 1, 1)", "0", TIME, "100"],
            ["0", "(2, 1, 1)", "0", BYTES, "5"],
            ["0", "(2, 1, 1)", "1", TIME, "300"],
        ]);
        assert_eq!(
            rows,
            [
                (Some(1), Some(100), Some(5)),
                (Some(2), Some(100), Some(5)),
                (Some(2), Some(300), None)
            ]
        );
    }

    /// Sorted by metric, each row goes to the launch with its ID and grid, not to the one that came last.
    #[test]
    fn rows_of_two_runs_that_were_sorted_go_to_the_launch_with_their_grid() {
        let rows = launches(&[
            ["0", "(1, 1, 1)", "0", BYTES, "5"],
            ["1", "(1, 1, 1)", "0", BYTES, "6"],
            ["0", "(2, 1, 1)", "0", BYTES, "5"],
            ["1", "(2, 1, 1)", "0", BYTES, "6"],
            ["0", "(1, 1, 1)", "0", TIME, "100"],
            ["1", "(1, 1, 1)", "0", TIME, "110"],
            ["0", "(2, 1, 1)", "0", TIME, "200"],
            ["1", "(2, 1, 1)", "0", TIME, "220"],
        ]);
        assert_eq!(
            rows,
            [
                (Some(1), Some(100), Some(5)),
                (Some(1), Some(110), Some(6)),
                (Some(2), Some(200), Some(5)),
                (Some(2), Some(220), Some(6))
            ]
        );
    }

    #[test]
    fn a_row_without_a_grid_or_with_another_spelling_is_of_the_launch_before() {
        let rows = launches(&[
            ["0", "", "", TIME, "100"],
            ["0", "(2, 1, 1)", "0", BYTES, "5"],
            ["0", "2,1,1", "0", TIME, "100"],
            ["0", "", "0", BYTES, "5"],
            ["0", "(3, 1, 1)", "0", BYTES, "7"],
        ]);
        assert_eq!(rows, [(Some(2), Some(100), Some(5)), (Some(3), None, Some(7))]);
    }

    #[test]
    fn cells_differ_only_where_both_say_something_that_can_be_compared() {
        for (one, two, wanted) in [
            ("(1, 1, 1)", "(2, 1, 1)", true),
            ("(8, 1, 1)", "8,1,1", false),
            ("(0, 0, 0)", "(2, 1, 1)", false),
            ("0", "1", true),
            ("0", "", false),
            ("0", "n/a", false),
            ("9.0", "9", false),
            ("8,9", "8.9", false),
            ("8.0", "9.0", true),
            ("No-CC", "9.0", false),
            ("8", "(8, 1, 1)", false),
        ] {
            assert_eq!(differ(one.as_bytes(), two.as_bytes()), wanted, "{one} {two}");
            assert_eq!(differ(two.as_bytes(), one.as_bytes()), wanted, "{two} {one}");
        }
    }
}
