//! What a fault of a configuration probably means, where the words of the parser lead elsewhere.

use std::path::Path;

use crate::plain::Fault;

/// Where the keys of a policy are shown.
const POLICY_PAGE: &str = "docs/gate-policy.md";

/// Where keys are shown, as a help line.
fn shown_in(page: &str) -> String {
    format!("{page} shows each key with a value")
}

/// Tables of a policy that people write without `gate.`, and their brackets.
const OF_GATE: [(&str, [&str; 2]); 4] = [
    ("limit", ["[[", "]]"]),
    ("bound", ["[[", "]]"]),
    ("code", ["[[", "]]"]),
    ("noise", ["[", "]"]),
];

/// Tables that are there once. In two brackets the parser takes them for lists of what their keys are.
const TABLES: [&str; 4] = ["rules", "analysis", "gate", "noise"];

/// Says what is probably meant: another format, other brackets, or a table of the policy.
pub(super) fn refine(path: &str, text: &str, fault: &mut Fault) {
    if let Some(format) = other_format(path) {
        fault.message =
            format!("this looks like {format}, but configurations and policies are TOML");
        fault.help = format!("see {POLICY_PAGE} for a policy, and docs/configuration.md");
        return;
    }
    let header = |line: &str| {
        let name = line.trim().trim_start_matches('[').split(']').next().unwrap_or_default();
        (line.trim_start().starts_with("[["), name.trim().to_owned())
    };
    let before = text.lines().take(fault.line).filter(|line| line.trim_start().starts_with('['));
    let table = before.last().map(header);
    let is_header =
        text.lines().nth(fault.line - 1).is_some_and(|line| line.trim_start().starts_with('['));
    if let Some((has_two, name)) = table.as_ref().filter(|_| is_header) {
        let last = name.rsplit('.').next().unwrap_or_default();
        if !has_two && fault.message == "expected a list in brackets, found a table" {
            fault.message = format!("{last} is a list: write [[{name}]], with two brackets");
        } else if *has_two && TABLES.contains(&last) && fault.message.starts_with("expected ") {
            fault.message = format!("{last} is a table: write [{name}], with one bracket");
        }
    }
    let name = table.map(|(_, name)| name).unwrap_or_default();
    if let Some(help) = misplaced(&name, fault) {
        fault.help = help;
    } else if fault.help.is_empty()
        && (fault.message.starts_with("expected ") || fault.message.contains("bracket"))
    {
        let is_of_gate = name.split('.').any(|part| part == "gate");
        let page = if is_of_gate { POLICY_PAGE } else { "docs/configuration.md" };
        fault.help = shown_in(page);
    }
}

/// The table that is meant by one of a policy without `gate.`.
fn misplaced(table: &str, fault: &Fault) -> Option<String> {
    let is_unknown = |key: &str| fault.message == format!("unknown key \"{key}\"");
    let (key, [open, close]) = OF_GATE.iter().find(|(key, _)| is_unknown(key))?;
    let above = table.strip_suffix(key)?;
    // A key inside of another table is not one of these.
    let is_outermost = matches!(above, "" | "tool.rooflint.");
    is_outermost
        .then(|| format!("did you mean {open}{above}gate.{key}{close}? {}", shown_in(POLICY_PAGE)))
}

/// The format that the ending of a file names, if it is not TOML.
fn other_format(path: &str) -> Option<&'static str> {
    match Path::new(path).extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "yaml" | "yml" => Some("YAML"),
        "json" => Some("JSON"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{Config, ConfigError};

    /// The fault of a text with its help.
    fn fault(path: &str, text: &str) -> String {
        let error: ConfigError = Config::parse(path, text).unwrap_err();
        format!("{error} | {}", error.help())
    }

    #[cfg(feature = "gate")]
    #[test]
    fn a_table_of_the_policy_with_other_brackets_or_in_another_place_is_named() {
        for (text, expected) in [
            (
                "[gate]\n[gate.limit]\nmetric = \"time\"\n",
                "p.toml:2:1: limit is a list: write [[gate.limit]], with two brackets | docs/gate-policy.md",
            ),
            (
                "[[gate]]\nversion = 1\n",
                "p.toml:1:1: gate is a table: write [gate], with one bracket | docs/gate-policy.md",
            ),
            (
                "[[limit]]\nmetric = \"time\"\n",
                "p.toml:1:3: unknown key \"limit\" | did you mean [[gate.limit]]? docs/gate-policy.md",
            ),
            (
                "[noise]\nkernel = 0.1\n",
                "p.toml:1:2: unknown key \"noise\" | did you mean [gate.noise]? docs/gate-policy.md",
            ),
            (
                "[gate]\nwarn-only = 1\n",
                "p.toml:2:13: expected true or false, found the number 1 | docs/gate-policy.md",
            ),
            (
                "[waiver]\nkernel = \"a\"\n",
                "p.toml:1:1: waiver is a list: write [[waiver]], with two brackets | docs/configuration.md",
            ),
        ] {
            let found = fault("p.toml", text);
            assert!(found.starts_with(expected), "{text}: {found}");
        }
        let found = fault("pyproject.toml", "[[tool.rooflint.limit]]\nmetric = \"time\"\n");
        assert!(found.contains("did you mean [[tool.rooflint.gate.limit]]?"), "{found}");
    }

    #[test]
    fn a_file_in_another_format_is_called_so() {
        let found = fault("p.yaml", "gate:\n  version: 1\n");
        let expected = "this looks like YAML, but configurations and policies are TOML | \
                        see docs/gate-policy.md";
        assert!(found.contains(expected), "{found}");
        assert!(fault("p.json", "{\"gate\": {}}").contains("this looks like JSON"));
    }
}
