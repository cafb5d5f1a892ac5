//! What a custom rule says: a sentence with columns in braces, shown with unit and rounding.

use super::{Fault, Over};
use crate::analysis::{Column, Row};

/// A sentence with columns in it, such as `{name} is {headroom} above its roof`.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq)]
enum Part {
    Words(String),
    Value(&'static Column),
}

impl Template {
    /// Reads a sentence; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// [`Fault`] where it says nothing, a brace is alone, or no column has the name in braces.
    pub fn parse(text: &str, over: Over) -> Result<Self, Fault> {
        let braces = "put a column in braces, {headroom}; double a brace to print it";
        if text.trim().is_empty() {
            return Err(Fault::new(0, "the message is empty", "write a sentence"));
        }
        let mut parts = Vec::new();
        let mut words = String::new();
        let mut at = 0;
        while let Some(next) = text[at..].find(['{', '}']).map(|next| at + next) {
            words.push_str(&text[at..next]);
            let rest = &text[next..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                words.push_str(&rest[..1]);
                at = next + 2;
                continue;
            }
            let name = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
            let Some((name, _)) = name else {
                return Err(Fault::new(next, "unmatched brace", braces));
            };
            let column = over.columns().get(name);
            let column = column.ok_or_else(|| over.no_column(name, next + 1))?;
            parts.push(Part::Words(std::mem::take(&mut words)));
            parts.push(Part::Value(column));
            at = next + name.len() + 2;
        }
        words.push_str(&text[at..]);
        parts.push(Part::Words(words));
        Ok(Self { text: text.to_owned(), parts })
    }

    /// The sentence as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The sentence about a kernel or a launch; what is missing is a dash.
    #[must_use]
    pub fn said(&self, row: &Row<'_>) -> String {
        let said = self.parts.iter().map(|part| match part {
            Part::Words(words) => words.clone(),
            Part::Value(column) => column.shown(column.get(row)),
        });
        said.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_written_twice_and_columns_once() {
        let read = |text: &str| Template::parse(text, Over::Kernels);
        let template = read("{{{name}}} at {headroom}").unwrap();
        let words: Vec<&Part> = template.parts.iter().collect();
        assert!(matches!(words[0], Part::Words(words) if words == "{"), "{words:?}");
        assert!(matches!(words[2], Part::Words(words) if words == "} at "), "{words:?}");
        for (text, at) in [("a } b", 2), ("größe {", 8), ("{nam}", 1), ("", 0), ("{}", 1)] {
            assert_eq!(read(text).unwrap_err().at, at, "{text}");
        }
    }
}
