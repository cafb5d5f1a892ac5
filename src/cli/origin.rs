//! Commit and branch of the code that ran: from the variables of CI systems, else from `.git`.

use crate::history::{Head, head};

/// Commit and branch of the code that ran, and where they were found.
pub(super) fn found() -> (Head, Option<&'static str>) {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    for (commit, branch, from) in [
        ("GITHUB_SHA", ["GITHUB_REF_NAME"].as_slice(), "GITHUB_SHA"),
        ("CI_COMMIT_SHA", &["CI_COMMIT_BRANCH", "CI_COMMIT_REF_NAME"], "CI_COMMIT_SHA"),
    ] {
        if let Some(commit) = set(commit) {
            let branch = branch.iter().find_map(|name| set(name));
            return (Head { commit: Some(commit), branch }, Some(from));
        }
    }
    let here = std::env::current_dir().ok();
    match here.as_deref().and_then(head) {
        Some(head) if head.commit.is_some() => (head, Some(".git")),
        Some(head) => (head, None),
        None => (Head::default(), None),
    }
}
