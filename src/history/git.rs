//! Reads commit and branch of a working tree from git's files, without running git.
//!
//! Sources: gitrepository-layout(5) (`HEAD`, `refs`, `packed-refs`, `commondir`, a `.git` that is a
//! file) and git-worktree(1).

use std::fs;
use std::path::{Path, PathBuf};

/// Commit and branch of a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// The commit; `None` before the first one, or if its file cannot be read.
    pub commit: Option<String>,
    /// The branch; `None` for a detached HEAD.
    pub branch: Option<String>,
}

/// Largest git file that is read; the relevant files are small.
const LARGEST: u64 = 64 << 20;

/// Returns commit and branch of the working tree around a folder; `None` if there is no repository.
#[must_use]
pub fn head(folder: &Path) -> Option<Head> {
    let git = folder.ancestors().find_map(git_folder)?;
    let line = first_line(&git.join("HEAD"))?;
    let Some(reference) = line.strip_prefix("ref:") else {
        return Some(Head { commit: hash(&line), branch: None });
    };
    let reference = reference.trim();
    // A linked working tree shares its branches with the first one.
    let common = match first_line(&git.join("commondir")) {
        Some(path) => git.join(path),
        None => git.clone(),
    };
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if !reference.starts_with("refs/") || !reference.split('/').all(is_plain) {
        return Some(Head::default());
    }
    let loose = [&git, &common].into_iter().find_map(|folder| first_line(&folder.join(reference)));
    let commit = match loose {
        Some(line) => hash(&line),
        None => packed(&common.join("packed-refs"), reference),
    };
    let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
    // Where branches are kept in a table (`reftable`), the file only says that they are not here.
    Some(Head { commit, branch: branch.filter(|branch| branch != ".invalid") })
}

/// Returns the folder that `.git` is or refers to.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(".git");
    if path.is_dir() {
        return path.join("HEAD").is_file().then_some(path);
    }
    let line = first_line(&path)?;
    let named = folder.join(line.strip_prefix("gitdir:")?.trim());
    named.join("HEAD").is_file().then_some(named)
}

fn text(path: &Path) -> Option<String> {
    let is_file = fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() <= LARGEST);
    if is_file { fs::read_to_string(path).ok() } else { None }
}

fn first_line(path: &Path) -> Option<String> {
    let text = text(path)?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Returns the line if it is a complete SHA-1 or SHA-256 hash.
fn hash(line: &str) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let is_hash = matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then(|| word.to_owned())
}

/// Returns the commit of a reference in `packed-refs`.
fn packed(path: &Path, reference: &str) -> Option<String> {
    text(path)?.lines().find_map(|line| {
        let (commit, name) = line.split_once(' ')?;
        if name.trim() == reference { hash(commit) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789abcdef0123456789abcdef01234567";
    const TWO: &str = "89abcdef0123456789abcdef0123456789abcdef";

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn of(files: &[(&str, &str)], at: &str) -> Found {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), files);
        let at = root.path().join(at);
        fs::create_dir_all(&at).unwrap();
        // A repository around the folder for temporary files would be found too.
        head(&at).map(|head| (head.commit, head.branch))
    }

    type Found = Option<(Option<String>, Option<String>)>;

    fn found<'a>(commit: impl Into<Option<&'a str>>, branch: impl Into<Option<&'a str>>) -> Found {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        [(owned(commit.into()), owned(branch.into()))].into_iter().next()
    }

    #[test]
    fn a_branch_has_a_file_or_a_line_among_the_packed() {
        let loose = [
            (".git/HEAD", "ref: refs/heads/dev/fast\n"),
            (".git/refs/heads/dev/fast", &*format!("{ONE}\n")),
            (".git/packed-refs", &*format!("{TWO} refs/heads/dev/fast\n")),
        ];
        assert_eq!(of(&loose, "src/deep"), found(ONE, "dev/fast"));
        let packed = [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (
                ".git/packed-refs",
                &*format!(
                    "# pack-refs with: peeled fully-peeled sorted \n{TWO} refs/heads/mainline\n\
                     {ONE} refs/heads/main\n{TWO} refs/tags/v1\n^{TWO}\n"
                ),
            ),
        ];
        assert_eq!(of(&packed, ""), found(ONE, "main"));
    }

    #[test]
    fn a_commit_may_be_checked_out_by_itself_and_a_branch_be_without_one() {
        assert_eq!(of(&[(".git/HEAD", &*format!("{TWO}\n"))], ""), found(TWO, None));
        assert_eq!(of(&[(".git/HEAD", "ref: refs/heads/main\n")], ""), found(None, "main"));
        assert_eq!(of(&[(".git/HEAD", "ref: refs/heads/.invalid\n")], ""), found(None, None));
    }

    #[test]
    fn linked_working_trees_and_submodules_name_their_folder_in_a_file() {
        let tree = [
            ("main/.git/HEAD", "ref: refs/heads/main\n"),
            ("main/.git/refs/heads/fix", &*format!("{ONE}\n")),
            ("main/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n"),
            ("main/.git/worktrees/fix/commondir", "../..\n"),
            ("fix/.git", "gitdir: ../main/.git/worktrees/fix\n"),
        ];
        assert_eq!(of(&tree, "fix/src"), found(ONE, "fix"));
        let module = [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/modules/lib/HEAD", &*format!("{TWO}\n")),
            ("lib/.git", "gitdir: ../.git/modules/lib\n"),
        ];
        assert_eq!(of(&module, "lib"), found(TWO, None));
    }

    #[test]
    fn nothing_is_read_from_what_is_no_repository() {
        for head in ["", "garbage", "ref: ../../../secret", "ref: refs/heads/../../HEAD", "0123"] {
            let found = of(&[(".git/HEAD", head)], "");
            assert!(found.is_none_or(|(commit, _)| commit.is_none()), "{head}");
        }
        let broken = [(".git", "gitdir: nowhere\n")];
        // Only a repository around the temporary folder itself could answer.
        assert_eq!(of(&broken, ""), head(&std::env::temp_dir()).map(|h| (h.commit, h.branch)));
    }
}
