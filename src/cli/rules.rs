//! `rules`: the list, or the documentation of one.

use super::args::Rules;
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
        Some(rule) => terminal.print(&rule.page()),
        None => {
            let nearest = RULES.iter().max_by(|one, two| {
                strsim::jaro_winkler(one.id, id).total_cmp(&strsim::jaro_winkler(two.id, id))
            });
            let nearest =
                nearest.map_or_else(String::new, |rule| format!("; did you mean {:?}?", rule.id));
            Err(Failure::usage(format!("no rule is called {id:?}{nearest}"))
                .help("`rooflint rules` lists them"))
        }
    }
}
