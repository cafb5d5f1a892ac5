//! A launch of a report, as a record of the raw page has it: names, shape, ranges, advice.

use super::super::nvtx::{self, Range};
use super::wire::{Extent, LaunchResult, NvtxState, RuleItem};
use crate::model::AdviceKind;

/// The name that the raw page prints.
pub(super) fn kernel(launch: &LaunchResult) -> &[u8] {
    let names = [&launch.demangled, &launch.function, &launch.mangled];
    names.into_iter().find(|name| !name.is_empty()).map_or(b"", Vec::as_slice)
}

/// The block, in threads.
pub(super) fn block(launch: &LaunchResult) -> Option<[u64; 3]> {
    launch.block.map(dimensions)
}

/// The grid, in blocks. Until 2020.2 reports count threads; the metric `launch__grid_size`, which is the
/// number of blocks, tells which. None where neither fits it.
pub(super) fn grid(launch: &LaunchResult, blocks: Option<f64>) -> Option<[u64; 3]> {
    let extent = dimensions(launch.grid?);
    let Some(blocks) = blocks else { return Some(extent) };
    let fits = |extent: &[u64; 3]| {
        let product = extent.iter().try_fold(1_u64, |product, one| product.checked_mul(*one));
        product.is_some_and(|product| (product as f64 - blocks).abs() < 0.5)
    };
    let [x, y, z] = block(launch).unwrap_or([1; 3]).map(|threads| threads.max(1));
    let divided = [extent[0] / x, extent[1] / y, extent[2] / z];
    [extent, divided].into_iter().find(fits)
}

fn dimensions(extent: Extent) -> [u64; 3] {
    [extent.x, extent.y, extent.z]
}

/// The path of NVTX ranges that the launch lies in.
pub(super) fn path(launch: &LaunchResult) -> String {
    let Some(state) = &launch.nvtx else { return String::new() };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut stack = Vec::new();
    // Other threads are listed too.
    for thread in state.threads.iter().filter(|thread| thread.id == launch.thread) {
        for of_domain in &thread.stacks {
            let domain = domain(state, of_domain.domain);
            stack.extend(of_domain.ranges.iter().map(|range| (domain.clone(), text(&range.name))));
        }
    }
    let mut open = Vec::new();
    for of_domain in &state.open {
        let domain = domain(state, of_domain.domain);
        open.extend(of_domain.ranges.iter().map(|range| (domain.clone(), text(&range.name))));
    }
    nvtx::within(&ranges(&stack), &ranges(&open))
}

/// The ranges that have a name.
fn ranges(named: &[(String, String)]) -> Vec<Range<'_>> {
    let known = named.iter().filter(|(_, name)| !name.is_empty());
    known.map(|(domain, name)| Range { domain, name }).collect()
}

fn domain(state: &NvtxState, id: u64) -> String {
    let named = state.domains.iter().find(|domain| domain.id == id);
    match named {
        Some(domain) if !domain.name.is_empty() => {
            String::from_utf8_lossy(&domain.name).into_owned()
        }
        _ if id == state.default_domain => nvtx::DEFAULT.to_owned(),
        _ => String::new(),
    }
}

/// What a rule says, as the details page prints it: kind, text, and the estimate with its scope.
pub(super) fn advice(item: &RuleItem) -> Option<(AdviceKind, String)> {
    let message = item.message.as_ref()?;
    let kind = match message.kind {
        1 => AdviceKind::Information,
        2 => AdviceKind::Warning,
        3 => AdviceKind::Error,
        4 => AdviceKind::Optimization,
        _ => AdviceKind::Unknown,
    };
    Some((kind, plain(&String::from_utf8_lossy(&message.text))))
}

/// A text without its references: of `@section:LaunchStats:Launch Statistics@` the last part stays.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(start) =
        ["@section:", "@source:", "@url:"].iter().filter_map(|mark| rest.find(mark)).min()
    {
        plain.push_str(&rest[..start]);
        let inner = &rest[start + 1..];
        let Some(end) = inner.find('@') else {
            plain.push_str(&rest[start..]);
            return plain;
        };
        let mut parts = inner[..end].splitn(3, ':');
        let last = parts.nth(2).or_else(|| inner[..end].rsplit(':').next()).unwrap_or_default();
        plain.push_str(last);
        rest = &inner[end + 1..];
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(grid: [u64; 3], block: [u64; 3]) -> LaunchResult {
        let extent = |[x, y, z]: [u64; 3]| Some(Extent { x, y, z });
        LaunchResult { grid: extent(grid), block: extent(block), ..LaunchResult::default() }
    }

    #[test]
    fn a_grid_in_threads_is_divided_and_one_that_fits_nothing_is_left_out() {
        let in_threads = launch([70, 16, 12288], [35, 16, 1]);
        assert_eq!(grid(&in_threads, Some(24576.0)), Some([2, 1, 12288]));
        let in_blocks = launch([2, 1, 12288], [35, 16, 1]);
        assert_eq!(grid(&in_blocks, Some(24576.0)), Some([2, 1, 12288]));
        assert_eq!(grid(&in_blocks, Some(7.0)), None);
        assert_eq!(grid(&in_blocks, None), Some([2, 1, 12288]));
        assert_eq!(grid(&launch([u64::MAX, 2, 1], [0, 0, 0]), Some(1.0)), None);
    }

    #[test]
    fn references_in_texts_become_words() {
        for (text, said) in [
            ("see @section:LaunchStats:Launch Statistics@ first", "see Launch Statistics first"),
            ("at @source:b00bbca40:0xb00bbca40@.", "at 0xb00bbca40."),
            ("no @ mark", "no @ mark"),
            ("cut @section:x", "cut @section:x"),
        ] {
            assert_eq!(plain(text), said);
        }
    }

    #[test]
    fn the_name_is_that_of_the_raw_page() {
        let mut one = LaunchResult { mangled: b"_Z1kv".to_vec(), ..LaunchResult::default() };
        assert_eq!(kernel(&one), b"_Z1kv");
        one.function = b"k".to_vec();
        assert_eq!(kernel(&one), b"k");
        one.demangled = b"void k()".to_vec();
        assert_eq!(kernel(&one), b"void k()");
    }
}
