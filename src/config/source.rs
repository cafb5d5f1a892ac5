//! The files that hold a configuration: their names, and the table of `pyproject.toml`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The file of a Python project; its configuration is the table `[tool.rooflint]`.
pub(super) const PROJECT: &str = "pyproject.toml";

/// Names of files that hold a configuration; of those in one folder, the first is used.
pub const FILES: [&str; 3] = ["rooflint.toml", ".rooflint.toml", PROJECT];

/// The tables of other tools are theirs.
#[derive(Deserialize)]
pub(super) struct Project<T> {
    pub(super) tool: Option<Tools<T>>,
}

/// The tables of tools.
#[derive(Deserialize)]
pub(super) struct Tools<T> {
    pub(super) rooflint: Option<T>,
}

/// Whether a path is that of a Python project.
pub(super) fn is_project(path: &Path) -> bool {
    path.file_name() == Some(OsStr::new(PROJECT))
}

/// Returns the files of a folder that hold a configuration, the one that is used first.
#[must_use]
pub fn in_folder(folder: &Path) -> Vec<PathBuf> {
    let files = FILES.iter().map(|name| folder.join(name));
    files.filter(|path| path.is_file() && (!is_project(path) || has_table(path))).collect()
}

/// Whether a project configures rooflint; one that is no TOML does where it seems to.
fn has_table(path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return false };
    // Most projects do not, and are not parsed.
    text.contains("rooflint")
        && match toml::from_str::<Project<IgnoredAny>>(&text) {
            Ok(project) => project.tool.is_some_and(|tool| tool.rooflint.is_some()),
            Err(_) => text.lines().any(|line| line.trim_start().starts_with("[tool.rooflint")),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_folder_come_in_their_order_and_other_projects_are_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let names = || -> Vec<String> {
            let found = in_folder(folder.path()).into_iter();
            found.map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
        };
        assert!(names().is_empty());
        for (text, is_ours) in [
            ("[project]\nname = \"rooflint-user\"\n", false),
            ("[tool.ruff]\nrooflint = 1\n", false),
            ("[tool.rooflint.rules]\nignore = []\n", true),
            ("[tool]\nrooflint.rules.ignore = []\n", true),
            ("[tool.rooflint]\nrules = \n", true),
            ("[project\n# rooflint\n", false),
        ] {
            put(PROJECT, text);
            assert_eq!(!names().is_empty(), is_ours, "{text}");
        }
        put(PROJECT, "[tool.rooflint]\n");
        put(".rooflint.toml", "");
        put("rooflint.toml", "");
        assert_eq!(names(), FILES);
    }
}
