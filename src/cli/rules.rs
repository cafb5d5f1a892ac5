//! `rules`: the list, the documentation of one, or what custom rules can ask.

use super::args::Rules;
use super::config::{find, no_rule};
use super::exit::Failure;
use super::terminal::Terminal;
use crate::report::{page, printable, printable_lines};
use crate::rules::{self, Over, RULES};

pub(super) fn run(command: &Rules, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(over) = &command.columns {
        let over = Over::ALL.into_iter().find(|one| one.key() == over).unwrap_or_default();
        return terminal.print(&page(rules::columns_page(over), &terminal.style()));
    }
    let custom = find(&command.configuration)?.rules.custom;
    let Some(id) = &command.id else {
        let ids = RULES.iter().map(|rule| rule.id).chain(custom.iter().map(|rule| &*rule.id));
        let width = ids.map(str::len).max().unwrap_or(0);
        let built_in = RULES.iter().map(|rule| (rule.id, rule.summary.to_owned()));
        let own = custom.iter().map(|rule| (&*rule.id, printable(&rule.summary())));
        let lines = built_in.chain(own).map(|(id, summary)| format!("{id:width$}  {summary}\n"));
        return terminal.print(&lines.collect::<String>());
    };
    let built_in = rules::rule(id).map(rules::Rule::page);
    let own = || {
        let rule = custom.iter().find(|rule| rule.id == *id)?;
        // A page of the user's own words controls no terminal either.
        Some(printable_lines(&rule.page()) + "\n")
    };
    let found = built_in.or_else(own);
    match found {
        Some(text) => terminal.print(&page(text, &terminal.style())),
        None => Err(no_rule(id, &custom)),
    }
}
