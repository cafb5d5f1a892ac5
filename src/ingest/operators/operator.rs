//! What an operator has to compute and to move, from its name and the shapes of its operands.
//!
//! The operators and their formulas are those of `pyprof/prof/*.py` (`NVIDIA/PyProf` 3.11), with the
//! known faults put right: `linear` counts its bytes in elements, `matmul` forgets the batch in its
//! bytes, Adam and the gradient of an embedding do compute, and each pass of a batch normalization
//! does a part.

use super::convolution::faulty_convolution;
use super::forms::{
    self, Basis, Count, Work, batch_norm_pass, by_winograd, cleared, expanded, faulty_linear,
    matmul,
};
use super::kernel::Kernel;
use super::kind::{Kind, PrintedBytes, Share};
use super::params::{Params, Tensor};
use crate::model::{DataType, Shape};
use crate::predict::operator as sizes;

/// A kernel among those of one call of its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::ingest) struct Place {
    /// It is the first.
    pub(in crate::ingest) is_first: bool,
    /// It is the only one.
    pub(in crate::ingest) is_alone: bool,
    /// If it is a product, then the only one: what several do of it does not follow.
    pub(in crate::ingest) is_only_product: bool,
    /// Another one transforms a convolution for a product (Winograd, Fourier).
    pub(in crate::ingest) is_transformed: bool,
    /// Others than copies and fills are beside it: each does a step of what is to be done.
    pub(in crate::ingest) is_in_steps: bool,
}

/// An operator with its operands: what is asked for every launch of it in 16 bytes, and the rest apart, because a
/// program may have more operators than the caches of a processor hold.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ingest) struct Operator {
    share: Share,
    /// Zero operations are the truth, not a gap.
    pub(in crate::ingest) moves_data: bool,
    /// A product or convolution, which may run on matrix units.
    pub(in crate::ingest) is_product: bool,
    /// A pass over elements, which `apex.pyprof` and `pyprof2` count by half the elements moved.
    pub(in crate::ingest) is_pointwise: bool,
    printed_bytes: PrintedBytes,
    /// Type of the operands.
    pub(in crate::ingest) dtype: Option<DataType>,
    /// Whether a formula gives work.
    has_work: bool,
    /// Whether some values of the `Bytes` column come from a fault of `PyProf`.
    has_faulty: bool,
    /// `None` if nothing follows from them.
    amounts: Option<Box<Amounts>>,
}

/// What follows from the sizes of an operator's operands.
#[derive(Debug, Clone, PartialEq, Default)]
struct Amounts {
    /// Values of the `Bytes` column that come from a fault of `PyProf`.
    faulty: Option<[f64; 3]>,
    /// A softmax or a batch normalization, whose passes over the input depend on the kernel.
    is_in_passes: bool,
    /// The work of all its kernels.
    whole: Work,
    /// What an element-wise kernel beside a product does: it copies what the product is added to.
    expanded: Option<Work>,
    /// Elements and bytes of the input of a batch normalization.
    input: (f64, f64),
    /// Bytes of a table whose gradient it is.
    table: f64,
    /// The operator with its sizes, which tell of kernels that `PyProf` has no formula for.
    sizes: Option<sizes::Operator>,
}

impl Operator {
    /// The operator `op` of `module`, forward or backward, over these operands.
    pub(in crate::ingest) fn of(
        op: &str,
        module: &str,
        backward: bool,
        params: Option<&Params>,
    ) -> Self {
        let kind = Kind::of(op, module);
        let mut operator = Self {
            share: kind.share(backward),
            moves_data: kind.moves_data(backward),
            is_product: kind.is_product(),
            is_pointwise: matches!(
                kind,
                Kind::Unary(_) | Kind::Binary { .. } | Kind::Power | Kind::Ternary | Kind::Chosen
            ),
            printed_bytes: kind.printed_bytes(backward, params.is_some()),
            dtype: params.and_then(Params::dtype),
            has_work: false,
            has_faulty: false,
            amounts: None,
        };
        if let Some(params) = params {
            let mut amounts = Amounts {
                whole: kind.work(backward, params).unwrap_or_default(),
                sizes: sized(op, kind, backward, params),
                is_in_passes: matches!(kind, Kind::Softmax(_) | Kind::BatchNorm),
                ..Amounts::default()
            };
            operator.refine(kind, backward, params, &mut amounts);
            operator.has_faulty = amounts.faulty.is_some();
            operator.has_work = amounts.whole != Work::default()
                || matches!(operator.share, Share::Passes | Share::Scatter);
            operator.amounts = (amounts != Amounts::default()).then(|| Box::new(amounts));
        }
        operator
    }

    /// The operator with what is whole of parameters that were cut: only named sizes can be trusted.
    pub(in crate::ingest) fn of_cut(
        op: &str,
        module: &str,
        backward: bool,
        params: &Params,
    ) -> Self {
        let kind = Kind::of(op, module);
        let sizes = (kind == Kind::Convolution).then(|| sized(op, kind, backward, params));
        let amounts = |sizes| Box::new(Amounts { sizes: Some(sizes), ..Amounts::default() });
        Self { amounts: sizes.flatten().map(amounts), ..Self::of(op, module, backward, None) }
    }

    /// What sizes tell of this kernel, for which `PyProf` has no count and no formula.
    pub(in crate::ingest) fn need(&self, kernel: Kernel, shape: &Shape) -> Option<sizes::Need> {
        let part = if kernel.convolves { sizes::Part::Convolution } else { kernel.part };
        self.need_of(part, kernel, shape)
    }

    /// What sizes tell of a kernel that does this part.
    fn need_of(&self, part: sizes::Part, kernel: Kernel, shape: &Shape) -> Option<sizes::Need> {
        let sizes = self.amounts.as_ref()?.sizes.as_ref()?;
        match (&sizes.operands, kernel.stored) {
            // Parameters that were cut have lost the type, which some kernels name.
            (sizes::Operands::Convolution(known), Some(_)) if known.data_type.is_none() => {
                let known = sizes::Convolved { data_type: kernel.stored, ..*known };
                let operands = sizes::Operands::Convolution(known);
                sizes::Operator { operands, ..sizes.clone() }.need(part, shape)
            }
            _ => sizes.need(part, shape),
        }
    }

    /// What this kernel has to do, where the recorder counted nothing, and whether that is a product.
    ///
    /// The work of the operator is shared among its kernels and never given to several.
    pub(in crate::ingest) fn share(
        &self,
        kernel: Kernel,
        place: Place,
        shape: &Shape,
    ) -> (Work, bool) {
        if kernel.gemm_helper && self.is_product {
            return (Work::default(), false);
        }
        let is_convolution = matches!(self.share, Share::Convolutions { .. });
        let told = |need: sizes::Need| (Work::needed(&need), need.is_product);
        let nothing = (Work::default(), self.is_product);
        let expanded = self.amounts.as_ref().and_then(|amounts| amounts.expanded);
        if let Some(expanded) = expanded.filter(|_| kernel.elementwise) {
            return (expanded, false);
        }
        if is_convolution && place.is_transformed && kernel.part == sizes::Part::Product {
            // A product of transformed tiles does less than the convolution.
            return self.need_of(kernel.part, kernel, shape).map_or(nothing, told);
        }
        let need = || self.need(kernel, shape).map_or(nothing, told);
        // These count what one kernel does, where the formulas of `PyProf` count all passes.
        let is_in_passes = self.amounts.as_ref().is_some_and(|amounts| amounts.is_in_passes);
        if is_in_passes && kernel.pass.is_none() {
            return need();
        }
        if self.share == Share::Each && !place.is_alone
            || self.share == Share::Products && !place.is_only_product
            || self.share == Share::Scatter && place.is_in_steps && !kernel.elementwise
        {
            return nothing;
        }
        let sub = (!place.is_first).then_some(1.0);
        let work = self.work(kernel, sub);
        if work == Work::default() { need() } else { (work, self.is_product) }
    }

    /// What depends on the operands beyond the amount of work.
    fn refine(&mut self, kind: Kind, backward: bool, params: &Params, amounts: &mut Amounts) {
        let size = self.dtype.map(DataType::bytes);
        match (kind, params.tensors.as_slice()) {
            (Kind::Linear, _) => {
                amounts.faulty = size.and_then(|size| faulty_linear(params, size));
            }
            (Kind::Matmul, _) => {
                let faulty = size.and_then(|size| matmul(params, size)?.1);
                amounts.faulty = faulty.map(|faulty| [faulty; 3]);
            }
            (Kind::Product | Kind::Batched, _) => {
                amounts.expanded = size.and_then(|size| expanded(params, size));
            }
            (Kind::Convolution, _) => {
                let grouped = params.number("g").is_some_and(|groups| groups > 1.0);
                self.share = Share::Convolutions { grouped };
                let faulty = size.and_then(|size| faulty_convolution(params, size));
                amounts.faulty = faulty.map(|faulty| [faulty; 3]);
            }
            (Kind::BatchNorm, [input, ..]) => {
                if let Some(bytes) = input.bytes() {
                    self.share = Share::Passes;
                    amounts.input = (input.elements(), bytes);
                }
            }
            (Kind::Embedding, [_, table, ..]) if backward => {
                if let Some(table) = table.bytes() {
                    self.share = Share::Scatter;
                    amounts.table = table;
                }
            }
            _ => {}
        }
    }

    /// What this kernel, the `sub`-th of the operator, has to do by the operator's formula.
    pub(in crate::ingest) fn work(&self, kernel: Kernel, sub: Option<f64>) -> Work {
        let amounts = self.amounts.as_ref().filter(|_| self.has_work);
        let Some(amounts) = amounts else { return Work::default() };
        let is_first = sub.is_none_or(|sub| sub == 0.0);
        let all = match self.share {
            Share::Unknown => false,
            Share::First => is_first,
            Share::Products => kernel.multiplies(),
            Share::Convolutions { grouped } => {
                let all = kernel.convolves && (!grouped || kernel.all_groups);
                if all && kernel.is_winograd {
                    return by_winograd(amounts.whole);
                }
                all
            }
            Share::Passes => match kernel.pass {
                Some(pass) => {
                    let (elements, bytes) = amounts.input;
                    return batch_norm_pass(pass, elements, bytes);
                }
                None => is_first,
            },
            Share::Scatter if kernel.elementwise => return cleared(amounts.table),
            Share::Each | Share::Scatter => true,
        };
        if all { amounts.whole } else { Work::default() }
    }

    /// Whether the formula knows better than the file how the work is shared among the kernels.
    pub(in crate::ingest) fn overrides(&self, kernel: Kernel) -> bool {
        match self.share {
            Share::Passes => kernel.pass.is_some(),
            Share::Scatter => true,
            _ => false,
        }
    }

    /// Whether the file charges the whole operator to its first kernel.
    pub(in crate::ingest) fn charges_first(&self) -> bool {
        matches!(self.share, Share::First | Share::Passes)
    }

    /// Whether numbers in the `Bytes` column may be computed wrongly, and nothing tells which are.
    pub(in crate::ingest) fn may_be_faulty(&self) -> bool {
        matches!(self.printed_bytes, PrintedBytes::Elements | PrintedBytes::OneProduct)
    }

    /// Whether this value of the `Bytes` column is one `PyProf` computes wrongly.
    pub(in crate::ingest) fn is_faulty(&self, bytes: f64) -> bool {
        let amounts = self.amounts.as_ref().filter(|_| self.has_faulty);
        amounts.and_then(|amounts| amounts.faulty).is_some_and(|faulty| faulty.contains(&bytes))
    }

    /// The bytes of a softmax by its sizes and by how often this kernel reads a row, which `PyProf` always counts as twice.
    pub(in crate::ingest) fn softmax_bytes(&self, kernel: Kernel) -> Option<Count> {
        let is_softmax =
            matches!(self.printed_bytes, PrintedBytes::Softmax | PrintedBytes::SoftmaxGradient);
        let need = is_softmax.then(|| self.need(kernel, &Shape::default()))??;
        Work::needed(&need).bytes
    }

    /// What a number in the `Bytes` column is.
    pub(in crate::ingest) fn printed_bytes(&self) -> &'static Basis {
        static BYTES: Basis = Basis::exact("PyProf Bytes");
        static ELEMENTS: Basis =
            Basis::within("PyProf Bytes of linear, mostly counted in elements", 1.0, 4.0);
        static ONE_PRODUCT: Basis =
            Basis::exact("PyProf Bytes of matmul, of one product of a batch");
        // The kernel may be the first of three, which reads the input once, or do all of it.
        static FORWARD: Basis =
            Basis::within("PyProf Bytes of the whole batch normalization", 0.25, 1.0);
        static BACKWARD: Basis =
            Basis::within("PyProf Bytes of the whole gradient of a batch normalization", 0.4, 1.0);
        static SOFTMAX: Basis = Basis::within(
            "PyProf Bytes of a softmax that reads its rows twice",
            forms::SOFTMAX.0,
            forms::SOFTMAX.1,
        );
        static SOFTMAX_BACKWARD: Basis = Basis::within(
            "PyProf Bytes of a gradient of a softmax that reads its rows twice",
            forms::SOFTMAX_GRADIENT.0,
            forms::SOFTMAX_GRADIENT.1,
        );
        match self.printed_bytes {
            PrintedBytes::Whole => &BYTES,
            PrintedBytes::Elements => &ELEMENTS,
            PrintedBytes::OneProduct => &ONE_PRODUCT,
            PrintedBytes::Normalization => &FORWARD,
            PrintedBytes::NormalizationGradient => &BACKWARD,
            PrintedBytes::Softmax => &SOFTMAX,
            PrintedBytes::SoftmaxGradient => &SOFTMAX_BACKWARD,
        }
    }
}

/// The operator with its sizes, as any recorder of shapes tells it.
fn sized(op: &str, kind: Kind, backward: bool, params: &Params) -> Option<sizes::Operator> {
    let number = |key| params.number(key).filter(|number| *number >= 1.0);
    let pair = |one, other| Some((number(one)?, number(other)?));
    let operands = if kind == Kind::Convolution {
        sizes::Operands::Convolution(sizes::Convolved {
            images: number("N")?,
            inputs: number("C")?,
            input: pair("H", "W")?,
            outputs: number("K")?,
            output: pair("P", "Q")?,
            filter: pair("R", "S")?,
            groups: number("g"),
            data_type: params.dtype(),
        })
    } else {
        let tensor =
            |one: &Tensor| Some(sizes::Tensor { shape: one.shape.clone(), data_type: one.dtype? });
        let tensors: Option<Vec<_>> = params.tensors.iter().map(tensor).collect();
        let tensors = tensors.filter(|tensors| !tensors.is_empty())?;
        if op == "attention" {
            sizes::Operands::Attention(sizes::Attended { tensors, seen: seen(params) })
        } else {
            sizes::Operands::Tensors(tensors)
        }
    };
    let name = op.trim_matches('_').to_owned();
    Some(sizes::Operator { name, backward, operands })
}

/// Which keys a query of an attention sees, by its sizes.
fn seen(params: &Params) -> sizes::Seen {
    let [before, after, offset] = ["before", "after", "offset"].map(|key| params.number(key));
    match (before, after, offset) {
        (Some(before), Some(after), Some(offset)) => {
            sizes::Seen::Band(sizes::Band { before, after, offset })
        }
        _ if params.number("maybe_causal").is_some() => sizes::Seen::AllOrCausal,
        _ => sizes::Seen::All,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_that_do_not_fit_the_operator_give_no_work() {
        for (op, params) in [
            ("conv2d", "M=8,N=8,K=8,fp32,"),
            ("linear", "T=[(8,8)],['float32']"),
            ("linear", "M=8,N=8,K=8,"),
            ("matmul", "A=(),B=(8,8),fp32,"),
            ("embedding", "[8]int64;[8]fp32"),
            ("relu", "[0,8]fp32"),
            ("adam", "T=(8,),fp32,"),
            ("addcmul", "[]fp32"),
            ("index_select", "T=(8,),D=3,I=1,fp32,"),
        ] {
            let params = Params::parse(params);
            let operator = Operator::of(op, "torch", false, params.as_ref());
            assert_eq!(
                operator.work(Kernel::of("cutlass"), None),
                Work::default(),
                "{op} {params:?}"
            );
        }
    }
}
