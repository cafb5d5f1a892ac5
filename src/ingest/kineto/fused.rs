//! Kernels that do the whole of an operator outside of `aten`: those of Triton, by the tensors that they are given, and
//! those of `fbgemm`'s embeddings.

use super::operands::{Argument, Called};
use crate::ingest::operators::forms::{Basis, Count, Work, eighths, moved};
use crate::ingest::operators::params::Tensor;
use crate::model::DataType;

/// The work of an operator that has one kernel, and the type of its elements.
pub(super) fn whole(called: &Called) -> Option<(Work, Option<DataType>)> {
    let name = called.name.as_str();
    if name.starts_with("triton_") {
        return triton(called).map(|work| (work, None));
    }
    if name.starts_with("fbgemm::split_embedding_codegen_lookup_") {
        return lookup(called);
    }
    // Columns in another order, and blocks of rows one after the other.
    let is_permuted = ["fbgemm::permute_pooled_embs", "fbgemm::recat_embedding_grad_output"]
        .iter()
        .any(|start| name.starts_with(start))
        || name.contains("PermutePooledEmbsFunction");
    if is_permuted && !name.contains("duplicate") {
        let tensor = called.tensor(0, None)?;
        return Some((moved(2.0 * tensor.bytes()?), tensor.dtype));
    }
    None
}

/// What a kernel of Inductor reads and writes: each tensor once, and no more of it than it has points.
fn triton(called: &Called) -> Option<Work> {
    // Of a tensor that has more elements than the kernel has points, any part may be read; others may be read and
    // written, or read once more for each pass of a reduction.
    let most = match called.name.split('_').nth(1)? {
        "poi" | "per" => 2.0,
        "red" => 4.0,
        _ => return None,
    };
    let tensors: Vec<Tensor> = called.tensors(None);
    let sizes: Vec<f64> = (0..called.arguments.len())
        .filter(|at| called.arguments[*at] == Argument::Other)
        .filter_map(|at| called.number(at))
        .collect();
    // Sizes are those of the axes, or symbols of shapes too: the kernel's are those that some tensor has.
    let all: f64 = sizes.iter().product();
    let has = |points: &f64| tensors.iter().any(|tensor| tensor.elements() == *points);
    let points = [Some(all), sizes.last().copied()].into_iter().flatten().find(has)?;
    let [mut whole, mut parts, mut parts_whole] = [0.0; 3];
    for tensor in &tensors {
        let (elements, size) = (tensor.elements(), tensor.dtype?.bytes());
        if elements <= points {
            whole += elements * size;
        } else {
            parts += points * size;
            parts_whole += elements * size;
        }
    }
    let bytes = whole + parts;
    let low = (whole / bytes * 8.0).floor() / 8.0;
    let high = eighths(most * (whole + parts_whole) / bytes);
    let basis = Basis::within("each tensor of the kernel once, from shapes", low, high);
    (bytes > 0.0).then(|| Work { flops: None, bytes: Count::new(bytes, &basis) })
}

/// The pooled look-ups of a list of tables: rows that are picked, and their sums.
fn lookup(called: &Called) -> Option<(Work, Option<DataType>)> {
    let list = |at: usize| match called.shape(at)? {
        [elements] => Some(*elements),
        _ => None,
    };
    // Weights, 4 more lists of each table, the widths of all tables and of the widest, sizes, indices, offsets.
    let (tables, dimensions, indices, offsets) = (list(4)?, list(6)?, list(11)?, list(12)?);
    let (width, widest) = (called.number(7)?, called.number(8)?);
    let bags = (offsets - 1.0) / tables;
    let fits = tables >= 1.0
        && list(5)? == tables
        && dimensions == tables + 1.0
        && bags.fract() == 0.0
        && (1.0..=width).contains(&widest)
        && width <= widest * tables;
    if !fits {
        return None;
    }
    let kind = called.tensor(1, None)?.dtype?;
    let [index, offset] = [called.tensor(11, None)?, called.tensor(12, None)?];
    let picked = indices * width / tables;
    let lists = index.bytes()? + offset.bytes()? + kind.bytes() * bags * width;
    let bytes = lists + kind.bytes() * picked;
    // Which tables are looked up more often is not recorded; rows of fbgemm have 4 elements at least.
    let [least, most] =
        if tables == 1.0 { [width; 2] } else { [4.0, widest] }.map(|row| indices * row);
    let low = |part: f64, all: f64| (part / all * 8.0).floor() / 8.0;
    let added = Basis::within(
        "one addition for each picked element, rows of average width, from shapes",
        low(least, picked),
        eighths(most / picked),
    );
    let read = Basis::within(
        "indices and picked rows of average width read, a row written for each bag, from shapes",
        low(lists + kind.bytes() * least, bytes),
        eighths((lists + kind.bytes() * most) / bytes),
    );
    let work = Work { flops: Count::new(picked, &added), bytes: Count::new(bytes, &read) };
    Some((work, Some(kind)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::kineto::gathered::APART;

    fn work(parts: [&str; 4]) -> Option<Work> {
        let mut key = Vec::new();
        for part in parts {
            key.extend_from_slice(part.as_bytes());
            key.push(APART);
        }
        whole(&Called::of(&key)).map(|(work, _)| work)
    }

    fn bytes(work: Option<Work>) -> Option<(f64, f64, f64)> {
        let Count { value, basis } = work?.bytes?;
        Some((value, basis.low, basis.high))
    }

    #[test]
    fn a_pointwise_kernel_moves_each_tensor_once() {
        let types = r#"["float", "float", "float", "Scalar"]"#;
        let values = r#"["", "", "", "100"]"#;
        let name = "triton_poi_fused_add_cos_sin_0";
        let found = work([name, "[[10, 10], [10, 10], [10, 10], []]", types, values]);
        assert_eq!(bytes(found), Some((1200.0, 1.0, 2.0)));
        // A table of 10,000 elements, of which 100 are picked: 800 bytes of 1200 are certain.
        let found = work([name, "[[100, 100], [10, 10], [10, 10], []]", types, values]);
        assert_eq!(bytes(found), Some((1200.0, 0.625, 68.0)));
        // No tensor has as many elements as the kernel has points.
        assert_eq!(work([name, "[[9], [9], [9], []]", types, values]), None);
        assert_eq!(
            work(["triton_tem_fused_mm_1", "[[10, 10], [10, 10], [10, 10], []]", types, values]),
            None
        );
        assert_eq!(work([name, "[[10, 10], [10, 10], [10, 10], []]", types, ""]), None);
    }

    /// 3 tables of 8, 8 and 16 columns, 4 bags each, 120 look-ups.
    #[test]
    fn look_ups_are_counted_by_rows_of_average_width() {
        let dims = "[[0], [999], [0], [0, 0], [3], [3], [4], [], [], [4], [], [120], [13], []]";
        let types = r#"["float", "float", "float", "float", "int", "long", "int", "Scalar", "Scalar", "long", "Scalar", "long", "long", "Scalar"]"#;
        let values = r#"["", "", "", "", "", "", "", "32", "16", "", "10", "", "", "0"]"#;
        let name = "fbgemm::split_embedding_codegen_lookup_sgd_function";
        let found = work([name, dims, types, values]);
        // Indices and offsets of 8 bytes, 4 · 32 sums of 4 bytes, 120 · 32/3 elements.
        let lists = 8.0 * 133.0 + 4.0 * 128.0;
        let (value, low, high) = bytes(found).unwrap();
        assert_eq!(value, lists + 4.0 * 1280.0);
        assert!(low * value <= lists + 4.0 * 480.0 && lists + 4.0 * 1920.0 <= high * value);
        assert_eq!(found.unwrap().flops.unwrap().value, 1280.0);
        assert_eq!(work([name, dims, types, ""]), None);
    }

    #[test]
    fn permuted_columns_are_read_and_written_once() {
        let name = "fbgemm::permute_pooled_embs_auto_grad";
        let found = work([name, "[[1024, 70904], [981]]", r#"["float", "long"]"#, ""]);
        assert_eq!(bytes(found), Some((2.0 * 4.0 * 1024.0 * 70904.0, 1.0, 1.0)));
    }
}
