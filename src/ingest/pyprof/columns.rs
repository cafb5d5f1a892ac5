//! The columns `PyProf` can print, by their headers, their option names and their widths.

/// A column this tool uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    /// Number of the launch, from 1.
    Idx,
    /// `fprop` or `bprop`.
    Direction,
    /// Number of the kernel within its operator, from 0.
    Sub,
    /// Python module of the operator.
    Module,
    /// Operator.
    Op,
    /// Kernel name without template arguments.
    Kernel,
    /// Kernel name as the compiler wrote it (later branches).
    LongKernel,
    /// Shapes and types of the operands.
    Params,
    /// Duration in nanoseconds.
    Time,
    /// Whether the kernel uses Tensor Cores.
    Tc,
    /// GPU ordinal.
    Device,
    /// CUDA stream.
    Stream,
    /// Blocks.
    Grid,
    /// Threads per block.
    Block,
    /// Operations, counted from the shapes.
    Flops,
    /// Bytes, counted from the shapes.
    Bytes,
}

impl Column {
    /// All of them, in order.
    pub(super) const ALL: [Self; 16] = [
        Self::Idx,
        Self::Direction,
        Self::Sub,
        Self::Module,
        Self::Op,
        Self::Kernel,
        Self::LongKernel,
        Self::Params,
        Self::Time,
        Self::Tc,
        Self::Device,
        Self::Stream,
        Self::Grid,
        Self::Block,
        Self::Flops,
        Self::Bytes,
    ];
}

/// Number of columns used.
const COUNT: usize = Column::ALL.len();

/// One column `PyProf` can print.
#[derive(Debug)]
struct Known {
    header: &'static str,
    /// Name of the `-c` option, which a fork prints as the header.
    option: &'static str,
    used: Option<Column>,
    /// Characters in fixed-width text; `None` shares what is left of the line.
    width: Option<usize>,
    /// Whether fixed-width text sets it to the right and never cuts it.
    number: bool,
}

const fn known(
    header: &'static str,
    option: &'static str,
    used: Option<Column>,
    width: usize,
) -> Known {
    Known { header, option, used, width: Some(width), number: false }
}

const fn number(
    header: &'static str,
    option: &'static str,
    used: Option<Column>,
    width: usize,
) -> Known {
    Known { header, option, used, width: Some(width), number: true }
}

/// Headers, options and widths of `pyprof/prof/output.py` (`NVIDIA/PyProf`), and of its later branches.
const KNOWN: [Known; 24] = [
    number("Idx", "idx", Some(Column::Idx), 7),
    known("SeqId", "seq", None, 7),
    known("AltSeqId", "altseq", None, 7),
    known("callid", "callid", None, 7),
    known("input_callids", "input_callids", None, 7),
    known("unique_name", "unique_name", None, 25),
    number("TId", "tid", None, 12),
    known("Layer", "layer", None, 10),
    known("Trace", "trace", None, 25),
    known("Direction", "dir", Some(Column::Direction), 5),
    number("Sub", "sub", Some(Column::Sub), 3),
    known("Module", "mod", Some(Column::Module), 15),
    known("Op", "op", Some(Column::Op), 15),
    Known {
        header: "Kernel",
        option: "kernel",
        used: Some(Column::Kernel),
        width: None,
        number: false,
    },
    known("KernelLName", "kernel_lname", Some(Column::LongKernel), 0),
    Known {
        header: "Params",
        option: "params",
        used: Some(Column::Params),
        width: None,
        number: false,
    },
    number("Sil(ns)", "sil", Some(Column::Time), 10),
    known("TC", "tc", Some(Column::Tc), 2),
    number("Device", "device", Some(Column::Device), 3),
    number("Stream", "stream", Some(Column::Stream), 3),
    known("Grid", "grid", Some(Column::Grid), 12),
    known("Block", "block", Some(Column::Block), 12),
    number("FLOPs", "flops", Some(Column::Flops), 12),
    number("Bytes", "bytes", Some(Column::Bytes), 12),
];

/// The columns of one file.
#[derive(Debug, Clone)]
pub(super) struct Columns {
    at: [Option<usize>; COUNT],
    /// Where columns are given again.
    again: Vec<(Column, usize)>,
    headers: Vec<String>,
}

impl Columns {
    /// The columns of a header row; `None` if it is not one of `PyProf`.
    ///
    /// A time is needed; `Sil(ns)` is nobody else's, the bare `sil` needs company.
    pub(super) fn of(headers: &[String]) -> Option<Self> {
        let mut at = [None; COUNT];
        let mut again = Vec::new();
        let mut count = 0;
        for (position, header) in headers.iter().enumerate() {
            let header = header.trim();
            let same = |name: &str| header.eq_ignore_ascii_case(name);
            let Some(known) = KNOWN.iter().find(|known| same(known.header) || same(known.option))
            else {
                continue;
            };
            count += 1;
            if let Some(column) = known.used
                && *at[column as usize].get_or_insert(position) != position
            {
                again.push((column, position));
            }
        }
        let headers: Vec<String> = headers.iter().map(|header| header.trim().to_owned()).collect();
        let columns = Self { at, again, headers };
        let own_word = columns.header(Column::Time)?.contains('(');
        (count >= if own_word { 2 } else { 3 }).then_some(columns)
    }

    /// Where a column is.
    pub(super) fn at(&self, column: Column) -> Option<usize> {
        self.at[column as usize]
    }

    /// Where columns are given again, as under both of their names.
    pub(super) fn again(&self) -> &[(Column, usize)] {
        &self.again
    }

    /// The header of a column as the file writes it.
    pub(super) fn header(&self, column: Column) -> Option<&str> {
        self.at(column).map(|position| self.headers[position].as_str())
    }

    /// All headers.
    pub(super) fn headers(&self) -> &[String] {
        &self.headers
    }

    /// Whether the headers are the option names, as a fork prints them.
    pub(super) fn lower_case(&self) -> bool {
        self.header(Column::Time).is_some_and(|header| header == "sil")
    }
}

/// How titles of the silicon time begin, cut or not.
pub(super) const NAMES: [&str; 3] = ["Sil", "sil", "SIL"];

/// Whether a line may be a header: every one names the silicon time, whole or cut.
pub(super) fn names_time(line: &str) -> bool {
    let begins = |at: usize| NAMES.iter().any(|name| line[at..].starts_with(name));
    memchr::memchr2_iter(b'S', b's', line.as_bytes()).any(begins)
}

/// A column of fixed-width text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Width {
    /// Characters it takes; the last column takes what is there.
    pub(super) characters: usize,
    /// Whether it is a number, set to the right and never cut.
    pub(super) number: bool,
}

/// The columns of a fixed-width header line, whose words are cut to the width of their column.
///
/// `None` if a word is not a column's, or stands where `-w` would not put it: `PyProf` separates
/// columns by one blank, and all but the kernel and its parameters have a fixed width.
pub(super) fn fixed_width(line: &str) -> Option<(Columns, Vec<Width>)> {
    let mut headers = Vec::new();
    let mut widths = Vec::new();
    let mut rest = line;
    while !rest.trim().is_empty() {
        let word = rest.split(' ').next().filter(|word| !word.is_empty())?;
        let known = KNOWN.iter().find(|known| match known.width {
            Some(width) => word == cut(known.header, width),
            None => word.len() >= 3 && known.header.starts_with(word),
        })?;
        let blanks = rest[word.len()..].bytes().take_while(|byte| *byte == b' ').count();
        let to_next = word.len() + blanks;
        let is_last = to_next == rest.len();
        let characters = match known.width {
            // Editors strip the blanks that end the line.
            Some(width) if to_next == width + 1 || (is_last && to_next <= width) => width,
            None if is_last && blanks == 0 => usize::MAX,
            None => to_next - 1,
            Some(_) => return None,
        };
        headers.push(known.header.to_owned());
        widths.push(Width { characters, number: known.number });
        rest = &rest[to_next..];
    }
    // Words one blank apart that happen to fit are no evidence.
    let columns = Columns::of(&headers).filter(|_| line.contains("  "))?;
    Some((columns, widths))
}

/// The beginning of an ASCII header, as `%-N.Ns` prints it.
fn cut(header: &str, width: usize) -> &str {
    &header[..width.min(header.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(line: &str) -> Vec<String> {
        line.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn both_spellings_any_order_and_any_subset_are_known() {
        let columns = Columns::of(&headers("Block,FLOPs,Sil(ns),Kernel")).unwrap();
        assert_eq!(columns.at(Column::Block), Some(0));
        assert_eq!(columns.at(Column::Time), Some(2));
        assert_eq!(columns.at(Column::Bytes), None);
        assert!(!columns.lower_case());
        let columns = Columns::of(&headers("op,kernel,SIL,localMemoryTotal")).unwrap();
        assert_eq!(columns.at(Column::Time), Some(2));
        assert!(Columns::of(&headers("idx,kernel,sil")).unwrap().lower_case());
        assert_eq!(
            Columns::of(&headers("Sil(ns),KernelLName")).unwrap().at(Column::LongKernel),
            Some(1)
        );
    }

    #[test]
    fn other_tables_are_not_taken_for_one() {
        for line in
            ["Kernel,Op,FLOPs", "sil,a,b", "kernel,sil", "Sil(ns)", "ID,Kernel Name,Metric Value"]
        {
            assert!(Columns::of(&headers(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn widths_follow_from_where_the_cut_words_stand() {
        let line =
            "Idx     Direc Sub Op              Kernel         Params         Sil(ns)    Dev Str ";
        let (columns, widths) = fixed_width(line).unwrap();
        assert_eq!(columns.at(Column::Direction), Some(1));
        assert_eq!(columns.at(Column::Stream), Some(8));
        let characters: Vec<_> = widths.iter().map(|width| width.characters).collect();
        assert_eq!(characters, [7, 5, 3, 15, 14, 14, 10, 3, 3]);
        assert!(widths[6].number && !widths[4].number);
        assert_eq!(fixed_width(line.trim_end()).unwrap().1, widths);
    }

    #[test]
    fn fields_one_blank_apart_are_no_fixed_width() {
        assert!(fixed_width("Idx Direction Sub Module Op Kernel Params Sil(ns)").is_none());
        assert!(fixed_width("Kernel Sil(ns)").is_none());
        assert!(fixed_width("Idx     Something Sil(ns)    ").is_none());
    }
}
