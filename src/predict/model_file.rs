//! Model files: lists of kernels with shapes and counts, such as one transformer block, in TOML.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::arguments::{self, Arguments};
use super::error::PredictError;
use super::forms::form;
use super::number;
use super::parameter::Fallback;
use crate::model::{DataType, Pipe};
use crate::plain;

/// A step as a list of kernels.
///
/// ```
/// use rooflint::predict::ModelFile;
/// let model = ModelFile::parse("mlp.toml", r#"
///     dtype = "bf16"
///     [sizes]
///     tokens = "8*2048"
///     hidden = 4096
///     [[op]]
///     name = "up"
///     form = "linear"
///     args = { batch = "tokens", in = "hidden", out = "4*hidden" }
///     count = 2
/// "#)?;
/// assert_eq!(model.ops()[0].arguments.text(), "batch=tokens in=hidden out=4*hidden dtype=bf16");
/// # Ok::<(), rooflint::predict::PredictError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelFile {
    path: String,
    text: String,
    given: Vec<(String, String)>,
    /// The name of the step.
    name: Option<String>,
    /// Sizes that it defines.
    sizes: BTreeMap<String, u64>,
    ops: Vec<Op>,
}

/// One kernel of a step.
#[derive(Debug, Clone)]
pub struct Op {
    /// Name of the kernel in the step.
    pub name: String,
    /// Its closed form with arguments.
    pub arguments: Arguments,
    /// Pipe that executes it, if the file sets one.
    pub pipe: Option<Pipe>,
    /// Number of launches.
    pub count: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire {
    name: Option<String>,
    dtype: Option<String>,
    #[serde(default)]
    sizes: BTreeMap<Spanned<String>, Spanned<Value>>,
    op: Vec<OpWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpWire {
    name: Option<String>,
    form: Spanned<String>,
    dtype: Option<Spanned<String>>,
    pipe: Option<Spanned<String>>,
    count: Option<Spanned<Value>>,
    #[serde(default)]
    args: BTreeMap<Spanned<String>, Spanned<Value>>,
}

impl ModelFile {
    /// Reads a model file.
    ///
    /// # Errors
    /// [`PredictError::Read`], or as [`ModelFile::parse`].
    pub fn read(path: &Path) -> Result<Self, PredictError> {
        let shown = path.display().to_string();
        match plain::text_of(path, plain::PAGES) {
            Ok(text) => Self::parse(&shown, &text),
            Err(cause) => Err(PredictError::Read { path: shown, cause }),
        }
    }

    /// Parses the text of a model file; errors refer to it as `path`.
    ///
    /// Numbers may be sums, products and exact quotients of sizes: `"hidden/heads"`. The file's
    /// `dtype` is the default of every kernel that takes one.
    ///
    /// # Errors
    /// [`PredictError::Model`] with line and column: invalid TOML, an unknown key, form or
    /// parameter, an unreadable value, inconsistent values.
    pub fn parse(path: &str, text: &str) -> Result<Self, PredictError> {
        Self::with(path.to_owned(), text.to_owned(), Vec::new())
    }

    /// Returns the step with other values for some of its sizes, as `key=value`.
    ///
    /// # Errors
    /// [`PredictError::UnknownSize`] for a size that the file does not define; otherwise as
    /// [`ModelFile::parse`].
    pub fn with_sizes<T: AsRef<str>>(
        self,
        pairs: impl IntoIterator<Item = T>,
    ) -> Result<Self, PredictError> {
        let mut given = self.given;
        for pair in pairs {
            let (key, text) = arguments::split(pair.as_ref())?;
            if !self.sizes.contains_key(&key) {
                let known = self.sizes.keys().cloned().collect();
                return Err(PredictError::UnknownSize { key, known });
            }
            given.retain(|(other, _)| *other != key);
            given.push((key, text));
        }
        Self::with(self.path, self.text, given)
    }

    /// Returns the name of the step, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the sizes that it defines, with their values.
    #[must_use]
    pub const fn sizes(&self) -> &BTreeMap<String, u64> {
        &self.sizes
    }

    /// Returns its kernels in order.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    fn with(
        path: String,
        text: String,
        given: Vec<(String, String)>,
    ) -> Result<Self, PredictError> {
        let place = Place { path: &path, text: &text };
        let wire: Wire = toml::from_str(&text).map_err(|error| {
            let fault = plain::toml(&text, &error);
            let help = Some(fault.help).filter(|help| !help.is_empty());
            let (line, column) = (fault.line, fault.column);
            PredictError::Model { path: path.clone(), line, column, message: fault.message, help }
        })?;
        let sizes = sizes(&wire.sizes, &given, &place)?;
        let op = |wire: &OpWire, default: Option<&str>| op(wire, default, &sizes, &place);
        let ops: Result<Vec<Op>, _> =
            wire.op.iter().map(|one| op(one, wire.dtype.as_deref())).collect();
        let (ops, name) = (ops?, wire.name);
        Ok(Self { path, text, given, name, sizes, ops })
    }
}

/// The text that errors point into.
struct Place<'a> {
    path: &'a str,
    text: &'a str,
}

impl Place<'_> {
    fn error(&self, span: Range<usize>, message: String) -> PredictError {
        let (line, column) = plain::place(self.text, span.start);
        PredictError::Model { path: self.path.to_owned(), line, column, message, help: None }
    }

    fn wrapped(&self, span: Range<usize>, cause: &PredictError) -> PredictError {
        match self.error(span, cause.to_string()) {
            PredictError::Model { path, line, column, message, .. } => {
                PredictError::Model { path, line, column, message, help: cause.help() }
            }
            other => other,
        }
    }
}

/// Evaluates all sizes, which may refer to each other in any order.
fn sizes(
    wire: &BTreeMap<Spanned<String>, Spanned<Value>>,
    given: &[(String, String)],
    place: &Place<'_>,
) -> Result<BTreeMap<String, u64>, PredictError> {
    let mut known: BTreeMap<String, u64> = BTreeMap::new();
    let mut open: Vec<(&Spanned<String>, String)> = Vec::new();
    for (key, value) in wire {
        let other = given.iter().find(|(name, _)| name == key.get_ref());
        open.push((key, other.map_or_else(|| text(value.get_ref()), |(_, text)| text.clone())));
    }
    while !open.is_empty() {
        let before = open.len();
        open.retain(|(key, text)| match number::whole(text, &|name| known.get(name).copied()) {
            Ok(value) => {
                known.insert(key.get_ref().clone(), value);
                false
            }
            Err(_) => true,
        });
        if open.len() == before {
            return Err(unresolved(&open, &known, given, place));
        }
    }
    Ok(known)
}

/// Why none of these sizes can be computed: one of them has a fault, or they go round in a circle.
fn unresolved(
    open: &[(&Spanned<String>, String)],
    known: &BTreeMap<String, u64>,
    given: &[(String, String)],
    place: &Place<'_>,
) -> PredictError {
    let is_open = |name: &str| open.iter().any(|(key, _)| key.get_ref() == name);
    let supposed = |name: &str| known.get(name).copied().or_else(|| is_open(name).then_some(1));
    for (key, text) in open {
        if let Err(message) = number::whole(text, &supposed) {
            // What was given beside the file is at no place in it.
            if given.iter().any(|(name, _)| name == key.get_ref()) {
                let (key, text) = (key.get_ref().clone(), text.clone());
                return PredictError::Value { key, text, message };
            }
            return place.error(key.span(), format!("{}={text}: {message}", key.get_ref()));
        }
    }
    let names: Vec<&str> = open.iter().map(|(key, _)| key.get_ref().as_str()).collect();
    let span = open.first().map_or(0..0, |(key, _)| key.span());
    place.error(span, format!("sizes that refer to each other in a circle: {}", names.join(", ")))
}

fn op(
    wire: &OpWire,
    default: Option<&str>,
    sizes: &BTreeMap<String, u64>,
    place: &Place<'_>,
) -> Result<Op, PredictError> {
    let names = |name: &str| sizes.get(name).copied();
    let form_span = wire.form.span();
    let form =
        form(wire.form.get_ref()).map_err(|error| place.wrapped(form_span.clone(), &error))?;
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (key, value) in &wire.args {
        let at = |error| place.wrapped(key.span(), &error);
        let parameter = form.parameter(key.get_ref()).map_err(at)?;
        let text = text(value.get_ref());
        let checked = arguments::check(parameter, &text, &names);
        checked.map_err(|error| place.wrapped(value.span(), &error))?;
        pairs.push((key.get_ref().clone(), text));
    }
    // A default that is real is not that of a transform of complex numbers, which has one of its own.
    let is_complex = |name: &str| DataType::parse(name).is_some_and(DataType::is_complex);
    let is_usual = |own: &Fallback| match own {
        Fallback::Text(name) => !is_complex(name) || default.is_some_and(is_complex),
        _ => true,
    };
    let has_type = form.parameters().any(|one| one.name == "dtype" && is_usual(&one.default));
    // As written: capitals and other names of a parameter are taken, too.
    let is_type = |key: &str| form.parameter(key).is_ok_and(|one| one.name == "dtype");
    let own = wire.dtype.as_ref().map(|own| own.get_ref().as_str());
    let inherited =
        default.filter(|_| has_type && !wire.args.keys().any(|key| is_type(key.get_ref())));
    pairs.extend(own.or(inherited).map(|name| ("dtype".to_owned(), name.to_owned())));
    let here = |error| place.wrapped(form_span.clone(), &error);
    let arguments = Arguments::new(form, pairs, &names).map_err(here)?;
    arguments.count().map_err(here)?;
    let pipe = wire.pipe.as_ref().map(|pipe| {
        let unknown = || place.error(pipe.span(), format!("unknown pipe {:?}", pipe.get_ref()));
        let known = Pipe::from_key(pipe.get_ref()).filter(|pipe| *pipe != Pipe::Unstated);
        known.ok_or_else(unknown)
    });
    let count = wire.count.as_ref().map_or(Ok(1), |count| {
        let shown = text(count.get_ref());
        let refused = |message| place.error(count.span(), format!("count={shown}: {message}"));
        number::whole(&shown, &names).map_err(refused)
    })?;
    let name = wire.name.clone().unwrap_or_else(|| form.name.to_owned());
    Ok(Op { name, arguments, pipe: pipe.transpose()?, count })
}

/// Formats a value as written after `key=`.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Boolean(true) => "yes".to_owned(),
        Value::Boolean(false) => "no".to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        other => other.type_str().to_owned(),
    }
}
