//! `gate --self-test`: what a policy makes of known changes.

use std::collections::BTreeSet;

use super::clock;
use super::exit::{self, Failure};
use super::terminal::Terminal;
use crate::compare::Run;
use crate::gate::{self, Must, Obstacle, Policy, Rehearsal};
use crate::report::{self, Block, Document, Fact, Item, Reported, Style};
use crate::units::RelativeChange;

/// Shows what the policy makes of known changes in copies of the runs.
pub(super) fn rehearse(
    runs: &[Run],
    policy: &Policy,
    slowdown: RelativeChange,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let rehearsals = gate::self_test(runs, policy, slowdown, Some(clock::now().date()));
    let failed = rehearsals.iter().filter(|rehearsal| !rehearsal.holds).count();
    let mut document = Document::new("Self-test");
    let many = report::count(runs.len() as u64, "run", "runs");
    let copies = format!("known changes in copies of {many}, judged by the policy");
    document.push(Block::Facts(vec![Fact::new("Self-test", copies)]));
    let lines = rehearsals.iter().map(|one| {
        let mark = if one.holds { "ok" } else { "FAIL" };
        let (must, outcome) = (one.must.label(), one.outcome.label());
        let detail = format!("must {must}; {outcome}: {}", report::printable(&one.reason));
        Item::labeled(mark, one.change.clone()).with(vec![detail])
    });
    document.push(Block::List(lines.collect()));
    let verdict = match failed {
        0 if policy.warn_only => {
            "the policy finds what it must, and nothing else; with `warn-only` no finding fails \
             the gate"
                .to_owned()
        }
        0 => "the policy catches what it must, and nothing else".to_owned(),
        _ => wrong(&rehearsals),
    };
    let mut facts = vec![Fact::new("Verdict", verdict)];
    let obstacles: BTreeSet<Obstacle> = rehearsals.iter().filter_map(|one| one.obstacle).collect();
    facts.extend(obstacles.into_iter().map(|obstacle| Fact::new("Next", next(obstacle))));
    document.push(Block::Facts(facts));
    let text = report::written(&Rehearsed(document), "text", &terminal.style());
    terminal.print(&text.unwrap_or_default())?;
    if failed == 0 { Ok(()) } else { Err(Failure::Verdict(exit::GATE_FAILED)) }
}

/// How many changes were judged wrong, and what that means.
fn wrong(rehearsals: &[Rehearsal]) -> String {
    let is_wrong = |must: Must| rehearsals.iter().any(|one| !one.holds && one.must == must);
    let each = [
        (Must::Fail, "miss slowdowns"),
        (Must::Pass, "raise false alarms"),
        (Must::NotPass, "pass where nothing was measured"),
    ];
    let each = each.into_iter().filter(|(must, _)| is_wrong(*must)).map(|(_, what)| what);
    let failed = rehearsals.iter().filter(|rehearsal| !rehearsal.holds).count();
    let many = report::count(failed as u64, "change is", "changes are");
    format!("{many} judged wrong: the gate would {}", each.collect::<Vec<_>>().join(" and "))
}

/// What helps against an obstacle.
const fn next(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Disarmed => {
            "no limit or bound of the policy fails the gate: see `action` in docs/gate-policy.md"
        }
        Obstacle::Runs => {
            "the runs break the policy without a change: see its bounds and required kernels"
        }
        Obstacle::Waived => {
            "a waiver accepts the slowdown: see [[gate.waiver]] in docs/gate-policy.md"
        }
        Obstacle::Action => {
            "what exceeds its limit does not fail the gate: see `action` in docs/gate-policy.md"
        }
        Obstacle::Noise => {
            "more runs on each side, or noise floors measured by `rooflint calibrate`, reveal \
             smaller slowdowns"
        }
        Obstacle::Allowed => {
            "limits and bounds allow the slowdown: see `worse` and `at-least` in docs/gate-policy.md"
        }
    }
}

/// What a self-test found, as a document.
struct Rehearsed(Document);

impl Reported for Rehearsed {
    fn document(&self, _: &Style) -> Document {
        self.0.clone()
    }
}
