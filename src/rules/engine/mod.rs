//! What rules are made of and what runs them: subjects, findings, settings, custom rules.

#[cfg(test)]
pub(in crate::rules) mod bench_figures;
#[cfg(test)]
pub(in crate::rules) mod bench_launches;
#[cfg(test)]
pub(in crate::rules) mod bench_table;
pub(in crate::rules) mod check;
pub(in crate::rules) mod custom;
pub(in crate::rules) mod design;
pub(in crate::rules) mod finding;
pub(in crate::rules) mod findings;
mod libraries;
pub(in crate::rules) mod pipes;
pub(in crate::rules) mod rule;
pub(in crate::rules) mod run;
pub(in crate::rules) mod settings;
pub(in crate::rules) mod shares;
pub(in crate::rules) mod skipped;
pub(in crate::rules) mod stalls;
pub(in crate::rules) mod subject;
pub(in crate::rules) mod threshold;
