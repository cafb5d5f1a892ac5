//! What each kernel of a trace has to do, by its operator and its place among the operator's kernels.

use std::collections::HashMap;

use super::aten::{self, Outputs};
use super::fused;
use super::gathered::Call;
use super::links::Links;
use super::lists::{Listed, listed};
use super::operands::Called;
use crate::ingest::operators::forms::{Basis, Count, Work, eighths};
use crate::ingest::operators::kernel::{Kernel, TensorCores, lane_pipe};
use crate::ingest::operators::operator::{Operator, Place};
use crate::model::{DataType, KernelName, Pipe, Shape};

/// Elements of a chunk, of which a block of a kernel over lists of tensors does one
/// (`kChunkSize` in `MultiTensorApply.cuh` of `PyTorch`).
const CHUNK: f64 = 65_536.0;

/// A kernel's name, and the type of the elements it names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named {
    kernel: Kernel,
    stored: Option<DataType>,
    /// The type of what it reads, where it copies lists of tensors to ones of another type.
    from: Option<DataType>,
    /// Works on lists of tensors, in chunks.
    is_chunked: bool,
    /// Transforms a convolution for a product.
    transforms: bool,
    /// Joins tensors, up to 128 in one launch.
    joins: bool,
    /// Is of a library for sparse matrices, whose work depends on what they hold.
    is_sparse: bool,
}

impl Named {
    /// What a name says.
    pub(super) fn of(name: &str) -> Self {
        let kernel = Kernel::of(name);
        let head = KernelName::parse(name).head;
        let is_chunked = head.contains("multi_tensor_apply_kernel");
        let stored = element_type(name).or_else(|| {
            // Settings of an optimizer are doubles; its functor begins with the type of the elements.
            let arguments = name.split_once("Functor<").filter(|_| is_chunked)?.1;
            element_type(arguments.split([',', '>']).next()?)
        });
        let stored = stored.or_else(|| moved_size(name));
        let copied = name.split_once("CopyFunctor<").filter(|_| is_chunked);
        let copied = copied.map(|(_, arguments)| {
            let mut types = arguments.split([',', '>']).map(element_type);
            [types.next().flatten(), types.next().flatten()]
        });
        let (stored, from) = match copied {
            Some([to, from]) => (to.filter(|_| from.is_some()), from),
            None => (stored.or(kernel.stored), None),
        };
        Self {
            kernel,
            stored,
            from,
            is_chunked,
            transforms: ["winograd", "fft2d"].iter().any(|part| name.contains(part)),
            joins: name.contains("CatArrayBatchedCopy"),
            is_sparse: ["cusparse::", "rocsparse", "hipsparse"]
                .iter()
                .any(|part| head.contains(part)),
        }
    }
}

/// The type of elements that a name has among its template's arguments, if it has one.
fn element_type(name: &str) -> Option<DataType> {
    let mut found = None;
    for word in name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let kind = match word {
            "float" | "float2" | "float4" => DataType::Fp32,
            "double" => DataType::Fp64,
            "Half" | "__half" | "half" | "__half2" => DataType::Fp16,
            "BFloat16" | "__nv_bfloat16" => DataType::Bf16,
            _ => continue,
        };
        if found.is_some_and(|other| other != kind) {
            return None;
        }
        found = Some(kind);
    }
    let is_single = name.contains("sgemm") && !name.contains("fp16");
    found.or_else(|| is_single.then_some(DataType::Fp32))
}

/// A type as large as the elements that a concatenation copies; it names their size alone.
fn moved_size(name: &str) -> Option<DataType> {
    let (_, copied) = name.split_once("CatArrayBatchedCopy")?;
    let (_, size) = copied.split_once("OpaqueType<")?;
    match size.split(['u', '>']).next()? {
        "1" => Some(DataType::Int8),
        "2" => Some(DataType::Fp16),
        "4" => Some(DataType::Fp32),
        "8" => Some(DataType::Fp64),
        _ => None,
    }
}

/// What one kernel of a call of an operator is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) named: Named,
    pub(super) shape: Shape,
}

/// Operators that were looked up, and the work that followed.
pub(super) struct Works<'a> {
    calls: &'a [Call],
    links: &'a Links<'a>,
    called: Vec<Called>,
    outputs: Outputs,
    known: HashMap<(u32, Option<u32>, Option<DataType>), Option<Known>>,
}

/// An operator of which the work is known.
enum Known {
    Operator(Box<Operator>),
    Listed(Listed, DataType),
    /// All of it is done by one kernel.
    Whole(Work, Option<DataType>),
}

/// The work of a kernel with the pipe it needs.
pub(super) type Judged = (Work, Pipe);

impl<'a> Works<'a> {
    /// Operators by position, as [`super::gathered`] kept them.
    pub(super) fn new(keys: &[Vec<u8>], calls: &'a [Call], links: &'a Links<'a>) -> Self {
        let called: Vec<Called> = keys.iter().map(|key| Called::of(key)).collect();
        let mut outputs = Outputs::new();
        for called in &called {
            aten::note_output(&mut outputs, called);
        }
        Self { calls, links, called, outputs, known: HashMap::new() }
    }

    /// The operator of a call.
    pub(super) fn called(&self, call: u32) -> &Called {
        &self.called[self.calls[call as usize].operator as usize]
    }

    /// The work of each of the kernels of one call.
    pub(super) fn of(&mut self, call: u32, members: &[Member]) -> Vec<Judged> {
        if members.iter().any(|one| one.named.is_sparse) {
            return vec![(Work::default(), Pipe::Unstated); members.len()];
        }
        let alone = members.iter().filter(|one| !one.named.kernel.gemm_helper).count() == 1;
        // Kernels that are called products come before those whose names say nothing.
        let number =
            |is: fn(Kernel) -> bool| members.iter().filter(|one| is(one.named.kernel)).count();
        let is_product = match number(Kernel::names_product) {
            0 => Kernel::multiplies,
            _ => Kernel::names_product,
        };
        let has_one_product = number(is_product) == 1;
        let is_transformed = members.iter().any(|one| one.named.transforms);
        let is_in_steps = number(|kernel| !kernel.elementwise) > 1;
        let blocks: Vec<f64> = members
            .iter()
            .map(|one| match one.shape.blocks {
                Some(blocks) if one.named.is_chunked => blocks as f64,
                _ => 0.0,
            })
            .collect();
        let joined = joined(self.called(call), members);
        let mut works = Vec::new();
        for (at, member) in members.iter().enumerate() {
            let kernel = member.named.kernel;
            let place = Place {
                is_first: at == 0,
                is_alone: alone,
                is_only_product: has_one_product && is_product(kernel),
                is_transformed,
                is_in_steps,
            };
            works.push(match self.known(call, member.named.stored) {
                Some(Known::Operator(operator)) if joined.is_some() && member.named.joins => {
                    let place = Place { is_first: true, is_alone: true, ..place };
                    let (work, _) = operator.share(kernel, place, &member.shape);
                    let share = joined.as_ref().map_or(0.0, |shares| shares[at]);
                    (part(work, share), lane_pipe(operator.dtype))
                }
                Some(Known::Operator(operator)) => {
                    let (work, is_product) = operator.share(kernel, place, &member.shape);
                    let pipe = if is_product {
                        kernel.product_pipe(operator.dtype, TensorCores::Unknown)
                    } else {
                        lane_pipe(operator.dtype)
                    };
                    (work, pipe)
                }
                Some(Known::Listed(listed, kind)) => {
                    let from = member.named.from.unwrap_or(*kind);
                    (chunks(*listed, [*kind, from], &blocks, at), lane_pipe(Some(*kind)))
                }
                Some(Known::Whole(work, kind)) if members.len() == 1 => (*work, lane_pipe(*kind)),
                Some(Known::Whole(..)) | None => (Work::default(), Pipe::Unstated),
            });
        }
        works
    }

    fn known(&mut self, call: u32, stored: Option<DataType>) -> Option<&Known> {
        let of = self.calls[call as usize].operator;
        let called = &self.called[of as usize];
        let is_list = called.lists().next().is_some();
        let fallback = stored.filter(|_| is_list || !called.has_types);
        let is_part = called.plain().contains("convolution_backward_");
        let parent = if is_part { self.links.parent(call) } else { None };
        let parent = parent.map(|parent| self.calls[parent as usize].operator);
        let (outputs, all) = (&self.outputs, &self.called);
        let known = self.known.entry((of, parent, fallback)).or_insert_with(|| {
            if is_list && let Some(listed) = listed(called) {
                return fallback.map(|kind| Known::Listed(listed, kind));
            }
            if let Some((work, kind)) = fused::whole(called) {
                return Some(Known::Whole(work, kind));
            }
            let parent = parent.map(|parent| &all[parent as usize]);
            aten::operator(called, parent, outputs, fallback)
                .map(|operator| Known::Operator(Box::new(operator)))
        });
        known.as_ref()
    }
}

/// Which share of a concatenation each of its launches has, where there are several: each joins the tensors that follow
/// those of the one before, as many as its grid is high. Zero where the tensors are not known.
///
/// Source: `parallel_cat` in `aten/src/ATen/native/cuda/Shape.cu` of `PyTorch`.
fn joined(called: &Called, members: &[Member]) -> Option<Vec<f64>> {
    if members.iter().filter(|one| one.named.joins).count() < 2 {
        return None;
    }
    let tensors: Vec<usize> = members
        .iter()
        .map(|one| one.shape.grid.filter(|_| one.named.joins).map_or(0, |grid| grid.y as usize))
        .collect();
    let sizes: Vec<f64> = called
        .lists()
        .next()
        .into_iter()
        .flatten()
        .map(|one| one.iter().product::<f64>())
        // Empty tensors are passed over.
        .filter(|size| *size > 0.0)
        .collect();
    let all: f64 = sizes.iter().sum();
    let is_known = tensors.iter().sum::<usize>() == sizes.len();
    let mut rest = sizes.as_slice();
    let share = |count: usize| {
        let (own, after) = rest.split_at(count.min(rest.len()));
        rest = after;
        own.iter().sum::<f64>() / all
    };
    let shares: Vec<f64> = tensors.iter().copied().map(share).collect();
    Some(if is_known { shares } else { vec![0.0; members.len()] })
}

/// A share of the work of an operator; nothing is known of none.
fn part(work: Work, share: f64) -> Work {
    static PART: Basis = Basis::exact("size of the tensors that this launch joins, from shapes");
    if share <= 0.0 {
        return Work::default();
    }
    let bytes = work.bytes.and_then(|bytes| Count::new(bytes.value * share, &PART));
    Work { bytes, ..work }
}

/// The part of an operator on lists of tensors that one of its kernels does: as many chunks as blocks. One pass reads the
/// second type, all others are of the first.
fn chunks(listed: Listed, [kind, from]: [DataType; 2], blocks: &[f64], at: usize) -> Work {
    static ONE: Basis = Basis::exact("elements of all tensors of the lists, from shapes");
    const SQUARED: Basis =
        Basis::exact("elements of the tensors of the lists, from shapes; two lists may be one");
    let all: f64 = blocks.iter().sum();
    if !(blocks[at] > 0.0 && all > 0.0) {
        return Work::default();
    }
    let Listed { elements, operations, passes, most: most_passes } = listed;
    let least = (elements - (all - blocks[at]) * CHUNK).max(0.0);
    let most = (blocks[at] * CHUNK).min(elements);
    let share = elements * blocks[at] / all;
    // Kernels for lists have chunks of this size, or the blocks are of something else.
    if most < least || all * CHUNK < elements {
        return Work::default();
    }
    // In steps of an eighth, so that a profile has few different bounds.
    let low = (least / share * 8.0).floor() / 8.0;
    let high = (most / share * 8.0).ceil() / 8.0;
    let shared = Basis::within("share of the lists' elements, by blocks, from shapes", low, high);
    let basis = if blocks[at] == all { &ONE } else { &shared };
    let squared = Basis { high: eighths(basis.high * most_passes / passes), ..SQUARED };
    let of_bytes = if most_passes > passes { &Basis { low: basis.low, ..squared } } else { basis };
    Work {
        flops: Count::new(operations * share, basis),
        bytes: Count::new(((passes - 1.0) * kind.bytes() + from.bytes()) * share, of_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_have_one_type_tell_it() {
        for (name, kind) in [
            (
                "void at::native::vectorized_elementwise_kernel<4, AddFunctor<float>>(int, float4*)",
                Some(DataType::Fp32),
            ),
            ("void k<c10::Half, float>(c10::Half*)", None),
            ("void k<c10::BFloat16>(long)", Some(DataType::Bf16)),
            ("volta_sgemm_128x64_tn", Some(DataType::Fp32)),
            ("volta_fp16_sgemm_fp16_64x64_nn", None),
            ("floating_point", None),
        ] {
            assert_eq!(element_type(name), kind, "{name}");
        }
    }

    /// An optimizer's settings are doubles, whatever its weights are; a copy names the size of its elements.
    #[test]
    fn elements_are_told_from_settings_and_sizes() {
        let adam = "void at::native::multi_tensor_apply_kernel<FusedOptimizerTensorListMetadata<4>, \
            FusedAdamMathFunctor<float, 4, (ADAM_MODE)1, false>, float const*, double, double>(double)";
        assert_eq!(Named::of(adam).stored, Some(DataType::Fp32));
        let not_a_list = "void kernel<Functor<float>, double>(double)";
        assert_eq!(Named::of(not_a_list).stored, None);
        for (size, kind) in
            [("2u", Some(DataType::Fp16)), ("4", Some(DataType::Fp32)), ("16u", None)]
        {
            let name = format!(
                "void at::native::CatArrayBatchedCopy_vectorized<OpaqueType<{size}>, unsigned int, 3>(int)"
            );
            assert_eq!(Named::of(&name).stored, kind, "{name}");
        }
    }

    #[test]
    fn libraries_for_sparse_matrices_are_told_from_others() {
        for (name, is_sparse) in [
            (
                "void cusparse::csrmm_v3_kernel<std::integral_constant<bool, false>, int, float>(int)",
                true,
            ),
            ("void cusparse::load_balancing_kernel<unsigned int>(int)", true),
            ("rocsparse::csrmmnn_row_split_kernel<256u, 64u, int, float>(bool)", true),
            ("sm90_xmma_sparse_gemm_f16f16_f16f32_f32_tt_t_tilesize128x256x64", false),
            ("void cusparseLt::dense_gemm(float)", false),
            ("triton_tem_fused_addmm_spmm_7", false),
        ] {
            assert_eq!(Named::of(name).is_sparse, is_sparse, "{name}");
        }
    }

    /// A copy to another type reads one and writes the other.
    #[test]
    fn copies_of_lists_have_two_types() {
        let copy = |types: &str| {
            Named::of(&format!(
                "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::\
                 TensorListMetadata<2>, at::native::(anonymous namespace)::CopyFunctor<{types}, 2, 1, 1>, \
                 at::native::(anonymous namespace)::Copy<float, float>>(x)"
            ))
        };
        let types = |name: Named| [name.stored, name.from];
        let (half, single) = (Some(DataType::Bf16), Some(DataType::Fp32));
        assert_eq!(types(copy("c10::BFloat16, float")), [half, single]);
        assert_eq!(types(copy("float, c10::BFloat16")), [single, half]);
        assert_eq!(types(copy("float, unsigned char"))[0], None);
        let listed = Listed { elements: 100_000.0, operations: 0.0, passes: 2.0, most: 2.0 };
        let found = chunks(listed, [DataType::Bf16, DataType::Fp32], &[2.0], 0);
        assert_eq!(found.bytes.unwrap().value, 600_000.0);
    }

    /// 100,000 elements in two chunks by one kernel; 300,000 in five, of which two kernels do four and one.
    #[test]
    fn kernels_over_lists_share_the_elements_by_their_blocks() {
        let listed = |elements| Listed { elements, operations: 1.0, passes: 3.0, most: 3.0 };
        let one = chunks(listed(100_000.0), [DataType::Fp32; 2], &[2.0], 0);
        assert_eq!(one.bytes.unwrap().value, 1_200_000.0);
        assert_eq!((one.flops.unwrap().value, one.bytes.unwrap().basis.high), (100_000.0, 1.0));
        let both = [4.0, 1.0];
        let large = chunks(listed(300_000.0), [DataType::Fp32; 2], &both, 0).flops.unwrap();
        let small = chunks(listed(300_000.0), [DataType::Fp32; 2], &both, 1).flops.unwrap();
        assert_eq!((large.value, small.value), (240_000.0, 60_000.0));
        // The small one does at most a chunk, and at least what four chunks leave.
        assert_eq!((small.basis.low, small.basis.high), (0.625, 1.125));
        assert_eq!((large.basis.low, large.basis.high), (0.875, 1.125));
        assert_eq!(chunks(listed(300_000.0), [DataType::Fp32; 2], &[2.0], 0), Work::default());
        assert_eq!(chunks(listed(3.0), [DataType::Fp32; 2], &[0.0], 0), Work::default());
        // Two lists that may be one: 1.2 MB, or 1.6 MB, which is 1.33 times as much.
        let squared = Listed { most: 4.0, ..listed(100_000.0) };
        let bytes = chunks(squared, [DataType::Fp32; 2], &[2.0], 0).bytes.unwrap();
        assert_eq!((bytes.value, bytes.basis.low, bytes.basis.high), (1_200_000.0, 1.0, 1.375));
    }

    #[test]
    fn launches_of_a_concatenation_share_its_tensors_in_order() {
        use crate::model::Dim3;
        let member = |name: &str, y: u32| Member {
            named: Named::of(name),
            shape: Shape { grid: Some(Dim3 { x: 100, y, z: 1 }), ..Shape::default() },
        };
        let cat =
            "void at::native::CatArrayBatchedCopy<OpaqueType<2u>, unsigned int, 2, 128, 1>(int)";
        // Two tensors of 30 elements, an empty one, and one of 40.
        let called = Called::of(
            b"aten::cat\0[[[3,10],[3,10],[0],[4,10]],[]]\0[\"TensorList\",\"Scalar\"]\0",
        );
        assert_eq!(called.lists().next().map(<[_]>::len), Some(4));
        let shares = |members: &[Member]| joined(&called, members);
        assert_eq!(shares(&[member(cat, 3)]), None);
        assert_eq!(shares(&[member(cat, 2), member(cat, 1)]), Some(vec![0.6, 0.4]));
        assert_eq!(
            shares(&[member(cat, 1), member("k", 1), member(cat, 2)]),
            Some(vec![0.3, 0.0, 0.7])
        );
        // Of other numbers nothing is known.
        assert_eq!(shares(&[member(cat, 2), member(cat, 2)]), Some(vec![0.0, 0.0]));
        let whole = Work { flops: None, bytes: Count::new(1000.0, &Basis::exact("shapes")) };
        assert_eq!(part(whole, 0.6).bytes.map(|bytes| bytes.value), Some(600.0));
        assert_eq!(part(whole, 0.0), Work::default());
    }
}
