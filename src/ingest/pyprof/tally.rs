//! What a file tells about the program that wrote it, and about what is missing from it.

use super::columns::{Column, Columns};
use super::counts::Printed;
use crate::ingest::operators::forms::{Count, Work};
use crate::ingest::operators::operator::Operator;
use crate::model::Mended;
use crate::plain::counted;
use crate::units::{Bytes, Seconds};

/// Nanoseconds in a second; dividing by it rounds once.
pub(super) const NANOSECONDS: f64 = 1e9;

/// A sum over the launches of a file.
#[derive(Debug, Clone, Copy)]
enum Sum {
    Nanoseconds,
    /// Of launches of which nothing is known.
    Unknown,
    ZeroTime,
    Printed,
    Right,
    FaultyTime,
}

/// Sums, whose last digit depends on the order of what is added.
#[derive(Debug, Default)]
struct Sums {
    totals: [f64; 6],
    /// What is still to be added, where launches before it have not been.
    later: Option<Vec<(Sum, f64)>>,
}

impl Sums {
    fn add(&mut self, sum: Sum, value: f64) {
        match &mut self.later {
            Some(later) => later.push((sum, value)),
            None => self.totals[sum as usize] += value,
        }
    }

    fn of(&self, sum: Sum) -> f64 {
        self.totals[sum as usize]
    }
}

/// Counts taken while a file is read.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Kernel names that fill their column of fixed-width text.
    pub(super) cut_kernels: u64,
    /// Parameters that fill their column of fixed-width text.
    pub(super) cut_params: u64,
    /// Element-wise operators whose operations are whole numbers, and floats.
    whole_counts: u64,
    float_counts: u64,
    /// Whether the table is fixed-width text, which prints floats as whole numbers too.
    fixed_width: bool,
    /// Parameters written as `[shape]type`.
    tensor_text: u64,
    launches: u64,
    sums: Sums,
    /// Launches of which the file tells neither operations nor bytes, not even a zero.
    unknown: u64,
    /// Launches of which something was not taken as the file prints it.
    zeros: u64,
    repaired: u64,
    unrepaired: u64,
    /// Launches whose operations or bytes the file does not have.
    computed: u64,
    /// The numbers of the first and the last launch.
    first: Option<u32>,
    last: Option<u32>,
    jumps: u64,
    /// Line of a Python traceback among the rows.
    pub(super) traceback: Option<u64>,
}

impl Tally {
    /// Nothing counted yet.
    pub(super) fn new(fixed_width: bool) -> Self {
        Self { fixed_width, ..Self::default() }
    }

    /// Nothing counted yet of launches that come after others.
    pub(super) fn later() -> Self {
        let sums = Sums { later: Some(Vec::new()), ..Sums::default() };
        Self { sums, ..Self::default() }
    }

    /// Adds what was counted of the launches after these.
    pub(super) fn join(&mut self, other: Self) {
        let counts = [
            (&mut self.cut_kernels, other.cut_kernels),
            (&mut self.cut_params, other.cut_params),
            (&mut self.whole_counts, other.whole_counts),
            (&mut self.float_counts, other.float_counts),
            (&mut self.tensor_text, other.tensor_text),
            (&mut self.launches, other.launches),
            (&mut self.unknown, other.unknown),
            (&mut self.zeros, other.zeros),
            (&mut self.repaired, other.repaired),
            (&mut self.unrepaired, other.unrepaired),
            (&mut self.computed, other.computed),
            (&mut self.jumps, other.jumps),
        ];
        for (count, more) in counts {
            *count += more;
        }
        for (sum, value) in other.sums.later.into_iter().flatten() {
            self.sums.add(sum, value);
        }
        if let Some(first) = other.first {
            self.number(first);
            self.last = other.last;
        }
    }

    /// What was not taken as the file prints it.
    pub(super) fn mended(&self) -> Mended {
        let seconds = |sum| Seconds::new(self.sums.of(sum));
        let bytes = |sum| Bytes::new(self.sums.of(sum));
        Mended {
            zeros: self.zeros,
            zero_time: seconds(Sum::ZeroTime),
            repaired: self.repaired,
            printed: bytes(Sum::Printed),
            right: bytes(Sum::Right),
            unrepaired: self.unrepaired,
            faulty_time: seconds(Sum::FaultyTime),
        }
    }

    /// Counts one launch.
    pub(super) fn launch(
        &mut self,
        operator: &Operator,
        printed: Printed,
        work: Work,
        nanoseconds: f64,
    ) {
        self.launches += 1;
        self.sums.add(Sum::Nanoseconds, nanoseconds);
        if operator.is_pointwise && printed.flops.is_some_and(|flops| flops > 0.0) {
            if printed.float {
                self.float_counts += 1;
            } else {
                self.whole_counts += 1;
            }
        }
        let time = nanoseconds / NANOSECONDS;
        if work.flops.is_none() && work.bytes.is_none() {
            if printed.flops == Some(0.0) && printed.bytes == Some(0.0) {
                self.zeros += 1;
                self.sums.add(Sum::ZeroTime, time);
            } else {
                self.unknown += 1;
                self.sums.add(Sum::Unknown, nanoseconds);
            }
        }
        if let (Some(bytes), Some(count)) = (printed.bytes, work.bytes) {
            self.bytes(operator, bytes, count, time);
        }
        let absent = |printed: Option<f64>| printed.is_none_or(|value| value == 0.0);
        let computed_flops =
            absent(printed.flops) && work.flops.is_some_and(|count| count.value > 0.0);
        if computed_flops || (absent(printed.bytes) && work.bytes.is_some()) {
            self.computed += 1;
        }
    }

    /// Sees the bytes printed for a launch, and those taken instead.
    fn bytes(&mut self, operator: &Operator, printed: f64, taken: Count, time: f64) {
        let is_faulty = operator.is_faulty(printed);
        if taken.basis == *operator.printed_bytes() {
            if is_faulty || operator.may_be_faulty() {
                self.unrepaired += 1;
                self.sums.add(Sum::FaultyTime, time);
            }
        } else if is_faulty {
            self.repaired += 1;
            self.sums.add(Sum::Printed, printed);
            self.sums.add(Sum::Right, taken.value);
            self.sums.add(Sum::FaultyTime, time);
        }
    }

    /// Sees the number of a launch.
    pub(super) fn number(&mut self, id: u32) {
        self.jumps += u64::from(self.last.is_some_and(|last| last.checked_add(1) != Some(id)));
        self.first = self.first.or(Some(id));
        self.last = Some(id);
    }

    /// Sees the parameters of a new operator.
    pub(super) fn params(&mut self, op: &str, params: &str) {
        self.tensor_text += u64::from(params.starts_with('[') && !op.is_empty());
    }

    /// The program that wrote the file, as far as it can be told.
    pub(super) fn dialect(&self, columns: &Columns) -> &'static str {
        if columns.lower_case() {
            "lower-case fork of PyProf"
        } else if self.float_counts > 0 {
            "apex.pyprof or pyprof2"
        } else if self.tensor_text > 0
            || (self.whole_counts > 0 && !self.fixed_width)
            || columns.at(Column::LongKernel).is_some()
        {
            "NVIDIA PyProf"
        } else {
            "PyProf, version unknown"
        }
    }

    /// What a reader of the report must know, one sentence each.
    pub(super) fn clues(&self, columns: &Columns) -> Vec<String> {
        let mut clues = Vec::new();
        if self.float_counts > 0 {
            clues.push("operations of element-wise kernels are floats, half of the elements moved: written by apex.pyprof or pyprof2".to_owned());
        } else if self.tensor_text > 0 {
            clues.push("tensors are written as [shape]type: NVIDIA PyProf 3".to_owned());
        }
        let absent: Vec<_> = [
            (Column::Flops, "FLOPs"),
            (Column::Bytes, "Bytes"),
            (Column::Params, "Params"),
            (Column::Op, "Op"),
        ]
        .into_iter()
        .filter(|(column, _)| columns.at(*column).is_none())
        .map(|(_, name)| name)
        .collect();
        if !absent.is_empty() {
            clues.push(format!("no column {}", absent.join(", ")));
        }
        if self.computed > 0 {
            let launches = counted(self.computed, "launch", "launches");
            clues.push(format!(
                "operations or bytes of {launches} are computed from Op and Params, the file has none"
            ));
        }
        if self.unknown > 0 {
            clues.push(format!(
                "{} of {} launches ({:.1}% of the time) have neither operations nor bytes: neither PyProf nor their shapes tell what they do",
                self.unknown,
                self.launches,
                100.0 * self.sums.of(Sum::Unknown) / self.sums.of(Sum::Nanoseconds).max(1.0)
            ));
        }
        if self.cut_kernels + self.cut_params > 0 {
            clues.push(format!(
                "-w cut up to {} kernel names and {} Params; of cut Params only the named sizes of convolutions are used, print with --csv",
                self.cut_kernels, self.cut_params
            ));
        }
        if self.jumps > 0 {
            clues.push(format!(
                "Idx is not consecutive in {} places: rows were removed, reordered or joined",
                self.jumps
            ));
        }
        clues.push(match self.traceback {
            Some(line) => format!("PyProf stopped with a Python error (line {line}): the launches after it are missing"),
            None => "PyProf stops at an operator it does not know without a sign in the file: launches at the end may be missing".to_owned(),
        });
        clues
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::Source;

    /// The source of a table with this header and these rows.
    fn source(header: &str, rows: &[&str]) -> Source {
        let text = format!("{header}\n{}\n", rows.join("\n"));
        read_text("table.csv", text.leak(), &Options::default()).unwrap().sources.remove(0)
    }

    const HEADER: &str = "\"Idx\",\"Kernel\",\"Op\",\"Params\",\"Sil(ns)\",\"FLOPs\",\"Bytes\"";

    fn clue<'a>(source: &'a Source, word: &str) -> Option<&'a str> {
        source.clues.iter().map(String::as_str).find(|clue| clue.contains(word))
    }

    #[test]
    fn who_wrote_a_file_is_told_by_how_it_writes_counts() {
        let mul = |flops: &str| {
            let row = format!("\"1\",\"k\",\"__mul__\",\"na\",\"1000\",\"{flops}\",\"800\"");
            source(HEADER, &[&row]).dialect
        };
        assert_eq!(mul("100.0"), "apex.pyprof or pyprof2");
        assert_eq!(mul("100"), "NVIDIA PyProf");
        assert_eq!(mul("0"), "PyProf, version unknown");
    }

    /// 3 of 4 µs are of a launch of which nothing is known.
    #[test]
    fn launches_of_which_nothing_is_known_are_counted_with_their_time() {
        let rows = [
            "\"1\",\"k\",\"strange\",\"na\",\"3000\",\"na\",\"na\"",
            "\"2\",\"k\",\"__mul__\",\"na\",\"1000\",\"100\",\"800\"",
        ];
        let found = source(HEADER, &rows);
        let text = "1 of 2 launches (75.0% of the time) have neither operations nor bytes";
        assert!(clue(&found, "neither operations").unwrap().starts_with(text), "{:?}", found.clues);
        assert_eq!(clue(&found, "Idx"), None);
    }

    #[test]
    fn rows_that_are_missing_leave_a_gap_in_the_numbers() {
        let row = |id: u32| format!("\"{id}\",\"k\",\"__mul__\",\"na\",\"1000\",\"100\",\"800\"");
        let [one, two, four, nine] = [row(1), row(2), row(4), row(9)];
        let found = source(HEADER, &[&one, &two, &four, &nine]);
        assert!(clue(&found, "Idx is not consecutive in 2 places").is_some(), "{:?}", found.clues);
    }

    #[test]
    fn columns_that_are_absent_and_a_traceback_are_named() {
        let header = "\"Idx\",\"Kernel\",\"Op\",\"Sil(ns)\"";
        let rows = ["\"1\",\"k\",\"__mul__\",\"1000\"", "Traceback (most recent call last):"];
        let found = source(header, &rows);
        assert!(clue(&found, "no column FLOPs, Bytes, Params").is_some(), "{:?}", found.clues);
        assert!(clue(&found, "Python error (line 3)").is_some(), "{:?}", found.clues);
    }
}
