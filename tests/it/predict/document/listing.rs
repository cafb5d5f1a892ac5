//! The lists of formats and of closed forms, from their own derivations.

use rooflint::predict::{DataType, FORMS};

use super::{number, table};

pub(super) fn formats() -> String {
    let rows: Vec<Vec<String>> = DataType::ALL
        .iter()
        .map(|format| {
            let also: Vec<String> =
                format.aliases().iter().map(|name| format!("`{name}`")).collect();
            vec![format!("`{}`", format.name()), number(format.bytes()), also.join(", ")]
        })
        .collect();
    table(&["format", "bytes per element", "also"], &rows)
}

pub(super) fn forms() -> String {
    let rows: Vec<Vec<String>> = FORMS
        .iter()
        .map(|form| {
            let text = form.derivation;
            let names = std::iter::once(form.name).chain(form.aliases.iter().copied());
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let needed = form.usage();
            let needed = needed.strip_prefix(form.name).unwrap().replace("=…", "");
            vec![
                names.join(", "),
                form.category.label().to_owned(),
                needed.trim().to_owned(),
                part(text, "FLOPs: "),
                part(text, "Bytes: "),
            ]
        })
        .collect();
    table(&["kernel", "category", "needs", "operations", "bytes"], &rows)
}

/// The first statement behind a label of a derivation.
fn part(text: &str, label: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with(label));
    let mut lines = lines.take_while(|line| line.starts_with(label) || !is_label(line));
    let first = lines.next().unwrap_or_default().trim_start_matches(label);
    let all = lines.fold(first.to_owned(), |all, line| format!("{all} {line}"));
    let end = [". ", "; "].iter().filter_map(|stop| all.find(stop)).min().unwrap_or(all.len());
    all[..end].trim_end_matches('.').to_owned()
}

fn is_label(line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or_default();
    first.len() > 1 && first.ends_with(':')
}
