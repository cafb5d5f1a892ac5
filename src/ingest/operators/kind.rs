//! The families of operators: which formula each has, and how its work is shared among its kernels.

use super::convolution::convolution;
use super::forms::{
    Work, Written, adam, batch_norm, bias, broadcasting, broadcasting_gradient, cell, elementwise,
    embedding, embedding_bag, matmul, moved, ordered, product, reduction, softmax, squared_error,
    squaring,
};
use super::moved::Moved;
use super::params::{Params, Tensor};
use crate::model::DataType;

/// How the work of an operator is shared among its kernels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Share {
    /// No formula.
    Unknown,
    /// Each kernel does all of it (element-wise operators have one kernel).
    Each,
    /// The first kernel is charged with all, the others finish what it began.
    First,
    /// Each product has all of it: forward, both gradients, every algorithm that is tried.
    Products,
    /// Each whole convolution has all of it, if one kernel does all groups.
    Convolutions { grouped: bool },
    /// Each pass of a batch normalization has a part.
    Passes,
    /// The gradient of a table is cleared, then added to.
    Scatter,
}

/// What a number in the `Bytes` column is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PrintedBytes {
    /// The bytes of the operator.
    Whole,
    /// Elements mostly, else bytes; the file does not say which.
    Elements,
    /// Bytes of one product, which may be of a batch.
    OneProduct,
    /// Bytes of a whole batch normalization, of which the kernel may do a part.
    Normalization,
    /// The same of its gradient.
    NormalizationGradient,
    /// Bytes of a softmax that reads its rows twice.
    Softmax,
    /// The same of its gradient.
    SoftmaxGradient,
}

/// The families of operators that share a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Convolution,
    Linear,
    Bias,
    Product,
    Batched,
    Matmul,
    Cell,
    Unary(u8),
    Binary {
        compares: bool,
        adds: bool,
        divides: bool,
        /// Whether the result takes the place of the first operand.
        in_place: bool,
    },
    Power,
    Ternary,
    Chosen,
    Activation(u8),
    Softmax(u8),
    BatchNorm,
    Dropout,
    Embedding,
    EmbeddingBag,
    /// All in order, or the greatest `k` of each row.
    Ordered,
    Mean,
    Sum,
    Norm,
    SquaredError,
    Adam,
    Moved(Moved),
    Unknown,
}

impl Kind {
    pub(super) fn of(op: &str, module: &str) -> Self {
        if op == "forward" && module.ends_with("Cell") {
            return Self::Cell;
        }
        // In-place and dunder spellings compute the same: `add_`, `__add__`, `__iadd__`, `__radd__`.
        let plain = op.trim_matches('_');
        let in_place = op.ends_with('_') && !op.starts_with("__") || op.starts_with("__i");
        let binary = |name: &str| Self::binary(name, in_place);
        if op.starts_with("__")
            && let Some(kind) = plain.strip_prefix(['i', 'r']).and_then(binary)
        {
            return kind;
        }
        if let Some(kind) = binary(plain) {
            return kind;
        }
        match plain {
            "conv1d" | "conv2d" => Self::Convolution,
            "linear" => Self::Linear,
            "bias" => Self::Bias,
            "mm" | "addmm" => Self::Product,
            "bmm" => Self::Batched,
            "matmul" => Self::Matmul,
            // The activation counts one operation, the Tensor method twenty.
            "sigmoid" | "tanh" if module == "torch.nn.functional" => Self::Activation(1),
            "abs" | "neg" | "reciprocal" | "invert" | "ceil" | "clamp" | "clamp_min"
            | "clamp_max" | "floor" | "frac" | "round" | "sign" | "trunc" => Self::Unary(1),
            "exp" | "exp1m" | "expm1" | "log" | "log10" | "log1p" | "log2" | "sqrt" | "rsqrt"
            | "acos" | "asin" | "atan" | "atan2" | "cos" | "cosh" | "sin" | "sinh" | "tan"
            | "sigmoid" | "tanh" | "erf" | "erfc" | "erfinv" => Self::Unary(20),
            "pow" | "rpow" => Self::Power,
            "addcdiv" | "addcmul" | "lerp" => Self::Ternary,
            "where" | "masked_fill" => Self::Chosen,
            "celu" | "elu" | "hardshrink" | "hardtanh" | "leaky_relu" | "logsigmoid" | "prelu"
            | "relu" | "relu6" | "rrelu" | "selu" | "softplus" | "softshrink" | "softsign"
            | "tanhshrink" | "threshold" => Self::Activation(1),
            "softmax" => Self::Softmax(40),
            "log_softmax" => Self::Softmax(21),
            "batch_norm" => Self::BatchNorm,
            "dropout" => Self::Dropout,
            "embedding" => Self::Embedding,
            "embedding_bag" => Self::EmbeddingBag,
            "sort" | "topk" => Self::Ordered,
            "mean" => Self::Mean,
            "sum" => Self::Sum,
            "norm" | "linalg_vector_norm" => Self::Norm,
            "mse_loss" => Self::SquaredError,
            "adam" => Self::Adam,
            _ => Moved::of(plain).map_or(Self::Unknown, Self::Moved),
        }
    }

    fn binary(name: &str, in_place: bool) -> Option<Self> {
        let (compares, adds) = match name {
            "add" | "sub" | "rsub" => (false, true),
            "maximum" | "minimum" | "bitwise_and" | "bitwise_or" | "mul" | "div" | "truediv"
            | "floordiv" | "remainder" | "mod" | "fmod" | "and" | "or" | "xor" | "lshift"
            | "rshift" => (false, false),
            "lt" | "gt" | "ge" | "le" | "eq" | "ne" | "logical_and" | "logical_or" => (true, false),
            _ => return None,
        };
        let divides = matches!(name, "div" | "truediv");
        Some(Self::Binary { compares, adds, divides, in_place })
    }

    pub(super) fn share(self, backward: bool) -> Share {
        match self {
            Self::Unknown => Share::Unknown,
            Self::Linear | Self::Product | Self::Batched | Self::Matmul => Share::Products,
            Self::Convolution => Share::Convolutions { grouped: false },
            Self::BatchNorm
            | Self::Mean
            | Self::Sum
            | Self::Norm
            | Self::Adam
            | Self::Moved(Moved::Joined | Moved::Positions) => Share::First,
            Self::Embedding if backward => Share::First,
            _ => Share::Each,
        }
    }

    pub(super) fn is_product(self) -> bool {
        use Kind::{Batched, Cell, Convolution, Linear, Matmul, Product};
        matches!(self, Convolution | Linear | Product | Batched | Matmul | Cell)
    }

    /// What a number in the `Bytes` column is, if it is not put right.
    pub(super) fn printed_bytes(self, backward: bool, has_params: bool) -> PrintedBytes {
        match self {
            Self::BatchNorm if backward => PrintedBytes::NormalizationGradient,
            Self::BatchNorm => PrintedBytes::Normalization,
            Self::Softmax(_) if backward => PrintedBytes::SoftmaxGradient,
            Self::Softmax(_) => PrintedBytes::Softmax,
            Self::Linear if !has_params => PrintedBytes::Elements,
            Self::Matmul if !has_params => PrintedBytes::OneProduct,
            _ => PrintedBytes::Whole,
        }
    }

    /// The work of the whole operator, where all its operands are known.
    pub(super) fn work(self, backward: bool, params: &Params) -> Option<Work> {
        let operands = params.tensors.as_slice();
        let pair = operands.get(..2).unwrap_or(operands);
        let first = operands.first();
        let size = || params.dtype().map(DataType::bytes);
        match self {
            Self::Convolution => convolution(params, size()?, backward),
            Self::Linear | Self::Product => product(None, params, size()?),
            Self::Batched => product(Some(params.number("B")?), params, size()?),
            Self::Matmul => Some(matmul(params, size()?)?.0),
            Self::Cell => cell(params, size()?),
            Self::Bias => bias(params, size()?),
            Self::Unary(cost) => elementwise(cost, first?, 2.0),
            Self::Binary { adds, .. } if backward => broadcasting_gradient(pair, adds),
            Self::Binary { in_place: true, .. } => broadcasting(1, pair, Written::First),
            Self::Binary { compares: true, .. } => broadcasting(1, pair, Written::Bytes),
            Self::Binary { divides: true, .. } => broadcasting(1, pair, Written::Floats),
            Self::Binary { .. } => broadcasting(1, pair, Written::Widest),
            Self::Power => broadcasting(20, pair, Written::Widest),
            Self::Chosen => broadcasting(1, operands, Written::Widest),
            Self::Ternary => {
                let tensors = operands.iter().filter(|tensor| !tensor.shape.is_empty()).cloned();
                let tensors: Vec<Tensor> = tensors.collect();
                let work = broadcasting(3, &tensors, Written::Widest)?;
                match (params.number("maybe_square"), tensors.as_slice()) {
                    (Some(_), [_, factor, _]) => Some(squaring(work, factor.bytes()?)),
                    _ => Some(work),
                }
            }
            Self::Activation(cost) => elementwise(cost, first?, if backward { 3.0 } else { 2.0 }),
            Self::Softmax(cost) => softmax(cost, first?, backward),
            Self::BatchNorm => batch_norm(first?, backward),
            Self::Dropout => elementwise(5, first?, 2.0),
            Self::Embedding => embedding(params, backward),
            Self::EmbeddingBag => embedding_bag(params),
            Self::Ordered => {
                let columns = first?.shape.last().copied()?;
                let kept = params.number("k").unwrap_or(columns);
                let written = first?.elements() / columns * kept;
                ordered(first?, written).filter(|_| kept <= columns)
            }
            Self::Mean => reduction((1, 1.0), first?, params),
            Self::Sum => reduction((1, 0.0), first?, params),
            Self::Norm => reduction((2, 1.0), first?, params),
            Self::SquaredError => {
                let kept = if params.word("red") == Some("none") { 1.0 } else { 0.0 };
                squared_error(first?, kept + if backward { 3.0 } else { 2.0 })
            }
            Self::Adam => adam(params),
            Self::Moved(kind) => Some(moved(kind.bytes(params)?)),
            Self::Unknown => None,
        }
    }

    /// Operators whose own formula makes zero operations the truth.
    pub(super) fn moves_data(self, backward: bool) -> bool {
        match self {
            Self::Moved(_) | Self::Ordered => true,
            Self::Embedding => !backward,
            // The gradient of a sum is passed on.
            Self::Binary { adds, .. } => adds && backward,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_operator_are_one() {
        let kind = |op| Kind::of(op, "Tensor");
        for op in ["add", "add_", "__add__", "__iadd__", "__radd__"] {
            let in_place = matches!(op, "add_" | "__iadd__");
            let adds = Kind::Binary { compares: false, adds: true, divides: false, in_place };
            assert_eq!(kind(op), adds, "{op}");
        }
        for op in ["div", "__itruediv__", "__rfloordiv__", "__imod__", "__rshift__", "__ixor__"] {
            assert!(matches!(kind(op), Kind::Binary { compares: false, adds: false, .. }), "{op}");
        }
        for op in ["lt", "__lt__", "ne_"] {
            assert!(matches!(kind(op), Kind::Binary { compares: true, adds: false, .. }), "{op}");
        }
        assert_eq!(kind("__matmul__"), Kind::Matmul);
        assert_eq!(kind("addmm_"), Kind::Product);
        assert_eq!(kind("__rpow__"), Kind::Power);
        assert_eq!(kind("relu_"), Kind::Activation(1));
        assert_eq!(kind("masked_scatter_"), Kind::Moved(Moved::Masked));
        for op in
            ["", "na", "aten::add", "AddmmBackward", "reshape", "layer_norm", "forward", "iadd"]
        {
            assert_eq!(kind(op), Kind::Unknown, "{op}");
        }
    }

    #[test]
    fn a_module_decides_where_a_name_has_two_meanings() {
        assert_eq!(Kind::of("sigmoid", "Tensor"), Kind::Unary(20));
        assert_eq!(Kind::of("sigmoid", "torch.nn.functional"), Kind::Activation(1));
        assert_eq!(Kind::of("forward", "GRUCell"), Kind::Cell);
    }
}
