//! Over files as profilers write them, every rule speaks, is content, and lacks a metric.
//!
//! The rules' own tests show all three on tables; here the readers and the analysis stand before them.

use std::collections::BTreeMap;

use rooflint::rules::{RULES, Tally};

use super::golden::fixtures;
use super::rules::findings;

/// What a rule can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    Speaks,
    Content,
    CannotJudge,
}

use Answer::{CannotJudge, Content, Speaks};

impl Answer {
    const ALL: [Self; 3] = [Speaks, Content, CannotJudge];

    fn count(self, tally: &Tally) -> usize {
        match self {
            Speaks => tally.found,
            Content => tally.content,
            CannotJudge => tally.cannot_judge,
        }
    }
}

/// What a rule never says, and why.
const NEVER: &[(&str, Answer, &str)] = &[
    (
        "launch-bound",
        CannotJudge,
        "the analysis concludes it from the time, without which no kernel is looked at",
    ),
    ("algorithmic-only", CannotJudge, "where counts come from is known of every count there is"),
    ("missing-metrics", CannotJudge, "to lack a metric is what it speaks of"),
];

#[test]
fn every_rule_speaks_is_content_and_lacks_a_metric_on_some_fixture() {
    let mut said: BTreeMap<(String, Answer), usize> = BTreeMap::new();
    for (path, device) in fixtures() {
        let Ok(findings) = findings(&path, device) else { continue };
        for tally in &findings.tally {
            for answer in Answer::ALL {
                *said.entry((tally.rule.to_string(), answer)).or_default() += answer.count(tally);
            }
        }
    }
    let mut wrong = Vec::new();
    for rule in RULES {
        for answer in Answer::ALL {
            let is_said = said.get(&(rule.id.to_owned(), answer)).is_some_and(|count| *count > 0);
            let never = NEVER.iter().find(|(id, what, _)| *id == rule.id && *what == answer);
            match never {
                Some((.., reason)) if is_said => {
                    wrong.push(format!("{}: {answer:?}, though {reason}", rule.id));
                }
                None if !is_said => wrong.push(format!("{}: never {answer:?}", rule.id)),
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
