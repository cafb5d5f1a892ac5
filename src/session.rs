//! Judges a profile in one call: analysis, waivers, groups, and the rules of kernels, launches and
//! the run.

use std::collections::HashMap;

use crate::analysis::{self, Analysis, AnalysisError, Kernel};
use crate::catalog::Catalog;
#[cfg(feature = "gate")]
use crate::compare::Run;
use crate::config::Config;
use crate::model::{Date, Profile, skipped};
use crate::rules::{self, DEVICE_MISMATCH, Finding, Findings};

/// Everything needed to judge profiles: devices, options, configuration, date.
///
/// ```
/// use rooflint::{ingest, session::Session};
///
/// let profile = ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default())?;
/// let judged = Session::default().judge(&profile)?;
/// assert!(judged.analysis.opportunities().count() > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Session {
    /// Known devices.
    pub catalog: Catalog,
    /// How launches are compared with their roofs.
    pub options: analysis::Options,
    /// Rules, waivers and groups. Its analysis settings are copied to `options`.
    pub config: Config,
    /// Date on which waivers must still be valid; `None` accepts all of them.
    pub today: Option<Date>,
}

impl Default for Session {
    /// Makes a session with the built-in catalog, no configuration and all defaults.
    fn default() -> Self {
        Self::new(Catalog::builtin(), Config::default())
    }
}

/// Error when a profile cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// Its launches cannot be compared with roofs.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// Its inputs cannot be compared with each other.
    #[cfg(feature = "frames")]
    #[error(transparent)]
    Inputs(#[from] crate::table::frames::FrameError),
    /// The first launches of its kernels cannot be left out.
    #[cfg(feature = "gate")]
    #[error(
        "{path} has sums of launches, not single launches, so `--warmup {warmup}` cannot leave out the first"
    )]
    Sums {
        /// The input.
        path: String,
        /// How many first launches were to be left out.
        warmup: u32,
    },
}

impl SessionError {
    /// Returns the user's next step, if there is one.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Analysis(error) => Some(error.help()),
            #[cfg(feature = "frames")]
            Self::Inputs(_) => None,
            #[cfg(feature = "gate")]
            Self::Sums { .. } => Some(
                "give an export with a row for each launch (of Nsight Systems the report \
                 cuda_gpu_trace), or drop --warmup"
                    .to_owned(),
            ),
        }
    }
}

/// A profile with its analysis and findings.
#[derive(Debug)]
pub struct Judged<'p> {
    /// The measured data.
    pub profile: &'p Profile,
    /// Every kernel compared with its roofs.
    pub analysis: Analysis,
    /// Findings on why kernels take longer.
    pub findings: Findings,
    /// Expired waivers, one sentence each; the notes of the analysis have them, too.
    pub expired: Vec<String>,
}

/// Checks of the input that are repeated where runs are compared.
const CHECKS: usize = 3;

impl Session {
    /// Makes a session with a catalog and a configuration, and the options that the configuration
    /// sets.
    #[must_use]
    pub fn new(catalog: Catalog, config: Config) -> Self {
        let options = analysis::Options {
            threshold: config.limits.threshold,
            floor: config.limits.min_savings,
            floor_share: config.limits.min_share,
            closed_forms: config.closed_forms.clone(),
            ..analysis::Options::default()
        };
        Self { catalog, options, config, today: None }
    }

    /// Sets the device of all launches, overriding the export; `None` uses that of the export.
    #[must_use]
    pub fn on(mut self, device: Option<String>) -> Self {
        self.options.device = device;
        self
    }

    /// Judges a profile.
    ///
    /// # Errors
    /// [`SessionError`] if the requested device is unknown, or a required figure of a known device
    /// is missing.
    pub fn judge<'p>(&self, profile: &'p Profile) -> Result<Judged<'p>, SessionError> {
        #[cfg_attr(not(feature = "frames"), expect(unused_mut, reason = "inputs are compared"))]
        let mut analysis = self.analyze(profile)?;
        #[cfg(feature = "frames")]
        if profile.sources.len() > 1 {
            let ranks = analysis::compare_inputs(profile)?;
            analysis.ranks = Some(ranks).filter(|ranks| ranks.ranks.len() > 1);
        }
        Ok(self.explain(profile, analysis))
    }

    /// Applies waivers, groups and rules to an analysis of a profile.
    #[must_use]
    pub fn explain<'p>(&self, profile: &'p Profile, mut analysis: Analysis) -> Judged<'p> {
        let Config { waivers, groups, rules, .. } = &self.config;
        let expired =
            if waivers.is_empty() { Vec::new() } else { analysis.waive(waivers, self.today) };
        if !groups.is_empty() {
            analysis.group(groups);
        }
        let mut findings = rules::check(profile, &analysis, rules);
        settle(&mut analysis, &mut findings);
        Judged { profile, analysis, findings, expired }
    }

    /// Compares the launches of a profile with their roofs, without waivers, groups or rules.
    ///
    /// # Errors
    /// [`AnalysisError`] under the same conditions as [`Session::judge`].
    pub fn analyze(&self, profile: &Profile) -> Result<Analysis, AnalysisError> {
        analysis::analyze(profile, &self.catalog, &self.options)
    }
}

/// Limits the sums to savings with a certain cause, and keeps findings aligned with their kernels.
fn settle(analysis: &mut Analysis, findings: &mut Findings) {
    let before: Vec<usize> = analysis.kernels.iter().map(|kernel| kernel.longest).collect();
    if analysis.leave_sure(|position| findings.accounted(position)) {
        // Kernels changed places; the longest launch of one is of no other.
        let before = before.iter().enumerate().map(|(position, longest)| (*longest, position));
        let before: HashMap<usize, usize> = before.collect();
        let was = analysis.kernels.iter().filter_map(|kernel| before.get(&kernel.longest).copied());
        findings.follow(&was.collect::<Vec<usize>>());
    }
}

impl Judged<'_> {
    /// Returns the part that is compared with other runs and saved; the first `warmup` launches of
    /// each kernel are excluded from its times, where its rows are single launches.
    #[cfg(feature = "gate")]
    #[must_use]
    pub fn run(&self, warmup: u32) -> Run {
        Run::of(self.profile, &self.analysis, &self.findings, warmup)
    }

    /// Returns the same as [`Judged::run`], if the first launches can be left out.
    ///
    /// # Errors
    /// [`SessionError::Sums`] if launches are to be left out, and an input has sums of them.
    #[cfg(feature = "gate")]
    pub fn warm_run(&self, warmup: u32) -> Result<Run, SessionError> {
        match self.profile.sums().filter(|_| warmup > 0) {
            None => Ok(self.run(warmup)),
            Some(source) => Err(SessionError::Sums { path: source.path.clone(), warmup }),
        }
    }

    /// Returns what makes its figures doubtful, one sentence each: expired waivers, a device that was asked for and that
    /// the export contradicts, what could not be read, and the first checks of the profile.
    #[must_use]
    pub fn caveats(&self) -> Vec<String> {
        let is_looked_at = self.findings.run.iter().any(|one| one.rule == DEVICE_MISMATCH);
        let used = self.analysis.devices.iter().filter(|used| is_looked_at && used.is_asked);
        let wrong = used.filter_map(|used| {
            let (first, others) = used.contradictions().split_first()?;
            let others = match others.len() {
                0 => String::new(),
                more => format!("; `rooflint analyze` lists {more} more"),
            };
            Some(format!("{first} ({}){others}", used.how))
        });
        let checks = &self.analysis.checks;
        let rest = match checks.len().saturating_sub(CHECKS) {
            0 => None,
            1 => Some("1 more check of the input: `rooflint analyze --full` lists it".to_owned()),
            more => Some(format!(
                "{more} more checks of the input: `rooflint analyze --full` lists them"
            )),
        };
        let checks = checks.iter().take(CHECKS).cloned().chain(rest);
        let skipped = skipped(&self.analysis.sources);
        self.expired.iter().cloned().chain(wrong).chain(skipped).chain(checks).collect()
    }

    /// Returns the findings of the rules about a kernel.
    #[must_use]
    pub fn findings_of(&self, kernel: &Kernel) -> &[Finding] {
        let position = kernel.rank.checked_sub(1);
        position.map_or(&[], |position| self.findings.of(position))
    }
}
