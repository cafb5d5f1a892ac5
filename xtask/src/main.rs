//! Chores of this repository: `cargo xtask COMMAND`.
//!
//! The doors for contributors are one file and one line in a list each; these commands write both.

mod instructions;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const HELP: &str = "\
cargo xtask new-rule FAMILY ID 'SUMMARY'   a rule, in src/rules/FAMILY: launch, memory, arithmetic, run, validity
cargo xtask new-device ID 'NAME'           a device, in devices/ID.toml
cargo xtask bless [FILTER]                 accept what tests make anew: goldens and generated documents
cargo xtask docs                           write generated documents anew, and the documentation of the library
cargo xtask instructions [--bless]         count instructions of the hot path with valgrind, and gate them
";

type Outcome = Result<String, String>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["new-rule", family, id, summary] => new_rule(&root(), family, id, summary),
        ["new-device", id, name] => new_device(&root(), id, name),
        ["bless"] => bless(&[]),
        ["bless", filters @ ..] => bless(filters),
        ["docs"] => docs(),
        ["instructions"] => instructions::instructions(&root(), false),
        ["instructions", "--bless"] => instructions::instructions(&root(), true),
        _ => Err(HELP.to_owned()),
    };
    match outcome {
        Ok(said) => {
            println!("{}", said.trim_end());
            ExitCode::SUCCESS
        }
        Err(said) => {
            eprintln!("{}", said.trim_end());
            ExitCode::FAILURE
        }
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// Whether it is an identifier of lowercase words joined by hyphens.
fn is_id(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    };
    text.split('-').all(is_word) && text.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Text in the quotes of Rust or TOML.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn read(path: &Path) -> Outcome {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Adds an entry at the end of the list that `opening` begins.
fn listed(text: &str, opening: &str, entry: &str) -> Result<String, String> {
    let start = text.find(opening).ok_or_else(|| format!("there is no {opening:?}"))?;
    let end = text[start..].find("\n}").ok_or_else(|| format!("{opening:?} has no end"))?;
    let at = start + end;
    Ok(format!("{}\n    {entry},{}", &text[..at], &text[at..]))
}

fn new_rule(root: &Path, family: &str, id: &str, summary: &str) -> Outcome {
    let folder = root.join("src/rules").join(family);
    let list = folder.join("mod.rs");
    if family == "engine" || !list.is_file() {
        return Err(format!(
            "{family:?} is not a family of rules: launch, memory, arithmetic, run or validity"
        ));
    }
    if !is_id(id) {
        return Err(format!(
            "{id:?}: an id is lowercase words joined by hyphens, such as tail-effect"
        ));
    }
    let module = id.replace('-', "_");
    let path = folder.join(format!("{module}.rs"));
    if path.exists() {
        return Err(format!("{} exists", path.display()));
    }
    let with_line = listed(&read(&list)?, "rules! {", &module)?;
    let (id, summary) = (quoted(id), quoted(summary));
    let text = include_str!("rule.rs.in").replace("@ID@", &id).replace("@SUMMARY@", &summary);
    write(&path, &text)?;
    write(&list, &with_line)?;
    Ok(format!(
        "wrote {} and its line in {}\nnext: fill in documentation, threshold and check; add cases to \
         fixtures/rule_cases.py, then\n  python3 fixtures/generate.py && cargo xtask bless",
        path.display(),
        list.display()
    ))
}

fn new_device(root: &Path, id: &str, name: &str) -> Outcome {
    if !is_id(id) {
        return Err(format!(
            "{id:?}: an id is lowercase words joined by hyphens, such as nvidia-l4"
        ));
    }
    let path = root.join("devices").join(format!("{id}.toml"));
    if path.exists() {
        return Err(format!("{} exists", path.display()));
    }
    let list = root.join("src/catalog/mod.rs");
    let with_line = listed(&read(&list)?, "devices! {", &format!("\"{id}\""))?;
    let text = include_str!("device.toml.in").replace("@NAME@", &quoted(name));
    write(&path, &text)?;
    write(&list, &with_line)?;
    Ok(format!(
        "wrote {} and its line in {}\nnext: fill in the figures with their sources (devices/README.md), then\n  \
         cargo test catalog && cargo run -- devices '{name}'",
        path.display(),
        list.display()
    ))
}

/// Runs cargo; `blessing` accepts what tests make anew.
fn cargo(arguments: &[&str], blessing: bool) -> Result<(), String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root());
    if blessing {
        // What is accepted must be what anyone's clone makes: collections are not in it.
        command.env("BLESS", "1").env_remove("ROOFLINT_PROFILES");
    }
    let status = command.status().map_err(|error| format!("cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("cargo {} failed", arguments.join(" "))) }
}

fn bless(filters: &[&str]) -> Outcome {
    let mut arguments = vec!["test", "--locked", "--test", "it", "--"];
    arguments.extend(filters);
    cargo(&arguments, true)?;
    Ok("read `git diff` before you commit it".to_owned())
}

fn docs() -> Outcome {
    bless(&["golden", "rules", "columns", "kernel_names", "policy", "predict", "worked_cases"])?;
    cargo(&["doc", "--locked", "--no-deps"], false)?;
    Ok("read `git diff` before you commit it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with what the commands need of this one.
    fn tree(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(root.join("src/rules/memory")).unwrap();
        fs::create_dir_all(root.join("src/catalog")).unwrap();
        fs::create_dir_all(root.join("devices")).unwrap();
        write(&root.join("src/rules/memory/mod.rs"), "//! x\n\nrules! {\n    one,\n}\n").unwrap();
        write(&root.join("src/catalog/mod.rs"), "devices! {\n    \"a\",\n}\n").unwrap();
        root
    }

    #[test]
    fn a_rule_is_a_file_and_a_line() {
        let root = tree("rule");
        new_rule(&root, "memory", "cold-pages", "pages are \"cold\"").unwrap();
        let list = read(&root.join("src/rules/memory/mod.rs")).unwrap();
        assert_eq!(list, "//! x\n\nrules! {\n    one,\n    cold_pages,\n}\n");
        let rule = read(&root.join("src/rules/memory/cold_pages.rs")).unwrap();
        assert!(rule.contains("id: \"cold-pages\"") && rule.contains("pages are \\\"cold\\\""));
        assert!(!rule.contains('@'));
        let again = new_rule(&root, "memory", "cold-pages", "again").unwrap_err();
        assert!(again.ends_with("exists"), "{again}");
        assert!(new_rule(&root, "heat", "cold-pages", "x").unwrap_err().contains("not a family"));
        assert!(new_rule(&root, "memory", "Cold", "x").unwrap_err().contains("lowercase"));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_device_is_a_file_and_a_line() {
        let root = tree("device");
        new_device(&root, "nvidia-x1", "X1").unwrap();
        let list = read(&root.join("src/catalog/mod.rs")).unwrap();
        assert_eq!(list, "devices! {\n    \"a\",\n    \"nvidia-x1\",\n}\n");
        assert!(read(&root.join("devices/nvidia-x1.toml")).unwrap().contains("name = \"X1\""));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn ids_are_lowercase_words() {
        assert!(is_id("tail-effect") && is_id("l2-fabric-traffic"));
        for bad in ["", "-", "a--b", "2x", "Tail", "a_b", "../a"] {
            assert!(!is_id(bad), "{bad}");
        }
    }
}
