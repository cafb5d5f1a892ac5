//! Tensor operation counters: `sm__ops_path_tensor_*`, parents, children and sparsity leaves.
//!
//! Counters form a tree. A parent `src_bf16_dst_fp32` counts what its children
//! `op_hmma_src_bf16…` and `op_hgmma_src_bf16…` count, so only one level may be summed.

use super::form::{Form, form};
use crate::model::Pipe;

/// Operand formats as counters spell them, with the pipe whose roof applies.
///
/// Counters that merge formats are compared with the slowest of them, the roof that is certain.
const SOURCES: [(&str, Pipe, Pipe); 14] = [
    ("fp4_fp6_fp8", Pipe::Fp8Matrix, Pipe::Fp8MatrixFp16Acc),
    ("fp16_bf16_tf32", Pipe::Fp16Matrix, Pipe::Fp16Matrix),
    ("fp4_fp6", Pipe::Fp6Matrix, Pipe::Fp6Matrix),
    ("bf16", Pipe::Bf16Matrix, Pipe::Bf16Matrix),
    ("fp16", Pipe::Fp16Matrix, Pipe::Fp16MatrixFp16Acc),
    ("tf32", Pipe::Tf32Matrix, Pipe::Tf32Matrix),
    ("fp64", Pipe::Fp64Matrix, Pipe::Fp64Matrix),
    ("fp8", Pipe::Fp8Matrix, Pipe::Fp8MatrixFp16Acc),
    ("fp6", Pipe::Fp6Matrix, Pipe::Fp6Matrix),
    ("fp4", Pipe::Fp4Matrix, Pipe::Fp4Matrix),
    ("int8", Pipe::Int8Matrix, Pipe::Int8Matrix),
    ("int4", Pipe::Int4Matrix, Pipe::Int4Matrix),
    ("int1", Pipe::Int1Matrix, Pipe::Int1Matrix),
    ("u8", Pipe::Int8Matrix, Pipe::Int8Matrix),
];

/// What a tensor counter says about sparsity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sparsity {
    /// Dense and sparse together; its `.peak_sustained` is the sparse peak.
    Both,
    /// Dense only.
    Off,
    /// Structured-sparse only.
    On,
}

/// One tensor counter, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TensorMetric {
    /// Whether it counts one kind of instruction only (`op_hmma_…`).
    pub(super) is_child: bool,
    /// Whether that kind belongs to a warp group (`op_hgmma_…`) rather than to one warp.
    pub(super) is_warp_group: bool,
    /// The dense pipe of its operands.
    pub(super) pipe: Pipe,
    pub(super) sparsity: Sparsity,
    pub(super) form: Form,
    /// Distinguishes counters of the same pipe, such as two kinds of instruction.
    name: u64,
}

impl TensorMetric {
    /// Takes a metric name apart; `Ok(None)` for roll-ups that are not wanted (`.avg`, `.pct…`).
    pub(super) fn parse(name: &str) -> Result<Option<Self>, ()> {
        let Some(rest) = name.strip_prefix("sm__ops_path_tensor_") else { return Err(()) };
        let (counter, rollup) = rest.split_once('.').unwrap_or((rest, ""));
        let Some(form) = rollup.strip_prefix("sum").and_then(form) else { return Ok(None) };
        let (counter, sparsity) = match counter.rsplit_once("_sparsity_") {
            Some((counter, "off")) => (counter, Sparsity::Off),
            Some((counter, "on")) => (counter, Sparsity::On),
            _ => (counter, Sparsity::Both),
        };
        let (is_child, is_warp_group, counter) = match counter.split_once("src_") {
            Some(("", source)) => (false, false, source),
            Some((instruction, source)) if instruction.starts_with("op_") => {
                (true, instruction.contains("gmma"), source)
            }
            _ => return Err(()),
        };
        let (source, accumulator) =
            counter.split_once("_dst_").map_or((counter, ""), |(source, dst)| (source, dst));
        let (_, wide, narrow) = SOURCES.iter().find(|entry| entry.0 == source).ok_or(())?;
        let pipe = match accumulator {
            "fp16" => *narrow,
            "" | "fp32" | "fp64" | "int32" | "bf16" => *wide,
            _ => return Err(()),
        };
        // FNV-1a over the counter without its roll-up: equal exactly for the same counter.
        let name = rest
            .split('.')
            .next()
            .unwrap_or_default()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Ok(Some(Self { is_child, is_warp_group, pipe, sparsity, form, name }))
    }

    /// The same counter as a plain sum, whatever form it came in.
    pub(super) fn as_sum(self) -> Self {
        Self { form: Form::Sum, ..self }
    }

    /// The pipe whose peak applies, sparsity included.
    pub(super) fn roof(&self) -> Pipe {
        if self.sparsity != Sparsity::On {
            return self.pipe;
        }
        Pipe::ALL
            .iter()
            .copied()
            .find(|pipe| pipe.is_sparse() && pipe.dense() == self.pipe)
            .unwrap_or(self.pipe)
    }
}

/// Operations per pipe from the counters of one launch: one level of the tree, leaves preferred.
///
/// `counts` holds each counter with its value in operations. Counters of one operand format are
/// taken from the children if those account for the parent, else from the parent.
pub(super) fn operations(counts: &[(TensorMetric, f64)]) -> Vec<(Pipe, f64)> {
    let mut sums: Vec<(Pipe, f64)> = Vec::new();
    let mut formats: Vec<_> = counts.iter().map(|(metric, _)| metric.pipe.precision()).collect();
    formats.sort_unstable();
    formats.dedup();
    for format in formats {
        let of = |child: bool| {
            let level: Vec<_> = counts
                .iter()
                .filter(|(metric, _)| metric.pipe.precision() == format && metric.is_child == child)
                .copied()
                .collect();
            // A counter without sparsity counts what its leaves count: one of the two is taken.
            let (whole, leaves): (Vec<_>, Vec<_>) =
                level.into_iter().partition(|(metric, _)| metric.sparsity == Sparsity::Both);
            if accounts(&leaves, &whole) { leaves } else { whole }
        };
        let (parents, children) = (of(false), of(true));
        for (metric, count) in if accounts(&children, &parents) { children } else { parents } {
            let roof = metric.roof();
            match sums.iter_mut().find(|(pipe, _)| *pipe == roof) {
                Some((_, sum)) => *sum += count,
                None => sums.push((roof, count)),
            }
        }
    }
    sums
}

/// Whether the finer counters hold all that the coarser ones hold, within 1 %.
fn accounts(fine: &[(TensorMetric, f64)], coarse: &[(TensorMetric, f64)]) -> bool {
    let total = |counts: &[(TensorMetric, f64)]| counts.iter().map(|(_, count)| count).sum::<f64>();
    !fine.is_empty() && (coarse.is_empty() || total(fine) * 1.01 >= total(coarse))
}

/// Dense peak per pipe in operations per cycle; only `_sparsity_off` leaves are dense for certain.
///
/// Several kinds of instruction reach different peaks (on Hopper `HMMA` two thirds of `HGMMA`); the
/// roof of the pipe is the highest.
pub(super) fn peaks(peaks: &[(TensorMetric, f64)]) -> Vec<(Pipe, f64)> {
    let mut best: Vec<(Pipe, f64)> = Vec::new();
    for (metric, peak) in peaks {
        if metric.sparsity == Sparsity::Both && metric.pipe != Pipe::Fp64Matrix {
            continue;
        }
        let roof = metric.roof();
        match best.iter_mut().find(|(pipe, _)| *pipe == roof) {
            Some((_, known)) => *known = known.max(*peak),
            None => best.push((roof, *peak)),
        }
    }
    best
}

/// Peaks of counters that do not tell dense from sparse work, over the dense peak of their pipe.
pub(super) fn parent_peaks(found: &[(TensorMetric, f64)]) -> Vec<(Pipe, f64)> {
    let of = |sparsity| found.iter().filter(move |(metric, _)| metric.sparsity == sparsity);
    let dense = peaks(&of(Sparsity::Off).copied().collect::<Vec<_>>());
    let parents = of(Sparsity::Both).filter(|(metric, _)| !metric.is_child);
    let over = |(metric, peak): &(TensorMetric, f64)| {
        let (pipe, dense) = dense.iter().find(|(pipe, _)| *pipe == metric.pipe)?;
        (*dense > 0.0).then_some((*pipe, peak / dense))
    };
    parents.filter_map(over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str) -> TensorMetric {
        TensorMetric::parse(&format!("sm__ops_path_tensor_{name}.sum")).unwrap().unwrap()
    }

    #[test]
    fn names_of_all_generations_are_understood() {
        for (name, pipe, child) in [
            ("src_fp16_bf16_tf32_dst_fp32", Pipe::Fp16Matrix, false),
            ("src_bf16_dst_fp32_sparsity_off", Pipe::Bf16Matrix, false),
            ("src_fp16_dst_fp16_sparsity_on", Pipe::Fp16MatrixFp16Acc, false),
            ("op_hgmma_src_fp16_sparsity_off", Pipe::Fp16Matrix, true),
            ("op_utcqmma_src_fp4_fp6_fp8_dst_fp32", Pipe::Fp8Matrix, true),
            ("src_int8_sparsity_off", Pipe::Int8Matrix, false),
            ("src_fp64", Pipe::Fp64Matrix, false),
        ] {
            let metric = metric(name);
            assert_eq!((metric.pipe, metric.is_child), (pipe, child), "{name}");
        }
        assert_eq!(metric("src_fp16_dst_fp16_sparsity_on").roof(), Pipe::Fp16MatrixFp16AccSparse);
        assert_eq!(TensorMetric::parse("sm__ops_path_tensor_src_fp99_dst_fp32.sum"), Err(()));
        assert_eq!(TensorMetric::parse("sm__ops_path_tensor_src_fp16_dst_fp32.avg"), Ok(None));
    }

    #[test]
    fn parents_and_children_are_not_added() {
        let counts = [
            (metric("src_bf16_dst_fp32"), 100.0),
            (metric("op_hmma_src_bf16_dst_fp32_sparsity_off"), 40.0),
            (metric("op_hgmma_src_bf16_dst_fp32_sparsity_off"), 60.0),
            (metric("src_fp16"), 7.0),
        ];
        assert_eq!(operations(&counts), [(Pipe::Fp16Matrix, 7.0), (Pipe::Bf16Matrix, 100.0)]);
    }

    #[test]
    fn children_that_miss_work_give_way_to_their_parent() {
        let counts = [
            (metric("src_bf16_dst_fp32"), 100.0),
            (metric("op_hmma_src_bf16_dst_fp32_sparsity_off"), 40.0),
        ];
        assert_eq!(operations(&counts), [(Pipe::Bf16Matrix, 100.0)]);
    }

    #[test]
    fn leaves_that_miss_work_give_way_to_the_counter_above_them() {
        let counts = [(metric("src_fp8"), 100.0), (metric("src_fp8_sparsity_off"), 0.0)];
        assert_eq!(operations(&counts), [(Pipe::Fp8Matrix, 100.0)]);
    }

    #[test]
    fn a_parents_peak_is_not_dense() {
        let peaks = peaks(&[
            (metric("src_bf16_dst_fp32"), 1_081_344.0),
            (metric("op_hmma_src_bf16_dst_fp32_sparsity_off"), 360_448.0),
            (metric("op_hgmma_src_bf16_dst_fp32_sparsity_off"), 540_672.0),
        ]);
        assert_eq!(peaks, [(Pipe::Bf16Matrix, 540_672.0)]);
    }

    #[test]
    fn a_parents_peak_is_compared_with_the_fastest_dense_leaf_of_its_pipe() {
        let found = [
            (metric("src_bf16_dst_fp32"), 1_081_344.0),
            (metric("op_hmma_src_bf16_dst_fp32_sparsity_off"), 360_448.0),
            (metric("op_hgmma_src_bf16_dst_fp32_sparsity_off"), 540_672.0),
            (metric("op_hgmma_src_bf16_dst_fp32_sparsity_on"), 1_081_344.0),
            (metric("src_tf32_dst_fp32"), 540_672.0),
        ];
        assert_eq!(parent_peaks(&found), [(Pipe::Bf16Matrix, 2.0)]);
    }
}
