//! Operators on lists of tensors, such as the step of an optimizer.

use super::operands::Called;

/// What an operator on lists of tensors does to each of their elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Listed {
    /// Elements of one list.
    pub(super) elements: f64,
    /// Operations for each of them.
    pub(super) operations: f64,
    /// Times that an element is read or written, at least.
    pub(super) passes: f64,
    /// The same at most: two lists may be one.
    pub(super) most: f64,
}

/// The work of an operator on lists of tensors, such as the step of an optimizer.
pub(super) fn listed(called: &Called) -> Option<Listed> {
    let plain = called.plain();
    let sum = |list: &[Vec<f64>]| list.iter().map(|one| one.iter().product::<f64>()).sum::<f64>();
    let sizes: Vec<f64> = called.lists().map(sum).collect();
    let elements = *sizes.first().filter(|elements| **elements > 0.0)?;
    // A list of step counters is shorter.
    let lists = sizes.iter().filter(|size| **size == elements).count() as f64;
    let (operations, passes) = match plain {
        // Weights, gradients and two moments read, three of them written; AMSGrad keeps a maximum.
        "fused_adam" | "fused_adamw" if lists == 4.0 => (14.0, 7.0),
        "fused_adam" | "fused_adamw" if lists == 5.0 => (15.0, 9.0),
        "fused_sgd" if lists == 2.0 => (2.0, 3.0),
        "fused_sgd" if lists == 3.0 => (4.0, 5.0),
        "foreach_zero" => (0.0, 1.0),
        "foreach_copy" if lists == 2.0 => (0.0, 2.0),
        "foreach_add" | "foreach_sub" | "foreach_mul" | "foreach_div" | "foreach_neg"
        | "foreach_sqrt" | "foreach_reciprocal" | "foreach_maximum" | "foreach_minimum" => {
            (1.0, lists + 1.0)
        }
        "foreach_addcmul" | "foreach_addcdiv" | "foreach_lerp" => (3.0, lists + 1.0),
        _ => return None,
    };
    // Adam squares its gradients so: `_foreach_addcmul_(averages, gradients, gradients)`.
    let may_square = plain == "foreach_addcmul" && called.are_alike(1, 2);
    let least = if may_square { passes - 1.0 } else { passes };
    Some(Listed { elements, operations, passes: least, most: passes })
}
