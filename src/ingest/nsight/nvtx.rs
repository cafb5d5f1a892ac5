//! NVTX ranges around a launch: which range of the program it belongs to.
//!
//! Where ranges were recorded (`--nvtx`), exports have two more columns between host and kernel. A cell
//! of the first holds the thread and its open push/pop ranges, the outermost first:
//! `1  "<default domain>:step:none:none:none:none:none:none"  "<default domain>:aten::mm, seq = 7:…" `.
//! The second holds start/stop ranges, which need not nest. After domain and name come six fields:
//! kind and value of the payload, kind and value of the color, kind of the message, message. Range
//! names may contain the colon that separates them. Source: the header that names the fields, and
//! *Nsight Compute CLI*, "NVTX Filtering".

use crate::ingest::Record;

/// Where the columns are; exports without ranges have none.
#[derive(Debug, Default, Clone)]
pub(super) struct Nvtx {
    push_pop: Option<usize>,
    start_stop: Option<usize>,
}

/// Fields of a range after its name.
const FIELDS: usize = 6;

/// The domain of ranges that name none: the program's own, mostly.
pub(super) const DEFAULT: &str = "<default domain>";

/// One range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range<'a> {
    pub(super) domain: &'a str,
    pub(super) name: &'a str,
}

impl Nvtx {
    /// Finds the columns in a header.
    pub(super) fn new(header: &[String]) -> Self {
        let find = |part: &str| header.iter().position(|field| field.contains(part));
        Self {
            push_pop: find("Domain:Push/Pop_Range"),
            start_stop: find("Domain:Start/Stop_Range"),
        }
    }

    /// Where the columns are that there are.
    pub(super) fn columns(&self) -> impl Iterator<Item = usize> {
        [self.push_pop, self.start_stop].into_iter().flatten()
    }

    /// The path of ranges a launch lies in, joined by `/`, and the length of the range's name that
    /// stands before the kernel's own.
    ///
    /// `kernel` is the cell of the kernel's name, which `--print-nvtx-rename kernel` turns into
    /// `RANGE/NAME`.
    pub(super) fn of(&self, record: &Record<'_>, kernel: &[u8]) -> (String, usize) {
        if self.push_pop.is_none() && self.start_stop.is_none() {
            return renamed(kernel).unwrap_or_default();
        }
        let cell = |column: Option<usize>| {
            String::from_utf8_lossy(column.and_then(|at| record.get(at)).unwrap_or_default())
        };
        let (stack, open) = (cell(self.push_pop), cell(self.start_stop));
        let (stack, open) = (ranges(&stack), ranges(&open));
        let named = |range: &&Range<'_>| {
            let after = kernel.strip_prefix(range.name.as_bytes());
            after.is_some_and(|after| after.len() > 1 && after[0] == b'/')
        };
        let before = stack.iter().rev().chain(&open).find(named);
        let before = before.map_or(0, |range| range.name.len() + 1);
        (within(&stack, &open), before)
    }
}

/// The path of the ranges that a launch lies in: the stack of its thread, the outermost first, or the one range
/// that was started and not yet stopped. Those may overlap: of several, none is the inner one.
pub(super) fn within(stack: &[Range<'_>], open: &[Range<'_>]) -> String {
    match (stack, open) {
        ([], [one]) => steady(one.name),
        (stack, _) => path(stack),
    }
}

/// The names of nested ranges; those that libraries open in domains of their own count only where the
/// program has none, as they do not say to which part of it a launch belongs.
fn path(stack: &[Range<'_>]) -> String {
    let has_own = stack.iter().any(|range| range.domain == DEFAULT);
    let told = stack.iter().filter(|range| !has_own || range.domain == DEFAULT);
    told.map(|range| steady(range.name)).collect::<Vec<_>>().join("/")
}

/// A name without what differs at every execution of the same work, else each launch would be a kernel
/// of its own: the number of a `ProfilerStep#3`, and what `PyTorch` counts up behind a name, as in
/// `aten::mm, seq = 7, op_id = 12, sizes = [[8, 4], [4, 2]]` (`getNvtxStr` of `torch/csrc/profiler/util.cpp`).
pub(in crate::ingest) fn steady(name: &str) -> String {
    let mut text = match name.split_once("ProfilerStep#") {
        Some(("", number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => {
            return "ProfilerStep".to_owned();
        }
        _ => name.to_owned(),
    };
    for key in [", seq = ", ", op_id = ", ", input_op_ids = "] {
        while let Some(at) = text.find(key) {
            let value = &text[at + key.len()..];
            let length = if value.starts_with('[') {
                closing(value)
            } else {
                value.find(|c: char| !c.is_ascii_digit() && c != '-').unwrap_or(value.len())
            };
            text.replace_range(at..at + key.len() + length, "");
        }
    }
    text.trim().to_owned()
}

/// Length of a list with its brackets; of the whole text where it is not closed.
fn closing(list: &str) -> usize {
    let mut depth = 0;
    for (at, c) in list.char_indices() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if depth == 0 {
            return at + 1;
        }
    }
    list.len()
}

/// The ranges of a cell, in its order.
fn ranges(cell: &str) -> Vec<Range<'_>> {
    // The thread stands before the ranges.
    let rest = cell.trim();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let Some(mut rest) = rest.strip_prefix('"') else {
        return range(cell.trim()).into_iter().collect();
    };
    let mut found = Vec::new();
    loop {
        // A quote closes a range only before the next one or at the end: names may contain quotes.
        let mut from = 0;
        let end = loop {
            let Some(at) = rest[from..].find('"').map(|at| from + at) else { break rest.len() };
            let after = rest[at + 1..].trim_start();
            if after.is_empty() || (after.starts_with('"') && after.len() < rest.len() - at - 1) {
                break at;
            }
            from = at + 1;
        };
        found.extend(range(&rest[..end]));
        let after = rest.get(end + 1..).unwrap_or_default().trim_start();
        match after.strip_prefix('"') {
            Some(next) => rest = next,
            None => return found,
        }
    }
}

/// A range from its fields. Start/stop ranges have their number before the domain.
fn range(text: &str) -> Option<Range<'_>> {
    let text = text.trim().trim_matches('"');
    let numbered = text.split_once(':').filter(|(number, _)| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let (domain, rest) = numbered.map_or(text, |(_, rest)| rest).split_once(':')?;
    let colons: Vec<usize> = rest.match_indices(':').map(|(at, _)| at).collect();
    // The message, which comes last, may contain colons as well; the word before it is one of few.
    let is_kind = |at: usize| {
        let end = colons.get(at + FIELDS - 1).copied().unwrap_or(rest.len());
        let word = &rest[colons[at + FIELDS - 2] + 1..end];
        ["none", "ascii", "unicode", "registered"].contains(&word.to_ascii_lowercase().as_str())
    };
    let most = colons.len().checked_sub(FIELDS)?;
    let at = (0..=most).rev().find(|at| is_kind(*at)).unwrap_or(most);
    let name = rest[..colons[at]].trim();
    let message = colons.get(at + FIELDS - 1).map_or("", |colon| rest[colon + 1..].trim());
    let name = if name.is_empty() && message != "none" { message } else { name };
    (!name.is_empty()).then_some(Range { domain, name })
}

/// The range before a kernel's name, where the export has no column of ranges.
///
/// C++ has no `/` outside of brackets but in the name of an operator.
fn renamed(kernel: &[u8]) -> Option<(String, usize)> {
    if !kernel.contains(&b'/') {
        return None;
    }
    let text = std::str::from_utf8(kernel).ok()?;
    let (mut depth, mut last) = (0_i32, None);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '>' if !text[..at].ends_with('-') => depth -= 1,
            '/' if depth == 0 && !text[..at].ends_with("operator") => last = Some(at),
            _ => {}
        }
    }
    let at = last.filter(|at| depth == 0 && *at > 0 && at + 1 < text.len())?;
    Some((steady(&text[..at]), at + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn none() -> Record<'static> {
        Record::from(&*Box::leak(Box::default()))
    }

    const NONE: &str = "none:none:none:none:none:none";

    /// Path and kernel for a cell of push/pop ranges, one of start/stop ranges, and a kernel's name.
    fn told(push: &str, start: &str, kernel: &str) -> (String, String) {
        let header = ["thread Domain:Push/Pop_Range:PL_Type", "Id:Domain:Start/Stop_Range:PL_Type"];
        let nvtx = Nvtx::new(&header.map(str::to_owned));
        let record = csv::ByteRecord::from(vec![push, start]);
        let (path, before) = nvtx.of(&Record::from(&record), kernel.as_bytes());
        (path, kernel[before..].to_owned())
    }

    fn path_of(push: &str) -> String {
        told(push, "", "k").0
    }

    #[test]
    fn nested_ranges_make_a_path() {
        let cell = format!(
            "1  \"<default domain>:forward:{NONE}\"  \"<default domain>:module:layers.0.attn:{NONE}\" "
        );
        assert_eq!(path_of(&cell), "forward/module:layers.0.attn");
        assert_eq!(path_of(&format!("13416  \"<default domain>:step:{NONE}\" ")), "step");
        for none in ["", " ", "1  ", "\"\"", "16 \"\" "] {
            assert_eq!(path_of(none), "", "{none:?}");
        }
    }

    #[test]
    fn names_and_messages_keep_their_colons() {
        let registered = "\"CCCL:cub::DeviceReduce::Reduce:none:none:ARGB:4278190335:REGISTERED:cub::DeviceReduce::Reduce\"";
        assert_eq!(path_of(registered), "cub::DeviceReduce::Reduce");
        let only_message = "\"app::none:none:none:none:ASCII:load weights\"";
        assert_eq!(path_of(only_message), "load weights");
        assert_eq!(
            path_of(&format!("3  \"<default domain>:say \"a\" or b:{NONE}\" ")),
            "say \"a\" or b"
        );
    }

    #[test]
    fn the_programs_own_ranges_come_before_those_of_libraries() {
        let library = "\"CCCL:cub::DeviceScan:none:none:none:none:none:none\"";
        let both = format!("7  \"<default domain>:evaluate:{NONE}\"  {library} ");
        assert_eq!(path_of(&both), "evaluate");
        assert_eq!(path_of(&format!("7  {library} ")), "cub::DeviceScan");
    }

    #[test]
    fn of_ranges_that_may_overlap_only_one_alone_tells() {
        let one = format!("0:<default domain>:compute_kernel:profile:{NONE}");
        assert_eq!(told("", &one, "k").0, "compute_kernel:profile");
        let two = format!("\"0:<default domain>:a:{NONE}\" \"1:<default domain>:b:{NONE}\"");
        assert_eq!(told("", &two, "k").0, "");
        assert_eq!(told(&format!("1  \"<default domain>:c:{NONE}\" "), &one, "k").0, "c");
    }

    #[test]
    fn what_counts_executions_is_left_out() {
        for (name, kept) in [
            ("aten::mm, seq = 7", "aten::mm"),
            (
                "aten::mm, op_id = 12, sizes = [[8, 4], [4, 2]]",
                "aten::mm, sizes = [[8, 4], [4, 2]]",
            ),
            (
                "aten::add, seq = 3, op_id = 1, sizes = [[8], []], input_op_ids = [[(2,0)], [(1,1)]]",
                "aten::add, sizes = [[8], []]",
            ),
            ("AddmmBackward0, seq = 5", "AddmmBackward0"),
            ("ProfilerStep#12", "ProfilerStep"),
            ("layer#12", "layer#12"),
            ("x, input_op_ids = [[(", "x"),
        ] {
            assert_eq!(steady(name), kept, "{name}");
        }
    }

    #[test]
    fn a_renamed_kernel_gets_its_name_back() {
        let cell = format!("1  \"<default domain>:a/b:{NONE}\" ");
        let (path, kernel) = told(&cell, "", "a/b/void gemm<1>(int)");
        assert_eq!((path.as_str(), kernel.as_str()), ("a/b", "void gemm<1>(int)"));
        assert_eq!(told(&cell, "", "a/bc").1, "a/bc");
        // Without columns, the last slash outside of brackets.
        let alone = |kernel: &str| {
            let (path, before) = Nvtx::default().of(&none(), kernel.as_bytes());
            (path, kernel[before..].to_owned())
        };
        let split = |path: &str, kernel: &str| (path.to_owned(), kernel.to_owned());
        assert_eq!(alone("step/mm, seq = 4/void k<a/b>(x)"), split("step/mm", "void k<a/b>(x)"));
        for whole in ["void k<a/b>(x)", "void f::operator/(int)", "k/", "/k", "k", "a(/b", "x>/y"] {
            assert_eq!(alone(whole), split("", whole));
        }
    }

    proptest! {
        #[test]
        fn no_cell_panics(cell in "[a:\"\\[\\]é0 ,#/<>]{0,40}", kernel in "[a/<>(é)]{0,12}") {
            let (_, kernel_left) = told(&cell, &cell, &kernel);
            prop_assert!(kernel.ends_with(&kernel_left));
            let (_, before) = Nvtx::default().of(&none(), kernel.as_bytes());
            prop_assert!(kernel.is_char_boundary(before));
            steady(&format!("{cell}, input_op_ids = [{cell}"));
        }
    }
}
