//! Name of an operator from a label of `PyProf` or a path of NVTX ranges.

/// Returns the name of the innermost operator without namespace, parameters and `_`, in lower case,
/// with `backward` appended for the backward pass.
pub(super) fn word(operator: &str) -> String {
    let label = operator.rsplit('/').next().unwrap_or_default();
    let label = label.rsplit("evaluate_function: ").next().unwrap_or_default().trim();
    let end = label.find([' ', ',', '(', '[']).unwrap_or(label.len());
    let (name, parameters) = label.split_at(end);
    let name = name.rsplit([':', '.']).next().unwrap_or_default();
    let mut word: String = name.chars().filter(|c| *c != '_').collect();
    word.make_ascii_lowercase();
    // Autograd numbers the overloads: `AddmmBackward0`.
    let plain = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if plain.ends_with("backward") {
        word.truncate(plain.len());
    } else if parameters.split_whitespace().next() == Some("bprop") {
        word.push_str("backward");
    }
    word
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn operators_of_every_spelling_have_one_word() {
        for (operator, expected) in [
            ("linear M=200,N=35x20,K=200,fp32", "linear"),
            ("relu bprop [32,64]fp16 #1", "relubackward"),
            ("aten::add_", "add"),
            ("step/layer.3/aten::mm, sizes = [[8, 4]]", "mm"),
            ("autograd::engine::evaluate_function: AddmmBackward0", "addmmbackward"),
            ("aten::_softmax_backward_data", "softmaxbackwarddata"),
            ("torch.nn.functional.conv2d", "conv2d"),
            ("Conv2d(3, 64)", "conv2d"),
            ("LSTMCell.forward", "forward"),
            ("", ""),
            ("/", ""),
        ] {
            assert_eq!(word(operator), expected, "{operator}");
        }
    }
}
