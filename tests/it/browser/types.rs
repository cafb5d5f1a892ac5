//! The scripts of the page, checked for types as far as they say them: `tsc --checkJs` finds names that do not
//! exist, wrong arguments, and figures that the data does not have. `tools/tsconfig.json` lists the scripts.

use std::path::Path;
use std::process::Command;

use super::tools;

/// What `tsc` says of a project; `None` where there is no node.
fn checked(tools: &Path, project: &Path) -> Option<String> {
    let mut command = Command::new("node");
    command.arg(tools.join("typescript/bin/tsc"));
    command.args(["--pretty", "false", "--project"]).arg(project);
    match command.output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(_) => {
            println!("SKIPPED: no node on the path to check the scripts with");
            None
        }
    }
}

#[test]
fn scripts_are_sound_by_their_types() {
    let Some(tools) = tools() else { return };
    let project =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/browser/tools/tsconfig.json");
    let Some(says) = checked(&tools, &project) else { return };
    assert!(says.is_empty(), "{says}");
    // Every script is listed.
    let listed = std::fs::read_to_string(&project).unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/html");
    for entry in scripts.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let is_script = path.extension().is_some_and(|ending| ending == "js");
        let name = path.file_name().unwrap().to_string_lossy();
        assert!(!is_script || listed.contains(&format!("/{name}\"")), "{name} is not checked");
    }
}

/// What the check is for: a figure that the data lacks, and a wrong argument, are found by the same settings.
#[test]
fn a_wrong_script_is_found() {
    let Some(tools) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script =
        "/** @param {number} one */\nfunction double(one) { return 2 * one; }\ndouble(\"2\");\n";
    std::fs::write(folder.path().join("wrong.js"), script).unwrap();
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/browser/tools/tsconfig.json");
    let project = folder.path().join("tsconfig.json");
    let text = serde_json::json!({ "extends": base, "files": ["wrong.js"] }).to_string();
    std::fs::write(&project, text).unwrap();
    let Some(says) = checked(&tools, &project) else { return };
    assert!(says.contains("wrong.js(3,8): error TS2345"), "{says}");
}
