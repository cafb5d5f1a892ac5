//! Categories and directions of classes, with their keys.

/// Defines words with their keys.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($variant:ident, $key:literal;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names are the field's terms")]
        pub enum $name { $($variant),* }

        impl $name {
            /// All values, in the order used in tables.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// Returns the name in files and JSON, such as `data-movement`.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self { $($name::$variant => $key),* }
            }

            /// Returns the value with this key.
            #[must_use]
            pub fn from_key(key: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.key() == key)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.key())
            }
        }
    };
}

words! {
    /// Category of an operation, by what limits its kernels when they are large.
    Category {
        DotProduct, "dot-product";
        Elementwise, "elementwise";
        Reduction, "reduction";
        DataMovement, "data-movement";
        Communication, "communication";
        Other, "other";
        Unknown, "unknown";
    }
}

impl Category {
    /// Returns the name in reports, such as `data movement`.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::DotProduct => "dot product",
            Self::DataMovement => "data movement",
            Self::Unknown => "uncategorized",
            other => other.key(),
        }
    }
}

words! {
    /// Pass of training that a kernel belongs to.
    Direction {
        Forward, "forward";
        DataGradient, "data-gradient";
        WeightGradient, "weight-gradient";
        Backward, "backward";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_unique_and_round_trip() {
        for category in Category::ALL {
            assert_eq!(Category::from_key(category.key()), Some(*category));
            assert_eq!(
                category.label(),
                category
                    .key()
                    .replace("dot-", "dot ")
                    .replace("data-", "data ")
                    .replace("unknown", "uncategorized")
            );
        }
    }
}
