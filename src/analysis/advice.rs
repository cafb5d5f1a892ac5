//! Results of the profiler's own rules on a kernel, combined over its launches.

use crate::model::{AdviceKind, NameId, Profile, SpeedupScope, Text, ToolAdvice};

/// Result of one profiler rule on a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelAdvice {
    /// The profiler's name for the rule.
    pub rule: Text,
    /// Kind of the result.
    pub kind: AdviceKind,
    /// Subject, in a few words; `None` if the export has no text.
    pub about: Option<Text>,
    /// Number of launches with this result.
    pub launches: u64,
    /// Estimated speedup; `None` if the export has no estimate.
    pub speedup: Option<AdviceSpeedup>,
}

/// The profiler's speedup estimates over the launches of a kernel, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdviceSpeedup {
    /// Reference of the shares; `None` if the export does not state it.
    pub scope: Option<SpeedupScope>,
    /// Smallest estimate.
    pub low: f64,
    /// Largest estimate.
    pub high: f64,
}

/// The results of profiler rules on the launches of a kernel so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Gathered(Vec<Entry>);

#[derive(Debug, Clone)]
struct Entry {
    rule: NameId,
    kind: AdviceKind,
    about: NameId,
    launches: u64,
    speedup: Option<AdviceSpeedup>,
}

impl Gathered {
    /// Adds the results on a row that stands for `count` launches.
    pub(super) fn add(&mut self, advice: &[ToolAdvice], count: u64) {
        for one in advice {
            let scope = one.speedup.map(|speedup| speedup.scope);
            let known = self.0.iter_mut().find(|entry| {
                entry.rule == one.rule
                    && entry.kind == one.kind
                    && entry.about == one.about
                    && entry.speedup.map(|speedup| speedup.scope) == scope
            });
            match known {
                Some(entry) => {
                    entry.launches += count;
                    if let (Some(range), Some(new)) = (&mut entry.speedup, one.speedup) {
                        range.low = range.low.min(new.share);
                        range.high = range.high.max(new.share);
                    }
                }
                None => self.0.push(Entry {
                    rule: one.rule,
                    kind: one.kind,
                    about: one.about,
                    launches: count,
                    speedup: one.speedup.map(|new| AdviceSpeedup {
                        scope: new.scope,
                        low: new.share,
                        high: new.share,
                    }),
                }),
            }
        }
    }

    /// Returns the results on the kernel, in the order of their first occurrence.
    pub(super) fn named(&self, profile: &Profile) -> Box<[KernelAdvice]> {
        let advice = self.0.iter().map(|entry| {
            let about = profile.names.shared(entry.about);
            KernelAdvice {
                rule: profile.names.shared(entry.rule),
                kind: entry.kind,
                about: (!about.is_empty()).then_some(about),
                launches: entry.launches,
                speedup: entry.speedup,
            }
        });
        advice.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Speedup;

    #[test]
    fn estimates_of_two_scopes_are_never_one_range() {
        let mut profile = Profile::default();
        let (rule, about) = (profile.names.id("CPIStall"), profile.names.id(""));
        let advice = |speedup: Option<(SpeedupScope, f64)>| ToolAdvice {
            rule,
            kind: AdviceKind::Optimization,
            about,
            speedup: speedup.map(|(scope, share)| Speedup { scope: Some(scope), share }),
        };
        let mut gathered = Gathered::default();
        gathered.add(&[advice(Some((SpeedupScope::Global, 0.25)))], 1);
        gathered.add(&[advice(Some((SpeedupScope::Local, 0.75))), advice(None)], 1);
        gathered.add(&[advice(Some((SpeedupScope::Global, 0.125)))], 2);
        let told = gathered.named(&profile);
        let ranges: Vec<_> = told
            .iter()
            .map(|one| (one.launches, one.speedup.map(|speedup| (speedup.low, speedup.high))))
            .collect();
        assert_eq!(ranges, [(3, Some((0.125, 0.25))), (1, Some((0.75, 0.75))), (1, None)]);
        assert_eq!((&*told[0].rule, told[0].about.as_ref()), ("CPIStall", None));
    }
}
