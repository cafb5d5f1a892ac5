//! Errors of predictions.

use std::io;

use crate::catalog::{CatalogError, Device};
use crate::model::{Engine, Pipe};
use crate::plain;

/// Error when a prediction is not possible.
#[derive(Debug, thiserror::Error)]
pub enum PredictError {
    /// No closed form has this name.
    #[error("unknown kernel {name:?}{}", closest(.nearest))]
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
    /// Required parameters are missing.
    #[error("{form} needs {}", quoted(.missing))]
    Missing {
        /// The form's name.
        form: &'static str,
        /// The missing parameters.
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
        /// The problem, and what to write instead.
        message: String,
    },
    /// The values are inconsistent.
    #[error("{form}: {message}")]
    Shape {
        /// The form's name.
        form: &'static str,
        /// The inconsistency, with the numbers.
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
        /// The problem.
        message: String,
    },
    /// One point of a sweep has no prediction.
    #[error("at {point}")]
    Point {
        /// The swept keys with their values.
        point: String,
        /// The error at that point.
        #[source]
        cause: Box<PredictError>,
    },
    /// An option changes nothing of the kernel.
    #[error("{option} has no effect on {form}, which {why}")]
    NoEffect {
        /// The option.
        option: &'static str,
        /// The form's name.
        form: &'static str,
        /// What the kernel does not do.
        why: &'static str,
    },
    /// The device has no units for the format, so the kernel has no compute roof.
    #[error("{device} has no {engine} units for {data_type}")]
    NoPipe {
        /// The device's unique name.
        device: String,
        /// `matrix` or `vector`.
        engine: &'static str,
        /// The format.
        data_type: &'static str,
        /// The key of a pipe that could execute it after conversion.
        other: &'static str,
    },
    /// A figure of the device is missing.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// A model file cannot be read.
    #[error("cannot read the model file {path}: {}", plain::io(.cause))]
    Read {
        /// The file.
        path: String,
        /// The error of the operating system.
        cause: io::Error,
    },
    /// A model file is not valid.
    #[error("{path}:{line}:{column}: {message}")]
    Model {
        /// The file.
        path: String,
        /// Line of the error, counted from 1.
        line: usize,
        /// Column of the error in characters, counted from 1.
        column: usize,
        /// The problem.
        message: String,
        /// The next step, if there is one.
        help: Option<String>,
    },
    /// The model file does not define this size.
    #[error("the model file does not define the size {key:?}")]
    UnknownSize {
        /// The size as given.
        key: String,
        /// All sizes that it defines.
        known: Vec<String>,
    },
}

impl PredictError {
    pub(super) fn value(key: &str, text: &str, message: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), text: text.to_owned(), message: message.into() }
    }

    pub(super) fn no_pipe(device: &Device, engine: Engine, data_type: super::DataType) -> Self {
        let usual = [Pipe::Bf16Matrix, Pipe::Fp16Matrix];
        let other = usual.into_iter().find(|pipe| device.has_units(*pipe) == Some(true));
        let other = other.unwrap_or(Pipe::Fp32Vector).key();
        let device = device.name.clone();
        let engine = match engine {
            Engine::Matrix => "matrix",
            Engine::Vector => "vector",
        };
        Self::NoPipe { device, engine, data_type: data_type.name(), other }
    }

    /// Returns the next step, as one sentence for the `help:` line; `None` if the message says it
    /// already.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::UnknownForm { .. } => Some(
                "list all kernels with their parameters with `rooflint predict \
                    --list`"
                    .to_owned(),
            ),
            Self::NotAPair { .. } => Some("write arguments as n=4096 or dtype=fp16".to_owned()),
            Self::UnknownKey { known, .. } => {
                Some(format!("its parameters are {}", known.join(", ")))
            }
            Self::Missing { example, .. } => Some(format!("for example: {example}")),
            Self::Sweep { .. } => Some(
                "write sweeps as n=1k..64k:log, n=1k..64k:x2, n=128..4096:+128 or \
                     n=1k,2k,4k"
                    .to_owned(),
            ),
            Self::NoPipe { other, .. } => Some(format!(
                "choose the pipe that would execute it after conversion, such as --pipe {other}"
            )),
            Self::NoEffect { .. } => Some("leave it out".to_owned()),
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

/// Returns up to three of `names` with a similar spelling, best first.
pub(super) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    const CLOSE: f64 = 0.75;
    const SHOWN: usize = 3;
    let wanted = wanted.to_ascii_lowercase();
    let score = |name: &str| {
        let inside = name.len() > 2 && (wanted.contains(name) || name.contains(&wanted));
        crate::plain::likeness(&wanted, name).max(if inside { 0.9 } else { 0.0 })
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
