//! What a gate says first of a kernel that is not what it was: another name, other work, other launches.

use super::words;
use crate::compare::{
    Change, Comparison, Contribution, ContributionKind, Counted, Inferred, Measured, ProposalKind,
};
use crate::units::{Probability, Seconds, si};

/// Contributors to the total that a sentence names.
const NAMED: usize = 3;

/// Parts below a tenth of the change of the total do not explain it.
const EXPLAINS: f64 = 0.1;

/// Describes how a kernel differs from the one it is compared with, before its times; empty if it does not.
pub(super) fn first(known: &Change) -> String {
    let mut text = known.inferred.as_ref().map(|one| inferred(one, known)).unwrap_or_default();
    if let Some(work) = &known.work {
        let what = match work.counted {
            Counted::Flops => "FLOPs",
            Counted::Bytes => "bytes",
        };
        let by = words::change(work.shift);
        let normalized = if work.normalized { ", normalized to the same work" } else { "" };
        text.push_str(&format!("work per launch changed ({what} {by}{normalized}): "));
    }
    text
}

/// Describes a rename, fusion or split, with its confidence.
fn inferred(inferred: &Inferred, known: &Change) -> String {
    let Inferred { kind, before, after, confidence, .. } = inferred;
    let became = match kind {
        ProposalKind::Rename => "was renamed to",
        ProposalKind::Fusion => "were fused into",
        ProposalKind::Split => "was split into",
    };
    let sure = percents(*confidence);
    let (mut one, mut two) = (before.join(" + "), after.join(" + "));
    // Of names that are the same, what they leave out differs.
    if one == two {
        let whole = |side: &Measured, name: String| {
            let full = if side.full_name.is_empty() { name } else { side.full_name.clone() };
            side.operator.as_ref().map_or(full.clone(), |operator| format!("{full} [{operator}]"))
        };
        (one, two) = (whole(&known.before, one), whole(&known.after, two));
    }
    format!("{one} {became} {two} ({sure} confidence): ")
}

fn percents(confidence: Probability) -> String {
    format!("{:.0}%", confidence.get() * 100.0)
}

/// Names the kernels that changed the total most; none if no kernel explains a part worth naming.
pub(super) fn contributors(comparison: &Comparison) -> Option<String> {
    let whole = comparison.contributions.change_s;
    let is_large = |part: &&Contribution| part.change_s.abs() >= whole.abs() * EXPLAINS;
    let large = comparison.contributions.parts.iter().filter(is_large);
    let (same, against): (Vec<&Contribution>, Vec<&Contribution>) =
        large.partition(|part| (part.change_s > Seconds::ZERO) == (whole > Seconds::ZERO));
    // One name may be that of several kernels, which their shapes tell apart.
    let is_shared = |part: &Contribution| {
        comparison.contributions.parts.iter().filter(|one| one.name == part.name).count() > 1
    };
    let listed = |parts: &[&Contribution]| {
        let one = |part: &&Contribution| {
            let shape = match part.shape.as_str() {
                "" => String::new(),
                shape if is_shared(part) => format!(" at {shape}"),
                _ => String::new(),
            };
            format!("{}{shape} {} ({})", part.name, signed(part.change_s), how(part))
        };
        let mut named: Vec<String> = parts.iter().take(NAMED).map(one).collect();
        let more = parts.len().saturating_sub(NAMED);
        named.extend((more > 0).then(|| format!("{more} more")));
        named.join(", ")
    };
    if same.is_empty() {
        return None;
    }
    // Without these, a part is larger than the whole.
    let against = match against.as_slice() {
        [] => String::new(),
        parts => format!("; the other way: {}", listed(parts)),
    };
    Some(format!("largest contributors: {}{against}", listed(&same)))
}

/// Describes how a kernel changed the total.
#[must_use]
pub fn how(part: &Contribution) -> String {
    match part.kind {
        ContributionKind::LaunchTime => "time per launch".to_owned(),
        ContributionKind::Launches => {
            format!(
                "launches {} to {}",
                words::launches(part.launches_before),
                words::launches(part.launches_after)
            )
        }
        ContributionKind::New => "new".to_owned(),
        ContributionKind::Vanished => "vanished".to_owned(),
        ContributionKind::Renamed | ContributionKind::Fused | ContributionKind::Split => {
            let became = match part.kind {
                ContributionKind::Renamed => "renamed",
                ContributionKind::Fused => "fused",
                _ => "split",
            };
            format!("{became} from {}", part.was.as_deref().unwrap_or_default())
        }
    }
}

fn signed(time: Seconds) -> String {
    let sign = if time < Seconds::ZERO { "-" } else { "+" };
    format!("{sign}{}", si(time.abs().get(), "s"))
}
