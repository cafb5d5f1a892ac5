//! Expressions of custom rules: the Common Expression Language, of columns, operators and constants.
//!
//! The crate `cel` reads and evaluates them. What it offers beyond operators (loops, functions, dynamic
//! types) is refused when the expression is read, so that nothing is left to go wrong but a missing value.

use std::sync::{Arc, LazyLock};
use std::thread;

use cel::common::types::{CelBool, CelDouble, CelString};
use cel::common::value::CowVal;
use cel::context::VariableResolver;
use cel::parser::{ParseErrors, Parser};
use cel::{Context, Env, ExecutionError, IdedExpr, Value};

use super::checker::{Checker, DIVIDE, Kind};
use super::{Fault, Over};
use crate::analysis::{Column, Columns, Row};
use crate::rules::Missing;
use crate::table::Cell;

/// An expression that was read and whose columns and types are in order.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    text: String,
    over: Over,
    tree: IdedExpr,
    used: Vec<&'static Column>,
}

/// More is a program, not a condition; it also bounds the time that reading and judging take.
const LONGEST: usize = 2000;
/// The parser and the drop of its tree recurse: a chain of [`LONGEST`] characters fits this stack, which
/// is mapped but not touched until it is needed.
const STACK: usize = 64 << 20;

impl Expression {
    /// Reads a condition: true or false for every kernel or launch.
    ///
    /// # Errors
    /// [`Fault`] where it is not an expression, names no column, mixes types or is no condition.
    pub fn condition(text: &str, over: Over) -> Result<Self, Fault> {
        Self::read(text, over, Kind::Truth)
    }

    /// Reads an amount.
    ///
    /// # Errors
    /// [`Fault`] as for a condition, and where the outcome is not a number.
    pub fn amount(text: &str, over: Over) -> Result<Self, Fault> {
        Self::read(text, over, Kind::Number)
    }

    fn read(text: &str, over: Over, wanted: Kind) -> Result<Self, Fault> {
        if text.len() > LONGEST {
            let help = "split it into several rules";
            let message = format!("condition is longer than {LONGEST} bytes");
            return Err(Fault::new(0, message, help));
        }
        let unread = || Fault::new(0, "cannot read the expression", "simplify the expression");
        thread::scope(|scope| {
            let reader = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || parse(text, over, wanted))
                .map_err(|_| unread())?;
            reader.join().unwrap_or_else(|_| Err(unread()))
        })
    }

    /// The expression as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The columns it names, in the order of their first mention.
    #[must_use]
    pub fn columns(&self) -> &[&'static Column] {
        &self.used
    }

    /// Whether the condition holds.
    ///
    /// # Errors
    /// [`Missing`] with the column that the row lacks, if the outcome depends on it.
    pub(super) fn holds(&self, row: &Row<'_>) -> Result<bool, Missing> {
        match self.value(row)? {
            Value::Bool(truth) => Ok(truth),
            _ => Err(Missing(NO_NUMBER)),
        }
    }

    /// The amount.
    ///
    /// # Errors
    /// [`Missing`] with the column that the row lacks, or where the outcome is not finite.
    pub(super) fn number(&self, row: &Row<'_>) -> Result<f64, Missing> {
        match self.value(row)? {
            Value::Float(number) if number.is_finite() => Ok(number),
            _ => Err(Missing(NO_NUMBER)),
        }
    }

    fn value(&self, row: &Row<'_>) -> Result<Value, Missing> {
        static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(Env::stdlib()));
        let columns = self.over.columns();
        let asked = Asked { columns, row: *row };
        let mut context = Context::with_env(Arc::clone(&ENVIRONMENT));
        context.set_variable_resolver(&asked);
        // No function of the standard library is called so.
        let _ = context.add_function(DIVIDE, divide);
        Value::resolve(&self.tree, &context).map_err(|error| match error {
            ExecutionError::UndeclaredReference(name) => {
                let column = columns.get(name.trim_start_matches('@'));
                Missing(column.map_or(NO_NUMBER, |column| &column.name))
            }
            ExecutionError::DivisionByZero(_) => Missing("a divisor that is not zero"),
            _ => Missing(NO_NUMBER),
        })
    }
}

/// What lacks where an operation has no outcome, such as infinity minus infinity.
const NO_NUMBER: &str = "a finite number";

/// Nothing over nothing says nothing: a division by zero cannot be judged.
fn divide(one: f64, by: f64) -> Result<f64, ExecutionError> {
    if by == 0.0 { Err(ExecutionError::DivisionByZero(Value::Float(one))) } else { Ok(one / by) }
}

/// The values of a row by the names of their columns.
struct Asked<'a> {
    columns: &'static Columns,
    row: Row<'a>,
}

impl VariableResolver for Asked<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let column = self.columns.get(name.strip_prefix('@')?)?;
        Some(match column.get(&self.row)? {
            Cell::Text(text) => CowVal::owned(CelString::from(text)),
            Cell::Truth(truth) => CowVal::owned(CelBool::from(truth)),
            Cell::Count(count) => CowVal::owned(CelDouble::from(count as f64)),
            Cell::Number(number) => CowVal::owned(CelDouble::from(number)),
        })
    }
}

fn parse(text: &str, over: Over, wanted: Kind) -> Result<Expression, Fault> {
    let (tree, source) =
        Parser::new().parse_with_source_info(text).map_err(|errors| syntax(text, &errors))?;
    let mut checker = Checker::new(over, text, &source);
    let (kind, tree) = checker.check(tree)?;
    if kind.is_like(wanted) {
        return Ok(Expression { text: text.to_owned(), over, tree, used: checker.used });
    }
    let help = match wanted {
        Kind::Truth => "compare it with a value: headroom > 1.5",
        _ => "write an amount in seconds: savings_high_s * 0.5",
    };
    let at = text.len() - text.trim_start().len();
    let message = format!("the result is {}, expected {}", kind.label(), wanted.label());
    Err(Fault::new(at, message, help))
}

/// The first fault that the parser sees, in the words of this program.
fn syntax(text: &str, errors: &ParseErrors) -> Fault {
    let help = "write it like: headroom > 1.5 && category == \"dot-product\"";
    let Some(first) = errors.errors.first() else {
        return Fault::new(0, "not an expression", help);
    };
    let at = offset(text, first.pos);
    let told = first.msg.trim_start_matches("Syntax error: ");
    let rest = text.get(at..).unwrap_or_default();
    if rest.trim().is_empty() {
        return Fault::new(at, "the expression is incomplete", help);
    }
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let Some(sign) = rest.chars().next().filter(|_| word.is_empty()) else {
        let help = match word.as_str() {
            "and" | "or" | "not" => "write && for and, || for or, ! for not",
            _ => help,
        };
        let message = if told.starts_with("invalid ") || told.contains("recursion") {
            told.to_owned()
        } else {
            format!("unexpected {word:?}")
        };
        return Fault::new(at, message, help);
    };
    let help = match sign {
        '=' => "use == for equality",
        '&' | '|' => "use && for and, || for or",
        '"' | '\'' => "text ends with the quote it starts with, on the same line",
        _ => help,
    };
    Fault::new(at, format!("unexpected {:?}", sign.to_string()), help)
}

/// The byte at a line and character, both counted from 1 as the parser does.
fn offset(text: &str, (line, column): (isize, isize)) -> usize {
    let (line, column) = (line.max(1) as usize, column.max(1) as usize);
    let before: usize = text.split_inclusive('\n').take(line - 1).map(str::len).sum();
    let rest = text.get(before..).unwrap_or_default();
    before + rest.char_indices().nth(column - 1).map_or(rest.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Expression, Fault> {
        Expression::condition(text, Over::Kernels)
    }

    #[test]
    fn what_nests_deeply_is_refused_in_time() {
        let chain = |part: &str| format!("1{} > 1", part.repeat((LONGEST - 6) / part.len()));
        let nested = |open: &str, close: &str| {
            let deep = (LONGEST - 10) / (open.len() + close.len());
            format!("{}share > 0.1{}", open.repeat(deep), close.repeat(deep))
        };
        for text in [
            chain("+1"),
            chain("-share"),
            nested("(", ")"),
            nested("[", "]"),
            nested("{1:", "}"),
            nested("!(", ")"),
            nested("-(", ")"),
            nested("share[", "]"),
            nested("true ? ", " : true"),
            nested("name.contains(", ")"),
            nested("f(", ")"),
            "!".repeat(LONGEST),
            "-".repeat(LONGEST),
            "(".repeat(LONGEST),
            "[".repeat(LONGEST),
            "{".repeat(LONGEST),
            "a.".repeat(LONGEST / 2),
            "a(".repeat(LONGEST / 2),
            "?".repeat(LONGEST),
            "\"".repeat(LONGEST),
            // What earlier releases of the parser took gigabytes for, or panicked at: cel-rust issues
            // 306 and 305.
            "!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(60) + "1",
            format!(">{}?[{}{}l\u{0}?(-", "{".repeat(63), "(".repeat(11), "{".repeat(26)),
        ] {
            let start = Instant::now();
            assert!(read(&text).is_err(), "{text}");
            assert!(start.elapsed() < Duration::from_secs(20), "{text}: {:?}", start.elapsed());
        }
        assert_eq!(
            read(&" ".repeat(LONGEST + 1)).unwrap_err().message,
            "condition is longer than 2000 bytes"
        );
        // A long list of alternatives is no nesting.
        let names: Vec<String> = (0..100).map(|one| format!("\"kernel_{one}\"")).collect();
        assert!(read(&format!("name in [{}]", names.join(", "))).is_ok());
        assert!(read(&vec!["share > 0.1"; 100].join(" && ")).is_ok());
    }

    /// Texts that are nearly expressions.
    fn nearly() -> impl Strategy<Value = String> {
        let words = prop::sample::select(vec![
            "headroom",
            "bytes",
            "name",
            "tensor",
            "string",
            "int",
            "1",
            "2.5",
            "0x1F",
            "1u",
            "1e9",
            "\"gemm\"",
            "'é'",
            "r'x'",
            "b'x'",
            "true",
            "null",
            "&&",
            "||",
            "!",
            "==",
            "<",
            ">=",
            "+",
            "-",
            "*",
            "/",
            "%",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            ".",
            "?",
            ":",
            "in",
            "contains",
            "has",
            "all",
            "map",
            "x",
            "//",
            "\n",
            " ",
            "\u{0}",
            "\"",
            "'",
            "\\",
            "@divide",
            "`a`",
            "9223372036854775808",
        ]);
        prop::collection::vec(words, 0..24).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_read_or_refused_at_a_place_in_it(text in prop_oneof!["\\PC{0,60}", "(?s).{0,60}", nearly()]) {
            for over in Over::ALL {
                for read in [Expression::condition, Expression::amount] {
                    if let Err(fault) = read(&text, over) {
                        prop_assert!(fault.at <= text.len() && text.is_char_boundary(fault.at));
                        prop_assert_ne!(&fault.message, "cannot read the expression");
                        prop_assert!(!fault.message.is_empty() && !fault.help.is_empty());
                    }
                }
            }
        }
    }
}
