//! Operations and bytes in closed form, from the shapes of the operands.
//!
//! Each operand is read once and each result written once; a fused multiply-add is two operations.
//! The forms are those of `pyprof/prof/*.py` (`NVIDIA/PyProf` 3.11) where these are right.

use super::kernel::Pass;
use super::params::{Params, Tensor, is_float};
use crate::model::DataType;
use crate::predict::operator::Need;

/// Where a count comes from, in words for the report, and how far it can be off.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct Basis {
    /// The column or formula.
    pub(in crate::ingest) formula: &'static str,
    /// The true value is at least this factor times the count.
    pub(in crate::ingest) low: f64,
    /// The true value is at most this factor times the count.
    pub(in crate::ingest) high: f64,
}

impl PartialEq for Basis {
    fn eq(&self, other: &Self) -> bool {
        // Every launch is asked, and most formulas are the same place in memory.
        let is_same = std::ptr::eq(self.formula, other.formula) || self.formula == other.formula;
        is_same && self.low == other.low && self.high == other.high
    }
}

impl Basis {
    /// A basis that gives the count itself.
    pub(in crate::ingest) const fn exact(formula: &'static str) -> Self {
        Self { formula, low: 1.0, high: 1.0 }
    }

    /// A basis that gives the count within these factors.
    pub(in crate::ingest) const fn within(formula: &'static str, low: f64, high: f64) -> Self {
        Self { formula, low, high }
    }
}

/// A number of operations or bytes with its basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::ingest) struct Count {
    /// Operations or bytes.
    pub(in crate::ingest) value: f64,
    /// How it came about.
    pub(in crate::ingest) basis: Basis,
}

impl Count {
    /// A count; `None` if it is not a number.
    pub(in crate::ingest) fn new(value: f64, basis: &Basis) -> Option<Self> {
        value.is_finite().then_some(Self { value, basis: *basis })
    }
}

/// What one launch has to do, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(in crate::ingest) struct Work {
    /// Operations; a known zero where data is only moved.
    pub(in crate::ingest) flops: Option<Count>,
    /// Bytes to read and write.
    pub(in crate::ingest) bytes: Option<Count>,
}

impl Work {
    /// Work of known size. Operands of no bytes describe nothing.
    pub(super) fn new(
        flops: f64,
        flops_basis: &'static Basis,
        bytes: f64,
        bytes_basis: &'static Basis,
    ) -> Self {
        if bytes > 0.0 {
            Self { flops: Count::new(flops, flops_basis), bytes: Count::new(bytes, bytes_basis) }
        } else {
            Self::default()
        }
    }
}

impl Work {
    /// What the sizes of the operator tell of a kernel.
    pub(in crate::ingest) fn needed(need: &Need) -> Self {
        let (low, high) = need.operations_within;
        let operations = Basis::within(need.formula, low, high);
        Self {
            flops: need.operations.and_then(|count| Count::new(count, &operations)),
            bytes: Count::new(need.bytes, &Basis::within(need.formula, 1.0, need.high)),
        }
    }
}

/// Operations of a kernel that only moves data.
pub(in crate::ingest) static NO_OPERATIONS: Basis = Basis::exact("0: data is only moved");

/// Bytes of the inputs of this many sizes.
static INPUT_PASSES: Basis = Basis::exact("reads and writes of the input's size from shapes");
static OPERANDS: Basis = Basis::exact("sizes of inputs and output from shapes");

/// A matrix product, or `batch` of them.
pub(in crate::ingest) fn product(batch: Option<f64>, params: &Params, size: f64) -> Option<Work> {
    static ONE: Basis = Basis::exact("2·M·N·K from shapes");
    static ONE_BYTES: Basis = Basis::exact("s·(M·N + M·K + N·K) from shapes");
    static MANY: Basis = Basis::exact("2·B·M·N·K from shapes");
    static COMPLEX: Basis = Basis::exact("8·M·N·K real operations from shapes");
    static MANY_COMPLEX: Basis = Basis::exact("8·B·M·N·K real operations from shapes");
    static MANY_BYTES: Basis = Basis::exact("s·B·(M·N + M·K + N·K) from shapes");
    let bytes = if batch.is_some() { &MANY_BYTES } else { &ONE_BYTES };
    // A complex multiply-add is four real ones.
    let is_complex = params.dtype().is_some_and(DataType::is_complex);
    let (flops, each) = match (batch.is_some(), is_complex) {
        (false, false) => (&ONE, 2.0),
        (true, false) => (&MANY, 2.0),
        (false, true) => (&COMPLEX, 8.0),
        (true, true) => (&MANY_COMPLEX, 8.0),
    };
    let [m, n, k] = [params.number("M")?, params.number("N")?, params.number("K")?];
    let batch = batch.unwrap_or(1.0);
    let operations = each * batch * m * n * k;
    let outputs = batch * m * n;
    // Of a stack that was expanded, or a row, less is stored.
    let stored = |key, all| params.number(key).unwrap_or(all);
    let operands = size * (stored("a", batch * m * k) + stored("b", batch * n * k));
    if let Some(scales) = params.number("scale_bytes") {
        return Some(scaled(operations, operands + scales, outputs, params.number("out")));
    }
    let all = operands + params.number("out").unwrap_or(size) * outputs;
    Some(match params.number("c") {
        Some(added) => with_added(operations, all, size * added, size * outputs, params),
        None => Work::new(operations, flops, all, bytes),
    })
}

/// A product to which C is added: read as it is, or as one of the size of the output that C was copied to before.
fn with_added(operations: f64, all: f64, added: f64, outputs: f64, params: &Params) -> Work {
    static FLOPS: Basis = Basis::exact("2·B·M·N·K from shapes");
    const BYTES: &str = "s·B·(M·N + M·K + N·K) + C from shapes; C is read if beta is not 0";
    let (least, most) = match params.number("beta") {
        Some(0.0) => (all, all),
        Some(_) => (all + added, all + added.max(outputs)),
        None => (all, all + added.max(outputs)),
    };
    let bytes = Basis::within(BYTES, 1.0, eighths(most / least));
    Work { flops: Count::new(operations, &FLOPS), bytes: Count::new(least, &bytes) }
}

/// A product of FP8 or FP4 operands with scales; the type of its output where that was recorded.
fn scaled(operations: f64, operands: f64, outputs: f64, each: Option<f64>) -> Work {
    static FLOPS: Basis = Basis::exact("2·M·N·K from shapes");
    const BYTES: &str = "sizes of operands, scales and output from shapes";
    // An output is of one to four bytes.
    let (least, most) = each.map_or((1.0, 4.0), |each| (each, each));
    let bytes = operands + least * outputs;
    let basis = Basis::within(BYTES, 1.0, eighths((operands + most * outputs) / bytes));
    Work { flops: Count::new(operations, &FLOPS), bytes: Count::new(bytes, &basis) }
}

/// A factor in steps of an eighth, upwards, so that a profile has few different bounds.
pub(in crate::ingest) fn eighths(factor: f64) -> f64 {
    (factor * 8.0).ceil() / 8.0
}

/// What C takes that is copied into the output before a product is added to it.
pub(in crate::ingest) fn expanded(params: &Params, size: f64) -> Option<Work> {
    let outputs = params.number("M")? * params.number("N")? * params.number("B").unwrap_or(1.0);
    Some(moved(size * (params.number("c")? + outputs)))
}

/// The same convolution by Winograd's algorithm in one kernel, which multiplies less.
pub(in crate::ingest) fn by_winograd(whole: Work) -> Work {
    // F(4×4, 3×3) has 36 products for 16 outputs of 9 taps.
    static FLOPS: Basis =
        Basis::within("2·N·K·P·Q·C·R·S/g from shapes; Winograd does a quarter at least", 0.25, 1.0);
    Work { flops: whole.flops.and_then(|count| Count::new(count.value, &FLOPS)), ..whole }
}

/// The rows of a table that lists of indices name, added up list by list.
pub(in crate::ingest) fn embedding_bag(params: &Params) -> Option<Work> {
    static ADDED: Basis = Basis::exact("one addition for each picked element, from shapes");
    static BYTES: Basis =
        Basis::exact("indices and picked rows read, a row written for each list, from shapes");
    let [indices, table, offsets] = params.tensors.get(..3)? else { return None };
    let [_, width] = *table.shape.as_slice() else { return None };
    let (picked, lists) = (indices.elements() * width, offsets.elements());
    // Rows of a small table are picked again and again, and read once.
    let rows = table.dtype?.bytes() * (picked.min(table.elements()) + lists * width);
    Some(Work::new(picked, &ADDED, indices.bytes()? + offsets.bytes()? + rows, &BYTES))
}

/// The greatest of each row, or all in order, with their places as int64; `written` results.
pub(in crate::ingest) fn ordered(tensor: &Tensor, written: f64) -> Option<Work> {
    static COMPARED: Basis = Basis::exact("0: values are only compared");
    // A radix of two bits takes as many passes as FP32 has pairs of them, and one to gather.
    static BYTES: Basis = Basis::within(
        "input read once at least, results and their places written, from shapes",
        1.0,
        17.0,
    );
    let bytes = tensor.bytes()? + written * (tensor.dtype?.bytes() + 8.0);
    Some(Work::new(0.0, &COMPARED, bytes, &BYTES))
}

/// What `linear.py` prints as bytes: `m*n + m*k + n*k*size`, in Python's order of operations.
///
/// The size multiplies the pair that was `N` and `K` going forward; backward the letters change places.
pub(in crate::ingest) fn faulty_linear(params: &Params, size: f64) -> Option<[f64; 3]> {
    let [m, n, k] = [params.number("M")?, params.number("N")?, params.number("K")?];
    let (mn, mk, nk) = (m * n, m * k, n * k);
    (size != 1.0).then_some([mn + mk + nk * size, mn + mk * size + nk, mn * size + mk + nk])
}

/// The product of two stacks of matrices, broadcast as numpy does.
///
/// Also the bytes `blas.py` prints, where it leaves out the stack.
pub(in crate::ingest) fn matmul(params: &Params, size: f64) -> Option<(Work, Option<f64>)> {
    static FLOPS: Basis = Basis::exact("2·batch·M·N·K from shapes");
    static BYTES: Basis = Basis::exact("s·(A + B + batch·M·N) from shapes");
    let (a, b) = (params.tensor("A")?, params.tensor("B")?);
    let (rows, inner, a_stack) = match a.shape.as_slice() {
        [] => return None,
        [k] => (1.0, *k, &[][..]),
        [stack @ .., m, k] => (*m, *k, stack),
    };
    let (columns, b_stack) = match b.shape.as_slice() {
        [] => return None,
        [_] => (1.0, &[][..]),
        [stack @ .., _, n] => (*n, stack),
    };
    let batch: f64 = broadcast_shape(a_stack, b_stack).iter().product();
    let outputs = batch * rows * columns;
    let whole = Work::new(
        2.0 * outputs * inner,
        &FLOPS,
        size * (a.elements() + b.elements() + outputs),
        &BYTES,
    );
    let faulty = size * (rows * columns + rows * inner + columns * inner);
    Some((whole, (batch > 1.0).then_some(faulty)))
}

/// A bias added to, or summed over, a matrix.
pub(in crate::ingest) fn bias(params: &Params, size: f64) -> Option<Work> {
    static FLOPS: Basis = Basis::exact("M·N from shapes");
    static BYTES: Basis = Basis::exact("2·s·M·N from shapes");
    let outputs = params.number("M")? * params.number("N")?;
    Some(Work::new(outputs, &FLOPS, 2.0 * size * outputs, &BYTES))
}

/// A recurrent cell: one of its two products, or the element-wise rest, of which only the bytes are known.
pub(in crate::ingest) fn cell(params: &Params, size: f64) -> Option<Work> {
    static BYTES: Basis = Basis::exact("s·(2·gates + 3)·H·B from shapes");
    if params.word("gemm").is_some() {
        return product(None, params, size);
    }
    let gates = match params.word("cell")? {
        "LSTMCell" => 4.0,
        "GRUCell" => 3.0,
        _ => 1.0,
    };
    let bytes = size * (2.0 * gates + 3.0) * params.number("H")? * params.number("B")?;
    Some(Work { flops: None, bytes: Count::new(bytes, &BYTES) })
}

/// Operations per element, as `PyProf` estimates them.
fn per_element(cost: u8) -> &'static Basis {
    static ONE: Basis = Basis::exact("1 per element from shapes");
    static TWO: Basis = Basis::exact("2 per element from shapes");
    static THREE: Basis = Basis::exact("3 per element from shapes");
    static FIVE: Basis = Basis::exact("5 per element from shapes (PyProf's estimate)");
    static TWENTY: Basis = Basis::exact("20 per element from shapes (PyProf's estimate)");
    static LOG_SOFTMAX: Basis = Basis::exact("21 per element from shapes (PyProf's estimate)");
    static SOFTMAX: Basis = Basis::exact("40 per element from shapes (PyProf's estimate)");
    match cost {
        2 => &TWO,
        3 => &THREE,
        5 => &FIVE,
        20 => &TWENTY,
        21 => &LOG_SOFTMAX,
        40 => &SOFTMAX,
        _ => &ONE,
    }
}

/// `cost` operations for each element of a tensor that is read or written in so many passes.
pub(in crate::ingest) fn elementwise(cost: u8, tensor: &Tensor, passes: f64) -> Option<Work> {
    let flops = f64::from(cost) * tensor.elements();
    // Functions that cost as much as an exponential have floating-point results.
    let each = if cost >= 20 { of_floats(tensor.dtype?) } else { tensor.dtype?.bytes() };
    let bytes = tensor.bytes()? + (passes - 1.0) * each * tensor.elements();
    Some(Work::new(flops, per_element(cost), bytes, &INPUT_PASSES))
}

/// What a softmax moves, over the three passes of `PyProf`: a row that stays on chip is read once, others for their maximum,
/// their sum and the result.
pub(super) const SOFTMAX: (f64, f64) = (2.0 / 3.0, 4.0 / 3.0);

/// What its gradient moves, over the five passes of `PyProf`.
pub(super) const SOFTMAX_GRADIENT: (f64, f64) = (0.6, 1.0);

/// A softmax: `PyProf` counts a row as read twice forward, and twice with its gradient backward. One that stays on chip is
/// read once.
pub(in crate::ingest) fn softmax(cost: u8, tensor: &Tensor, backward: bool) -> Option<Work> {
    static FORWARD: Basis = Basis::within(
        "reads and writes of the input's size from shapes; of a row on chip one read less, of others one more",
        SOFTMAX.0,
        SOFTMAX.1,
    );
    static BACKWARD: Basis = Basis::within(
        "reads and writes of the input's size from shapes; of a row on chip two reads less",
        SOFTMAX_GRADIENT.0,
        SOFTMAX_GRADIENT.1,
    );
    let (passes, basis) = if backward { (5.0, &BACKWARD) } else { (3.0, &FORWARD) };
    let work = elementwise(cost, tensor, passes)?;
    let bytes = work.bytes.and_then(|bytes| Count::new(bytes.value, basis));
    Some(Work { bytes, ..work })
}

/// A reduction: so many operations for each element and at the end for each result. `PyProf` does not say what is kept: one
/// result, of which nothing is counted but that of a mean.
pub(in crate::ingest) fn reduction(
    (cost, last): (u8, f64),
    tensor: &Tensor,
    params: &Params,
) -> Option<Work> {
    const BYTES: &str = "input read and results written, from shapes";
    static EXACT: Basis = Basis::exact(BYTES);
    let flops = f64::from(cost) * tensor.elements();
    let read = tensor.bytes()?;
    let Some(each) = params.number("each") else {
        let written = if (cost, last) == (1, 1.0) { tensor.dtype?.bytes() } else { 0.0 };
        return Some(Work::new(flops + last, per_element(cost), read + written, &INPUT_PASSES));
    };
    let Some(most) = params.number("most_results") else {
        let results = params.number("results")?;
        let bytes = read + each * results;
        return Some(Work::new(flops + last * results, per_element(cost), bytes, &EXACT));
    };
    let basis = Basis::within(BYTES, 1.0, eighths((read + each * most) / read));
    let work = Work::new(flops + last, per_element(cost), read, &INPUT_PASSES);
    Some(Work { bytes: Count::new(read, &basis).filter(|_| read > 0.0), ..work })
}

/// The squared error of two tensors, in so many passes over one of them.
pub(in crate::ingest) fn squared_error(tensor: &Tensor, passes: f64) -> Option<Work> {
    let flops = 2.0 * passes * tensor.elements() + 1.0;
    Some(Work::new(flops, per_element(2), passes * tensor.bytes()?, &INPUT_PASSES))
}

/// The type of what an operator on each element writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum Written {
    /// The widest type of the operands.
    Widest,
    /// That of the first operand, which it overwrites.
    First,
    /// Truths.
    Bytes,
    /// Floating point, of whole numbers too.
    Floats,
}

/// `cost` operations for each element that the operands broadcast to.
pub(in crate::ingest) fn broadcasting(
    cost: u8,
    operands: &[Tensor],
    written: Written,
) -> Option<Work> {
    let (inputs, output) = broadcast(operands)?;
    let each = match written {
        Written::Bytes => 1.0,
        Written::First => operands.first()?.dtype?.bytes(),
        Written::Floats => of_floats(output.dtype?),
        Written::Widest => output.dtype?.bytes(),
    };
    let written = each * output.elements();
    let flops = f64::from(cost) * output.elements();
    Some(Work::new(flops, per_element(cost), inputs + written, &OPERANDS))
}

/// The same where two operands of this size may be one tensor, which is then read once.
pub(in crate::ingest) fn squaring(work: Work, operand: f64) -> Work {
    const BYTES: &str = "sizes of inputs and output from shapes; two alike may be one";
    let once = |bytes: Count| {
        let least = bytes.value - operand;
        Count::new(least, &Basis::within(BYTES, 1.0, eighths(bytes.value / least)))
    };
    Work { bytes: work.bytes.and_then(once), ..work }
}

/// Bytes of an element of the results that floating-point functions have for elements of this type.
fn of_floats(dtype: DataType) -> f64 {
    if is_float(dtype) { dtype.bytes() } else { DataType::Fp32.bytes() }
}

/// The gradient of a sum, which is passed on, or of a product.
pub(in crate::ingest) fn broadcasting_gradient(operands: &[Tensor], adds: bool) -> Option<Work> {
    let (_, output) = broadcast(operands)?;
    let bytes = output.bytes()?;
    Some(if adds {
        Work::new(0.0, &NO_OPERATIONS, 2.0 * bytes, &OPERANDS)
    } else {
        Work::new(output.elements(), per_element(1), 3.0 * bytes, &OPERANDS)
    })
}

/// Bytes of all inputs, and the output they broadcast to.
fn broadcast(operands: &[Tensor]) -> Option<(f64, Tensor)> {
    let (first, rest) = operands.split_first()?;
    let mut output = first.written();
    let mut inputs = first.bytes()?;
    for tensor in rest {
        inputs += tensor.bytes()?;
        let (wide, new) = (output.dtype?, tensor.dtype?);
        // A scalar does not change the type of a tensor.
        let takes_part = !tensor.shape.is_empty() || output.shape.is_empty();
        if takes_part && (is_float(new), new.bytes()) > (is_float(wide), wide.bytes()) {
            output.dtype = Some(new);
        }
        output.shape = broadcast_shape(&output.shape, &tensor.shape);
    }
    Some((inputs, output))
}

/// numpy's rule: extents are matched from the last, and 1 stretches.
fn broadcast_shape(a: &[f64], b: &[f64]) -> Vec<f64> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[f64], at: usize| {
        (at + shape.len()).checked_sub(rank).map_or(1.0, |position| shape[position])
    };
    (0..rank).map(|at| if extent(a, at) == 1.0 { extent(b, at) } else { extent(a, at) }).collect()
}

/// Data that is moved and nothing else.
pub(in crate::ingest) fn moved(bytes: f64) -> Work {
    static BYTES: Basis = Basis::exact("bytes read and written, from shapes");
    Work::new(0.0, &NO_OPERATIONS, bytes, &BYTES)
}

/// A table look-up, or the scatter of its gradient. Of a table with fewer rows than are picked each is read once.
pub(in crate::ingest) fn embedding(params: &Params, backward: bool) -> Option<Work> {
    static ADDED: Basis = Basis::exact("one addition for each scattered element, from shapes");
    static SCATTERED: Basis = Basis::exact("s·(indices + 2·min(indices, rows))·width from shapes");
    let [indices, table] = params.tensors.get(..2)? else { return None };
    let [_, width] = *table.shape.as_slice() else { return None };
    let picked = indices.elements() * width;
    let size = table.dtype?.bytes();
    let met = picked.min(table.elements());
    Some(if backward {
        Work::new(picked, &ADDED, size * (picked + 2.0 * met), &SCATTERED)
    } else {
        moved(indices.bytes()? + size * (met + picked))
    })
}

/// The clearing of a gradient table before anything is added to it.
pub(in crate::ingest) fn cleared(bytes: f64) -> Work {
    static CLEARED: Basis =
        Basis::exact("s·rows·width from shapes: the kernel clears the gradient table");
    Work::new(0.0, &NO_OPERATIONS, bytes, &CLEARED)
}

/// Adam on FP32 weights; a gradient of another type means a copy of the weights in that type.
pub(in crate::ingest) fn adam(params: &Params) -> Option<Work> {
    static FLOPS: Basis = Basis::within("about 14 per parameter, from shapes", 0.8, 1.2);
    static BYTES: Basis =
        Basis::exact("weights and moments read and written, gradient read, from shapes");
    let [weight, gradient] = *params.dtypes.get(..2)? else { return None };
    let elements = params.tensors.first()?.elements();
    let copy = if weight == gradient { 0.0 } else { gradient.bytes() };
    let each = 6.0 * weight.bytes() + gradient.bytes() + copy;
    Some(Work::new(14.0 * elements, &FLOPS, each * elements, &BYTES))
}

/// A whole batch normalization, which may be one kernel or the first of several.
pub(in crate::ingest) fn batch_norm(tensor: &Tensor, backward: bool) -> Option<Work> {
    static FLOPS: Basis = Basis::within("8 per element from shapes (PyProf's estimate)", 0.5, 1.5);
    static FORWARD: Basis =
        Basis::within("4 times the input's size from shapes, for all passes", 0.25, 1.0);
    static BACKWARD: Basis =
        Basis::within("5 times the input's size from shapes, for all passes", 0.4, 1.0);
    let (factor, basis) = if backward { (5.0, &BACKWARD) } else { (4.0, &FORWARD) };
    Some(Work::new(8.0 * tensor.elements(), &FLOPS, factor * tensor.bytes()?, basis))
}

/// What one pass of a batch normalization does.
///
/// `PyProf` charges all passes to the first kernel, which alone is then faster than any memory.
pub(in crate::ingest) fn batch_norm_pass(pass: Pass, elements: f64, bytes: f64) -> Work {
    static STATISTICS: Basis =
        Basis::within("5 per element from shapes: mean and variance", 0.6, 1.2);
    static APPLY: Basis = Basis::within("2 per element from shapes: normalization", 1.0, 2.0);
    static SUMS: Basis = Basis::within("4 per element from shapes: sums of the gradient", 0.8, 1.2);
    static GRADIENT: Basis = Basis::within("7 per element from shapes: gradient", 0.8, 1.2);
    let (cost, basis, passes) = match pass {
        Pass::Statistics => (5.0, &STATISTICS, 1.0),
        Pass::Apply => (2.0, &APPLY, 2.0),
        Pass::BackwardSums => (4.0, &SUMS, 2.0),
        Pass::BackwardApply => (7.0, &GRADIENT, 3.0),
    };
    Work::new(cost * elements, basis, passes * bytes, &INPUT_PASSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_broadcast_from_the_last_extent() {
        assert_eq!(broadcast_shape(&[35.0, 20.0, 200.0], &[20.0, 1.0]), [35.0, 20.0, 200.0]);
        assert_eq!(broadcast_shape(&[1.0, 3.0], &[5.0, 1.0]), [5.0, 3.0]);
        assert_eq!(broadcast_shape(&[], &[7.0]), [7.0]);
    }

    #[test]
    fn products_of_vectors_and_stacks_are_counted() {
        for (params, flops, elements) in [
            ("A=(8,),B=(8,),fp32,", 16.0, 8.0 + 8.0 + 1.0),
            ("A=(4,8),B=(8,),fp32,", 64.0, 32.0 + 8.0 + 4.0),
            ("A=(8,),B=(3,8,5),fp32,", 240.0, 8.0 + 120.0 + 15.0),
            ("A=(2,1,4,8),B=(3,8,5),fp32,", 1920.0, 64.0 + 120.0 + 120.0),
        ] {
            let (work, _) = matmul(&Params::parse(params).unwrap(), 4.0).unwrap();
            assert_eq!(
                (work.flops.unwrap().value, work.bytes.unwrap().value),
                (flops, 4.0 * elements),
                "{params}"
            );
        }
    }

    #[test]
    fn the_wider_type_wins_unless_it_is_a_scalar() {
        let bytes = |params| {
            broadcasting(1, &Params::parse(params).unwrap().tensors, Written::Widest)
                .unwrap()
                .bytes
                .unwrap()
                .value
        };
        assert_eq!(bytes("[8]fp16;[8]fp32"), 16.0 + 32.0 + 32.0);
        assert_eq!(bytes("[8]fp16;[]fp64"), 16.0 + 8.0 + 16.0);
        assert_eq!(bytes("[8]int64;[8]fp16"), 64.0 + 16.0 + 16.0);
    }
}
