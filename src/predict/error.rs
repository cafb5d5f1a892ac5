//! What can go wrong between a kernel's arguments and its prediction.

use std::io;

use crate::catalog::CatalogError;
use crate::model::Engine;
use crate::plain;

/// Why there is no prediction.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// No closed form has this name.
    #[error("no kernel is called {name:?}{}", closest(.nearest))]
    UnknownForm {
        /// The name as given.
        name: String,
        /// The most similar names, best first; may be empty.
        nearest: Vec<String>,
    },
    /// An argument is not of the shape `key=value`.
    #[error("{text:?} is not of the form key=value")]
    NotAPair {
        /// The argument as given.
        text: String,
    },
    /// The form has no such parameter.
    #[error("{form} has no parameter {key:?}{}", closest(.nearest))]
    UnknownKey {
        /// The form's name.
        form: &'static str,
        /// The key as given.
        key: String,
        /// The most similar parameter, if one is similar.
        nearest: Vec<String>,
        /// Every parameter.
        known: Vec<String>,
    },
    /// A key is given twice.
    #[error("{key:?} is given twice")]
    Repeated {
        /// The key.
        key: String,
    },
    /// Parameters without a default are not given.
    #[error("{form} needs {}", quoted(.missing))]
    Missing {
        /// The form's name.
        form: &'static str,
        /// What is needed and missing.
        missing: Vec<String>,
        /// A complete call, such as `gemm m=4096 n=4096 k=4096`.
        example: String,
    },
    /// A value cannot be read, or is out of range.
    #[error("{key}={text}: {message}")]
    Value {
        /// The key.
        key: String,
        /// The value as given.
        text: String,
        /// What is wrong, and what to write.
        message: String,
    },
    /// The values do not fit together.
    #[error("{form}: {message}")]
    Shape {
        /// The form's name.
        form: &'static str,
        /// What does not fit, with the numbers.
        message: String,
    },
    /// A count is beyond floating-point numbers.
    #[error("{form}: the {what} overflow")]
    Overflow {
        /// The form's name.
        form: &'static str,
        /// `operations` or `bytes`.
        what: &'static str,
    },
    /// More than two keys are swept, or a sweep has no end.
    #[error("{message}")]
    Sweep {
        /// What is wrong.
        message: String,
    },
    /// One point of a sweep has no prediction.
    #[error("at {point}")]
    Point {
        /// The swept keys with their values.
        point: String,
        /// What is wrong there.
        #[source]
        cause: Box<PredictError>,
    },
    /// The device has no units for the format, so there is no roof to hold the kernel against.
    #[error("{device} has no {engine} units for {data_type}")]
    NoPipe {
        /// The device's unique name.
        device: String,
        /// `matrix` or `vector`.
        engine: &'static str,
        /// The format.
        data_type: &'static str,
    },
    /// A figure of the device is missing.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A model file cannot be read.
    #[error("cannot read the model file {path}: {}", plain::io(.cause))]
    Read {
        /// The file.
        path: String,
        /// What the operating system says.
        cause: io::Error,
    },
    /// A model file is not valid.
    #[error("{path}:{line}:{column}: {message}")]
    Model {
        /// The file.
        path: String,
        /// Line of the fault, counted from 1.
        line: usize,
        /// Character of the fault within its line, counted from 1.
        column: usize,
        /// What is wrong.
        message: String,
        /// The next step, where there is one.
        help: Option<String>,
    },
    /// A model file names no such size.
    #[error("the model file names no size {key:?}")]
    UnknownSize {
        /// The size as given.
        key: String,
        /// Every size it names.
        known: Vec<String>,
    },
}

impl PredictError {
    pub(super) fn value(key: &str, text: &str, message: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), text: text.to_owned(), message: message.into() }
    }

    pub(super) const fn no_pipe(
        device: String,
        engine: Engine,
        data_type: super::DataType,
    ) -> Self {
        let engine = match engine {
            Engine::Matrix => "matrix",
            Engine::Vector => "vector",
        };
        Self::NoPipe { device, engine, data_type: data_type.name() }
    }

    /// The next step, as one sentence for the `help:` line; none where the message says it all.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownForm { .. } => {
                Some("`rooflint predict --list` shows every kernel with its parameters".to_owned())
            }
            Self::NotAPair { .. } => Some("write for example n=4096 or dtype=fp16".to_owned()),
            Self::UnknownKey { known, .. } => {
                Some(format!("its parameters are {}", known.join(", ")))
            }
            Self::Missing { example, .. } => Some(format!("for example: {example}")),
            Self::Sweep { .. } => Some(
                "sweeps are written n=1k..64k:log, n=1k..64k:x2, n=128..4096:+128 or \
                     n=1k,2k,4k"
                    .to_owned(),
            ),
            Self::NoPipe { .. } => Some(
                "name the pipe that would execute it after conversion, such as --pipe bf16_matrix"
                    .to_owned(),
            ),
            Self::Catalog(error) => Some(error.help()),
            Self::Point { cause, .. } => cause.help(),
            Self::Model { help, .. } => help.clone(),
            Self::UnknownSize { known, .. } => Some(format!("its sizes are {}", known.join(", "))),
            Self::Read { .. } => Some("check the path given to --model".to_owned()),
            Self::Repeated { .. }
            | Self::Value { .. }
            | Self::Shape { .. }
            | Self::Overflow { .. } => None,
        }
    }
}

/// Up to three of `names` that are spelled alike, best first.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    const CLOSE: f64 = 0.75;
    const SHOWN: usize = 3;
    let wanted = wanted.to_ascii_lowercase();
    let score = |name: &str| {
        let inside = name.len() > 2 && (wanted.contains(name) || name.contains(&wanted));
        strsim::jaro_winkler(&wanted, name).max(if inside { 0.9 } else { 0.0 })
    };
    let mut ranked: Vec<(f64, &str)> = names.map(|name| (score(name), name)).collect();
    ranked.retain(|(score, _)| *score >= CLOSE);
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    ranked.into_iter().take(SHOWN).map(|(_, name)| name.to_owned()).collect()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

fn closest(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; closest: {}", quoted(nearest)) }
}
