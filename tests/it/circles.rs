//! Inside a room, too, files know each other one way: none names a file that, by whatever way, names it.
//!
//! A file names another by `use` or by a path in its text; what a `mod.rs` only passes on counts for the
//! file it comes from. A `mod.rs` may name what lies in its own folder: it is the folder's face.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::house::{code, program, root};

/// A module: its names below `src`.
type Path = Vec<String>;

/// Files that know each other, and why they may.
const ALLOWED: &[(&[&str], &str)] =
    &[(&["predict/arguments", "predict/form"], "a form counts its arguments, which are of a form")];

struct File {
    is_face: bool,
    /// Its text without `use`, comments and texts.
    body: String,
    /// What it uses: the path as written, and the name it has from then on.
    uses: Vec<(Path, String)>,
}

/// The paths of a tree such as `a::{b, c::{d as e}}`.
fn tree(text: &str) -> Vec<(Path, String)> {
    let text = text.trim();
    let Some((head, inside)) = text.strip_suffix('}').and_then(|text| text.split_once('{')) else {
        let (path, name) = match text.split_once(" as ") {
            Some((path, name)) => (path, Some(name.trim().to_owned())),
            None => (text, None),
        };
        let mut path: Path = path.trim().split("::").map(str::to_owned).collect();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = name.or_else(|| path.last().cloned()).unwrap_or_default();
        return vec![(path, name)];
    };
    let head: Path = head.trim_end_matches("::").split("::").map(str::to_owned).collect();
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inside.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().unwrap().push(c);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    let one = |(path, name): (Path, String)| match path.as_slice() {
        // `self` stood for the head.
        [] => (head.clone(), head.last().cloned().unwrap_or_default()),
        _ => ([head.clone(), path].concat(), name),
    };
    parts.flat_map(|part| tree(part)).map(one).collect()
}

struct House(BTreeMap<Path, File>);

impl House {
    fn read() -> Self {
        let mut files = BTreeMap::new();
        for path in program() {
            let inside = path.strip_prefix(root().join("src")).unwrap().with_extension("");
            let mut module: Path =
                inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            let is_face = module.last().is_some_and(|last| last == "mod");
            if is_face {
                module.pop();
            }
            files.insert(module, File::read(&code(&path), is_face));
        }
        Self(files)
    }

    /// A path as written in a file, from the crate on; none where it leads out of the crate.
    fn absolute(&self, from: &Path, path: &[String]) -> Option<Path> {
        let mut base = from.clone();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|first| first == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                self.0.get(&base)?;
                rest = &path[1..];
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The file that defines what a path names.
    fn definer(&self, path: &[String], depth: usize) -> Path {
        let known = (0..=path.len()).rev().find(|end| self.0.contains_key(&path[..*end]));
        let (module, rest) = path.split_at(known.unwrap_or_default());
        let module = module.to_vec();
        let (Some(item), Some(file)) = (rest.first(), self.0.get(&module)) else { return module };
        if depth > 6 || file.defines(item) {
            return module;
        }
        for (used, name) in &file.uses {
            if (name == item || name == "*")
                && let Some(mut found) = self.absolute(&module, used)
            {
                found.retain(|part| part != "*");
                let tail = if name == "*" { rest } else { &rest[1..] };
                found.extend_from_slice(tail);
                return self.definer(&found, depth + 1);
            }
        }
        module
    }

    /// Which files of its room a file names.
    fn named(&self, module: &Path) -> BTreeSet<Path> {
        let file = &self.0[module];
        let mut paths = Vec::new();
        let mut known: BTreeMap<&str, Path> = BTreeMap::new();
        for (used, name) in &file.uses {
            if let Some(path) = self.absolute(module, used) {
                if self.0.contains_key(&path) {
                    known.insert(name, path.clone());
                }
                paths.push(path);
            }
        }
        let is_outside = |c: char| !c.is_alphanumeric() && c != '_' && c != ':';
        for found in file.body.split(is_outside).filter(|word| word.contains("::")) {
            let parts: Path = found.trim_matches(':').split("::").map(str::to_owned).collect();
            match (parts[0].as_str(), known.get(parts[0].as_str())) {
                ("crate" | "super" | "self", _) => paths.extend(self.absolute(module, &parts)),
                (_, Some(head)) => paths.push([head, &parts[1..]].concat()),
                _ => {}
            }
        }
        let mut named: BTreeSet<Path> = paths.iter().map(|path| self.definer(path, 0)).collect();
        named.retain(|other| {
            let is_same_room = other.first() == module.first();
            let is_inside = file.is_face && other.starts_with(module);
            is_same_room && other != module && !is_inside
        });
        named
    }
}

impl File {
    fn read(text: &str, is_face: bool) -> Self {
        let (mut uses, mut body, mut open) = (Vec::new(), String::new(), None::<String>);
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let begins = line.split_once("use ").filter(|(before, _)| {
                let before = before.trim();
                before.is_empty() || before.starts_with("pub") && !before.contains('"')
            });
            match (&mut open, begins) {
                (Some(open), _) => open.push_str(line),
                (None, Some((_, tree))) => open = Some(tree.to_owned()),
                (None, None) => {
                    body.push_str(line);
                    body.push('\n');
                }
            }
            if let Some(whole) = open.take_if(|open| open.contains(';')) {
                uses.extend(tree(whole.split(';').next().unwrap()));
            }
        }
        Self { is_face, body: without_texts(&body), uses }
    }

    fn defines(&self, item: &str) -> bool {
        let kinds = ["fn", "struct", "enum", "const", "static", "type", "trait", "mod"];
        let continues = |c: char| c.is_alphanumeric() || c == '_';
        kinds.iter().any(|kind| {
            let found = format!("{kind} {item}");
            let mut ends = self.body.match_indices(&found).map(|(at, _)| at + found.len());
            ends.any(|end| !self.body[end..].starts_with(continues))
        })
    }
}

/// Code without what stands between quotes.
fn without_texts(code: &str) -> String {
    let (mut kept, mut is_text, mut is_escaped) = (String::new(), false, false);
    for c in code.replace("'\"'", "").chars() {
        if c == '"' && !is_escaped {
            is_text = !is_text;
        } else if !is_text {
            kept.push(c);
        }
        is_escaped = is_text && c == '\\' && !is_escaped;
    }
    assert!(!is_text, "a quote is not closed: {code}");
    kept
}

/// Everything that can be reached.
fn reached(from: &Path, names: &BTreeMap<Path, BTreeSet<Path>>) -> BTreeSet<Path> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(one) = next.pop() {
        for other in names.get(one).into_iter().flatten() {
            if seen.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    seen
}

#[test]
fn files_of_a_room_know_each_other_one_way() {
    let house = House::read();
    let names: BTreeMap<Path, BTreeSet<Path>> =
        house.0.keys().map(|module| (module.clone(), house.named(module))).collect();
    // Not blind: it sees a `use`, what a `mod.rs` passes on, and a path that is written out.
    let path = |text: &str| text.split('/').map(str::to_owned).collect::<Path>();
    for (one, other) in [
        ("rules/engine/subject", "rules/engine/finding"),
        ("rules/memory/atomic_contention", "rules/engine/rule"),
        ("analysis/explain", "analysis/kernel"),
    ] {
        assert!(names[&path(one)].contains(&path(other)), "{one} names {other}");
    }
    let reach: BTreeMap<&Path, BTreeSet<Path>> =
        names.keys().map(|module| (module, reached(module, &names))).collect();
    let mut circles: BTreeSet<Vec<String>> = BTreeSet::new();
    for module in names.keys().filter(|module| reach[module].contains(*module)) {
        let back = |other: &&Path| reach[module].contains(*other) && reach[*other].contains(module);
        circles.insert(names.keys().filter(back).map(|other| other.join("/")).collect());
    }
    let mut wrong = String::new();
    for circle in &circles {
        if !ALLOWED.iter().any(|(allowed, _)| allowed == circle) {
            writeln!(wrong, "{} know each other", circle.join(", ")).unwrap();
        }
    }
    for (allowed, _) in ALLOWED {
        if !circles.iter().any(|circle| circle == allowed) {
            writeln!(wrong, "{} no longer know each other", allowed.join(", ")).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
