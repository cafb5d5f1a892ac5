//! Which runs of a store a run is compared with: those of a commit, of where a branch began, or the newest of the
//! branch that a pull request is merged into.

use std::path::Path;
use std::process::Command;

use clap::Args;

use super::exit::Failure;
use super::origin::found;
use crate::compare::Run;
use crate::history::{Filter, HistoryError, Store, short};

/// Commits of a lineage that are looked at.
const LINEAGE: &str = "--max-count=2000";

/// Branches that work is merged into, by convention.
const TRUNKS: [&str; 3] = ["main", "master", "trunk"];

/// Variables in which CI systems name the branch that a request is merged into: GitHub, GitLab, Buildkite.
const TARGETS: [&str; 3] = [
    "GITHUB_BASE_REF",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
    "BUILDKITE_PULL_REQUEST_BASE_BRANCH",
];

/// Which entries of a store are the baseline.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(super) struct Yardstick {
    /// From the store or table: the baseline with this name
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    baseline_name: Option<String>,

    /// From the store: runs of this branch [default: the target branch of the pull request, else main]
    #[arg(long, value_name = "BRANCH", hide_short_help = true)]
    baseline_branch: Option<String>,

    /// From the store: runs of this commit, or of its nearest ancestor that was saved
    #[arg(long, value_name = "REVISION", conflicts_with = "merge_base")]
    baseline_commit: Option<String>,

    /// From the store: runs of the commit where this branch left BRANCH, or of its nearest ancestor
    /// that was saved
    #[arg(long, value_name = "BRANCH")]
    merge_base: Option<String>,

    /// Pass with a note where there is no baseline yet; with a store, save the runs as the first
    #[arg(long)]
    pub(super) allow_missing_baseline: bool,

    /// Whether a baseline of another device is one.
    #[arg(skip)]
    pub(super) across_devices: bool,
}

impl Yardstick {
    /// The entries to compare with, among those that fit `device`, and what a reader must know of the choice.
    pub(super) fn filter(
        &self,
        store: &Store,
        device: Option<String>,
    ) -> Result<(Filter, Vec<String>), Failure> {
        let mut filter = Filter {
            name: self.baseline_name.clone(),
            branch: self.baseline_branch.clone(),
            device,
            commit: None,
        };
        // A baseline of another device is one, too, and the gate says so.
        let any_device = self.across_devices || !self.allow_missing_baseline;
        let is_lacking =
            |filter: &Filter| matches!(store.baseline(filter), Err(HistoryError::NotFound { .. }));
        if filter.device.is_some() && any_device && is_lacking(&filter) {
            filter.device = None;
        }
        if let Some(revision) = self.revision()? {
            let found = of_commit(store, filter.clone(), &revision);
            if found.is_err() && filter.device.is_some() && any_device {
                return of_commit(store, Filter { device: None, ..filter }, &revision);
            }
            return found;
        }
        let mut notes = Vec::new();
        if filter.branch.is_none() {
            let (branch, note) = branch(&store.branches(&filter));
            filter.branch = branch;
            notes.extend(note);
        }
        Ok((filter, notes))
    }

    /// An option that chooses among the runs of a store, if one was given.
    pub(super) fn option(&self) -> Option<&'static str> {
        [
            ("--baseline-name", self.baseline_name.is_some()),
            ("--baseline-branch", self.baseline_branch.is_some()),
            ("--baseline-commit", self.baseline_commit.is_some()),
            ("--merge-base", self.merge_base.is_some()),
        ]
        .into_iter()
        .find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// The name under which a first baseline is saved.
    pub(super) fn name(&self) -> Option<&str> {
        self.baseline_name.as_deref()
    }

    /// Why these runs would not be found as the baseline that it asks for.
    pub(super) fn refusal(&self, runs: &[Run]) -> Option<String> {
        let asked = self.baseline_branch.as_deref()?;
        let mut branches = runs.iter().map(|run| run.origin.branch.as_deref());
        match branches.find(|branch| *branch != Some(asked))? {
            Some(branch) => Some(format!("the runs are of branch {branch:?}, not of {asked:?}")),
            None => {
                Some(format!("the branch of the runs is not known, and {asked:?} is asked for"))
            }
        }
    }

    /// Whether it asks for a commit or branch.
    #[cfg(feature = "frames")]
    pub(super) const fn is_of_commit(&self) -> bool {
        self.baseline_branch.is_some()
            || self.baseline_commit.is_some()
            || self.merge_base.is_some()
    }

    /// The commit that was asked for.
    fn revision(&self) -> Result<Option<String>, Failure> {
        let Some(branch) = &self.merge_base else { return Ok(self.baseline_commit.clone()) };
        let base = git(&["merge-base", "HEAD", branch]).map_err(|cause| {
            Failure::usage(format!("--merge-base {branch}: {cause}")).help(SHALLOW)
        })?;
        base.into_iter().next().map(Some).ok_or_else(|| {
            Failure::usage(format!("--merge-base {branch}: HEAD and {branch} share no commit"))
                .help(SHALLOW)
        })
    }
}

/// The runs of a commit, or of the nearest ancestor that was saved.
fn of_commit(
    store: &Store,
    mut filter: Filter,
    revision: &str,
) -> Result<(Filter, Vec<String>), Failure> {
    let is_hash = revision.len() >= 7 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    let exact = Filter { commit: Some(revision.to_lowercase()), ..filter.clone() };
    if is_hash && store.baseline(&exact).is_ok() {
        return Ok((exact, Vec::new()));
    }
    let lineage = git(&["rev-list", LINEAGE, revision]).map_err(|cause| {
        let folder = store.folder().display();
        Failure::usage(format!("no run of commit {revision} is saved in {folder}, and its ancestors cannot be listed: {cause}"))
            .help(SHALLOW)
    })?;
    let Some((distance, commit)) = store.nearest(&filter, &lineage) else {
        let message = format!(
            "no run of {revision} or of its ancestors is saved in {}",
            store.folder().display()
        );
        return Err(Failure::missing_baseline(message)
            .help("`rooflint baseline list` shows the saved commits; in CI, fetch the whole history (fetch-depth: 0)"));
    };
    filter.commit = Some(commit.to_owned());
    let note = (distance > 0).then(|| {
        let far = crate::report::count(distance as u64, "commit", "commits");
        format!(
            "no run of {} is saved; compared with {}, {far} earlier",
            short(&lineage[0]),
            short(commit)
        )
    });
    Ok((filter, note.into_iter().collect()))
}

const SHALLOW: &str =
    "in CI, fetch the whole history (GitHub: fetch-depth: 0, GitLab: GIT_DEPTH: 0)";

/// The branch to compare with where none is named, and a note where it is a guess.
fn branch(saved: &[String]) -> (Option<String>, Option<String>) {
    let target =
        TARGETS.iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    if let Some(target) = target {
        if saved.contains(&target) {
            return (Some(target), None);
        }
        if !saved.is_empty() {
            let note = format!(
                "no run of the target branch {target} is saved (saved: {})",
                saved.join(", ")
            );
            return (trunk(saved), Some(note));
        }
    }
    if saved.len() < 2 {
        return (None, None);
    }
    let own = found().0.branch.filter(|own| saved.contains(own));
    match trunk(saved).or(own) {
        Some(branch) => (Some(branch), None),
        None => {
            let note = format!(
                "runs of several branches are saved ({}); the newest is used: choose one with --baseline-branch",
                saved.join(", ")
            );
            (None, Some(note))
        }
    }
}

fn trunk(saved: &[String]) -> Option<String> {
    TRUNKS
        .iter()
        .find(|trunk| saved.iter().any(|branch| branch == *trunk))
        .map(|trunk| (*trunk).to_owned())
}

/// The commit of a tag; `None` if there is none of this name, or no git.
pub(super) fn tagged(name: &str) -> Option<String> {
    git(&["rev-parse", &format!("refs/tags/{name}^{{commit}}")]).ok()?.pop()
}

/// The lines that git prints in the current folder.
fn git(arguments: &[&str]) -> Result<Vec<String>, String> {
    // A revision is never an option.
    if arguments.iter().skip(1).any(|argument| argument.starts_with('-') && *argument != LINEAGE) {
        return Err("a revision cannot begin with `-`".to_owned());
    }
    let done = Command::new("git").args(arguments).current_dir(Path::new(".")).output();
    let done = done.map_err(|cause| format!("git cannot be run: {cause}"))?;
    if !done.status.success() {
        let error = String::from_utf8_lossy(&done.stderr);
        return Err(error.lines().next().unwrap_or("git failed").trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&done.stdout).lines().map(str::to_owned).collect())
}
