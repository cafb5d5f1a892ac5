//! The kernels that are not ranked, by state, each with its reasons.

use crate::analysis::{Kernel, State};
use crate::report::Report;
use crate::report::document::Item;
use crate::report::view::{count, percent, printable, si};
use crate::roofline::Limiter;
use crate::units::Seconds;

/// Kernels that are set apart for one reason.
struct Reason<'a> {
    text: String,
    kernels: usize,
    time: Seconds,
    /// The kernel with most time: it stands for the others.
    example: &'a Kernel,
}

impl Reason<'_> {
    fn sentence(self, several: bool) -> String {
        let many = if several { format!("{}× ", self.kernels) } else { String::new() };
        let example = &self.example.reason;
        let figures = example.figures().filter(|_| example.general() == self.text);
        let text = match figures {
            Some(_) if self.kernels == 1 => printable(&example.to_string()),
            Some(figures) => format!(
                "{} (the longest, {}: {})",
                self.text,
                printable(&self.example.name),
                printable(figures)
            ),
            None => self.text,
        };
        format!("{many}{text}")
    }
}

/// Reasons that are shown of each state.
const REASONS: usize = 4;

/// The states that are set apart, each with its kernels' reasons, most time first.
pub(super) fn apart(report: &Report<'_>) -> Vec<Item> {
    let analysis = report.analysis;
    let mut apart = Vec::new();
    for state in State::ALL.into_iter().filter(|state| state.is_set_apart()) {
        let kernels: Vec<&Kernel> =
            analysis.kernels.iter().filter(|kernel| kernel.state == state).collect();
        if kernels.is_empty() {
            continue;
        }
        let mut reasons: Vec<Reason> = Vec::new();
        for kernel in &kernels {
            // Numbers differ from kernel to kernel; the sentence around them is the reason.
            let text = match state {
                State::NotEnoughData | State::Possible => kernel.reason.general().into_owned(),
                State::Waived => kernel.reason.to_string(),
                State::LowImpact if !kernel.is_winnable && kernel.limiter == Limiter::Latency => {
                    "too few blocks or threads for the device: give one launch more work, or divide it among \
                     more"
                        .to_owned()
                }
                State::LowImpact => {
                    let win: Seconds = kernels.iter().map(|kernel| kernel.savings).sum();
                    let least = si(analysis.smallest_win().get(), "s");
                    if win > Seconds::ZERO {
                        let win = si(win.get(), "s");
                        format!("savings below {least} each ({win} in total)")
                    } else {
                        format!("savings below {least} each, and unproven")
                    }
                }
                _ => kernel.meaning(),
            };
            match reasons.iter_mut().find(|known| known.text == text) {
                Some(known) => {
                    known.kernels += 1;
                    known.time += kernel.measured;
                    if kernel.measured > known.example.measured {
                        known.example = kernel;
                    }
                }
                None => {
                    reasons.push(Reason {
                        text,
                        kernels: 1,
                        time: kernel.measured,
                        example: kernel,
                    });
                }
            }
        }
        reasons.sort_by(|one, two| {
            two.time.get().total_cmp(&one.time.get()).then_with(|| one.text.cmp(&two.text))
        });
        let several = reasons.len() > 1;
        let extent = extent(&kernels, analysis.totals.measured);
        let reasons = reasons.into_iter().take(REASONS).map(|reason| reason.sentence(several));
        apart.push(Item::labeled(state.label(), extent).with(reasons.collect()));
    }
    apart
}

/// How many kernels there are, and what they take as far as that is known: a time of zero is a missing one.
fn extent(kernels: &[&Kernel], total: Seconds) -> String {
    let many = count(kernels.len() as u64, "kernel", "kernels");
    let untimed = kernels.iter().filter(|kernel| kernel.measured <= Seconds::ZERO).count();
    if untimed == kernels.len() {
        return format!("{many}, time unknown");
    }
    let time: Seconds = kernels.iter().map(|kernel| kernel.measured).sum();
    let known = format!("{many}, {} ({})", si(time.get(), "s"), percent(time / total));
    if untimed == 0 { known } else { format!("{known}, {untimed} without a duration") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::bench::run;

    #[test]
    fn the_time_of_kernels_without_a_duration_is_unknown() {
        let mut bench = run(&[("a", State::NotEnoughData, 1.0), ("b", State::NotEnoughData, 3.0)]);
        let said = |bench: &crate::report::bench::Bench| {
            let kernels: Vec<&Kernel> = bench.analysis.kernels.iter().collect();
            extent(&kernels, Seconds::new(4e-3))
        };
        assert_eq!(said(&bench), "2 kernels, 4.00 ms (100.0%)");
        bench.analysis.kernels[0].measured = Seconds::ZERO;
        assert_eq!(said(&bench), "2 kernels, 3.00 ms (75.0%), 1 without a duration");
        bench.analysis.kernels[1].measured = Seconds::ZERO;
        assert_eq!(said(&bench), "2 kernels, time unknown");
    }
}
