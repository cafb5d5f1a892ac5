//! Compares the inputs of a profile: time of each, and kernels that take longer in some.

use std::collections::BTreeMap;

use super::ranks::{Rank, Ranks, Spread};
use crate::model::Profile;
use crate::table::frames::{By, FrameError, sums};
use crate::units::{Seconds, median};

/// Number of kernels listed with their spread.
const SPREADS: usize = 5;

/// Compares the inputs of a profile: time per input, and kernels that take longer on some.
///
/// # Errors
/// [`FrameError`] if the frame library fails.
pub fn compare_inputs(profile: &Profile) -> Result<Ranks, FrameError> {
    let mut ranks: Vec<Rank> = sums(profile, By::Source)?
        .into_iter()
        .map(|sum| Rank { source: sum.source, launches: sum.launches, measured: sum.measured })
        .collect();
    ranks.sort_by_key(|rank| rank.source);
    let mut per_kernel: BTreeMap<_, Vec<(f64, usize)>> = BTreeMap::new();
    for sum in sums(profile, By::KernelAndSource)? {
        if let Some(time) = sum.measured {
            per_kernel.entry(sum.kernel).or_default().push((time.get(), sum.source));
        }
    }
    // The kernels whose slowest input loses most against the median over inputs, most first.
    let mut spreads: Vec<Spread> = per_kernel
        .into_iter()
        .filter(|(_, inputs)| inputs.len() > 1)
        .map(|(kernel, inputs)| spread(profile.names.get(kernel), inputs))
        .collect();
    let lost = |spread: &Spread| spread.greatest.get() - spread.median.get();
    spreads.sort_by(|a, b| lost(b).total_cmp(&lost(a)).then_with(|| a.kernel.cmp(&b.kernel)));
    spreads.truncate(SPREADS);
    Ok(Ranks { ranks, spreads })
}

/// Returns smallest, median and largest time over the inputs; of equally slow inputs the first.
fn spread(kernel: &str, mut inputs: Vec<(f64, usize)>) -> Spread {
    inputs.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
    let (least, greatest) = (inputs[0], inputs[inputs.len() - 1]);
    let times: Vec<f64> = inputs.iter().map(|(time, _)| *time).collect();
    Spread {
        kernel: kernel.to_owned(),
        sources: inputs.len() as u64,
        least: Seconds::new(least.0),
        median: Seconds::new(median(&times).unwrap_or_default()),
        greatest: Seconds::new(greatest.0),
        slowest: greatest.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Head, Origin, OriginKind, Quantity, Source, Values};

    #[test]
    fn the_slowest_input_of_a_kernel_is_found() {
        let mut profile = Profile { sources: vec![Source::default(); 4], ..Profile::default() };
        let name = profile.names.id("gemm");
        let origin = profile.origins.id(&Origin::measured("t"));
        for (source, time) in [(0, 1.0), (1, 3.0), (2, 2.0), (1, 4.0)] {
            let mut values = Values::default();
            values.set(Quantity::Duration, time, origin);
            profile.launches.push(Head { source, name, count: 1, ..Head::default() }, &values);
        }
        // A time under instrumentation is none of the kernel.
        let slowed = Origin { kind: OriginKind::Instrumented, ..Origin::measured("t") };
        let mut values = Values::default();
        values.set(Quantity::Duration, 900.0, profile.origins.id(&slowed));
        let untimed = Head { source: 3, name, count: 1, ..Head::default() };
        profile.launches.push(untimed, &values);
        let ranks = compare_inputs(&profile).unwrap();
        assert_eq!(
            ranks.ranks.iter().map(|rank| rank.measured.map(Seconds::get)).collect::<Vec<_>>(),
            [Some(1.0), Some(7.0), Some(2.0), None]
        );
        assert_eq!(ranks.ranks[1].launches, 2);
        assert_eq!(ranks.spreads[0].sources, 3);
        let spread = &ranks.spreads[0];
        assert_eq!(
            (spread.least.get(), spread.median.get(), spread.greatest.get(), spread.slowest),
            (1.0, 2.0, 7.0, 1)
        );
    }
}
