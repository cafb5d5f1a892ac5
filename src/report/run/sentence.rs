//! A finding in one sentence: as many clauses of its cause and of its next step as fit.

use crate::report::view::printable;
use crate::rules::Finding;

/// Characters of a sentence about a kernel, and of one about the whole run: two lines of a terminal at most.
pub(super) const ROOM: usize = 120;
pub(super) const ROOM_OF_RUN: usize = 140;

/// A finding in one sentence: the cause, then the next step.
pub(super) fn sentence(finding: &Finding) -> String {
    within(finding, ROOM)
}

/// Cause and next step in so many characters, as far as their first clauses allow.
pub(super) fn within(finding: &Finding, room: usize) -> String {
    let Some(next) = finding.next.as_deref() else {
        return printable(first_clauses(&finding.message, room));
    };
    let length = |text: &str| text.chars().count();
    let (mut cause, mut step) = (finding.message.as_str(), next);
    while length(cause) + length(step) > room {
        // The longer one loses its last clause first.
        let shorter = match (without_last_clause(cause), without_last_clause(step)) {
            (Some(shorter), None) => (shorter, step),
            (Some(shorter), Some(_)) if length(cause) >= length(step) => (shorter, step),
            (_, Some(shorter)) => (cause, shorter),
            (None, None) => break,
        };
        (cause, step) = shorter;
    }
    printable(&format!("{cause} → {step}"))
}

/// As many of the first clauses of a text as fit the room; at least the first.
pub(super) fn first_clauses(text: &str, room: usize) -> &str {
    let mut kept = text;
    while kept.chars().count() > room {
        let Some(shorter) = without_last_clause(kept) else { break };
        kept = shorter;
    }
    kept
}

/// A text without its last clause; none where it has only one.
fn without_last_clause(text: &str) -> Option<&str> {
    // What stands in parentheses in the middle of a sentence belongs to it.
    let aside = text.rfind(" (").filter(|_| text.ends_with(')'));
    let ends = ["; ", ": "].into_iter().filter_map(|end| text.rfind(end)).chain(aside);
    ends.max().filter(|end| *end > 0).map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_loses_its_last_clauses_first() {
        let text = "one clause; another: and a third (with an aside)";
        assert_eq!(first_clauses(text, 100), text);
        assert_eq!(first_clauses(text, 40), "one clause; another: and a third");
        assert_eq!(first_clauses(text, 20), "one clause; another");
        assert_eq!(first_clauses(text, 1), "one clause");
        assert_eq!(without_last_clause("fuse (a, b) and c"), None);
    }
}
