//! Formats of operands: bytes per element including scales, and the precision of the computation.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::Precision;

macro_rules! data_types {
    ($($variant:ident, $name:literal, [$($alias:literal),*], $bits:literal, $precision:ident;)*) => {
        /// The format of an operand in memory.
        ///
        /// TF32 is a mode of the matrix units: it is stored as FP32. `mxfp*` share one 8-bit scale
        /// among 32 elements (OCP Microscaling Formats 1.0), `nvfp4` one among 16 (NVIDIA
        /// Blackwell); `c32` and `c64` are pairs of FP32 and of FP64.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are the formats")]
        pub enum DataType { $($variant),* }

        impl DataType {
            /// All formats, widest first within their kind.
            pub const ALL: &'static [DataType] = &[$(DataType::$variant),*];

            /// Returns the name in arguments, tables and JSON.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(DataType::$variant => $name),* }
            }

            /// Returns the accepted aliases.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(DataType::$variant => &[$($alias),*]),* }
            }

            /// Returns the bits per element, with its share of the block's scale.
            #[must_use]
            pub const fn bits(self) -> f64 {
                match self { $(DataType::$variant => $bits),* }
            }

            /// Returns the precision in which operands of this type are multiplied.
            #[must_use]
            pub const fn precision(self) -> Precision {
                match self { $(DataType::$variant => Precision::$precision),* }
            }
        }
    };
}

data_types! {
    C64, "c64", ["complex128", "zdouble"], 128.0, Fp64;
    C32, "c32", ["complex64", "cfloat"], 64.0, Fp32;
    Fp64, "fp64", ["f64", "float64", "double"], 64.0, Fp64;
    Fp32, "fp32", ["f32", "float32", "float", "single"], 32.0, Fp32;
    Tf32, "tf32", ["tfloat32"], 32.0, Tf32;
    Fp16, "fp16", ["f16", "float16", "half"], 16.0, Fp16;
    Bf16, "bf16", ["bfloat16"], 16.0, Bf16;
    Mxfp8, "mxfp8", [], 8.25, Fp8;
    Fp8, "fp8", ["f8", "e4m3", "e5m2", "float8"], 8.0, Fp8;
    Mxfp6, "mxfp6", [], 6.25, Fp6;
    Fp6, "fp6", ["e3m2", "e2m3"], 6.0, Fp6;
    Nvfp4, "nvfp4", [], 4.5, Fp4;
    Mxfp4, "mxfp4", [], 4.25, Fp4;
    Fp4, "fp4", ["e2m1", "float4"], 4.0, Fp4;
    Int64, "int64", ["i64", "long"], 64.0, Int32;
    Int32, "int32", ["i32", "int"], 32.0, Int32;
    Int16, "int16", ["i16", "short"], 16.0, Int32;
    Int8, "int8", ["i8", "uint8", "u8", "byte"], 8.0, Int8;
    Int4, "int4", ["i4"], 4.0, Int4;
    Bool, "bool", [], 8.0, Int32;
}

impl DataType {
    /// Returns the format with this name or alias, ignoring case.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let called = |kind: &&Self| kind.name() == text || kind.aliases().contains(&text.as_str());
        Self::ALL.iter().find(called).copied()
    }

    /// Returns the bytes per element; may be a fraction.
    #[must_use]
    pub const fn bytes(self) -> f64 {
        self.bits() / 8.0
    }

    /// Returns `true` if an element is a pair of real numbers.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self, Self::C32 | Self::C64)
    }

    /// Returns `true` if it has whole numbers.
    #[must_use]
    pub const fn is_integer(self) -> bool {
        use Precision::{Int1, Int4, Int8, Int32};
        matches!(self.precision(), Int32 | Int8 | Int4 | Int1)
    }

    /// Returns the format of the parts of a complex element, or the format itself if it is real.
    #[must_use]
    pub const fn real(self) -> Self {
        match self {
            Self::C64 => Self::Fp64,
            Self::C32 => Self::Fp32,
            other => other,
        }
    }

    /// Returns the format with more bits: in a product of mixed operands the narrow one is widened
    /// first.
    #[must_use]
    pub fn wider(self, other: Self) -> Self {
        if other.bits() > self.bits() { other } else { self }
    }
}

impl JsonSchema for DataType {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DataType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|one| one.name()).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

impl Serialize for DataType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_take_the_bytes_of_their_format_with_scales() {
        for (name, bytes) in [
            ("fp64", 8.0),
            ("tf32", 4.0),
            ("half", 2.0),
            ("BF16", 2.0),
            ("fp8", 1.0),
            ("fp4", 0.5),
            ("mxfp4", 0.5 + 1.0 / 32.0),
            ("nvfp4", 0.5 + 1.0 / 16.0),
            ("mxfp8", 1.0 + 1.0 / 32.0),
            ("bool", 1.0),
            ("c32", 8.0),
            ("complex128", 16.0),
        ] {
            assert_eq!(DataType::parse(name).unwrap().bytes(), bytes, "{name}");
        }
        assert!(DataType::parse("fp7").is_none());
    }

    #[test]
    fn no_two_formats_share_a_name() {
        let names = DataType::ALL.iter().flat_map(|kind| {
            std::iter::once(&kind.name()).chain(kind.aliases()).copied().collect::<Vec<_>>()
        });
        let mut names: Vec<&str> = names.collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
