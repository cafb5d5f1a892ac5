//! Prints expressions as a query: what is used more than once is a column of a step before.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write;

use super::expr::{Arena, Node, Op};

/// Expressions that are used twice are repeated up to this length.
const REPEATED: usize = 40;

/// A query in steps, each of which adds columns to the one before.
pub(super) struct Steps {
    nodes: Vec<Node>,
    /// The name of each node that is a column of a step, and the number of the step.
    columns: HashMap<u32, (String, usize)>,
}

impl Steps {
    /// Arranges the expressions that lead to the outputs.
    pub(super) fn new(arena: &Arena, outputs: &[(String, u32)]) -> Self {
        let (nodes, names) = arena.nodes();
        let mut uses = vec![0_u32; nodes.len()];
        for (_, node) in outputs {
            uses[*node as usize] += 1;
        }
        // Arguments come before what is made of them.
        for at in (0..nodes.len()).rev() {
            if let Node::Call(_, arguments) = &nodes[at]
                && uses[at] > 0
            {
                for argument in arguments {
                    uses[*argument as usize] += 1;
                }
            }
        }
        let mut taken: HashSet<String> = nodes
            .iter()
            .filter_map(|node| match node {
                Node::Column(name) => Some(name.clone()),
                _ => None,
            })
            .collect();
        let mut steps = Self { nodes, columns: HashMap::new() };
        for at in 0..steps.nodes.len() as u32 {
            let Node::Call(_, arguments) = &steps.nodes[at as usize] else { continue };
            let uses = uses[at as usize];
            let name = names.get(&at);
            let is_column =
                uses > 0 && name.is_some() || uses > 1 && steps.text(at, 0).len() > REPEATED;
            if !is_column {
                continue;
            }
            let step = arguments.iter().map(|argument| steps.step_of(*argument)).max();
            let name = name.cloned().unwrap_or_else(|| "x".to_owned());
            let mut unique = name.clone();
            let mut number = 1;
            while !taken.insert(unique.clone()) {
                number += 1;
                unique = format!("{name}_{number}");
            }
            steps.columns.insert(at, (unique, step.unwrap_or_default() + 1));
        }
        steps
    }

    /// Returns one expression in one piece.
    pub(super) fn inline(arena: &Arena, node: u32) -> String {
        let (nodes, _) = arena.nodes();
        Self { nodes, columns: HashMap::new() }.text(node, 0)
    }

    /// Returns a query in steps: `first` makes the one that selects these columns. Each step passes on the columns
    /// that are used later, and those of `kept`; the result has these and the outputs.
    pub(super) fn query(
        &self,
        first: impl FnOnce(&BTreeSet<&str>) -> String,
        kept: &[&str],
        outputs: &[(String, u32)],
    ) -> String {
        let count = self.columns.values().map(|(_, step)| *step).max().unwrap_or_default();
        let mut made: Vec<Vec<(&str, u32)>> = vec![Vec::new(); count];
        for node in 0..self.nodes.len() as u32 {
            if let Some((name, step)) = self.columns.get(&node) {
                made[step - 1].push((name, node));
            }
        }
        // What is used after each step, from the last to the first.
        let mut used: BTreeSet<&str> = kept.iter().copied().collect();
        for (_, node) in outputs {
            self.uses(*node, &mut used);
        }
        let mut live = vec![BTreeSet::new(); count];
        for step in (0..count).rev() {
            made[step].retain(|(name, _)| used.contains(name));
            for (name, _) in &made[step] {
                used.remove(name);
            }
            live[step].clone_from(&used);
            for (_, node) in &made[step] {
                self.uses_of_expression(*node, &mut used);
            }
        }
        let first = first(&used);
        let mut text = format!("WITH\nstep_0 AS (\n{first}\n)");
        for (number, columns) in made.iter().enumerate() {
            let passed: Vec<&str> = live[number].iter().copied().collect();
            let new =
                columns.iter().map(|(name, node)| format!("{} AS {name}", self.expression(*node)));
            let all: Vec<String> = std::iter::once(passed.join(", ")).chain(new).collect();
            // Text is written whatever happens; a string takes all of it.
            let _ = write!(
                text,
                ",\nstep_{} AS (\n  SELECT {}\n  FROM step_{number}\n)",
                number + 1,
                all.join(",\n    ")
            );
        }
        let kept = std::iter::once(kept.join(", "));
        let outputs =
            outputs.iter().map(|(name, node)| format!("{} AS {name}", self.text(*node, 0)));
        let all: Vec<String> = kept.chain(outputs).collect();
        let _ = write!(text, "\nSELECT {}\nFROM step_{count}", all.join(",\n  "));
        text
    }

    /// Adds the columns that the text of a node has.
    fn uses<'a>(&'a self, node: u32, into: &mut BTreeSet<&'a str>) {
        match (self.columns.get(&node), &self.nodes[node as usize]) {
            (Some((name, _)), _) | (None, Node::Column(name)) => {
                into.insert(name);
            }
            (None, Node::Call(..)) => self.uses_of_expression(node, into),
            _ => {}
        }
    }

    /// Adds the columns that an operation has, even if it is a column.
    fn uses_of_expression<'a>(&'a self, node: u32, into: &mut BTreeSet<&'a str>) {
        if let Node::Call(_, arguments) = &self.nodes[node as usize] {
            for argument in arguments {
                self.uses(*argument, into);
            }
        }
    }

    /// Returns the last step that an expression needs; zero if it needs none.
    fn step_of(&self, node: u32) -> usize {
        if let Some((_, step)) = self.columns.get(&node) {
            return *step;
        }
        match &self.nodes[node as usize] {
            Node::Call(_, arguments) => {
                arguments.iter().map(|one| self.step_of(*one)).max().unwrap_or_default()
            }
            _ => 0,
        }
    }

    /// Returns the text of a node, in parentheses if it binds less than what it stands in.
    fn text(&self, node: u32, binding: u8) -> String {
        if let Some((name, _)) = self.columns.get(&node) {
            return name.clone();
        }
        match &self.nodes[node as usize] {
            Node::Column(name) => name.clone(),
            Node::Text(text) => format!("'{text}'"),
            Node::Null => "CAST(NULL AS DOUBLE)".to_owned(),
            // Each engine has its own name for the type of texts.
            Node::NoText => "nullif('', '')".to_owned(),
            Node::Truth(true) => "TRUE".to_owned(),
            Node::Truth(false) => "FALSE".to_owned(),
            Node::Number(bits) => number(f64::from_bits(*bits)),
            Node::Call(op, _) => {
                let text = self.expression(node);
                if op.binding() < binding { format!("({text})") } else { text }
            }
        }
    }

    /// Returns the text of an operation, even if it is a column.
    fn expression(&self, node: u32) -> String {
        let Node::Call(op, arguments) = &self.nodes[node as usize] else {
            return self.text(node, 0);
        };
        let own = op.binding();
        let between = |sign: &str, right: u8| {
            format!("{} {sign} {}", self.text(arguments[0], own), self.text(arguments[1], right))
        };
        let listed = |name: &str| {
            let mut all = Vec::new();
            self.list(*op, arguments, &mut all);
            match &all[..] {
                [one] => format!("({one})"),
                _ => format!("{name}({})", all.join(", ")),
            }
        };
        let called = |name: &str| format!("{name}({})", self.text(arguments[0], 0));
        match op {
            Op::Add => between("+", own),
            Op::Subtract => between("-", own + 1),
            Op::Multiply => between("*", own),
            Op::Divide => {
                let by = match &self.nodes[arguments[1] as usize] {
                    Node::Number(_) => self.text(arguments[1], own + 1),
                    _ => format!("nullif({}, 0)", self.text(arguments[1], 0)),
                };
                format!("{} / {by}", self.text(arguments[0], own))
            }
            Op::Greatest => listed("greatest"),
            Op::Least => listed("least"),
            Op::Floor => called("floor"),
            Op::Ceiling => called("ceil"),
            Op::Round => called("round"),
            Op::Less => between("<", own + 1),
            Op::AtMost => between("<=", own + 1),
            Op::Equal => between("=", own + 1),
            Op::And => between("AND", own),
            Op::Or => between("OR", own),
            Op::Not => format!("NOT {}", self.text(arguments[0], own + 1)),
            Op::Coalesce => listed("coalesce"),
            Op::IsKnown => format!("{} IS NOT NULL", self.text(arguments[0], own + 1)),
            Op::Case => {
                let mut text = "CASE".to_owned();
                self.cases(node, &mut text);
                text.push_str(" END");
                text
            }
        }
    }

    /// Adds the arguments of an operation, and those of the same operation among them.
    fn list(&self, op: Op, arguments: &[u32], all: &mut Vec<String>) {
        for argument in arguments {
            match &self.nodes[*argument as usize] {
                Node::Call(inner, inside)
                    if *inner == op && !self.columns.contains_key(argument) =>
                {
                    self.list(op, inside, all);
                }
                _ => {
                    let text = self.text(*argument, 0);
                    if !all.contains(&text) {
                        all.push(text);
                    }
                }
            }
        }
    }

    /// Adds the branches of a condition, and those of the conditions in its last branch.
    fn cases(&self, node: u32, text: &mut String) {
        let mut node = node;
        loop {
            let Node::Call(Op::Case, arguments) = &self.nodes[node as usize] else { return };
            let [is, then] = [0, 1].map(|at| self.text(arguments[at], 0));
            // Text is written whatever happens; a string takes all of it.
            let _ = write!(text, " WHEN {is} THEN {then}");
            let last = arguments[2];
            let is_case = matches!(self.nodes[last as usize], Node::Call(Op::Case, _));
            if !is_case || self.columns.contains_key(&last) {
                let _ = write!(text, " ELSE {}", self.text(last, 0));
                return;
            }
            node = last;
        }
    }
}

impl Op {
    /// How strongly it binds.
    const fn binding(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Not => 3,
            Self::Less | Self::AtMost | Self::Equal | Self::IsKnown => 4,
            Self::Add | Self::Subtract => 5,
            Self::Multiply | Self::Divide => 6,
            _ => 7,
        }
    }
}

/// Returns a number that every engine reads as a double.
pub(super) fn number(value: f64) -> String {
    if value == f64::INFINITY {
        "CAST('Infinity' AS DOUBLE)".to_owned()
    } else {
        format!("{value:e}")
    }
}
