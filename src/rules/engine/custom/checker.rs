//! What an expression may say: its columns exist, its types agree, and nothing in it can loop.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, Expr, LiteralValue, SourceInfo, operators};
use cel::common::types::CelDouble;

use super::{Fault, Over};
use crate::analysis::Column;
use crate::plain::did_you_mean;
use crate::table::Form;

/// How an operation that CEL does not know is called in a tree; no expression can write it.
pub(super) const DIVIDE: &str = "@divide";

/// What a part of an expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Truth,
    Number,
    /// With the only words it can be, if they are known.
    Text(&'static [&'static str]),
}

impl Kind {
    fn of(column: &'static Column) -> Self {
        match column.form {
            Form::Text => Self::Text(&column.words),
            Form::Truth => Self::Truth,
            Form::Count | Form::Share | Form::Factor | Form::Number(_) => Self::Number,
        }
    }

    pub(super) const fn label(self) -> &'static str {
        match self {
            Self::Truth => "true or false",
            Self::Number => "a number",
            Self::Text(_) => "text",
        }
    }

    pub(super) fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

/// Deeper is not read by people, and would recurse deeply for every kernel.
const DEEPEST: usize = 50;

const ANY_TEXT: Kind = Kind::Text(&[]);
const TEXT_FUNCTIONS: [&str; 3] = ["contains", "startsWith", "endsWith"];
const OFFERED: &str = "supported: columns, numbers, quoted text, true, false, + - * /, == != < <= \
                       > >=, && || !, ?:, in [...], contains, startsWith, endsWith";

pub(super) struct Checker<'s> {
    over: Over,
    text: &'s str,
    source: &'s SourceInfo,
    depth: usize,
    /// The columns named so far.
    pub(super) used: Vec<&'static Column>,
}

type Checked = Result<(Kind, IdedExpr), Fault>;

impl<'s> Checker<'s> {
    pub(super) fn new(over: Over, text: &'s str, source: &'s SourceInfo) -> Self {
        Self { over, text, source, depth: 0, used: Vec::new() }
    }

    /// The kind of an expression, and the tree that is evaluated for it: columns are marked, so that
    /// `bytes` is the column and never CEL's type of that name; every number is a double, as every
    /// column is; a division by zero fails.
    pub(super) fn check(&mut self, tree: IdedExpr) -> Checked {
        let at = self.at(&tree);
        if self.depth == DEEPEST {
            let help = "split it into several rules, or name fewer alternatives: kind in [...]";
            return Err(Fault::new(at, format!("nested more than {DEEPEST} levels deep"), help));
        }
        self.depth += 1;
        let id = tree.id;
        let (kind, expr) = match tree.expr {
            Expr::Ident(name) => {
                let columns = self.over.columns();
                let column = columns.get(&name).ok_or_else(|| self.over.no_column(&name, at))?;
                if !self.used.contains(&column) {
                    self.used.push(column);
                }
                (Kind::of(column), Expr::Ident(format!("@{name}")))
            }
            Expr::Literal(literal) => literal_of(literal, at)?,
            Expr::Call(call) => self.call(call, id, at)?,
            other => {
                let is_loop = matches!(other, Expr::Comprehension(_));
                let at = if is_loop { self.word_before(at) } else { at };
                return Err(Fault::new(at, refused(&other), OFFERED));
            }
        };
        self.depth -= 1;
        Ok((kind, IdedExpr { id, expr }))
    }

    fn call(&mut self, call: CallExpr, id: u64, at: usize) -> Result<(Kind, Expr), Fault> {
        let CallExpr { func_name: name, target, args } = call;
        if let Some(target) = target {
            let at = self.before(self.offset(id), &name);
            return self.method(name, *target, args, at);
        }
        let arity = args.len();
        let operator = self.offset(id);
        match (name.as_str(), arity) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, 2) | (operators::LOGICAL_NOT, 1) => {
                Ok((Kind::Truth, self.all(name, args, Kind::Truth)?))
            }
            (operators::ADD | operators::SUBSTRACT | operators::MULTIPLY, 2)
            | (operators::NEGATE, 1) => Ok((Kind::Number, self.all(name, args, Kind::Number)?)),
            (operators::DIVIDE, 2) => {
                let Expr::Call(mut call) = self.all(name, args, Kind::Number)? else {
                    return Err(Fault::new(at, "no division", OFFERED));
                };
                DIVIDE.clone_into(&mut call.func_name);
                Ok((Kind::Number, Expr::Call(call)))
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS,
                2,
            ) => Ok((Kind::Truth, self.all(name, args, Kind::Number)?)),
            (operators::EQUALS | operators::NOT_EQUALS, 2) => self.equality(name, args, operator),
            (operators::CONDITIONAL, 3) => self.conditional(name, args, operator),
            (operators::IN, 2) => self.membership(name, args),
            _ => Err(Fault::new(
                self.before(operator, &name),
                format!("{:?} is not supported", sign(&name)),
                OFFERED,
            )),
        }
    }

    /// An operator all of whose operands are of one kind.
    fn all(&mut self, name: String, args: Vec<IdedExpr>, wanted: Kind) -> Result<Expr, Fault> {
        let mut checked = Vec::with_capacity(args.len());
        for arg in args {
            let at = self.at(&arg);
            let (kind, arg) = self.check(arg)?;
            if !kind.is_like(wanted) {
                let (sign, takes) = (sign(&name), wanted.label());
                let message = format!("{sign:?} takes {takes}, but this is {}", kind.label());
                return Err(Fault::new(at, message, clash(kind)));
            }
            checked.push(arg);
        }
        Ok(Expr::Call(CallExpr { func_name: name, target: None, args: checked }))
    }

    fn equality(
        &mut self,
        name: String,
        args: Vec<IdedExpr>,
        at: usize,
    ) -> Result<(Kind, Expr), Fault> {
        let mut sides = Vec::with_capacity(2);
        for arg in args {
            let start = self.at(&arg);
            let word = literal(&arg).map(str::to_owned);
            let (kind, arg) = self.check(arg)?;
            sides.push((kind, arg, word, start));
        }
        let kinds: Vec<Kind> = sides.iter().map(|side| side.0).collect();
        if !kinds[0].is_like(kinds[1]) {
            let (one, two) = (kinds[0].label(), kinds[1].label());
            let message = format!("{:?} compares {one} with {two}", sign(&name));
            return Err(Fault::new(at, message, "both sides must have the same type"));
        }
        for (other, (_, _, word, start)) in kinds.iter().rev().zip(&sides) {
            if let Some(word) = word {
                is_word_of(*other, word, *start)?;
            }
        }
        let args = sides.into_iter().map(|side| side.1).collect();
        Ok((Kind::Truth, Expr::Call(CallExpr { func_name: name, target: None, args })))
    }

    fn conditional(
        &mut self,
        name: String,
        args: Vec<IdedExpr>,
        at: usize,
    ) -> Result<(Kind, Expr), Fault> {
        let mut checked = Vec::with_capacity(3);
        let mut kinds = Vec::with_capacity(3);
        for arg in args {
            let start = self.at(&arg);
            let (kind, arg) = self.check(arg)?;
            if kinds.is_empty() && kind != Kind::Truth {
                let message = format!("\"?\" takes a condition, but this is {}", kind.label());
                return Err(Fault::new(start, message, clash(kind)));
            }
            kinds.push(kind);
            checked.push(arg);
        }
        if !kinds[1].is_like(kinds[2]) {
            let (one, two) = (kinds[1].label(), kinds[2].label());
            let message = format!("\"?\" gives {one} or {two}");
            return Err(Fault::new(at, message, "both outcomes must have the same type"));
        }
        // Words of two columns may differ: what is known of them is known of neither.
        let kind = if kinds[1] == kinds[2] { kinds[1] } else { ANY_TEXT };
        Ok((kind, Expr::Call(CallExpr { func_name: name, target: None, args: checked })))
    }

    fn membership(&mut self, name: String, args: Vec<IdedExpr>) -> Result<(Kind, Expr), Fault> {
        let mut args = args.into_iter();
        let (Some(one), Some(list)) = (args.next(), args.next()) else {
            return Err(Fault::new(0, "\"in\" takes a left and a right side", OFFERED));
        };
        let (kind, one) = self.check(one)?;
        let (id, at) = (list.id, self.at(&list));
        let Expr::List(mut list) = list.expr else {
            let help = "write the alternatives in brackets: kind in [\"gemm\", \"gemv\"]";
            return Err(Fault::new(at, "\"in\" takes a list", help));
        };
        if list.elements.is_empty() {
            return Err(Fault::new(at, "the list is empty", "name at least one alternative"));
        }
        for element in &mut list.elements {
            let start = self.at(element);
            let word = literal(element).map(str::to_owned);
            let (other, checked) = self.check(std::mem::take(element))?;
            if !other.is_like(kind) {
                let (one, two) = (kind.label(), other.label());
                let message = format!("\"in\" compares {one} with {two}");
                return Err(Fault::new(start, message, "all of them must have the same type"));
            }
            if let Some(word) = word {
                is_word_of(kind, &word, start)?;
            }
            *element = checked;
        }
        let args = vec![one, IdedExpr { id, expr: Expr::List(list) }];
        Ok((Kind::Truth, Expr::Call(CallExpr { func_name: name, target: None, args })))
    }

    fn method(
        &mut self,
        name: String,
        target: IdedExpr,
        args: Vec<IdedExpr>,
        at: usize,
    ) -> Result<(Kind, Expr), Fault> {
        if !TEXT_FUNCTIONS.contains(&name.as_str()) || args.len() != 1 {
            let near = did_you_mean(&name, TEXT_FUNCTIONS);
            let help =
                format!("{near}text has contains, startsWith and endsWith, each with one argument");
            return Err(Fault::new(at, format!("{name:?} is not supported"), help));
        }
        let mut checked = Vec::with_capacity(2);
        for one in std::iter::once(target).chain(args) {
            let start = self.at(&one);
            let (kind, one) = self.check(one)?;
            if !kind.is_like(ANY_TEXT) {
                let message = format!("{name:?} takes text, but this is {}", kind.label());
                return Err(Fault::new(start, message, "write text in quotes"));
            }
            checked.push(one);
        }
        let arg = checked.pop().unwrap_or_default();
        let target = checked.pop().map(Box::new);
        let call = CallExpr { func_name: name, target, args: vec![arg] };
        Ok((Kind::Truth, Expr::Call(call)))
    }

    /// Where the part of a node lies that the parser points at: for operators the sign.
    fn offset(&self, id: u64) -> usize {
        self.source.offset_for(id).map_or(0, |(start, _)| start as usize)
    }

    /// Where a name stands of which the parser points at what follows it.
    fn before(&self, at: usize, name: &str) -> usize {
        let start = at.saturating_sub(name.len());
        if self.text.get(start..at) == Some(name) { start } else { at }
    }

    /// Where the word starts that ends here: the parser points at the parenthesis of a loop.
    fn word_before(&self, at: usize) -> usize {
        let before = self.text.get(..at).unwrap_or_default();
        before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len()
    }

    /// Where an expression starts.
    fn at(&self, tree: &IdedExpr) -> usize {
        let own = self.offset(tree.id);
        match &tree.expr {
            Expr::Call(call) => {
                let parts = call.target.as_deref().into_iter().chain(&call.args);
                // Of a call by name, only what stands before it.
                parts.map(|part| self.at(part)).min().map_or(own, |first| first.min(own))
            }
            Expr::Select(select) => self.at(&select.operand).min(own),
            _ => own,
        }
    }
}

fn literal_of(literal: LiteralValue, at: usize) -> Result<(Kind, Expr), Fault> {
    let double = |number: f64| Expr::Literal(LiteralValue::Double(CelDouble::from(number)));
    Ok(match literal {
        LiteralValue::Boolean(truth) => (Kind::Truth, Expr::Literal(LiteralValue::Boolean(truth))),
        LiteralValue::Double(number) => (Kind::Number, double(*number.inner())),
        LiteralValue::Int(number) => (Kind::Number, double(*number.inner() as f64)),
        LiteralValue::UInt(number) => (Kind::Number, double(*number.inner() as f64)),
        LiteralValue::String(text) => (ANY_TEXT, Expr::Literal(LiteralValue::String(text))),
        LiteralValue::Null => {
            let help = "missing values cannot be tested: the rule is skipped for that kernel and \
                        reports it";
            return Err(Fault::new(at, "\"null\" is not supported", help));
        }
        LiteralValue::Bytes(_) => {
            return Err(Fault::new(at, "byte literals are not supported", OFFERED));
        }
    })
}

fn literal(tree: &IdedExpr) -> Option<&str> {
    match &tree.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

/// A word that a column can never hold is a slip.
fn is_word_of(kind: Kind, word: &str, at: usize) -> Result<(), Fault> {
    let Kind::Text(words) = kind else { return Ok(()) };
    if words.is_empty() || words.contains(&word) {
        return Ok(());
    }
    let near = did_you_mean(word, words.iter().copied());
    let help = format!("{near}valid values: {}", words.join(", "));
    Err(Fault::new(at, format!("this column never contains {word:?}"), help))
}

fn clash(kind: Kind) -> &'static str {
    match kind {
        Kind::Truth => "use true/false columns directly, or with !",
        Kind::Number => "compare it with a value: headroom > 1.5",
        Kind::Text(_) => "compare text with == and !=, or use contains",
    }
}

fn refused(expr: &Expr) -> String {
    match expr {
        Expr::Comprehension(_) => "loops are not supported",
        Expr::List(_) => "a list is only allowed after \"in\"",
        Expr::Select(_) => "a dot is only allowed before contains, startsWith and endsWith",
        _ => "maps and messages are not supported",
    }
    .to_owned()
}

/// The sign of an operator as it is written.
fn sign(name: &str) -> &str {
    match name {
        operators::CONDITIONAL => "?",
        operators::IN => "in",
        operators::INDEX => "[]",
        name => name.trim_matches('_'),
    }
}
