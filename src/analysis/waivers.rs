//! Kernels that are left alone on purpose: out of the sum of opportunities, still in the table.

use super::{Analysis, State};
use crate::model::Date;
use crate::units::Seconds;

/// A kernel that is left alone on purpose, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// A whole name, or a pattern in which `*` stands for anything.
    pub kernel: String,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// The last day on which it holds.
    pub expires: Option<Date>,
}

impl Analysis {
    /// Sets aside the kernels that waivers name; those that expired before `today` do not count; without a day
    /// all of them do.
    ///
    /// Waivers that have expired or that fit no kernel change nothing, and the notes say so. What they say of
    /// those that expired is returned, too: it holds for whatever else is made of the profile.
    pub fn waive(&mut self, waivers: &[Waiver], today: Option<Date>) -> Vec<String> {
        let mut expired = Vec::new();
        for waiver in waivers {
            let fitting: Vec<usize> = (0..self.kernels.len())
                .filter(|at| self.kernels[*at].is_named(&waiver.kernel))
                .collect();
            let of = waiver.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
            if fitting.is_empty() {
                self.notes.push(format!("the waiver for {:?}{of} fits no kernel", waiver.kernel));
                continue;
            }
            if let Some(expires) = waiver.expires
                && today.is_some_and(|today| expires < today)
            {
                expired.push(format!(
                    "the waiver for {:?}{of} expired on {expires}: {}",
                    waiver.kernel, waiver.reason
                ));
                self.notes.extend(expired.last().cloned());
                continue;
            }
            let until = waiver.expires.map_or_else(String::new, |day| format!(" until {day}"));
            for at in fitting {
                let kernel = &mut self.kernels[at];
                if matches!(
                    kernel.state,
                    State::Flagged | State::LowImpact | State::Fair | State::Possible
                ) {
                    kernel.state = State::Waived;
                    kernel.reason = format!("waived{until}{of}: {}", waiver.reason).into();
                    kernel.savings_low = Seconds::ZERO;
                    kernel.savings = Seconds::ZERO;
                    kernel.run_speedup = 1.0;
                }
            }
        }
        self.rank_again();
        expired
    }
}
