//! The documents as a site: every link of every document leads somewhere, and `docs/SUMMARY.md` lists every page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

use rooflint::rules::RULES;

use crate::golden::check;
use crate::house::root;

/// What the repository is called on the forge: documents of the site name files outside `docs` by it.
const FILES: [&str; 2] = [
    "https://github.com/rooflint/rooflint/blob/main/",
    "https://github.com/rooflint/rooflint/tree/main/",
];

/// Markdown files below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(below(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Every document that people read.
fn documents() -> Vec<PathBuf> {
    let top = fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        top.filter(|path| path.extension().is_some_and(|ending| ending == "md")).collect();
    for folder in ["docs", "devices", ".github", "tests/schemas"] {
        found.extend(below(&root().join(folder)));
    }
    found
}

/// The lines of a document that are not code, without the code in them.
fn prose(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut fence: Option<&str> = None;
    text.lines().filter_map(move |line| {
        let begins = ["```", "~~~"].into_iter().find(|one| line.trim_start().starts_with(one));
        match (fence, begins) {
            (None, Some(one)) => fence = Some(one),
            (Some(open), Some(one)) if open == one => fence = None,
            (None, None) => return Some(line.split('`').step_by(2).collect::<Vec<_>>().join("`")),
            _ => {}
        }
        None
    })
}

/// Where the links and pictures of a document lead.
fn links(text: &str) -> Vec<String> {
    let lines = prose(text);
    let found = lines.flat_map(|line| {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.map(str::to_owned).collect::<Vec<_>>()
    });
    found.collect()
}

/// The anchors of a document's headings, as forges and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut in_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        // A link in a heading counts by its words.
        let words: String =
            heading.trim().split("](").enumerate().fold(String::new(), |mut all, (at, part)| {
                all.push_str(if at == 0 { part } else { part.split_once(')').map_or("", |p| p.1) });
                all
            });
        let kept = words.to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let times = seen.entry(slug.clone()).or_default();
        found.insert(if *times == 0 { slug } else { format!("{slug}-{times}") });
        *times += 1;
    }
    found
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// What is wrong with a link from a document.
fn fault(from: &Path, link: &str) -> Option<String> {
    let ours = FILES.iter().find_map(|prefix| link.strip_prefix(prefix));
    if ours.is_none() && (link.contains("://") || link.starts_with("mailto:")) {
        return None;
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match (ours, path) {
        (Some(ours), _) => root().join(ours.split('#').next().unwrap_or_default()),
        (None, "") => from.to_owned(),
        (None, path) => plain(&from.parent().unwrap().join(path)),
    };
    if !target.exists() {
        return Some("no such file".to_owned());
    }
    let docs = root().join("docs");
    if ours.is_none() && from.starts_with(&docs) && !target.starts_with(&docs) {
        return Some(format!("not on the site; write {}...", FILES[0]));
    }
    if from.starts_with(&docs) && target.starts_with(&docs) && target.is_dir() {
        return Some("a folder is not a page of the site".to_owned());
    }
    if anchor.is_empty() || target.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    let headings = anchors(&fs::read_to_string(&target).unwrap());
    (!headings.contains(anchor)).then(|| format!("no such heading; there are {headings:?}"))
}

#[test]
fn every_link_of_every_document_leads_somewhere() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for path in documents() {
        for link in links(&fs::read_to_string(&path).unwrap()) {
            seen += 1;
            if let Some(fault) = fault(&path, &link) {
                let place = path.strip_prefix(root()).unwrap().display();
                wrong.push(format!("{place}: {link}: {fault}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 200, "{seen}");
}

#[test]
fn a_wrong_link_is_noticed() {
    let guide = root().join("docs/guide.md");
    for (link, is_wrong) in [
        ("gate.md", false),
        ("gate.md#exit-codes", false),
        ("https://example.org/nothing", false),
        ("pictures/trend.svg", false),
        ("gates.md", true),
        ("gate.md#exit-code", true),
        ("#no-such-heading", true),
        ("../README.md", true),
        ("rules", true),
        ("https://github.com/rooflint/rooflint/blob/main/README.md", false),
        ("https://github.com/rooflint/rooflint/blob/main/README", true),
    ] {
        assert_eq!(fault(&guide, link).is_some(), is_wrong, "{link}: {:?}", fault(&guide, link));
    }
    let text = "[a](b.md) `[no](c)`\n```\n[no](d)\n```\n![e](f.svg)[g](h)\n";
    assert_eq!(links(text), ["b.md", "f.svg", "h"]);
    let text = "# One `two`, [three](x.md)\n```\n# no\n```\n## A\n## A\n#no\n";
    assert_eq!(anchors(text), BTreeSet::from(["one-two-three", "a", "a-1"].map(str::to_owned)));
}

#[test]
fn the_site_has_every_page() {
    let mut index = String::from(
        "# Rules\n\nWhat rooflint looks for in every kernel and in the run. `rooflint rules` prints this list, \
         `rooflint rules ID` a page.\n\n| rule | finds |\n| --- | --- |\n",
    );
    for rule in RULES {
        writeln!(index, "| [{0}]({0}.md) | {1} |", rule.id, rule.summary).unwrap();
    }
    check(&root().join("docs/rules/index.md"), &index);

    let summary = root().join("docs/SUMMARY.md");
    let text = fs::read_to_string(&summary).unwrap();
    let mark = "- [All rules](rules/index.md)\n";
    let mut made = text.split_once(mark).unwrap().0.to_owned() + mark;
    let mut ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    for id in ids {
        writeln!(made, "  - [{id}](rules/{id}.md)").unwrap();
    }
    check(&summary, &made);

    let docs = root().join("docs");
    let pages = below(&docs);
    let pages = pages.iter().map(|page| page.strip_prefix(&docs).unwrap().to_str().unwrap());
    // What an assistant reads is a file of its own form, not a page.
    let pages = pages.filter(|page| *page != "SUMMARY.md" && !page.starts_with("skill"));
    let listed = links(&made);
    let missing: Vec<String> =
        pages.map(|page| page.replace('\\', "/")).filter(|page| !listed.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
    let once: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
}
