//! Operators that compute nothing: what they read and write.

use super::params::{Params, Tensor};
use crate::model::DataType;

/// Operators that compute nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Moved {
    /// Everything read and written once.
    Copied,
    /// Concatenated: each input read and written once.
    Joined,
    /// Written only.
    Filled,
    /// Read only.
    Read,
    /// Copied to the type named by the operator; `to` does not say which.
    Converted(Option<DataType>),
    /// `copy_`, whose types are listed after the shape.
    Assigned,
    /// Rows picked by a list of indices.
    Selected,
    /// Copied where a byte mask says so.
    Masked,
    /// Positions written, 8 bytes per dimension, at worst for every element.
    Positions,
}

impl Moved {
    /// The operator of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "clone" | "contiguous" | "gather" => Self::Copied,
            "cat" => Self::Joined,
            "zeros" | "ones" | "zeros_like" | "ones_like" | "zero" | "fill" | "full" => {
                Self::Filled
            }
            "any" => Self::Read,
            "to" => Self::Converted(None),
            "byte" | "char" => Self::Converted(Some(DataType::Int8)),
            "double" => Self::Converted(Some(DataType::Fp64)),
            "float" => Self::Converted(Some(DataType::Fp32)),
            "half" => Self::Converted(Some(DataType::Fp16)),
            "int" => Self::Converted(Some(DataType::Int32)),
            "long" => Self::Converted(Some(DataType::Int64)),
            "short" => Self::Converted(Some(DataType::Int16)),
            "copy" => Self::Assigned,
            "index_select" => Self::Selected,
            "masked_scatter" | "masked_select" => Self::Masked,
            "nonzero" => Self::Positions,
            _ => return None,
        })
    }

    /// Bytes that it reads and writes, where its operands tell.
    pub(super) fn bytes(self, params: &Params) -> Option<f64> {
        let first = params.tensors.first()?;
        let elements = first.elements();
        let bytes = first.bytes();
        Some(match self {
            Self::Copied => 2.0 * bytes?,
            Self::Joined => {
                let sizes: Option<Vec<f64>> = params.tensors.iter().map(Tensor::bytes).collect();
                2.0 * sizes?.iter().sum::<f64>()
            }
            Self::Filled | Self::Read => bytes?,
            Self::Converted(output) => bytes? + output.or(first.dtype)?.bytes() * elements,
            Self::Assigned if params.tensors.len() == 2 => bytes? + params.tensors[1].bytes()?,
            Self::Assigned => {
                let [source, target] = params.dtypes.get(..2)? else { return None };
                elements * (source.bytes() + target.bytes())
            }
            Self::Selected => {
                let (dimension, indices) = (params.number("D")?, params.number("I")?);
                let extent =
                    first.shape.iter().zip(0_u8..).find(|(_, at)| f64::from(*at) == dimension)?.0;
                // What is picked again and again is read once.
                bytes? / extent * (indices + indices.min(*extent)) + 8.0 * indices
            }
            Self::Masked => {
                let mask = params.tensor("M").map_or(elements, Tensor::elements);
                2.0 * bytes? + mask
            }
            Self::Positions => bytes? + 8.0 * elements * first.shape.len() as f64,
        })
    }
}
