//! Pipes: kinds of work by precision, engine, accumulator and sparsity.
//!
//! A peak rate belongs to exactly one [`Pipe`]; work on one pipe is never divided by the peak of
//! another.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// The number format of the operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the formats")]
pub enum Precision {
    Fp64,
    Fp32,
    Tf32,
    Fp16,
    Bf16,
    Fp8,
    Fp6,
    Fp4,
    Int32,
    Int8,
    Int4,
    Int1,
    /// The profile counts operations without their format.
    Unstated,
}

impl Precision {
    /// All formats.
    pub const ALL: [Self; 13] = [
        Self::Fp64,
        Self::Fp32,
        Self::Tf32,
        Self::Fp16,
        Self::Bf16,
        Self::Fp8,
        Self::Fp6,
        Self::Fp4,
        Self::Int32,
        Self::Int8,
        Self::Int4,
        Self::Int1,
        Self::Unstated,
    ];

    /// Returns the name in JSON and tables, such as `bf16`.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp64 => "fp64",
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8 => "fp8",
            Self::Fp6 => "fp6",
            Self::Fp4 => "fp4",
            Self::Int32 => "int32",
            Self::Int8 => "int8",
            Self::Int4 => "int4",
            Self::Int1 => "int1",
            Self::Unstated => "unstated",
        }
    }
}

/// The hardware that executes an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// CUDA cores, SIMD lanes of a compute unit.
    Vector,
    /// Tensor Cores, Matrix Cores.
    Matrix,
}

macro_rules! pipes {
    ($($variant:ident, $key:literal, $label:literal, $precision:ident, $engine:ident, $sparse:literal;)*) => {
        /// One kind of execution with its own peak rate.
        ///
        /// The key is used in JSON, in column names and in device files; the label in reports.
        /// Matrix pipes accumulate in FP32 (integers in INT32) unless the name says `fp16acc`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each name states precision, engine, accumulator, sparsity")]
        pub enum Pipe { $($variant),* }

        impl Pipe {
            /// All pipes, in the order used in tables.
            pub const ALL: &'static [Pipe] = &[$(Pipe::$variant),*];

            /// Returns the name in JSON, columns and device files, such as `fp16_matrix`.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $(Pipe::$variant => $key),* }
            }

            /// Returns the name in reports, such as `fp16 tensor`.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $(Pipe::$variant => $label),* }
            }

            /// The number format of the operands.
            #[must_use]
            pub const fn precision(self) -> Precision {
                match self { $(Pipe::$variant => Precision::$precision),* }
            }

            /// Returns the hardware that executes it.
            #[must_use]
            pub const fn engine(self) -> Engine {
                match self { $(Pipe::$variant => Engine::$engine),* }
            }

            /// Returns `true` if the operands are 2:4 structured-sparse; such work has its own
            /// peak.
            #[must_use]
            pub const fn is_sparse(self) -> bool {
                match self { $(Pipe::$variant => $sparse),* }
            }
        }
    };
}

pipes! {
    Fp64Vector, "fp64_vector", "fp64", Fp64, Vector, false;
    Fp32Vector, "fp32_vector", "fp32", Fp32, Vector, false;
    Fp16Vector, "fp16_vector", "fp16", Fp16, Vector, false;
    Bf16Vector, "bf16_vector", "bf16", Bf16, Vector, false;
    Int32Vector, "int32_vector", "int32", Int32, Vector, false;
    Int8Vector, "int8_vector", "int8 dp4a", Int8, Vector, false;
    Fp64Matrix, "fp64_matrix", "fp64 tensor", Fp64, Matrix, false;
    Fp32Matrix, "fp32_matrix", "fp32 matrix", Fp32, Matrix, false;
    Tf32Matrix, "tf32_matrix", "tf32 tensor", Tf32, Matrix, false;
    Fp16Matrix, "fp16_matrix", "fp16 tensor", Fp16, Matrix, false;
    Fp16MatrixFp16Acc, "fp16_matrix_fp16acc", "fp16 tensor, fp16 acc", Fp16, Matrix, false;
    Bf16Matrix, "bf16_matrix", "bf16 tensor", Bf16, Matrix, false;
    Fp8Matrix, "fp8_matrix", "fp8 tensor", Fp8, Matrix, false;
    Fp8MatrixFp16Acc, "fp8_matrix_fp16acc", "fp8 tensor, fp16 acc", Fp8, Matrix, false;
    Fp6Matrix, "fp6_matrix", "fp6 tensor", Fp6, Matrix, false;
    Fp4Matrix, "fp4_matrix", "fp4 tensor", Fp4, Matrix, false;
    Int8Matrix, "int8_matrix", "int8 tensor", Int8, Matrix, false;
    Int4Matrix, "int4_matrix", "int4 tensor", Int4, Matrix, false;
    Int1Matrix, "int1_matrix", "int1 tensor", Int1, Matrix, false;
    Tf32MatrixSparse, "tf32_matrix_sparse", "tf32 tensor, sparse", Tf32, Matrix, true;
    Fp16MatrixSparse, "fp16_matrix_sparse", "fp16 tensor, sparse", Fp16, Matrix, true;
    Fp16MatrixFp16AccSparse, "fp16_matrix_fp16acc_sparse", "fp16 tensor, fp16 acc, sparse", Fp16, Matrix, true;
    Bf16MatrixSparse, "bf16_matrix_sparse", "bf16 tensor, sparse", Bf16, Matrix, true;
    Fp8MatrixSparse, "fp8_matrix_sparse", "fp8 tensor, sparse", Fp8, Matrix, true;
    Fp8MatrixFp16AccSparse, "fp8_matrix_fp16acc_sparse", "fp8 tensor, fp16 acc, sparse", Fp8, Matrix, true;
    Fp6MatrixSparse, "fp6_matrix_sparse", "fp6 tensor, sparse", Fp6, Matrix, true;
    Fp4MatrixSparse, "fp4_matrix_sparse", "fp4 tensor, sparse", Fp4, Matrix, true;
    Int8MatrixSparse, "int8_matrix_sparse", "int8 tensor, sparse", Int8, Matrix, true;
    Int4MatrixSparse, "int4_matrix_sparse", "int4 tensor, sparse", Int4, Matrix, true;
    Unstated, "unstated", "unstated precision", Unstated, Vector, false;
}

impl Pipe {
    /// Returns the pipe with a key such as `bf16_matrix`.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|pipe| pipe.key() == key)
    }

    /// Returns the unit of work on this pipe: integer work is counted in OP, separate from FLOP.
    #[must_use]
    pub const fn operation(self) -> &'static str {
        match self.precision() {
            Precision::Int32 | Precision::Int8 | Precision::Int4 | Precision::Int1 => "OP",
            _ => "FLOP",
        }
    }

    /// Returns the unit of its rates.
    #[must_use]
    pub const fn operations_per_second(self) -> &'static str {
        match self.precision() {
            Precision::Int32 | Precision::Int8 | Precision::Int4 | Precision::Int1 => "OP/s",
            _ => "FLOP/s",
        }
    }

    /// Returns the dense pipe on which sparse work would run without sparsity, or the pipe itself
    /// if it is dense.
    #[must_use]
    pub fn dense(self) -> Self {
        if !self.is_sparse() {
            return self;
        }
        let key = self.key().trim_end_matches("_sparse");
        Self::from_key(key).unwrap_or(self)
    }
}

impl JsonSchema for Pipe {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pipe".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let keys: Vec<&str> = Self::ALL.iter().map(|pipe| pipe.key()).collect();
        json_schema!({ "type": "string", "enum": keys })
    }
}

impl Serialize for Pipe {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_round_trip() {
        for (position, pipe) in Pipe::ALL.iter().enumerate() {
            assert_eq!(*pipe as usize, position);
            assert_eq!(Pipe::from_key(pipe.key()), Some(*pipe));
        }
    }

    #[test]
    fn every_sparse_pipe_has_a_dense_twin() {
        for pipe in Pipe::ALL.iter().filter(|pipe| pipe.is_sparse()) {
            assert!(!pipe.dense().is_sparse(), "{}", pipe.key());
            assert_eq!(pipe.dense().precision(), pipe.precision());
        }
    }
}
