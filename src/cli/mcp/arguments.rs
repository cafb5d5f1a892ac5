//! The arguments of a call, as words of a command line.

use std::ffi::OsString;
use std::fs::Metadata;

use serde_json::{Map, Value};

/// The words of a command, made from the arguments of a call.
pub(super) struct Words<'a> {
    given: &'a Map<String, Value>,
    /// Options: each is one word, so that no value is taken for an option.
    options: Vec<OsString>,
    /// What follows the options.
    names: Vec<OsString>,
}

impl<'a> Words<'a> {
    /// Begins a command; `known` are the arguments that the tool has.
    ///
    /// # Errors
    /// An argument that the tool does not have.
    pub(super) fn new(given: &'a Map<String, Value>, known: &[&str]) -> Result<Self, String> {
        match given.keys().find(|key| !known.contains(&key.as_str())) {
            Some(key) => {
                Err(format!("unknown argument {key:?}; the arguments are {}", known.join(", ")))
            }
            None => Ok(Self { given, options: Vec::new(), names: Vec::new() }),
        }
    }

    /// The texts of an argument: one, or a list; none if it is not given.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, String> {
        let text = |value: &Value| match value {
            Value::String(text) => Ok(text.clone()),
            Value::Number(number) => Ok(number.to_string()),
            _ => Err(format!("{key} must be text, or a list of texts")),
        };
        match self.given.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(all)) => all.iter().map(text).collect(),
            Some(one) => Ok(vec![text(one)?]),
        }
    }

    /// The text of an argument that must be given.
    pub(super) fn needed(&self, key: &str) -> Result<String, String> {
        let mut texts = self.texts(key)?;
        match (texts.pop(), texts.is_empty()) {
            (Some(text), true) => Ok(text),
            _ => Err(format!("{key} is needed: one text")),
        }
    }

    /// The keys and values of an argument that is an object.
    pub(super) fn pairs(&self, key: &str) -> Result<Vec<(String, String)>, String> {
        let pairs = match self.given.get(key) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Object(pairs)) => pairs,
            Some(_) => return Err(format!("{key} must be an object of names and values")),
        };
        let text = |(name, value): (&String, &Value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(number) => Ok((name.clone(), number.to_string())),
            _ => Err(format!("{key}: {name} must be a number or text")),
        };
        pairs.iter().map(text).collect()
    }

    /// Whether an argument is given.
    pub(super) fn has(&self, key: &str) -> bool {
        self.given.get(key).is_some_and(|value| !value.is_null())
    }

    /// Whether an argument is true.
    pub(super) fn is(&self, key: &str) -> Result<bool, String> {
        match self.given.get(key) {
            None | Some(Value::Null) => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| format!("{key} must be true or false")),
        }
    }

    /// A number of an argument, 1 or more.
    pub(super) fn count(&self, key: &str, default: usize) -> Result<usize, String> {
        match self.given.get(key) {
            None | Some(Value::Null) => Ok(default),
            Some(value) => value
                .as_u64()
                // JSON has one kind of number: 3.0 is whole.
                .or_else(|| {
                    value
                        .as_f64()
                        .filter(|one| one.fract() == 0.0 && (1.0..1e15).contains(one))
                        .map(|one| one as u64)
                })
                .and_then(|count| usize::try_from(count).ok())
                .filter(|count| *count > 0)
                .ok_or_else(|| format!("{key} must be a whole number of 1 or more")),
        }
    }

    /// Passes an argument on as an option, once for each of its texts.
    pub(super) fn option(&mut self, key: &str, option: &str) -> Result<(), String> {
        for text in self.texts(key)? {
            self.options.push(format!("--{option}={text}").into());
        }
        Ok(())
    }

    /// Adds an option as it is.
    pub(super) fn add(&mut self, option: &str) {
        self.options.push(option.into());
    }

    /// Adds a name.
    pub(super) fn name(&mut self, name: String) {
        self.names.push(name.into());
    }

    /// Passes files on; standard input is where messages come from, and not a file.
    pub(super) fn files(&mut self, key: &str) -> Result<(), String> {
        let files = self.texts(key)?;
        if files.is_empty() {
            return Err(format!("{key} is needed: the path of an export, or a list of paths"));
        }
        for file in files {
            if file == "-" {
                return Err(format!(
                    "{key}: standard input cannot be read; give the path of a file"
                ));
            }
            // Standard input has other names, and a pipe may never end.
            let is_stream = |there: Metadata| !there.is_file() && !there.is_dir();
            if std::fs::metadata(&file).is_ok_and(is_stream) {
                return Err(format!("{key}: {file} is a pipe or device; give the path of a file"));
            }
            self.names.push(file.into());
        }
        Ok(())
    }

    /// The words of the whole command.
    pub(super) fn of(self, command: &str) -> Vec<OsString> {
        let dashes = (!self.names.is_empty()).then(|| OsString::from("--"));
        let command = std::iter::once(OsString::from(command));
        command.chain(self.options).chain(dashes).chain(self.names).collect()
    }
}
