//! Whether two launches are the same one, by their heads and figures.

use super::{AGREES, Which, name_forms, picoseconds, print, step, time};
use crate::model::{Head, Origin, OriginKind, PRINTED_AS_ZERO, Profile, Quantity};

/// The same for shares that are almost zero.
const NOTHING: f64 = 1e-4;

/// The same for pages that round: what is computed from two rounded figures, and what is almost zero.
const ROUNDED: (f64, f64) = (0.02, 0.005);

/// So many of the figures that two pages share must agree, as a share.
const MOST: f64 = 0.75;

/// Whether two launches have other grids, or in one format began at other times, or in one format or two traces ran on
/// other GPUs: a copy says the same.
pub(super) fn are_apart(profile: &Profile, one: &Head, two: &Head) -> bool {
    if one.shape.blocks.zip(two.shape.blocks).is_some_and(|(one, two)| one != two) {
        return true;
    }
    let format = |head: &Head| &profile.sources[usize::from(head.source)].format;
    let ordinal = |head: &Head| profile.ordinal(head.device);
    let differ = |one: Option<&str>, two: Option<&str>| one.zip(two).is_some_and(|(a, b)| a != b);
    let is_one_format = format(one) == format(two);
    let started = one.start.zip(two.start);
    is_one_format && started.is_some_and(|(one, two)| one != two)
        || (is_one_format || started.is_some()) && differ(ordinal(one), ordinal(two))
}

/// Whether two launches whose names are keyed alike may be of one kernel: pages of one profiler may differ in how much
/// of a name they show.
fn may_be_one_kernel(profile: &Profile, one: &Head, two: &Head) -> bool {
    let profiler = |head: &Head| profile.sources[usize::from(head.source)].profiler;
    one.name == two.name
        || profiler(one) == profiler(two) && name_forms::may_be_one(profile, one.name, two.name)
}

/// Whether two launches are the same one.
pub(super) fn agree(profile: &Profile, one: usize, two: usize, which: Which) -> bool {
    let launches = &profile.launches;
    let heads = (launches.head(one), launches.head(two));
    if heads.0.count != heads.1.count
        || are_apart(profile, &heads.0, &heads.1)
        || !may_be_one_kernel(profile, &heads.0, &heads.1)
    {
        return false;
    }
    let format = |row: usize| &profile.sources[usize::from(launches.run(row).0)].format;
    let rows = [one, two];
    let step_of = |quantity| step_of(profile, rows, quantity);
    let (time, other_time) = (time(profile, one), time(profile, two));
    let is_other_form = format(one) != format(two) || time.xor(other_time).is_some();
    // The last digit of a page whose times are in seconds.
    let coarse = picoseconds(step_of(Quantity::Duration));
    // Pages of one report in two units: one rounds, the other does not.
    let is_other_unit = time.zip(other_time).is_some_and(|(time, other)| {
        time != other && (coarse > 0 || (time == print(time)) != (other == print(other)))
    });
    if which == Which::All && (is_other_form || is_other_unit) {
        let near = |time: i64, other: i64| (time - other).abs() * 2 <= step(time).max(coarse) + 1;
        return time.zip(other_time).is_none_or(|(time, other)| near(time, other))
            && share_that_agrees(profile, one, two).map_or(time == other_time, |share| {
                share >= if is_other_form { MOST } else { 1.0 }
            });
    }
    time == other_time
        && launches.quantities().all(|quantity| {
            match (launches.get(one, quantity), launches.get(two, quantity)) {
                (Some((one, origin)), Some((two, other))) => {
                    let [origin, other] = [origin, other].map(|id| profile.origins.get(id));
                    !are_other_parts(quantity, origin, other)
                        && (is_near(one, two, (AGREES, NOTHING))
                            || which == Which::All
                                && (is_within_digits((quantity, one, two), step_of(quantity))
                                    || is_share_of_few(profile, rows, quantity)
                                    || may_be_one_value((one, origin), (two, other))))
                }
                (None, None) => true,
                _ => which == Which::All,
            }
        })
}

/// The last digit that is printed of a quantity of two launches, in SI units: the larger one of their files.
fn step_of(profile: &Profile, rows: [usize; 2], quantity: Quantity) -> f64 {
    let steps = rows.map(|row| {
        let source = &profile.sources[usize::from(profile.launches.run(row).0)];
        source.steps.get(&quantity).copied().unwrap_or_default()
    });
    steps[0].max(steps[1])
}

/// Whether two amounts differ by less than a page in larger units shows: by half of its last digit, or where that is not
/// known one is zero and the other small.
pub(super) fn is_within_digits((quantity, one, two): (Quantity, f64, f64), step: f64) -> bool {
    /// Rounding in the conversion to SI units.
    const ROUNDING: f64 = 1.0 + 1e-9;
    let is_rounded = (one - two).abs() <= step / 2.0 * ROUNDING;
    let is_none = quantity.unit() == "B"
        && one.min(two) == 0.0
        && (0.0..PRINTED_AS_ZERO).contains(&one.max(two));
    one != two && (is_rounded || is_none)
}

/// Whether a quantity is a share of so few bytes that a page in larger units rounds them by a quarter of a percent or more.
fn is_share_of_few(profile: &Profile, rows: [usize; 2], quantity: Quantity) -> bool {
    const FEW: f64 = 200.0;
    let is_share = matches!(quantity, Quantity::DramReadShare | Quantity::CompressionInputShare);
    let bytes = |row: usize| profile.launches.value(row, Quantity::DramBytes);
    is_share
        && rows
            .iter()
            .filter_map(|row| bytes(*row))
            .reduce(f64::min)
            .is_some_and(|bytes| bytes < FEW * step_of(profile, rows, Quantity::DramBytes))
}

/// Whether two figures are of different counters of one sum of operations: they may be equal by chance. A launch table
/// does not say which counters it has.
fn are_other_parts(quantity: Quantity, one: &Origin, two: &Origin) -> bool {
    let is_told = |origin: &Origin| origin.formula != quantity.column();
    matches!(quantity, Quantity::Work(_))
        && one.high.is_infinite()
        && two.high.is_infinite()
        && one.formula != two.formula
        && is_told(one)
        && is_told(two)
}

/// Whether two launches have different counters of one sum of operations.
pub(super) fn counts_other_parts(profile: &Profile, one: usize, two: usize) -> bool {
    let launches = &profile.launches;
    launches.quantities().any(|quantity| {
        let both = launches.get(one, quantity).zip(launches.get(two, quantity));
        both.is_some_and(|((_, one), (_, two))| {
            are_other_parts(quantity, profile.origins.get(one), profile.origins.get(two))
        })
    })
}

/// Whether figures that differ say nothing against each other: what was counted since is not what shapes say, and a part
/// of a sum is at most the whole.
fn may_be_one_value((one, origin): (f64, &Origin), (two, other): (f64, &Origin)) -> bool {
    let is_stated = |origin: &Origin| origin.kind == OriginKind::Algorithmic;
    let [is_part, is_other_part] = [origin, other].map(|origin| origin.high.is_infinite());
    is_stated(origin) != is_stated(other)
        || match (is_part, is_other_part) {
            (true, true) => true,
            (true, false) => one * origin.low <= two * (1.0 + AGREES) + NOTHING,
            (false, true) => two * other.low <= one * (1.0 + AGREES) + NOTHING,
            (false, false) => false,
        }
}

fn is_near(one: f64, two: f64, (share, amount): (f64, f64)) -> bool {
    (one - two).abs() <= share * one.abs().max(two.abs()) + amount
}

/// Which share of the figures that two pages have agrees; none without any but the time. The SM clock does not take
/// part: each page shows that of another pass.
fn share_that_agrees(profile: &Profile, one: usize, two: usize) -> Option<f64> {
    let (launches, rows) = (&profile.launches, [one, two]);
    let (mut all, mut same) = (0_u32, 0_u32);
    let others = [Quantity::Duration, Quantity::SmClock];
    for quantity in launches.quantities().filter(|quantity| !others.contains(quantity)) {
        let figures = launches.get(one, quantity).zip(launches.get(two, quantity));
        let Some(((one, origin), (two, other))) = figures else { continue };
        let [origin, other] = [origin, other].map(|id| profile.origins.get(id));
        if is_within_digits((quantity, one, two), step_of(profile, rows, quantity)) {
            continue;
        }
        all += 1;
        same += u32::from(
            !are_other_parts(quantity, origin, other)
                && (is_near(one, two, ROUNDED) || may_be_one_value((one, origin), (two, other))),
        );
    }
    (all > 0).then(|| f64::from(same) / f64::from(all))
}
