//! What can go wrong between a device's name and its figures.

use std::io;

use crate::plain;

/// Why a device or one of its figures is not available.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// No device has this name.
    #[error("no device is called {name:?}{}", closest(.nearest))]
    NotFound {
        /// The name as given.
        name: String,
        /// Unique names of the most similar devices, best first; may be empty.
        nearest: Vec<String>,
    },
    /// Several devices share the name and the export does not tell which one is meant.
    #[error("{name:?} is the name of several devices: {}", quoted(.candidates))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// Their unique names.
        candidates: Vec<String>,
    },
    /// The export names no device, and what it says instead does not lead to exactly one.
    #[error("the export does not name its device; {reason}")]
    Unidentified {
        /// What it says instead, and why that is not enough.
        reason: String,
        /// Unique names of the devices that fit; may be empty.
        candidates: Vec<String>,
    },
    /// The device is known, a figure that is needed is not.
    #[error("the catalog has no figure for {figure} of {device}")]
    MissingFigure {
        /// The device's unique name.
        device: String,
        /// What is missing, named as in a device file.
        figure: String,
    },
    /// A device file cannot be read.
    #[error("cannot read the device file {path}: {}", plain::io(.cause))]
    Read {
        /// The file.
        path: String,
        /// What the operating system says.
        cause: io::Error,
    },
    /// A device file is not valid.
    #[error("{path}:{line}:{column}: {message}")]
    Malformed {
        /// The file.
        path: String,
        /// Line of the fault, counted from 1.
        line: usize,
        /// Character of the fault within its line, counted from 1.
        column: usize,
        /// What is wrong, in words.
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
    /// The next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotFound { .. } => "`rooflint devices` lists every name; a device that is not \
                there takes about six lines of TOML, read with --devices FILE"
                .to_owned(),
            Self::Ambiguous { candidates, .. } => {
                format!("name one of them, such as --device {:?}", first(candidates))
            }
            Self::Unidentified { candidates, .. } if candidates.is_empty() => {
                "name the device with --device NAME; `rooflint devices` lists every name".to_owned()
            }
            Self::Unidentified { candidates, .. } => {
                format!("name the device, such as --device {:?}", first(candidates))
            }
            Self::MissingFigure { device, figure } => format!(
                "write the figure into a device file with name = {device:?} and {figure}, and read \
                 it with --devices FILE"
            ),
            Self::Read { .. } => {
                "--devices takes a TOML file of devices; to choose the GPU: --device NAME"
                    .to_owned()
            }
            Self::Malformed { help, .. } if !help.is_empty() => help.clone(),
            Self::Malformed { .. } => {
                "`rooflint devices NAME` shows a complete entry to compare with".to_owned()
            }
            Self::Duplicate { .. } => "give each device a name of its own".to_owned(),
        }
    }
}

fn first(candidates: &[String]) -> &str {
    candidates.first().map_or("", String::as_str)
}

/// Names in quotes, with commas between them.
pub(super) fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// The first names in quotes, and how many more there are.
pub(super) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 4;
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
        assert_eq!(error.to_string(), "no device is called \"A101\"; closest: \"A100\"");
        assert!(error.help().contains("--devices FILE"));
        let error = CatalogError::Ambiguous {
            name: "Orin".into(),
            candidates: vec!["Jetson AGX Orin 64GB".into(), "Jetson Orin NX 8GB".into()],
        };
        assert!(error.to_string().ends_with("\"Jetson AGX Orin 64GB\", \"Jetson Orin NX 8GB\""));
        assert!(error.help().contains("--device \"Jetson AGX Orin 64GB\""));
    }
}
