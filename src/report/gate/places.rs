//! Location of a finding: the code of its kernel if the policy has it, else the export.

use super::GateReport;
use crate::compare::Measured;
use crate::gate::{Check, Selector, Subject};

/// A line of a file, with its path from the root of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u32,
    /// True for code, false for the export.
    pub(super) is_code: bool,
}

/// Returns the code location of the kernel of a check; the last match is used, as for limits.
pub(super) fn code(report: &GateReport<'_>, check: &Check) -> Option<Place> {
    let places = report.policy.code.iter().rev();
    places.filter(|place| selects(&place.selector, report, check)).find_map(|place| {
        let path = relative(&place.file)?;
        Some(Place { path, line: place.line.max(1), is_code: true })
    })
}

/// Returns the location of a check; code scanners reject findings without one.
pub(super) fn place(report: &GateReport<'_>, check: Option<&Check>) -> Place {
    if let Some(place) = check.and_then(|check| code(report, check)) {
        return place;
    }
    let labels = report.decision.comparison.iter().flat_map(|both| &both.current.labels);
    let path = report.export.into_iter().chain(labels.map(String::as_str)).find_map(relative);
    // The policy is what was broken, wherever it lies.
    let path = path.unwrap_or_else(|| "rooflint.toml".to_owned());
    Place { path, line: 1, is_code: false }
}

/// Returns `true` if a selector matches the kernel of a check. Unknown attributes match no pattern,
/// and a selector for every kernel matches none.
fn selects(selector: &Selector, report: &GateReport<'_>, check: &Check) -> bool {
    let Subject::Kernel { name, full_name, operator, .. } = &check.subject else { return false };
    let named = || Measured {
        full_name: full_name.clone(),
        operator: operator.clone(),
        ..Measured::default()
    };
    let known = measured(report, &check.subject).cloned().unwrap_or_else(named);
    !selector.is_everything() && selector.fits(name, &known)
}

/// Returns the measurements of a kernel, as far as it was compared.
fn measured<'a>(report: &GateReport<'a>, subject: &Subject) -> Option<&'a Measured> {
    let comparison = report.decision.comparison.as_ref()?;
    let changes = comparison.changes.iter().map(|change| (&change.name, &change.after));
    let lone = comparison.new.iter().chain(&comparison.vanished);
    let lone = lone.map(|lone| (&lone.name, &lone.measured));
    let mut all = changes.chain(lone);
    all.find(|(known, measured)| subject.is(known, measured)).map(|(_, measured)| measured)
}

/// Converts a path for scanners: forward slashes, from the root of the repository. A path outside
/// of it keeps its last part only; `None` if it has none.
fn relative(path: &str) -> Option<String> {
    let path = crate::report::printable(path).replace('\\', "/");
    let path = path.trim();
    let is_absolute = path.starts_with('/') || path.as_bytes().get(1) == Some(&b':');
    let parts: Vec<&str> =
        path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let parts = if is_absolute || parts.contains(&"..") {
        &parts[parts.len().saturating_sub(1)..]
    } else {
        &parts
    };
    (!parts.is_empty() && parts != [".."]).then(|| parts.join("/"))
}

/// Converts a path to a URI reference (RFC 3986), with reserved characters escaped, such as `%20`.
pub(super) fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::{relative, uri};

    #[test]
    fn paths_are_relative_to_the_repository() {
        for (given, shown) in [
            ("./runs/now.csv", Some("runs/now.csv")),
            (r"runs\now.csv", Some("runs/now.csv")),
            ("/var/tmp/now.csv", Some("now.csv")),
            (r"C:\runs\now.csv", Some("now.csv")),
            ("../other/now.csv", Some("now.csv")),
            ("", None),
            ("/", None),
            ("..", None),
        ] {
            assert_eq!(relative(given).as_deref(), shown, "{given}");
        }
    }

    #[test]
    fn a_path_is_a_valid_reference() {
        assert_eq!(uri("runs/a b<µ>%.csv"), "runs/a%20b%3C%C2%B5%3E%25.csv");
    }
}
