//! The name of an operator with its operands, short and the same for the same problem.

/// Operator with parameters, and operator alone: `linear M=200,N=35x20,K=200,fp32` and `linear`.
///
/// Backward launches and numbered kernels say so. Empty where the file names no operator.
pub(super) fn label(
    op: &str,
    module: &str,
    backward: bool,
    params: &str,
    sub: &str,
) -> (String, String) {
    if op.is_empty() || op == "na" {
        return (String::new(), String::new());
    }
    // The method of a recurrent cell is called `forward` whatever the cell.
    let plain = if op == "forward" && module.ends_with("Cell") {
        format!("{module}.{op}")
    } else {
        op.to_owned()
    };
    let mut label = plain.clone();
    if backward {
        label.push_str(" bprop");
    }
    if !matches!(params, "" | "-" | "na" | "na=na,") {
        label.push(' ');
        label.push_str(&operands(params));
    }
    if !sub.is_empty() {
        label.push_str(" #");
        label.push_str(sub);
    }
    (label, plain)
}

/// Tuples as `35x20`, no quotes, no comma at the end.
fn operands(params: &str) -> String {
    let mut text = String::with_capacity(params.len());
    let mut inside = false;
    for character in params.trim_end_matches(',').chars() {
        match character {
            '(' => inside = true,
            ')' => {
                inside = false;
                // A tuple of one ends in a comma.
                if text.ends_with('x') {
                    text.pop();
                }
            }
            ',' if inside => text.push('x'),
            '\'' => {}
            // A list of types follows a list of shapes without a comma only where one was cut.
            other if other.is_control() => text.push(' '),
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_part_of_the_name() {
        for (op, module, backward, params, sub, expected) in [
            (
                "linear",
                "torch",
                false,
                "M=200,N=(35,20),K=200,fp32,",
                "",
                "linear M=200,N=35x20,K=200,fp32",
            ),
            ("relu", "torch", true, "[32,64]fp16", "", "relu bprop [32,64]fp16"),
            (
                "max_pool2d",
                "torch",
                false,
                "T=[(8,3),(3,)],['fp16','fp16']",
                "1",
                "max_pool2d T=[8x3,3],[fp16,fp16] #1",
            ),
            (
                "forward",
                "LSTMCell",
                false,
                "gemm=layer,M=8,N=2,K=4,fp16,",
                "",
                "LSTMCell.forward gemm=layer,M=8,N=2,K=4,fp16",
            ),
            ("aten::add", "na", false, "na=na,", "", "aten::add"),
            ("", "na", false, "na=na,", "", ""),
        ] {
            assert_eq!(label(op, module, backward, params, sub).0, expected);
        }
        assert_eq!(label("max_pool2d", "torch", false, "[8]fp16", "0").1, "max_pool2d");
    }
}
