//! Scalars that are expressions over the columns of a table.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Not, Sub};

use crate::scalar::{Branch, Constant, Maybe, Number, Truth, Word};
use crate::table::{Cell, Fact, Facts};

/// A node of an expression; arguments are numbers of other nodes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Node {
    Column(String),
    /// A number by its bits.
    Number(u64),
    Text(&'static str),
    Truth(bool),
    /// A missing number.
    Null,
    /// A missing text.
    NoText,
    Call(Op, Vec<u32>),
}

/// Operations of expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Op {
    Add,
    Subtract,
    Multiply,
    Divide,
    Greatest,
    Least,
    Floor,
    Ceiling,
    Round,
    Less,
    AtMost,
    Equal,
    And,
    Or,
    Not,
    /// Condition, value, other value.
    Case,
    /// Value, value in its place if it is missing.
    Coalesce,
    IsKnown,
}

/// The nodes of expressions, each once.
#[derive(Default)]
pub(super) struct Arena {
    facts: Facts,
    nodes: RefCell<Vec<Node>>,
    known: RefCell<HashMap<Node, u32>>,
    names: RefCell<HashMap<u32, String>>,
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Arena").finish_non_exhaustive()
    }
}

impl Arena {
    /// Makes an arena for tables of which something is known.
    pub(super) fn new(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }

    /// Returns a column as a number that may be missing.
    pub(super) fn column(&self, name: &str) -> Maybe<Figure<'_>, Figure<'_>> {
        match self.facts.of(name) {
            Fact::Missing => return Maybe::missing(),
            Fact::Constant(Cell::Number(number)) => return Maybe::known(Figure::Known(*number)),
            Fact::Constant(Cell::Count(count)) => return Maybe::known(Figure::of(*count as f64)),
            Fact::Filled => return Maybe::known(self.present(name)),
            Fact::Constant(_) | Fact::Mixed => {}
        }
        let column = self.present(name);
        let is = self.node(Node::Call(Op::IsKnown, vec![self.column_node(name)]));
        Maybe::when(Condition::Of(self, is), || column)
    }

    /// Returns the text that a column has in every row.
    pub(super) fn constant(&self, name: &str) -> Option<&str> {
        match self.facts.of(name) {
            Fact::Constant(Cell::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns a column that is never missing.
    pub(super) fn present(&self, name: &str) -> Figure<'_> {
        Figure::Of(self, self.column_node(name))
    }

    /// Returns a column of truths that are never missing.
    pub(super) fn truth(&self, name: &str) -> Condition<'_> {
        Condition::Of(self, self.column_node(name))
    }

    /// Returns a column of words that are never missing.
    pub(super) fn choice<W: Word>(&self, name: &str) -> Choice<'_, W> {
        Choice::Of(self, self.column_node(name), PhantomData)
    }

    /// Returns whether a column of text is one of several.
    pub(super) fn is_text(&self, name: &str, text: &'static str) -> Condition<'_> {
        match self.facts.of(name) {
            Fact::Missing => return Condition::Known(false),
            Fact::Constant(cell) => return Condition::Known(*cell == Cell::word(text)),
            Fact::Filled | Fact::Mixed => {}
        }
        let (column, text) = (self.column_node(name), self.node(Node::Text(text)));
        let is = self.node(Node::Call(Op::Equal, vec![column, text]));
        let known = self.node(Node::Call(Op::IsKnown, vec![column]));
        Condition::Of(self, known) & Condition::Of(self, is)
    }

    /// Returns the node of a number, with nothing in place of a missing one.
    pub(super) fn or_null<'a>(&'a self, value: Maybe<Figure<'a>, Figure<'a>>) -> u32 {
        self.or_nothing(value.is, value.placeholder().node(self), Node::Null)
    }

    /// Returns the node of a word, with nothing in place of a missing one.
    pub(super) fn or_null_word<'a, W: Word>(
        &'a self,
        word: Maybe<Figure<'a>, Choice<'a, W>>,
    ) -> u32 {
        self.or_nothing(word.is, word.placeholder().node(self), Node::NoText)
    }

    fn or_nothing<'a>(&'a self, is: Condition<'a>, value: u32, nothing: Node) -> u32 {
        match is {
            Condition::Known(true) => value,
            Condition::Known(false) => self.node(nothing),
            Condition::Of(_, is) if self.get(is) == Node::Call(Op::IsKnown, vec![value]) => value,
            Condition::Of(_, is) => {
                let nothing = self.node(nothing);
                self.case(is, value, nothing)
            }
        }
    }

    /// Returns what is known of outputs: those that are missing in every row.
    pub(super) fn facts_of(&self, outputs: &[(String, u32)]) -> Facts {
        let mut facts = Facts::default();
        for (name, node) in outputs {
            if matches!(self.get(*node), Node::Null | Node::NoText) {
                facts.add(name, Fact::Missing);
            }
        }
        facts
    }

    /// Gives a choice a name.
    pub(super) fn named_choice<'a, W: Word>(
        &'a self,
        choice: Choice<'a, W>,
        name: &str,
    ) -> Choice<'a, W> {
        if let Choice::Of(_, node, _) = choice {
            self.name(node, name.to_owned());
        }
        choice
    }

    /// Returns a copy of the nodes and of their names.
    pub(super) fn nodes(&self) -> (Vec<Node>, HashMap<u32, String>) {
        (self.nodes.borrow().clone(), self.names.borrow().clone())
    }

    fn column_node(&self, name: &str) -> u32 {
        self.node(Node::Column(name.to_owned()))
    }

    fn node(&self, node: Node) -> u32 {
        let mut known = self.known.borrow_mut();
        if let Some(at) = known.get(&node) {
            return *at;
        }
        let mut nodes = self.nodes.borrow_mut();
        let at = nodes.len() as u32;
        nodes.push(node.clone());
        known.insert(node, at);
        at
    }

    fn name(&self, node: u32, name: String) {
        self.names.borrow_mut().entry(node).or_insert(name);
    }

    fn get(&self, node: u32) -> Node {
        self.nodes.borrow()[node as usize].clone()
    }

    /// Returns whether one truth is the opposite of the other.
    fn are_opposite(&self, one: u32, other: u32) -> bool {
        let is_not = |one, other| self.get(one) == Node::Call(Op::Not, vec![other]);
        is_not(one, other) || is_not(other, one)
    }

    /// Returns the first value under a condition, else the other.
    fn case(&self, is: u32, then: u32, other: u32) -> u32 {
        if then == other {
            return then;
        }
        if self.get(is) == Node::Call(Op::IsKnown, vec![then]) {
            return self.node(Node::Call(Op::Coalesce, vec![then, other]));
        }
        if let Node::Call(Op::Not, not) = self.get(is) {
            return self.case(not[0], other, then);
        }
        self.node(Node::Call(Op::Case, vec![is, then, other]))
    }
}

/// A number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Figure<'a> {
    Known(f64),
    Of(&'a Arena, u32),
}

/// What comparisons result in.
#[derive(Debug, Clone, Copy)]
pub(super) enum Condition<'a> {
    Known(bool),
    Of(&'a Arena, u32),
}

/// A word.
#[derive(Debug, Clone, Copy)]
pub(super) enum Choice<'a, W> {
    Known(W),
    Of(&'a Arena, u32, PhantomData<W>),
}

impl<'a> Figure<'a> {
    /// Returns the node; constants become one.
    pub(super) fn node(self, arena: &'a Arena) -> u32 {
        match self {
            Self::Known(value) => arena.node(Node::Number(value.to_bits())),
            Self::Of(_, node) => node,
        }
    }

    fn known(self) -> Option<f64> {
        match self {
            Self::Known(value) => Some(value),
            Self::Of(..) => None,
        }
    }

    fn with(self, op: Op, other: Self, known: fn(f64, f64) -> f64) -> Self {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Self::Known(known(one, other)),
            (Self::Of(arena, _), _) | (_, Self::Of(arena, _)) => {
                let arguments = vec![self.node(arena), other.node(arena)];
                Self::Of(arena, arena.node(Node::Call(op, arguments)))
            }
        }
    }

    fn of_one(self, op: Op, known: fn(f64) -> f64) -> Self {
        match self {
            Self::Known(value) => Self::Known(known(value)),
            Self::Of(arena, node) => Self::Of(arena, arena.node(Node::Call(op, vec![node]))),
        }
    }

    fn compared(self, op: Op, other: Self, known: fn(f64, f64) -> bool) -> Condition<'a> {
        match (self, other) {
            (Self::Known(one), Self::Known(other)) => Condition::Known(known(one, other)),
            (Self::Of(arena, _), _) | (_, Self::Of(arena, _)) => {
                let arguments = vec![self.node(arena), other.node(arena)];
                Condition::Of(arena, arena.node(Node::Call(op, arguments)))
            }
        }
    }
}

impl Add for Figure<'_> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(0.0), _) => other,
            (_, Some(0.0)) => self,
            _ => self.with(Op::Add, other, |one, other| one + other),
        }
    }
}

impl Sub for Figure<'_> {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        if other.known() == Some(0.0) {
            return self;
        }
        self.with(Op::Subtract, other, |one, other| one - other)
    }
}

impl Mul for Figure<'_> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(1.0), _) => other,
            (_, Some(1.0)) => self,
            _ => self.with(Op::Multiply, other, |one, other| one * other),
        }
    }
}

impl Div for Figure<'_> {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        if other.known() == Some(1.0) {
            return self;
        }
        self.with(Op::Divide, other, |one, other| one / other)
    }
}

impl<'a> Number for Figure<'a> {
    type Truth = Condition<'a>;
    type Choice<W: Word> = Choice<'a, W>;

    fn of(value: f64) -> Self {
        Self::Known(value)
    }

    fn max(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(f64::INFINITY), _) => self,
            (_, Some(f64::INFINITY)) => other,
            _ => self.with(Op::Greatest, other, f64::max),
        }
    }

    fn min(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(f64::INFINITY), _) => other,
            (_, Some(f64::INFINITY)) => self,
            _ => self.with(Op::Least, other, f64::min),
        }
    }

    fn floor(self) -> Self {
        self.of_one(Op::Floor, f64::floor)
    }

    fn ceil(self) -> Self {
        self.of_one(Op::Ceiling, f64::ceil)
    }

    fn round(self) -> Self {
        self.of_one(Op::Round, f64::round)
    }

    fn less(self, other: Self) -> Condition<'a> {
        self.compared(Op::Less, other, |one, other| one < other)
    }

    fn at_most(self, other: Self) -> Condition<'a> {
        self.compared(Op::AtMost, other, |one, other| one <= other)
    }

    fn same(self, other: Self) -> Condition<'a> {
        self.compared(Op::Equal, other, |one, other| one == other)
    }

    fn named(self, name: &str, end: &str) -> Self {
        if let Self::Of(arena, node) = self {
            arena.name(node, format!("{name}{end}"));
        }
        self
    }

    fn select<T: Branch<Self>>(
        is: Condition<'a>,
        then: impl FnOnce() -> T,
        other: impl FnOnce() -> T,
    ) -> T {
        match is {
            Condition::Known(true) => then(),
            Condition::Known(false) => other(),
            Condition::Of(..) => T::merge(is, then(), other()),
        }
    }

    fn guarded<T: Branch<Self>>(is: Condition<'a>, value: impl FnOnce() -> T) -> T {
        if let Condition::Known(false) = is { T::blank() } else { value() }
    }

    fn word<W: Word>(word: W) -> Choice<'a, W> {
        Choice::Known(word)
    }

    fn is<W: Word>(choice: Choice<'a, W>, word: W) -> Condition<'a> {
        match choice {
            Choice::Known(known) => Condition::Known(known == word),
            Choice::Of(arena, node, _) => {
                let arguments = vec![node, Choice::Known(word).node(arena)];
                Condition::Of(arena, arena.node(Node::Call(Op::Equal, arguments)))
            }
        }
    }

    fn later<W: Word>(one: Choice<'a, W>, other: Choice<'a, W>) -> Choice<'a, W> {
        match (one, other) {
            (Choice::Known(one), Choice::Known(other)) => Choice::Known(one.max(other)),
            (Choice::Known(first), later) | (later, Choice::Known(first))
                if first.constant() == Constant::Rank(0) =>
            {
                later
            }
            (Choice::Of(arena, ..), _) | (_, Choice::Of(arena, ..)) => {
                let arguments = vec![one.node(arena), other.node(arena)];
                Choice::Of(arena, arena.node(Node::Call(Op::Greatest, arguments)), PhantomData)
            }
        }
    }
}

impl<'a> Branch<Self> for Figure<'a> {
    fn blank() -> Self {
        Self::Known(0.0)
    }

    fn merge(is: Condition<'a>, then: Self, other: Self) -> Self {
        match is {
            Condition::Known(is) => {
                if is {
                    then
                } else {
                    other
                }
            }
            Condition::Of(arena, is) => {
                Self::Of(arena, arena.case(is, then.node(arena), other.node(arena)))
            }
        }
    }
}

impl<'a> Condition<'a> {
    /// Returns the node; constants become one.
    pub(super) fn node(self, arena: &'a Arena) -> u32 {
        match self {
            Self::Known(is) => arena.node(Node::Truth(is)),
            Self::Of(_, node) => node,
        }
    }
}

impl BitAnd for Condition<'_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(false), _) | (_, Self::Known(false)) => Self::Known(false),
            (Self::Known(true), rest) | (rest, Self::Known(true)) => rest,
            (Self::Of(arena, one), Self::Of(_, other)) => {
                if one == other {
                    return self;
                }
                if arena.are_opposite(one, other) {
                    return Self::Known(false);
                }
                Self::Of(arena, arena.node(Node::Call(Op::And, vec![one, other])))
            }
        }
    }
}

impl BitOr for Condition<'_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known(true), _) | (_, Self::Known(true)) => Self::Known(true),
            (Self::Known(false), rest) | (rest, Self::Known(false)) => rest,
            (Self::Of(arena, one), Self::Of(_, other)) => {
                if one == other {
                    return self;
                }
                if arena.are_opposite(one, other) {
                    return Self::Known(true);
                }
                // a OR (NOT a AND b) is a OR b.
                if let Node::Call(Op::And, sides) = arena.get(other)
                    && arena.get(sides[0]) == Node::Call(Op::Not, vec![one])
                {
                    return self | Self::Of(arena, sides[1]);
                }
                Self::Of(arena, arena.node(Node::Call(Op::Or, vec![one, other])))
            }
        }
    }
}

impl Not for Condition<'_> {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Self::Known(is) => Self::Known(!is),
            Self::Of(arena, node) => match arena.get(node) {
                Node::Call(Op::Not, not) => Self::Of(arena, not[0]),
                _ => Self::Of(arena, arena.node(Node::Call(Op::Not, vec![node]))),
            },
        }
    }
}

impl Truth for Condition<'_> {
    fn of(is: bool) -> Self {
        Self::Known(is)
    }
}

impl<'a> Branch<Figure<'a>> for Condition<'a> {
    fn blank() -> Self {
        Self::Known(false)
    }

    fn merge(is: Self, then: Self, other: Self) -> Self {
        (is & then) | (!is & other)
    }
}

impl<'a, W: Word> Choice<'a, W> {
    /// Returns the node; constants become one.
    pub(super) fn node(self, arena: &'a Arena) -> u32 {
        match self {
            Self::Known(word) => arena.node(match word.constant() {
                Constant::Text(text) => Node::Text(text),
                Constant::Rank(rank) => Node::Number(f64::from(rank).to_bits()),
            }),
            Self::Of(_, node, _) => node,
        }
    }
}

impl<'a, W: Word> Branch<Figure<'a>> for Choice<'a, W> {
    fn blank() -> Self {
        Self::Known(W::BLANK)
    }

    fn merge(is: Condition<'a>, then: Self, other: Self) -> Self {
        match is {
            Condition::Known(is) => {
                if is {
                    then
                } else {
                    other
                }
            }
            Condition::Of(arena, is) => {
                let case = arena.case(is, then.node(arena), other.node(arena));
                Self::Of(arena, case, PhantomData)
            }
        }
    }
}
