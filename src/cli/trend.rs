//! `trend`: how the saved runs of a program moved from commit to commit, and where they changed.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::args::{Configuration, Picture};
use super::environment::{self, STORE};
use super::exit::{self, Failure};
use super::output::{self, Outputs};
use super::store::{Chosen, FOLDER};
use super::{clock, config, session, store, terminal::Terminal, trend_limits as limits};
use crate::history::{self, HistoryError, Least, Store, TrendMetric};
use crate::report::{Style, TrendReport};

const EXAMPLES: &str = "\
Examples:
  rooflint trend                            the run, and kernels with 1% of its time
  rooflint trend -o trend.svg -o trend.csv  as a picture and as a table
  rooflint trend --kernel '*layer_norm*' --metric headroom
  rooflint trend --gate                              exit 1 on a step or drift beyond the limits of [gate]
  rooflint trend launches/ --kernel '*attention*'    over the runs of a partitioned table
  rooflint trend ci/baselines --branch main --device 'H100 SXM5 80GB'";

/// Show performance over commits and where it changed
///
/// Changes are found by energy statistics and confirmed by Student's t-test (E-divisive, as in Hunter
/// and Apache Otava), on logarithms of each commit's median: three commits on each side, p at most
/// 0.005 after correction, and levels that differ by 5%, at once or in several steps. A steady drift is reported as one change.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Trend {
    /// The store of baselines, or a partitioned launch table with runs named by date [default: baselines]
    #[arg(value_name = "STORE")]
    store: Option<PathBuf>,

    #[command(flatten)]
    chosen: Chosen,

    /// Only these kernels: a name, or a pattern with `*`
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,

    /// Follow this figure
    #[arg(long, value_name = "METRIC", default_value = "time")]
    metric: Followed,

    /// Show this many changes and tables of kernels
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Print full kernel names, as the profiler wrote them
    #[arg(long)]
    full_names: bool,

    /// Exit 1 if the run or a kernel got slower than the limits of the policy allow, 4 if nothing could be checked
    #[arg(long)]
    gate: bool,

    /// With --gate: pass with a note while there are too few commits to check anything
    #[arg(long, requires = "gate")]
    allow_short_history: bool,

    #[command(flatten)]
    configuration: Configuration,

    #[command(flatten)]
    outputs: Outputs<true>,

    #[command(flatten)]
    picture: Picture,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Followed {
    /// Time of one launch of a kernel; of the run, its whole time
    Time,
    /// Measured over roofline time
    Headroom,
    /// Share of a kernel in the time of the run
    Share,
    /// Time of all launches
    Total,
}

impl Followed {
    const fn metric(self) -> TrendMetric {
        match self {
            Self::Time => TrendMetric::Time,
            Self::Headroom => TrendMetric::Headroom,
            Self::Share => TrendMetric::Share,
            Self::Total => TrendMetric::Total,
        }
    }
}

pub(super) fn run(command: &Trend, terminal: &Terminal) -> Result<(), Failure> {
    let places =
        command.outputs.places_or_pictures("format of trends", &command.picture.given())?;
    let session = || {
        let config = config::find(&command.configuration, terminal)?;
        session::configured(&[], config)
    };
    // An argument has no variable of its own, as the option of other commands has.
    let folder = command.store.clone().or_else(|| environment::value(STORE).map(PathBuf::from));
    let folder = folder.unwrap_or_else(|| PathBuf::from(FOLDER));
    let (store, judged) = store::open(&folder, session)?;
    let filter = command.chosen.filter(&store)?;
    let kernel = command.kernel.as_deref();
    let metric = command.metric.metric();
    let policy = if command.gate {
        Some(config::find(&command.configuration, terminal)?.gate)
    } else {
        None
    };
    let least = policy.as_ref().map_or_else(Least::default, |policy| limits::least(metric, policy));
    let trend = history::trend(&store, &filter, metric, kernel, least);
    let mut trend = trend.map_err(|error| match error {
        HistoryError::NotFound { message } if !Store::is_store(store.folder()) => {
            Failure::usage(message).help(
                "--name, --device and --kernel choose; the runs of a partitioned table are its folders run=NAME",
            )
        }
        several @ HistoryError::Several { .. } => {
            Failure::usage(several.to_string()).help("--name NAME chooses")
        }
        other => Failure::History(other),
    })?;
    trend.notes.extend(judged);
    trend
        .notes
        .extend(crate::report::unread(&store).into_iter().map(|file| format!("not read: {file}")));
    let mut only_warns = false;
    if let Some(policy) = policy {
        // A gate does not pass on what it could not read.
        store.check(filter.name.as_deref())?;
        only_warns = policy.warn_only;
        limits::judge(&mut trend, &policy, clock::now().date(), command.allow_short_history);
    }
    let report = TrendReport { trend: &trend, top: command.top };
    let style = |style, _: &Path| Style { full_names: command.full_names, ..style };
    #[cfg(feature = "plot")]
    {
        let canvas = command.picture.canvas();
        let picture = |encoding| crate::report::trend_picture(&trend, &canvas, encoding);
        output::write_or_draw(&places, &report, style, terminal, picture)?;
    }
    // The options of pictures are understood, also where none can be drawn.
    #[cfg(not(feature = "plot"))]
    {
        let _ = &command.picture;
        output::write(&places, &report, style, terminal)?;
    }
    match (trend.exceeded.is_empty(), trend.inconclusive.is_empty()) {
        _ if only_warns => Ok(()),
        (true, true) => Ok(()),
        (false, _) => Err(Failure::Verdict(exit::GATE_FAILED)),
        (true, false) => Err(Failure::Verdict(exit::INCONCLUSIVE)),
    }
}
