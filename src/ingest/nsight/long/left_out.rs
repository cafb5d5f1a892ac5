//! Rows between those of launches that are of none.

use super::Table;
use crate::ingest::nsight::{GRAPH, Whole};
use crate::ingest::{IngestError, Reading};

impl Table {
    /// Leaves out a row of a graph or a range; each is counted once.
    pub(super) fn leave_out(
        &mut self,
        reading: &mut Reading<'_>,
        result: (Whole, (u32, u32)),
        line: u64,
    ) -> Result<(), IngestError> {
        self.is_within = false;
        match result {
            _ if !self.left_out.insert(result) => {}
            (Whole::Graph, _) => reading.skip(line, Some("Kernel Name"), "graph", GRAPH)?,
            (Whole::Range, _) => self.row.seen.ranges += 1,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::GRAPH;
    use crate::ingest::{Options, read_text};

    /// Their rows are sorted by metric, so that each comes twice and is counted once.
    #[test]
    fn whole_graphs_and_ranges_are_no_launches() {
        let mut text = "ID,Process ID,Process Name,Host Name,Kernel Name,Block Size,Grid Size,Section Name,Metric Name,Metric Unit,Metric Value\n".to_owned();
        for (metric, unit) in [("gpu__time_duration.sum", "ns"), ("dram__bytes.sum", "byte")] {
            for (id, kernel, shape) in [
                (0, "k", "(8, 1, 1)"),
                (1, "range", "(0, 0, 0)"),
                (2, "graph", "(8, 1, 1)"),
                (3, "range", "(8, 1, 1)"),
                (4, "graph", "(0, 0, 0)"),
            ] {
                text += &format!(
                    "{id},1,a,h,{kernel},\"{shape}\",\"{shape}\",List,{metric},{unit},9\n"
                );
            }
        }
        let found = read_text("list.csv", text.leak(), &Options::default()).unwrap();
        let names: Vec<_> = found.iter().map(|one| (one.head.id, one.kernel())).collect();
        assert_eq!(names, [(0, "k"), (3, "range")]);
        let source = &found.sources[0];
        assert_eq!((source.rows, source.skips.count), (10, 2));
        assert!(source.skips.first.iter().all(|skip| skip.reason == GRAPH));
        let clue = "1 result of range replay is not read: it is not a launch";
        assert!(source.clues.iter().any(|one| one == clue), "{:?}", source.clues);
    }
}
