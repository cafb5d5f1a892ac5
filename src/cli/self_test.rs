//! `gate --self-test`: what a policy makes of known changes.

use super::clock;
use super::exit::{self, Failure};
use super::terminal::Terminal;
use crate::compare::Run;
use crate::gate::{self, Action, Policy, Rehearsal};
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
    let lines = rehearsals.iter().map(|Rehearsal { change, must, outcome, reason, holds }| {
        let mark = if *holds { "ok" } else { "FAIL" };
        let reason = report::printable(reason);
        let detail = format!("must {must}; {}: {reason}", outcome.label());
        Item::labeled(mark, change.clone()).with(vec![detail])
    });
    document.push(Block::List(lines.collect()));
    let verdict = if failed == 0 {
        "the policy catches what it must, and nothing else".to_owned()
    } else {
        let many = report::count(failed as u64, "change is", "changes are");
        format!("{many} judged wrong: the gate would miss slowdowns or raise false alarms")
    };
    let mut facts = vec![Fact::new("Verdict", verdict)];
    let limits = &policy.limits;
    // A later limit on all kernels takes the place of one before it.
    let is_replaced = |at: usize| {
        let mut later = limits[at + 1..].iter();
        later.any(|one| one.metric == limits[at].metric && one.selector.is_everything())
    };
    let disarmed =
        (0..limits.len()).all(|at| limits[at].action < Action::Inconclusive || is_replaced(at));
    if failed > 0 && disarmed {
        let next = "no limit of the policy fails the gate: see `action` in docs/gate-policy.md";
        facts.push(Fact::new("Next", next));
    } else if failed > 0 {
        let next = "more runs on each side, or noise floors measured by `rooflint calibrate`, \
                    reveal smaller slowdowns";
        facts.push(Fact::new("Next", next));
    }
    document.push(Block::Facts(facts));
    let text = report::written(&Rehearsed(document), "text", &terminal.style());
    terminal.print(&text.unwrap_or_default())?;
    if failed == 0 { Ok(()) } else { Err(Failure::Verdict(exit::GATE_FAILED)) }
}

/// What a self-test found, as a document.
struct Rehearsed(Document);

impl Reported for Rehearsed {
    fn document(&self, _: &Style) -> Document {
        self.0.clone()
    }
}
