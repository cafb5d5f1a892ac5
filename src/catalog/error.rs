//! Errors when looking up a device or its figures.

use std::io;

use crate::plain;

/// Error when a device or one of its figures is not available.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No device has this name.
    #[error("unknown device {name:?}{}", closest(.nearest))]
    NotFound {
        /// The name as given.
        name: String,
        /// Unique names of the most similar devices, best first; may be empty.
        nearest: Vec<String>,
    },
    /// The name is a part of the names of several devices.
    #[error("{name:?} fits several devices: {}", listed(.candidates))]
    Part {
        /// The name as given.
        name: String,
        /// Their unique names, at least two.
        candidates: Vec<String>,
    },
    /// Several devices share the name and the export does not say which one it is.
    #[error("several devices are named {name:?}: {}", quoted(.candidates))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// Their unique names.
        candidates: Vec<String>,
    },
    /// The export does not name its device, and its other attributes do not identify exactly one.
    #[error("the export does not name its device; {reason}")]
    Unidentified {
        /// The attributes it has instead, and why they are not enough.
        reason: String,
        /// Unique names of the devices that match; may be empty.
        candidates: Vec<String>,
    },
    /// The device is known, but a required figure is not.
    #[error("{listed_in} does not have {figure} for {device}")]
    MissingFigure {
        /// What its figures are read from: the catalog, or a device file.
        listed_in: String,
        /// The device's unique name.
        device: String,
        /// Name of the missing figure, as in a device file.
        figure: String,
        /// Whether the device is one of the program's own.
        is_built_in: bool,
    },
    /// A device file cannot be read.
    #[error("cannot read the device file {path}: {}", plain::io(.cause))]
    Read {
        /// The file.
        path: String,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A device file is not valid.
    #[error("{path}:{line}:{column}: {message}")]
    Malformed {
        /// The file.
        path: String,
        /// Line of the error, counted from 1.
        line: usize,
        /// Column of the error in characters, counted from 1.
        column: usize,
        /// Description of the problem.
        message: String,
        /// The next step; may be empty.
        help: String,
    },
    /// Two devices of a user's files have the same name.
    #[error("{path}: {name:?} is defined twice")]
    Duplicate {
        /// The file with the second definition.
        path: String,
        /// The name.
        name: String,
    },
}

impl CatalogError {
    /// Returns the next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotFound { .. } => "list all names with `rooflint devices`; add a missing \
                device with about six lines of TOML and --devices FILE"
                .to_owned(),
            Self::Ambiguous { candidates, .. } | Self::Part { candidates, .. } => {
                format!("choose one of them, such as --device {:?}", first(candidates))
            }
            Self::Unidentified { candidates, .. } if candidates.is_empty() => {
                "set the device with --device NAME; list all names with `rooflint \
                 devices`"
                    .to_owned()
            }
            Self::Unidentified { candidates, .. } => {
                format!("set the device, such as --device {:?}", first(candidates))
            }
            Self::MissingFigure { device, figure, is_built_in, .. } => {
                // A device of a file takes the place of the built-in one of its name, unless it builds on it.
                let base =
                    if *is_built_in { format!("base = {device:?}, ") } else { String::new() };
                format!(
                    "add it in a device file with {base}name = {device:?} and {figure}, and pass the file with --devices FILE"
                )
            }
            Self::Read { .. } => {
                "--devices takes a TOML file of devices; to choose the GPU: --device NAME"
                    .to_owned()
            }
            Self::Malformed { help, .. } if !help.is_empty() => help.clone(),
            Self::Malformed { .. } => {
                "compare with a complete entry from `rooflint devices NAME`".to_owned()
            }
            Self::Duplicate { .. } => "give each device a unique name".to_owned(),
        }
    }
}

fn first(candidates: &[String]) -> &str {
    candidates.first().map_or("", String::as_str)
}

/// Formats names in quotes, separated by commas.
pub(super) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// Formats the first names in quotes, and the number of further ones.
pub(super) fn listed(names: &[String]) -> String {
    // All variants of one model, such as the five of the A100.
    const SHOWN: usize = 8;
    let more = names.len().saturating_sub(SHOWN);
    let shown = quoted(&names[..names.len() - more]);
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

fn closest(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; closest: {}", quoted(nearest)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_what_was_found_and_the_help_what_to_do() {
        let error = CatalogError::NotFound { name: "A101".into(), nearest: vec!["A100".into()] };
        assert_eq!(error.to_string(), "unknown device \"A101\"; closest: \"A100\"");
        assert!(error.help().contains("--devices FILE"));
        let error = CatalogError::Ambiguous {
            name: "Orin".into(),
            candidates: vec!["Jetson AGX Orin 64GB".into(), "Jetson Orin NX 8GB".into()],
        };
        assert!(error.to_string().ends_with("\"Jetson AGX Orin 64GB\", \"Jetson Orin NX 8GB\""));
        assert!(error.help().contains("--device \"Jetson AGX Orin 64GB\""));
    }
}
