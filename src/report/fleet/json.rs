//! The fleet as a JSON document of its own.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{FleetReport, HOUR};
use crate::analysis::{KernelRanks, RankId};
use crate::fleet::{Imbalance, PositionsFrom, Rank, Straggler};
use crate::report::json::{KernelDocument, kernel, totals};
use crate::report::run::devices;
use crate::units::{Hertz, Seconds};

/// Name of the document type; the number is its major version.
const SCHEMA: &str = "rooflint/fleet/1";

/// The ranks of a job, compared.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// Names of the runs.
    runs: Vec<&'a str>,
    /// Names of the devices of all ranks.
    devices: Vec<String>,
    /// Roofs: `spec`, `measured-clock` or `achievable`.
    ceilings: &'static str,
    /// Sums over all kernels of all ranks.
    totals: totals::TotalsDocument,
    /// Measured time, in hours of a GPU; `null` if no launch has a duration.
    measured_gpu_hours: Option<f64>,
    /// Realistic savings, in hours of a GPU; `null` if nothing was judged.
    savings_gpu_hours: Option<f64>,
    /// Price of an hour of one GPU, as given with `--price`.
    price_per_gpu_hour: Option<f64>,
    /// Kernels by savings, then by measured time.
    #[schemars(with = "Vec<FleetKernel<'a>>")]
    kernels: Kernels<'a>,
    /// Ranks that take longer than the others of their run, the slowest first.
    stragglers: Vec<StragglerDocument<'a>>,
    /// What gives the positions of ranks: `names` of files, `axes` or `layout`, as given; `null` if nothing does.
    positions_from: Option<&'static str>,
    /// Imbalance along the axes of parallelism.
    imbalance: Vec<ImbalanceDocument<'a>>,
    /// The ranks by run and number.
    #[schemars(with = "Vec<RankDocument<'a>>")]
    ranks: Ranks<'a>,
    /// What limits the comparison of the ranks, one sentence each.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct FleetKernel<'a> {
    #[serde(flatten)]
    kernel: KernelDocument<'a>,
    /// Median time of a launch, within 1%; `null` if no launch has a duration.
    median_launch_s: Option<f64>,
    /// Number of ranks that have the kernel.
    ranks: u64,
    /// The rank with the least time of all its launches.
    least_rank: Option<EndDocument<'a>>,
    /// Median over the ranks of the time of all its launches.
    median_rank_s: Option<f64>,
    /// Whether this median is within 1%; else it is exact.
    is_median_sketched: bool,
    /// The rank with the largest time of all its launches.
    slowest_rank: Option<EndDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct EndDocument<'a> {
    /// Name of the run.
    run: &'a str,
    /// Number of the rank.
    rank: u64,
    /// Time of all launches of the kernel.
    measured_s: f64,
}

#[derive(Serialize, JsonSchema)]
struct StragglerDocument<'a> {
    /// Name of the run.
    run: &'a str,
    /// Number of the rank.
    rank: u64,
    /// Measured time.
    measured_s: f64,
    /// Measured time over the median of the run.
    ratio: f64,
    /// Time outside communication over the median of the run.
    compute_ratio: f64,
    /// Why it is slow: `other device`, `more work`, `lower clock`, `waits in communication` or `unknown`.
    cause: &'static str,
    /// The figure behind the cause; empty if there is none.
    evidence: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct ImbalanceDocument<'a> {
    /// Name of the run.
    run: &'a str,
    /// Name of the axis.
    axis: &'a str,
    /// Number of positions on it that have ranks.
    size: u64,
    /// Position whose ranks take longest.
    slowest: u64,
    /// Mean time of its ranks outside communication.
    slowest_s: f64,
    /// Mean over all positions.
    mean_s: f64,
    /// `slowest_s` over `mean_s`.
    ratio: f64,
}

#[derive(Serialize, JsonSchema)]
struct RankDocument<'a> {
    /// Name of the run.
    run: &'a str,
    /// Number of the rank.
    rank: u64,
    /// Its position on each axis of parallelism, as far as it is known.
    positions: BTreeMap<&'a str, u64>,
    /// Names of its devices.
    devices: &'a [String],
    /// Number of launches.
    launches: u64,
    /// Measured time; `null` if no launch has a duration.
    measured_s: Option<f64>,
    /// Relative difference from the median time of its run; `null` if either is not known.
    from_median: Option<f64>,
    /// Part of the measured time in communication and copies over links; `null` if no launch has a duration.
    communication_s: Option<f64>,
    /// Measured time that is compared with roofs, without kernels faster than the model allows; `null` if no launch has a duration.
    judged_s: Option<f64>,
    /// Roofline time of that part; `null` if no launch has a duration.
    roofline_s: Option<f64>,
    /// Operations of all launches.
    operations: f64,
    /// Bytes of all launches.
    bytes: f64,
    /// Average SM clock, weighted by time; `null` if no launch has one.
    sm_clock_hz: Option<f64>,
}

/// The kernels, each made as it is written.
struct Kernels<'a>(FleetReport<'a>);

impl Serialize for Kernels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FleetReport { analysis, findings, .. } = self.0;
        let all = analysis.kernels.iter().enumerate().map(|(position, one)| {
            let findings = findings.by_kernel.get(&position).map_or(&[][..], Vec::as_slice);
            let spread = self.0.spread_of(one);
            let ranks = spread.map(|(_, ranks)| ranks);
            FleetKernel {
                kernel: kernel(analysis, one, findings),
                median_launch_s: spread.and_then(|(times, _)| times.median()).map(Seconds::get),
                ranks: ranks.map_or(0, KernelRanks::count),
                least_rank: ranks.and_then(|ranks| end(ranks.least.as_ref())),
                median_rank_s: ranks.and_then(KernelRanks::median).map(Seconds::get),
                is_median_sketched: ranks.is_some_and(KernelRanks::is_sketched),
                slowest_rank: ranks.and_then(|ranks| end(ranks.greatest.as_ref())),
            }
        });
        serializer.collect_seq(all)
    }
}

fn end(end: Option<&(RankId, Seconds)>) -> Option<EndDocument<'_>> {
    end.map(|(id, time)| EndDocument { run: &id.run, rank: id.rank, measured_s: time.get() })
}

/// The ranks, each made as it is written.
struct Ranks<'a>(&'a [Rank], BTreeMap<&'a str, f64>);

impl Serialize for Ranks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|rank| {
            let figures = &rank.figures;
            RankDocument {
                run: &rank.id.run,
                rank: rank.id.rank,
                positions: rank.positions.iter().map(|(axis, at)| (&**axis, *at)).collect(),
                devices: &figures.devices,
                launches: figures.launches,
                measured_s: rank.timed(figures.measured),
                from_median: FleetReport::from_median(rank, &self.1),
                communication_s: rank.timed(figures.communication),
                judged_s: rank.timed(figures.judged),
                roofline_s: rank.timed(figures.roofline),
                operations: figures.operations,
                bytes: figures.bytes,
                sm_clock_hz: figures.clock.map(Hertz::get),
            }
        }))
    }
}

/// Returns the JSON schema of the comparison of ranks, as pretty-printed JSON.
#[must_use]
pub fn fleet_schema() -> String {
    crate::json::schema::<Document<'_>>("fleet-1", "Comparison of the ranks of a job")
}

impl FleetReport<'_> {
    /// Returns the report as it is written as JSON.
    pub(super) fn json(&self) -> impl Serialize {
        let totals = totals::document(&self.analysis.totals);
        let hours = |seconds: Option<f64>| Some(seconds? / HOUR);
        Document {
            schema: SCHEMA,
            rooflint: env!("CARGO_PKG_VERSION"),
            runs: self.runs().into_iter().collect(),
            devices: devices(self.analysis),
            ceilings: self.analysis.ceilings.label(),
            measured_gpu_hours: hours(totals.measured_s),
            savings_gpu_hours: hours(totals.savings_s),
            totals,
            price_per_gpu_hour: self.price,
            kernels: Kernels(*self),
            stragglers: self.stragglers.iter().map(straggler).collect(),
            positions_from: self.positions_from.map(|from| match from {
                PositionsFrom::Names => "names",
                PositionsFrom::Sizes => "axes",
                PositionsFrom::Layout => "layout",
            }),
            imbalance: self.imbalances.iter().map(imbalance).collect(),
            ranks: Ranks(self.ranks, self.medians()),
            notes: self.notes,
        }
    }
}

fn straggler(straggler: &Straggler) -> StragglerDocument<'_> {
    StragglerDocument {
        run: &straggler.id.run,
        rank: straggler.id.rank,
        measured_s: straggler.measured.get(),
        ratio: straggler.ratio,
        compute_ratio: straggler.compute_ratio,
        cause: straggler.cause.label(),
        evidence: &straggler.evidence,
    }
}

fn imbalance(imbalance: &Imbalance) -> ImbalanceDocument<'_> {
    ImbalanceDocument {
        run: &imbalance.run,
        axis: &imbalance.axis,
        size: imbalance.size,
        slowest: imbalance.slowest,
        slowest_s: imbalance.slowest_time.get(),
        mean_s: imbalance.mean.get(),
        ratio: imbalance.ratio(),
    }
}
