//! The launch whose rows are being gathered.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::ingest::Record;
use crate::ingest::nsight::Identity;
use crate::ingest::nsight::parts::Key;
use crate::model::{Dim3, Head};

/// A launch with the cells that its rows share: comparing them is cheaper than reading them.
#[derive(Default)]
pub(super) struct Current {
    pub(super) key: Key,
    pub(super) head: Head,
    process: Vec<u8>,
    id: Vec<u8>,
    /// The cell of the kernel's name, which may have a range before the name.
    kernel: Vec<u8>,
    block: Vec<u8>,
    grid: Vec<u8>,
    ordinal: Vec<u8>,
    capability: Vec<u8>,
}

impl Current {
    /// Begins the launch of a row. Launches of several runs may have the same numbers: their shapes and devices tell them
    /// apart.
    pub(super) fn begin(
        &mut self,
        identity: &Identity,
        (process, id): (u32, u32),
        head: Head,
        record: &Record<'_>,
    ) {
        for (into, cell) in self.cells().into_iter().zip(cells(identity, record)) {
            into.clear();
            into.extend_from_slice(cell);
        }
        let mut hasher = DefaultHasher::new();
        (head.shape, &self.ordinal, &self.capability).hash(&mut hasher);
        (self.key, self.head) = ((process, id, hasher.finish()), head);
    }

    /// Whether a row is of this launch. A cell that is empty or cannot be read contradicts nothing.
    pub(super) fn has(&self, identity: &Identity, record: &Record<'_>) -> bool {
        let [process, id, kernel, block, grid, ordinal, capability] = cells(identity, record);
        let is_dim = |text: &[u8]| Dim3::parse_bytes(text).is_some();
        let is_number = |text: &[u8]| {
            !text.is_empty() && text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        };
        self.id == id
            && self.process == process
            && self.kernel == kernel
            && alike(&self.block, block, is_dim)
            && alike(&self.grid, grid, is_dim)
            && alike(&self.ordinal, ordinal, is_number)
            && alike(&self.capability, capability, is_number)
    }

    /// Number and compute capability of its device, as they are written.
    pub(super) fn device_cells(&self) -> [&[u8]; 2] {
        [&self.ordinal, &self.capability]
    }

    fn cells(&mut self) -> [&mut Vec<u8>; 7] {
        [
            &mut self.process,
            &mut self.id,
            &mut self.kernel,
            &mut self.block,
            &mut self.grid,
            &mut self.ordinal,
            &mut self.capability,
        ]
    }
}

/// Whether two cells are equal, or one of them is not what `is_it` asks for.
fn alike(one: &[u8], other: &[u8], is_it: impl Fn(&[u8]) -> bool) -> bool {
    one == other || !is_it(one) || !is_it(other)
}

/// The cells that the rows of a launch share.
fn cells<'r>(identity: &Identity, record: &'r Record<'_>) -> [&'r [u8]; 7] {
    let [process, id] = identity.number_cells(record);
    let kernel = record.get(identity.kernel).unwrap_or_default();
    let [block, grid] = identity.shape_cells(record);
    let [ordinal, capability] = identity.device_cells(record);
    [process, id, kernel, block, grid, ordinal, capability]
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};
    use crate::model::{Profile, Quantity};

    /// A list of rows of one process, ID and kernel: grid, device, compute capability, metric and value.
    fn list(rows: &[[&str; 5]]) -> Profile {
        let mut text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
            \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
            .to_owned();
        for [grid, device, capability, metric, value] in rows {
            let unit = if metric.starts_with("gpu") { "ns" } else { "byte" };
            text += &format!(
                "\"0\",\"1\",\"a\",\"h\",\"k\",\"1\",\"7\",\"(64, 1, 1)\",\"{grid}\",\"{device}\",\"{capability}\",\
                 \"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"{value}\"\n"
            );
        }
        read(&[Input::text("list.csv", &text)], &Options::default()).unwrap()
    }

    /// Blocks, nanoseconds and bytes of each launch.
    fn launches(profile: &Profile) -> Vec<(Option<u64>, Option<f64>, Option<f64>)> {
        let launches = profile.iter().map(|launch| {
            let time = launch.value(Quantity::Duration).map(|time| (time * 1e9).round());
            (launch.head.shape.blocks, time, launch.value(Quantity::DramBytes))
        });
        launches.collect()
    }

    const TIME: &str = "gpu__time_duration.sum";
    const BYTES: &str = "dram__bytes.sum";

    /// Two runs whose process and launch have the same numbers, as in containers, and whose grids differ.
    #[test]
    fn launches_with_one_number_and_other_grids_are_two() {
        let [one, two] = ["(1, 1, 1)", "(2, 1, 1)"];
        let expected = [(Some(1), Some(100.0), Some(10.0)), (Some(2), Some(200.0), Some(20.0))];
        let by_launch = list(&[
            [one, "0", "9.0", TIME, "100"],
            [one, "0", "9.0", BYTES, "10"],
            [two, "0", "9.0", TIME, "200"],
            [two, "0", "9.0", BYTES, "20"],
        ]);
        assert_eq!(launches(&by_launch), expected);
        let by_metric = list(&[
            [one, "0", "9.0", TIME, "100"],
            [two, "0", "9.0", TIME, "200"],
            [one, "0", "9.0", BYTES, "10"],
            [two, "0", "9.0", BYTES, "20"],
        ]);
        assert_eq!(launches(&by_metric), expected);
        assert_eq!(by_metric.sources[0].skips.count, 0);
    }

    #[test]
    fn launches_with_one_number_on_other_devices_are_two() {
        let grid = "(1, 1, 1)";
        for (device, capability) in [("1", "9.0"), ("0", "8.0")] {
            let profile =
                list(&[[grid, "0", "9.0", TIME, "100"], [grid, device, capability, TIME, "100"]]);
            assert_eq!(profile.sources[0].launches, 2, "{device} {capability}");
        }
        // An empty cell beside a row of the launch contradicts nothing.
        let profile = list(&[[grid, "0", "9.0", TIME, "100"], [grid, "0", "", BYTES, "10"]]);
        assert_eq!(launches(&profile), [(Some(1), Some(100.0), Some(10.0))]);
    }
}
