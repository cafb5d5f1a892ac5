//! The operands of an operator as the profiler writes them: shapes, types, and values of sizes.

use super::gathered::APART;
use crate::ingest::operators::params::Tensor;
use crate::ingest::scan::{bare, items, text};
use crate::model::DataType;

/// Shapes in a label beyond this many are counted.
const SHOWN: usize = 4;

/// One argument of an operator.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Argument {
    /// A tensor; its type where it was recorded.
    Tensor(Vec<f64>, Option<DataType>),
    /// A list of tensors, whose type is not recorded.
    Tensors(Vec<Vec<f64>>),
    /// A number, a list of numbers, an option, nothing.
    Other,
}

/// An operator with its arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Called {
    /// Name with its namespace.
    pub(super) name: String,
    pub(super) arguments: Vec<Argument>,
    /// Whether the types of tensors were recorded.
    pub(super) has_types: bool,
    /// Values of the arguments as text; none where they were not kept.
    values: Vec<String>,
    /// Elements that are stored of tensors that repeat some; none of all others.
    stored: Vec<Option<f64>>,
}

impl Called {
    /// Reads what [`super::gathered`] kept.
    pub(super) fn of(key: &[u8]) -> Self {
        let mut parts = key.split(|byte| *byte == APART);
        let mut part = || parts.next().unwrap_or_default();
        let name = String::from_utf8_lossy(part()).into_owned();
        let dims = part();
        let types: Vec<&[u8]> = items(part()).map(bare).collect();
        let has_types = !types.is_empty();
        let argument = |(at, dims): (usize, &[u8])| argument(dims, types.get(at).copied());
        let values =
            items(part()).map(|value| String::from_utf8_lossy(&text(value)).into_owned()).collect();
        let stored = items(dims).zip(items(part())).map(|(dims, strides)| stored(dims, strides));
        Self {
            name,
            arguments: items(dims).enumerate().map(argument).collect(),
            has_types,
            values,
            stored: stored.collect(),
        }
    }

    /// The elements that are stored of a tensor that was expanded; none of one that has all.
    pub(super) fn stored(&self, at: usize) -> Option<f64> {
        self.stored.get(at).copied().flatten()
    }

    /// Whether two tensors, or two lists of them, have the same shapes, type and storage, as one that is given twice has.
    pub(super) fn are_alike(&self, one: usize, two: usize) -> bool {
        let tensors = |at| self.arguments.get(at).filter(|it| **it != Argument::Other);
        let [first, second] = [one, two].map(tensors);
        first.is_some() && first == second && self.stored(one) == self.stored(two)
    }

    /// The name without its namespace and without underscores around it.
    pub(super) fn plain(&self) -> &str {
        self.name.strip_prefix("aten::").unwrap_or(&self.name).trim_matches('_')
    }

    /// The shape of a tensor.
    pub(super) fn shape(&self, at: usize) -> Option<&[f64]> {
        match self.arguments.get(at)? {
            Argument::Tensor(shape, _) => Some(shape),
            _ => None,
        }
    }

    /// A tensor with its type; `fallback` is the type of those that have none recorded.
    pub(super) fn tensor(&self, at: usize, fallback: Option<DataType>) -> Option<Tensor> {
        match self.arguments.get(at)? {
            Argument::Tensor(shape, recorded) => {
                let mut shape = shape.clone();
                if let (Some(DataType::Fp4), Some(last)) = (recorded, shape.last_mut()) {
                    *last *= 2.0;
                }
                let tensor = Tensor::new(shape, recorded.or(fallback));
                Some(match self.stored(at) {
                    Some(stored) => tensor.storing(stored),
                    None => tensor,
                })
            }
            _ => None,
        }
    }

    /// All tensors that are no lists.
    pub(super) fn tensors(&self, fallback: Option<DataType>) -> Vec<Tensor> {
        (0..self.arguments.len()).filter_map(|at| self.tensor(at, fallback)).collect()
    }

    /// Lists of tensors.
    pub(super) fn lists(&self) -> impl Iterator<Item = &[Vec<f64>]> {
        self.arguments.iter().filter_map(|argument| match argument {
            Argument::Tensors(list) => Some(list.as_slice()),
            _ => None,
        })
    }

    /// The type of the first tensor that has one.
    pub(super) fn data_type(&self) -> Option<DataType> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Tensor(_, recorded) => *recorded,
            _ => None,
        })
    }

    /// A number among the values.
    pub(super) fn number(&self, at: usize) -> Option<f64> {
        self.values.get(at)?.parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// How many values of arguments were recorded; those of tensors are empty.
    pub(super) fn recorded(&self) -> usize {
        self.values.len()
    }

    /// A list of numbers among the values, or one number as a list.
    pub(super) fn listed(&self, at: usize) -> Option<Vec<f64>> {
        let text = self.values.get(at)?;
        let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
        let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
        let numbers: Option<Vec<f64>> = parts.map(|part| part.parse().ok()).collect();
        numbers.filter(|_| !text.is_empty())
    }

    /// A type of elements among the values, which are numbers of `c10::ScalarType`.
    pub(super) fn scalar_type(&self, at: usize) -> Option<DataType> {
        Some(match self.number(at)? {
            3.0 => DataType::Int32,
            4.0 => DataType::Int64,
            5.0 => DataType::Fp16,
            6.0 => DataType::Fp32,
            7.0 => DataType::Fp64,
            15.0 => DataType::Bf16,
            23.0..=26.0 => DataType::Fp8,
            _ => return None,
        })
    }

    /// A list of numbers among the values, as many as there are dimensions; one stands for all.
    pub(super) fn numbers(&self, at: usize, dimensions: usize) -> Option<Vec<f64>> {
        let text = self.values.get(at)?.strip_prefix('[')?.strip_suffix(']')?;
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers?.as_slice() {
            [one] => Some(vec![*one; dimensions]),
            all if all.len() == dimensions => Some(all.to_vec()),
            _ => None,
        }
    }

    /// A truth among the values.
    pub(super) fn flag(&self, at: usize) -> Option<bool> {
        match self.values.get(at)?.as_str() {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        }
    }

    /// The operator with its shapes and types: `aten::mm 64x128,128x32 fp16`.
    pub(super) fn label(&self) -> String {
        let mut shapes = Vec::new();
        let mut types = Vec::new();
        for argument in &self.arguments {
            match argument {
                Argument::Tensor(shape, recorded) if !shape.is_empty() => {
                    shapes.push(extents(shape));
                    types.extend(recorded.map(DataType::name));
                }
                Argument::Tensors(list) => shapes.push(format!("{} tensors", list.len())),
                _ => {}
            }
        }
        let more = shapes.len().saturating_sub(SHOWN);
        shapes.truncate(SHOWN);
        if more > 0 {
            shapes.push(format!("{more} more"));
        }
        types.dedup();
        types.truncate(SHOWN);
        let mut label = self.name.clone();
        for part in [shapes.join(","), types.join(",")] {
            if !part.is_empty() {
                label.push(' ');
                label.push_str(&part);
            }
        }
        label
    }
}

fn extents(shape: &[f64]) -> String {
    let extents: Vec<String> = shape.iter().map(|extent| format!("{extent:.0}")).collect();
    extents.join("x")
}

fn argument(dims: &[u8], recorded: Option<&[u8]>) -> Argument {
    if items(dims).next().is_some_and(|first| first.starts_with(b"[")) {
        let list: Option<Vec<Vec<f64>>> = items(dims).map(shape).collect();
        return list.map_or(Argument::Other, Argument::Tensors);
    }
    let kind = recorded.and_then(data_type);
    // Numbers have no dimensions either, and their types are called otherwise.
    match shape(dims) {
        Some(shape) if kind.is_some() || !shape.is_empty() => Argument::Tensor(shape, kind),
        _ => Argument::Other,
    }
}

/// The elements of a tensor of which steps of zero repeat some; none where there are no such steps.
fn stored(dims: &[u8], strides: &[u8]) -> Option<f64> {
    let (shape, strides) = (shape(dims)?, shape(strides)?);
    let is_repeated = strides.contains(&0.0) && shape.len() == strides.len();
    let mut extents = shape.iter().zip(&strides);
    is_repeated.then(|| {
        extents.by_ref().filter(|(_, step)| **step > 0.0).map(|(extent, _)| extent).product()
    })
}

fn shape(dims: &[u8]) -> Option<Vec<f64>> {
    items(dims).map(|extent| Some(super::event::count(extent)? as f64)).collect()
}

/// The type of a tensor's elements, as `caffe2::TypeMeta` names it.
fn data_type(name: &[u8]) -> Option<DataType> {
    let name = std::str::from_utf8(name).ok()?;
    Some(match name.strip_prefix("c10::").unwrap_or(name) {
        "double" => DataType::Fp64,
        "float" => DataType::Fp32,
        "Half" => DataType::Fp16,
        "BFloat16" => DataType::Bf16,
        name if name.starts_with("Float8_") => DataType::Fp8,
        // Two to a byte, and one element of the shape.
        "Float4_e2m1fn_x2" => DataType::Fp4,
        "long int" | "long" | "unsigned long" => DataType::Int64,
        "int" | "unsigned int" => DataType::Int32,
        "short int" | "short" | "unsigned short" => DataType::Int16,
        "signed char" | "unsigned char" | "char" => DataType::Int8,
        "bool" => DataType::Bool,
        "complex<float>" => DataType::C32,
        "complex<double>" => DataType::C64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(parts: [&str; 4]) -> Called {
        let mut key = Vec::new();
        for part in parts {
            key.extend_from_slice(part.as_bytes());
            key.push(APART);
        }
        Called::of(&key)
    }

    #[test]
    fn tensors_numbers_and_lists_are_told_apart() {
        let called = called([
            "aten::_foreach_add_",
            "[[[128, 128], [128]], [4, 2], [], [], []]",
            r#"["TensorList", "c10::Half", "float", "Scalar", ""]"#,
            r#"["", "[3, 3]", "[1]", "-0.5", "True"]"#,
        ]);
        assert_eq!(
            called.arguments,
            [
                Argument::Tensors(vec![vec![128.0, 128.0], vec![128.0]]),
                Argument::Tensor(vec![4.0, 2.0], Some(DataType::Fp16)),
                Argument::Tensor(vec![], Some(DataType::Fp32)),
                Argument::Other,
                Argument::Other,
            ],
        );
        assert_eq!(called.plain(), "foreach_add");
        assert_eq!(called.label(), "aten::_foreach_add_ 2 tensors,4x2 fp16");
        assert_eq!(
            (called.numbers(1, 2), called.numbers(2, 2)),
            (Some(vec![3.0; 2]), Some(vec![1.0; 2]))
        );
        assert_eq!(
            (called.number(3), called.flag(4), called.numbers(1, 3)),
            (Some(-0.5), Some(true), None)
        );
    }

    #[test]
    fn old_traces_have_shapes_without_types() {
        let called = called(["aten::add_", "[[32, 3], [], []]", "[]", ""]);
        assert!(!called.has_types);
        assert_eq!(called.arguments[0], Argument::Tensor(vec![32.0, 3.0], None));
        assert_eq!(called.tensor(0, Some(DataType::Fp32)).unwrap().bytes(), Some(384.0));
        assert_eq!(called.label(), "aten::add_ 32x3");
    }

    #[test]
    fn nothing_recorded_is_the_name_alone() {
        let called = called(["aten::mm", "", "", ""]);
        assert_eq!((called.label().as_str(), called.arguments.len()), ("aten::mm", 0));
    }
}
