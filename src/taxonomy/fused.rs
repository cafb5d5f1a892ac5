//! Operators that a compiler fused into one kernel, from its name.

use std::collections::BTreeSet;

use serde::Serialize;

/// Largest number of operators that Inductor writes into a name (`kernel_name_max_ops`).
const MOST: usize = 10;

/// Operators listed in a fused kernel's name, as a set because the list is sorted, not in execution
/// order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize)]
pub struct Fused {
    /// The operators, such as `native_layer_norm`.
    pub operators: BTreeSet<String>,
    /// True if the list is complete; compilers list at most ten, and profilers truncate long names.
    pub complete: bool,
}

impl Fused {
    /// Returns `true` if an operator is listed.
    #[must_use]
    pub fn contains(&self, operator: &str) -> bool {
        self.operators.contains(operator)
    }

    /// Splits `native_layer_norm_relu_3`; `known` are the operators that contain `_`.
    ///
    /// With `numbered`, a complete name ends in a number; otherwise it was truncated and its last
    /// word may be incomplete.
    pub(super) fn read(list: &str, numbered: bool, known: &[String]) -> Self {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let (mut rest, whole) = match list.rsplit_once('_') {
            Some((before, number)) if numbered && digits(number) => (before, true),
            _ if numbered && digits(list) => ("", true),
            _ => (list, !numbered),
        };
        let mut operators = BTreeSet::new();
        while !rest.is_empty() {
            // The end of a cut list may be the start of one known operator, or of several.
            if !whole && let [first, others @ ..] = completions(rest, known).as_slice() {
                operators.extend(others.is_empty().then(|| (*first).to_owned()));
                break;
            }
            let length = known_start(rest, known).unwrap_or_else(|| word(rest));
            let (operator, after) = rest.split_at(length);
            let certain = whole || !after.is_empty() || known.iter().any(|name| name == operator);
            if certain {
                operators.insert(operator.to_owned());
            }
            rest = after.strip_prefix('_').unwrap_or(after);
        }
        let complete = whole && operators.len() < MOST;
        Self { operators, complete }
    }
}

/// Returns the length of the longest known operator at the start of the list.
fn known_start(list: &str, known: &[String]) -> Option<usize> {
    let whole = |length: usize| list.len() == length || list.as_bytes()[length] == b'_';
    let starts = known.iter().filter(|name| list.starts_with(name.as_str()) && whole(name.len()));
    starts.map(String::len).max()
}

/// Returns the length of the first word; an operator such as `_foo` keeps its underscore.
fn word(list: &str) -> usize {
    let start = list.len() - list.trim_start_matches('_').len();
    list[start..].find('_').map_or(list.len(), |at| start + at)
}

/// Returns the known operators that start with a truncated text; empty if it is one itself.
fn completions<'a>(text: &str, known: &'a [String]) -> Vec<&'a str> {
    if text.len() < 3 || known.iter().any(|name| name == text) {
        return Vec::new();
    }
    known.iter().filter(|name| name.starts_with(text)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(list: &str) -> (Vec<String>, bool) {
        let known =
            ["_softmax", "_to_copy", "copy_", "native_layer_norm", "native_layer_norm_backward"]
                .map(str::to_owned);
        let fused = Fused::read(list, true, &known);
        (fused.operators.into_iter().collect(), fused.complete)
    }

    #[test]
    fn lists_are_taken_apart_at_operators_not_at_underscores() {
        for (list, expected) in [
            ("native_layer_norm_3", vec!["native_layer_norm"]),
            ("native_layer_norm_backward_relu_12", vec!["native_layer_norm_backward", "relu"]),
            ("_softmax_2", vec!["_softmax"]),
            ("add__softmax__to_copy_0", vec!["_softmax", "_to_copy", "add"]),
            ("copy__mul_sum_0", vec!["copy_", "mul", "sum"]),
            ("__rshift___add_1", vec!["__rshift", "__add"]),
            ("0", vec![]),
        ] {
            let (mut operators, complete) = read(list);
            operators.sort();
            let mut expected = expected;
            expected.sort_unstable();
            assert_eq!(
                (operators, complete),
                (expected.iter().map(|s| (*s).to_owned()).collect(), true),
                "{list}"
            );
        }
    }

    #[test]
    fn a_cut_list_says_so_and_invents_nothing() {
        assert_eq!(
            read("add_native_layer_norm"),
            (vec!["add".into(), "native_layer_norm".into()], false)
        );
        assert_eq!(read("add_native_layer_no"), (vec!["add".into()], false));
        assert_eq!(read("add_mu"), (vec!["add".into()], false));
        assert_eq!(read("add__softm"), (vec!["_softmax".into(), "add".into()], false));
        assert!(!read("add_a_b_c_d_e_f_g_h_i_7").1);
    }
}
