//! Where a finding is shown: the code of its kernel if the policy tells, else the export.

use super::GateReport;
use crate::compare::Measured;
use crate::gate::{Check, Selector, Subject};

/// A line of a file, from the root of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) path: String,
    pub(super) line: u32,
    /// Whether it is code, not the export.
    pub(super) is_code: bool,
}

/// Where code of the kernel of a check is; the last place that fits holds, as for limits.
pub(super) fn code(report: &GateReport<'_>, check: &Check) -> Option<Place> {
    let places = report.policy.code.iter().rev();
    places.filter(|place| selects(&place.selector, report, check)).find_map(|place| {
        let path = relative(&place.file)?;
        Some(Place { path, line: place.line.max(1), is_code: true })
    })
}

/// Where a check is shown: code scanners take no finding without a place.
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

/// Whether a selector fits the kernel of a check. What a decision does not know of a kernel fits no
/// pattern, and a place for every kernel is the place of none.
fn selects(selector: &Selector, report: &GateReport<'_>, check: &Check) -> bool {
    let Subject::Kernel { name, full_name, .. } = &check.subject else { return false };
    let named = || Measured { full_name: full_name.clone(), ..Measured::default() };
    let known = measured(report, name, full_name).cloned().unwrap_or_else(named);
    !selector.is_everything() && selector.fits(name, &known)
}

/// What was measured of a kernel, as far as it was compared.
fn measured<'a>(report: &GateReport<'a>, name: &str, full_name: &str) -> Option<&'a Measured> {
    let comparison = report.decision.comparison.as_ref()?;
    let changes = comparison.changes.iter().map(|change| (&change.name, &change.after));
    let lone = comparison.new.iter().chain(&comparison.vanished);
    let lone = lone.map(|lone| (&lone.name, &lone.measured));
    let is_it = |(known, measured): &(&String, &Measured)| {
        measured.full_name == full_name && (*known == name || !full_name.is_empty())
    };
    changes.chain(lone).find(is_it).map(|(_, measured)| measured)
}

/// A path as scanners take it: forward slashes, from the root of the repository. A path that does not
/// begin there keeps its last part only; none without one.
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

/// A path as a reference in the sense of RFC 3986: what may not stand there is written as `%20`.
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
