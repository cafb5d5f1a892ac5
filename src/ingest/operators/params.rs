//! The `Params` column: shapes and element types of an operator's operands, in both of its grammars.
//!
//! Older writers print `key=value,` pairs with bare type words after them
//! (`M=200,N=(35,20),K=200,fp32,` or `T=[(32,64)],['float16']`), newer ones print tensors as
//! `[shape]type` joined by `;` (`[64,56]fp32;[]fp32`). Both occur within one file.

use crate::model::{DataType, Precision};

/// The type of elements by `PyProf`'s word, numpy's, torch's or C's.
fn element_type(word: &str) -> Option<DataType> {
    Some(match word.trim().trim_matches('\'') {
        "fp64" | "float64" | "double" => DataType::Fp64,
        "fp32" | "float32" | "float" => DataType::Fp32,
        "fp16" | "float16" | "half" => DataType::Fp16,
        "bf16" | "bfloat16" => DataType::Bf16,
        "int64" | "long" => DataType::Int64,
        "int32" | "int" => DataType::Int32,
        "int16" | "short" => DataType::Int16,
        "int8" | "char" | "uint8" | "byte" => DataType::Int8,
        "bool" => DataType::Bool,
        _ => return None,
    })
}

/// Whether arithmetic on elements of this type is counted in FLOP.
pub(in crate::ingest) fn is_float(kind: DataType) -> bool {
    !matches!(kind.precision(), Precision::Int32 | Precision::Int8 | Precision::Int4)
}

/// A shape, with its key and element type where they are given.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::ingest) struct Tensor {
    key: Box<str>,
    /// Extents; empty for a scalar.
    pub(in crate::ingest) shape: Vec<f64>,
    /// Element type.
    pub(in crate::ingest) dtype: Option<DataType>,
    /// Elements that are stored, if it repeats some of them (`expand`).
    stored: Option<f64>,
}

impl Tensor {
    /// A tensor that has no key.
    pub(in crate::ingest) fn new(shape: Vec<f64>, dtype: Option<DataType>) -> Self {
        Self { key: Box::default(), shape, dtype, stored: None }
    }

    /// The same of which so many elements are stored, and others repeat them.
    pub(in crate::ingest) fn storing(self, stored: f64) -> Self {
        Self { stored: Some(stored), ..self }
    }

    /// The same with all its elements, as a kernel writes it.
    pub(in crate::ingest) fn written(&self) -> Self {
        Self { stored: None, ..self.clone() }
    }

    /// Number of elements; 1 for a scalar.
    pub(in crate::ingest) fn elements(&self) -> f64 {
        self.shape.iter().product()
    }

    /// Size in bytes of what is stored.
    pub(in crate::ingest) fn bytes(&self) -> Option<f64> {
        Some(self.stored.unwrap_or_else(|| self.elements()) * self.dtype?.bytes())
    }
}

/// The content of one `Params` cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::ingest) struct Params {
    numbers: Vec<(Box<str>, f64)>,
    words: Vec<(Box<str>, Box<str>)>,
    /// Tensors, in order.
    pub(in crate::ingest) tensors: Vec<Tensor>,
    /// Type words, in order.
    pub(in crate::ingest) dtypes: Vec<DataType>,
}

impl Params {
    /// Operands of which the tensors are known.
    pub(in crate::ingest) fn of_tensors(tensors: Vec<Tensor>) -> Self {
        let dtypes = tensors.iter().filter_map(|tensor| tensor.dtype).collect();
        Self { tensors, dtypes, ..Self::default() }
    }

    /// Operands of one type.
    pub(in crate::ingest) fn of_type(dtype: DataType) -> Self {
        Self { dtypes: vec![dtype], ..Self::default() }
    }

    /// The same with sizes that have letters.
    pub(in crate::ingest) fn with_sizes(mut self, sizes: &[(&str, f64)]) -> Self {
        self.numbers.extend(sizes.iter().map(|(key, size)| ((*key).into(), *size)));
        self
    }

    /// Reads a cell; `None` if it says nothing (`na=na,`, empty).
    pub(in crate::ingest) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if matches!(text, "" | "-" | "na" | "na=na" | "na=na,") {
            return None;
        }
        let mut params = Self::default();
        for part in split(text, ',') {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) if !key.contains(['[', '(', '\'']) => (key.trim(), value.trim()),
                _ => ("", part.trim()),
            };
            params.add(key, value);
        }
        Some(params)
    }

    /// Reads what is whole of a cell that was cut; its last part may be a beginning.
    pub(in crate::ingest) fn parse_cut(text: &str) -> Option<Self> {
        Self::parse(text.rsplit_once(',')?.0)
    }

    /// A number: a plain one, or the elements of a shape (`N=(35,20)` is 700).
    pub(in crate::ingest) fn number(&self, key: &str) -> Option<f64> {
        let plain = self.numbers.iter().find(|(name, _)| **name == *key).map(|(_, value)| *value);
        plain.or_else(|| self.tensor(key).map(Tensor::elements))
    }

    /// A word, such as `layer` of `gemm=layer`.
    pub(in crate::ingest) fn word(&self, key: &str) -> Option<&str> {
        self.words.iter().find(|(name, _)| **name == *key).map(|(_, word)| &**word)
    }

    /// The tensor with this key.
    pub(in crate::ingest) fn tensor(&self, key: &str) -> Option<&Tensor> {
        self.tensors.iter().find(|tensor| *tensor.key == *key)
    }

    /// The type the operator computes in: the first floating one that is not a scalar's, else the first.
    pub(in crate::ingest) fn dtype(&self) -> Option<DataType> {
        let floats = self.tensors.iter().filter(|tensor| !tensor.shape.is_empty());
        let float = floats.filter_map(|tensor| tensor.dtype).find(|dtype| is_float(*dtype));
        let first = self.tensors.iter().find_map(|tensor| tensor.dtype);
        float.or_else(|| self.dtypes.first().copied()).or(first)
    }

    fn add(&mut self, key: &str, value: &str) {
        if value.is_empty() {
            return;
        }
        if let Some(dtype) = element_type(value) {
            self.give_types(&[dtype]);
        } else if let Ok(number) = value.parse::<u64>() {
            self.numbers.push((key.into(), number as f64));
        } else if let Some(list) = enclosed(value, '[', ']') {
            let parts = split(list, ',');
            let types: Option<Vec<DataType>> =
                parts.iter().map(|part| element_type(part)).collect();
            match types {
                Some(types) if !types.is_empty() => self.give_types(&types),
                _ => self.tensors.extend(parts.iter().filter_map(|part| shape(key, part))),
            }
        } else if value.starts_with('[') {
            let tensors = value.split(';').filter_map(|text| {
                let (extents, dtype) = text.trim().strip_prefix('[')?.split_once(']')?;
                let tensor = Tensor::new(numbers(extents)?, element_type(dtype));
                Some(Tensor { key: key.into(), ..tensor })
            });
            self.tensors.extend(tensors);
        } else if let Some(tensor) = shape(key, value) {
            self.tensors.push(tensor);
        } else {
            self.words.push((key.into(), value.into()));
        }
    }

    /// Type words belong to the shapes before them: a single one to all, several one by one.
    fn give_types(&mut self, dtypes: &[DataType]) {
        let waiting = self.tensors.iter_mut().filter(|tensor| tensor.dtype.is_none());
        if let [dtype] = dtypes {
            waiting.for_each(|tensor| tensor.dtype = Some(*dtype));
        } else {
            waiting.zip(dtypes).for_each(|(tensor, dtype)| tensor.dtype = Some(*dtype));
        }
        self.dtypes.extend(dtypes);
    }
}

/// A shape written as a Python tuple.
fn shape(key: &str, text: &str) -> Option<Tensor> {
    let shape = numbers(enclosed(text.trim(), '(', ')')?)?;
    Some(Tensor { key: key.into(), ..Tensor::new(shape, None) })
}

/// Whole numbers joined by commas; a comma may follow the last.
fn numbers(text: &str) -> Option<Vec<f64>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse::<u64>().ok().map(|number| number as f64)).collect()
}

/// What is between the outermost brackets, if nothing is outside them.
fn enclosed(text: &str, open: char, close: char) -> Option<&str> {
    let inner = text.strip_prefix(open)?.strip_suffix(close)?;
    // `[1]fp32;[2]` starts and ends with brackets of its own.
    (!inner.contains(']') || open != '[').then_some(inner)
}

/// Splits at a mark that is outside of brackets and quotes.
fn split(text: &str, mark: char) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut quoted, mut start) = (0_u32, false, 0);
    for (position, character) in text.char_indices() {
        match character {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if character == mark && depth == 0 => {
                parts.push(&text[start..position]);
                start = position + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tensors(text: &str) -> Vec<(Vec<f64>, Option<DataType>)> {
        let params = Params::parse(text).unwrap();
        params.tensors.into_iter().map(|tensor| (tensor.shape, tensor.dtype)).collect()
    }

    #[test]
    fn keys_and_values_with_tuples_are_read() {
        let params = Params::parse("M=200,N=(35,20),K=200,fp32,").unwrap();
        assert_eq!(params.number("M"), Some(200.0));
        assert_eq!(params.number("N"), Some(700.0));
        assert_eq!(params.number("X"), None);
        assert_eq!(params.dtype(), Some(DataType::Fp32));
        let params = Params::parse("gemm=layer,M=8,N=2,K=4,fp16,").unwrap();
        assert_eq!(params.word("gemm"), Some("layer"));
        assert_eq!(params.dtype(), Some(DataType::Fp16));
    }

    #[test]
    fn type_words_belong_to_the_shapes_before_them() {
        assert_eq!(
            tensors("I=(35,20),int64,E=(9,4),fp32,"),
            [(vec![35.0, 20.0], Some(DataType::Int64)), (vec![9.0, 4.0], Some(DataType::Fp32))],
        );
        assert_eq!(
            tensors("T=[(7,3),(7,)],['float16','int64']"),
            [(vec![7.0, 3.0], Some(DataType::Fp16)), (vec![7.0], Some(DataType::Int64))],
        );
        assert_eq!(
            tensors("T=[(7,3),(7,1)],fp32,"),
            [(vec![7.0, 3.0], Some(DataType::Fp32)), (vec![7.0, 1.0], Some(DataType::Fp32))],
        );
        let copy = Params::parse("T=(600,),fp32,fp16,").unwrap();
        assert_eq!(copy.dtypes, [DataType::Fp32, DataType::Fp16]);
        assert_eq!(copy.tensor("T").unwrap().bytes(), Some(2400.0));
    }

    #[test]
    fn tensor_text_is_read() {
        assert_eq!(
            tensors("[64,56]fp32;[]int32;[1]bool"),
            [
                (vec![64.0, 56.0], Some(DataType::Fp32)),
                (vec![], Some(DataType::Int32)),
                (vec![1.0], Some(DataType::Bool)),
            ],
        );
        assert_eq!(Params::parse("[35,20]int64;[9,4]fp16").unwrap().dtype(), Some(DataType::Fp16));
        assert_eq!(Params::parse("[]int32;[]int32").unwrap().dtype(), Some(DataType::Int32));
        assert_eq!(tensors("T=[2,3]fp16;[2,5]fp16,A=1").len(), 2);
    }

    #[test]
    fn nothing_known_is_no_params() {
        for text in ["", "na", "na=na,", " - "] {
            assert_eq!(Params::parse(text), None, "{text:?}");
        }
        assert_eq!(Params::parse("T=[],[]").unwrap().dtype(), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[MNT=,;()\\[\\]'a-z0-9 ]{0,40}") {
            let _ = Params::parse(&text);
        }
    }
}
