//! `rules`: the list, or the documentation of one.

use super::args::Rules;
use super::config::no_rule;
use super::exit::Failure;
use super::terminal::Terminal;
use crate::rules::RULES;

pub(super) fn run(command: &Rules, terminal: &Terminal) -> Result<(), Failure> {
    let Some(id) = &command.id else {
        let width = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        let lines: Vec<String> =
            RULES.iter().map(|rule| format!("{:width$}  {}\n", rule.id, rule.summary)).collect();
        return terminal.print(&lines.concat());
    };
    match RULES.iter().find(|rule| rule.id == id) {
        Some(rule) => terminal.print(&crate::report::page(rule.page(), &terminal.style())),
        None => Err(no_rule(id)),
    }
}
