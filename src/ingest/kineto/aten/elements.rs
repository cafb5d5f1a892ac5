//! Operators on each element of their tensors.

/// How many operands an operator on elements has at most, first among its arguments; `None` for others. What is written
/// stands behind them: `mul(self, other, out)`.
pub(super) fn operands(name: &str) -> Option<usize> {
    Some(match name {
        "addcmul" | "addcdiv" | "lerp" | "where" | "masked_fill" => 3,
        "add" | "sub" | "rsub" | "mul" | "div" | "remainder" | "fmod" | "maximum" | "minimum"
        | "bitwise_and" | "bitwise_or" | "logical_and" | "logical_or" | "lt" | "gt" | "ge"
        | "le" | "eq" | "ne" | "pow" => 2,
        "abs" | "neg" | "reciprocal" | "ceil" | "floor" | "round" | "sign" | "trunc" | "clamp"
        | "clamp_min" | "clamp_max" | "exp" | "expm1" | "log" | "log10" | "log1p" | "log2"
        | "sqrt" | "rsqrt" | "acos" | "asin" | "atan" | "cos" | "cosh" | "sin" | "sinh" | "tan"
        | "sigmoid" | "tanh" | "erf" | "erfc" | "erfinv" | "elu" | "hardtanh" | "leaky_relu"
        | "relu" | "softplus" | "threshold" => 1,
        _ => return None,
    })
}
