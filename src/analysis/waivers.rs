//! Waivers: accepted kernels, which are excluded from the savings but still in the table.

use super::{Analysis, State, meant};
use crate::model::Date;
use crate::units::Seconds;

/// A waiver, which accepts kernels until a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiver {
    /// Full kernel name, or a pattern in which `*` matches anything.
    pub kernel: String,
    /// Reason for the waiver.
    pub reason: String,
    /// Person responsible.
    pub owner: Option<String>,
    /// Last day on which it is valid.
    pub expires: Option<Date>,
}

impl Analysis {
    /// Waives the kernels that waivers name. Waivers that expired before `today` are ignored;
    /// without a date all of them are valid.
    ///
    /// Expired waivers and waivers that match no kernel have no effect and are reported in the
    /// notes and in [`Analysis::idle_settings`]. The notes on expired ones are also returned, because they apply to all outputs.
    pub fn waive(&mut self, waivers: &[Waiver], today: Option<Date>) -> Vec<String> {
        let mut expired = Vec::new();
        for waiver in waivers {
            let fitting: Vec<usize> = (0..self.kernels.len())
                .filter(|at| self.kernels[*at].is_named(&waiver.kernel))
                .collect();
            let of = waiver.owner.as_ref().map_or_else(String::new, |owner| format!(" ({owner})"));
            if fitting.is_empty() {
                let names = self.kernels.iter().map(|one| (&*one.name, &*one.full_name));
                let meant = meant(&waiver.kernel, &names);
                self.note_idle(format!(
                    "the waiver for {:?}{of} matches no kernel; remove it{meant}",
                    waiver.kernel
                ));
                continue;
            }
            if let Some(expires) = Date::past(waiver.expires, today) {
                let note = format!(
                    "the waiver for {:?}{of} expired on {expires}: {}",
                    waiver.kernel, waiver.reason
                );
                expired.push(note.clone());
                self.note_idle(note);
                continue;
            }
            let until = waiver.expires.map_or_else(String::new, |day| format!(" until {day}"));
            for at in fitting {
                let kernel = &mut self.kernels[at];
                if matches!(
                    kernel.state,
                    State::Flagged
                        | State::LowImpact
                        | State::Fair
                        | State::Possible
                        | State::NearRoofline
                ) {
                    kernel.state = State::Waived;
                    kernel.reason = format!("waived{until}{of}: {}", waiver.reason).into();
                    kernel.savings_low = Seconds::ZERO;
                    kernel.savings = Seconds::ZERO;
                }
            }
        }
        self.rank_again();
        expired
    }

    /// Notes that a waiver or group has no effect.
    pub(super) fn note_idle(&mut self, note: String) {
        self.notes.push(note.clone());
        self.idle_settings.push(note);
    }
}
