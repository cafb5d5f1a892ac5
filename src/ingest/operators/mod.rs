//! What the kernel of a framework operator has to do, from the operator's name and shapes.
//!
//! A recorder of operators (`PyProf`, the `PyTorch` profiler) names the operator of a kernel and the
//! shapes of its operands, and counts little or nothing. From these and from the kernel's name follow
//! the operations, the bytes and the pipe: `params` holds the operands, `kernel` what a name tells,
//! `forms` and `convolution` the formulas, `kind` which formula applies and how its work is shared among the kernels of
//! the operator, `operator` the work itself.

mod amd;
mod convolution;
pub(super) mod forms;
pub(super) mod kernel;
mod kind;
mod moved;
pub(super) mod operator;
pub(super) mod params;
