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

/// Axes that a kernel of Inductor has at most.
const MOST_AXES: usize = 3;

/// What a kernel of Inductor reads and writes: each tensor once, and no more of it than it has points.
fn triton(called: &Called) -> Option<Work> {
    // Tensors may be read and written, or read once more for each pass of a reduction, which has an axis of its own.
    let (most, fewest_axes) = match called.name.split('_').nth(1)? {
        "poi" => (2.0, 1),
        "per" => (2.0, 2),
        "red" => (4.0, 2),
        _ => return None,
    };
    let tensors: Vec<Tensor> = called.tensors(None);
    let sizes: Vec<f64> = (0..called.arguments.len())
        .filter(|at| called.arguments[*at] == Argument::Other)
        .filter_map(|at| called.number(at))
        .collect();
    // Without recorded values nothing is known of its axes.
    if sizes.is_empty() {
        return None;
    }
    // The axes come last, behind symbols of shapes: as many of them as there are of some tensor.
    let products = (fewest_axes.min(sizes.len())..=MOST_AXES.min(sizes.len()))
        .map(|axes| sizes[sizes.len() - axes..].iter().product::<f64>());
    let products: Vec<f64> = products.collect();
    let some_of = |tensors: &[&Tensor]| -> Vec<f64> {
        let is_of = |points: &f64| tensors.iter().any(|tensor| tensor.elements() == *points);
        products.iter().copied().filter(is_of).collect()
    };
    // One point for each element of what is written, which comes last, or first if it is read, too.
    let is_pointwise = fewest_axes == 1;
    let written = [tensors.first()?, tensors.last()?];
    let points = Some(some_of(&written)).filter(|points| is_pointwise && !points.is_empty());
    let points = points.unwrap_or_else(|| some_of(&tensors.iter().collect::<Vec<_>>()));
    let first = *points.first()?;
    // A tensor for fewer axes may be a row that is added, or what is picked of a larger tensor; that of a reduction is a
    // row.
    let (fewest, points) = if is_pointwise {
        (first, points.iter().copied().fold(first, f64::max))
    } else {
        (first, first)
    };
    let [least, once] = [fewest, points].map(|points| touched(&tensors, points));
    let (least, once) = (least?, once?);
    let low = (least.certain / once.bytes * 8.0).floor() / 8.0;
    let high = eighths(most * once.whole / once.bytes);
    let basis = Basis::within("each tensor of the kernel once, from shapes", low, high);
    (once.bytes > 0.0).then(|| Work { flops: None, bytes: Count::new(once.bytes, &basis) })
}

/// Bytes of the tensors of a kernel with so many points.
struct Touched {
    /// Of those that have no more elements than the kernel has points.
    certain: f64,
    /// With as many elements as points of the others, of which any part may be read.
    bytes: f64,
    /// With all elements of the others.
    whole: f64,
}

fn touched(tensors: &[Tensor], points: f64) -> Option<Touched> {
    let mut touched = Touched { certain: 0.0, bytes: 0.0, whole: 0.0 };
    for tensor in tensors {
        let (elements, size) = (tensor.elements(), tensor.dtype?.bytes());
        if elements <= points {
            touched.certain += elements * size;
        }
        touched.bytes += elements.min(points) * size;
        touched.whole += elements * size;
    }
    Some(touched)
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
        // Rows that are picked of a larger tensor, or a row that is added to it: 16 is the symbol of a size, or an axis.
        let types = r#"["float", "float", "Scalar", "Scalar"]"#;
        let found = work([name, "[[4, 16, 10], [40], [], []]", types, r#"["", "", "16", "40"]"#]);
        assert_eq!(bytes(found), Some((2720.0, 0.0, 2.0)));
        // A row of 40 that is added to 16 rows, into another tensor; the symbol of a size comes first.
        let types = r#"["float", "float", "float", "Scalar", "Scalar", "Scalar"]"#;
        let values = r#"["", "", "", "40", "16", "40"]"#;
        let found = work([name, "[[16, 40], [40], [16, 40], [], [], []]", types, values]);
        assert_eq!(bytes(found), Some((5280.0, 1.0, 2.0)));
        // No tensor has as many elements as the kernel has points, or no values were recorded.
        let types = r#"["float", "float", "Scalar"]"#;
        for name in ["triton_per_fused_sum_0", "triton_poi_fused_add_0"] {
            assert_eq!(work([name, "[[10, 10], [], []]", types, ""]), None);
        }
        let types = r#"["float", "float", "float", "Scalar"]"#;
        let values = r#"["", "", "", "100"]"#;
        assert_eq!(work([name, "[[9], [9], [9], []]", types, values]), None);
        assert_eq!(
            work(["triton_tem_fused_mm_1", "[[10, 10], [10, 10], [10, 10], []]", types, values]),
            None
        );
        assert_eq!(work([name, "[[10, 10], [10, 10], [10, 10], []]", types, ""]), None);
    }

    /// A normalization of 16,384 rows of 4,096 with weights, of a shape that is known when it runs: its width is given
    /// before the axes, and is the size of the weights, too.
    #[test]
    fn a_reduction_of_dynamic_shape_moves_its_rows() {
        let types =
            r#"["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar", "Scalar"]"#;
        let dims = "[[4, 4096, 4096], [4096], [4, 4096, 4096], [], [], []]";
        let values = r#"["", "", "", "4096", "16384", "4096"]"#;
        let expected = 2.0 * (2.0 * 16384.0 * 4096.0 + 4096.0);
        for (name, most) in [
            ("triton_red_fused_native_layer_norm_1", 4.0),
            ("triton_per_fused_native_layer_norm_0", 2.0),
            ("triton_poi_fused_add_0", 2.0),
        ] {
            assert_eq!(bytes(work([name, dims, types, values])), Some((expected, 1.0, most)));
        }
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
