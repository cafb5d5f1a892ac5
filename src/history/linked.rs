//! Tracks kernels from commit to commit, even if builds change their names and shapes.
//!
//! Kernels of one family (see [`crate::compare::family`]), operator and device are separated by
//! name and shape as far as the history allows: a key that the first and the last commit of the
//! family have, and at least half of those between, is a separate kernel. The rest of the family is
//! joined.

use std::collections::{BTreeMap, BTreeSet};

use super::batch::Batch;
use crate::compare::{Mix, RunKernel, family};
use crate::model::KernelName;
use crate::units::{Factor, Seconds, Share, Shift, median};

/// Figures of a kernel in a run, or of several kernels tracked as one.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures<'a> {
    /// The kernels in this run. A typical launch is computed only where it is asked for: it takes microseconds.
    kernels: Vec<&'a RunKernel>,
    /// Time of all launches, in seconds: one without a duration counts as the mean of its kernel.
    pub(super) time_s: Seconds,
    /// Time of the launches that have a duration, in seconds.
    measured_s: Seconds,
    /// Number of launches that have a duration.
    pub(super) timed: u64,
    /// Whether the time of a launch is that of a typical one, and not the mean.
    is_typical: bool,
    /// Share of the run time, from 0 to 1.
    pub(super) share: Share,
    judged_s: Seconds,
    roofline_s: Option<Seconds>,
}

impl<'a> Figures<'a> {
    fn add(&mut self, kernel: &'a RunKernel) {
        self.is_typical = kernel.has_launches() && (self.is_typical || self.kernels.is_empty());
        self.kernels.push(kernel);
        self.time_s += kernel.whole_s();
        self.measured_s += kernel.measured_s;
        self.timed += kernel.timed;
        self.share += kernel.share;
        if let Some(roofline_time) = kernel.roofline_s {
            self.judged_s += kernel.judged_s;
            self.roofline_s = Some(self.roofline_s.unwrap_or_default() + roofline_time);
        }
    }

    /// Returns the time of one launch: a typical one if single launches are known, else the mean.
    pub(super) fn launch_s(&self) -> Option<Seconds> {
        let typical = || self.kernels.iter().map(|kernel| kernel.typical_s()).sum();
        let all = || if self.is_typical { typical() } else { self.measured_s };
        (self.timed > 0).then(|| all() / self.timed as f64)
    }

    /// Returns the mean time of one launch.
    pub(super) fn mean_s(&self) -> Option<Seconds> {
        (self.timed > 0).then(|| self.measured_s / self.timed as f64)
    }

    /// Returns measured over roofline time.
    pub(super) fn headroom(&self) -> Option<Factor> {
        let roofline_time = self.roofline_s.filter(|time| *time > Seconds::ZERO)?;
        Some(Factor::new(self.judged_s / roofline_time))
    }
}

/// A kernel tracked through the history.
#[derive(Debug, Clone)]
pub(super) struct Track<'a> {
    /// Short name in the newest run that has it.
    pub(super) name: String,
    /// Full name in the newest run that has it.
    pub(super) full_name: String,
    /// Framework operator and parameters.
    pub(super) operator: Option<String>,
    /// Grid and block, where all its launches have the same.
    pub(super) shape: Option<String>,
    /// Category by name.
    pub(super) category: String,
    /// Whether it is several kernels, and others from commit to commit: no launch of them can be compared.
    pub(super) is_mixed: bool,
    /// Figures in the runs of each batch; empty for batches without it.
    pub(super) batches: Vec<Vec<Figures<'a>>>,
}

impl Track<'_> {
    /// Returns the median of a figure over the runs of each batch, in its base unit.
    pub(super) fn medians(&self, of: impl Fn(&Figures<'_>) -> Option<f64>) -> Vec<Option<f64>> {
        let middle = |figures: &Vec<Figures<'_>>| {
            median(&figures.iter().filter_map(&of).collect::<Vec<_>>())
        };
        self.batches.iter().map(middle).collect()
    }
}

/// A kernel in a run of a batch.
#[derive(Clone, Copy)]
struct Found<'a> {
    batch: usize,
    run: usize,
    kernel: &'a RunKernel,
}

/// Returns every kernel of these batches, tracked through them, most time in the newest batch
/// first.
pub(super) fn linked<'a>(batches: &[Batch<'a>]) -> Vec<Track<'a>> {
    let mut heads: BTreeMap<&str, String> = BTreeMap::new();
    let mut families: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for (batch, entries) in batches.iter().enumerate() {
        for (run, entry) in entries.entries.iter().enumerate() {
            for kernel in &entry.run.kernels {
                let full = full_name(kernel);
                let head = heads.entry(full).or_insert_with(|| family(&KernelName::head(full)));
                let device = entry.run.devices.get(kernel.device);
                let device = device.map_or("", |device| &*device.name);
                let operator = kernel.operator.as_deref().unwrap_or_default();
                let key = format!("{device}\0{head}\0{operator}");
                families.entry(key).or_default().push(Found { batch, run, kernel });
            }
        }
    }
    let sizes: Vec<usize> = batches.iter().map(|batch| batch.entries.len()).collect();
    let mut tracks: Vec<Track<'a>> = Vec::new();
    for found in families.into_values() {
        tracks.extend(separated(found).iter().map(|found| track(found, &sizes)));
    }
    let newest = |track: &Track| {
        let last = track.batches.iter().rev().find(|figures| !figures.is_empty());
        last.map_or(Seconds::ZERO, |figures| {
            figures.iter().map(|figures| figures.time_s).sum::<Seconds>()
        })
    };
    tracks.sort_by(|one, two| {
        newest(two).total_cmp(&newest(one)).then_with(|| one.full_name.cmp(&two.full_name))
    });
    tracks
}

fn full_name(kernel: &RunKernel) -> &str {
    if kernel.full_name.is_empty() { &kernel.name } else { &kernel.full_name }
}

/// Separates the kernels of a family as far as the history allows.
fn separated(mut left: Vec<Found<'_>>) -> Vec<Vec<Found<'_>>> {
    let batches: BTreeSet<usize> = left.iter().map(|found| found.batch).collect();
    let shape = |kernel: &RunKernel| {
        format!("{:?}", (kernel.grid, kernel.block, kernel.blocks, kernel.threads_per_block))
    };
    let with_name = |found: &Found| format!("{}\0{}", full_name(found.kernel), shape(found.kernel));
    let by_shape = |found: &Found| shape(found.kernel);
    let levels: [&dyn Fn(&Found) -> String; 2] = [&with_name, &by_shape];
    let mut apart = Vec::new();
    for key in levels {
        let mut groups: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        for found in left.drain(..) {
            groups.entry(key(&found)).or_default().push(found);
        }
        for group in groups.into_values() {
            let has: BTreeSet<usize> = group.iter().map(|found| found.batch).collect();
            let stays = has.first() == batches.first()
                && has.last() == batches.last()
                && has.len() * 2 >= batches.len();
            if stays {
                apart.push(group);
            } else {
                left.extend(group);
            }
        }
    }
    if !left.is_empty() {
        apart.push(left);
    }
    apart
}

/// Grid and block of kernels, if they have the same.
fn one_shape(found: &[Found<'_>]) -> Option<String> {
    let first = found.first()?.kernel.shape();
    let is_one = found.iter().all(|one| one.kernel.shape() == first);
    (is_one && !first.is_empty()).then_some(first)
}

fn track<'a>(found: &[Found<'a>], sizes: &[usize]) -> Track<'a> {
    let mut figures: Vec<Vec<Option<Figures<'a>>>> =
        sizes.iter().map(|runs| vec![None; *runs]).collect();
    for one in found {
        figures[one.batch][one.run].get_or_insert_default().add(one.kernel);
    }
    let mut batches: Vec<Vec<Figures<'a>>> =
        figures.into_iter().map(|runs| runs.into_iter().flatten().collect()).collect();
    // A typical launch here and the mean there would look like a change.
    if batches.iter().flatten().any(|figures| !figures.is_typical) {
        batches.iter_mut().flatten().for_each(|figures| figures.is_typical = false);
    }
    let newest = found.iter().max_by_key(|one| (one.batch, one.run)).map(|one| one.kernel);
    Track {
        name: newest.map(|kernel| kernel.name.clone()).unwrap_or_default(),
        full_name: newest.map(|kernel| full_name(kernel).to_owned()).unwrap_or_default(),
        operator: newest.and_then(|kernel| kernel.operator.clone()),
        shape: one_shape(found),
        category: newest.map(|kernel| kernel.category.clone()).unwrap_or_default(),
        is_mixed: is_mixed(&batches),
        batches,
    }
}

/// Whether the kernels of a run are others than those of the first one.
fn is_mixed(batches: &[Vec<Figures<'_>>]) -> bool {
    let mut runs = batches.iter().flatten().map(|figures| {
        let kernels = || figures.kernels.iter().copied();
        let launches: u64 = kernels().map(|kernel| kernel.launches).sum();
        (Mix::of(kernels()), launches as f64)
    });
    let Some((first, fewer)) = runs.next() else { return false };
    runs.any(|(mix, more)| mix.is_other(&first, Shift::between(fewer, more)))
}

#[cfg(test)]
mod tests {
    use super::super::store::Entry;
    use super::super::store::tests::{kernel, run};
    use super::*;
    use crate::compare::Run;

    fn entry(run: Run) -> Entry {
        Entry {
            path: "x".into(),
            name: "default".to_owned(),
            id: "x".to_owned(),
            saved: None,
            is_sealed: true,
            run,
        }
    }

    /// Kernels of each commit as name, blocks and seconds.
    fn tracks(commits: &[&[(&str, u64, f64)]]) -> Vec<(String, Vec<Option<f64>>)> {
        let entries: Vec<Entry> = commits
            .iter()
            .map(|kernels| {
                let made = kernels.iter().map(|(name, blocks, seconds)| RunKernel {
                    blocks: Some(*blocks),
                    grid: None,
                    ..kernel(name, *seconds)
                });
                entry(run("L4", made.collect()))
            })
            .collect();
        let batches: Vec<Batch> =
            entries.iter().map(|entry| Batch { entries: vec![entry] }).collect();
        let tracks = linked(&batches);
        tracks
            .iter()
            .map(|one| (one.name.clone(), one.medians(|figures| Some(figures.time_s.get()))))
            .collect()
    }

    #[test]
    fn names_that_only_a_build_changes_are_one_kernel() {
        let found = tracks(&[
            &[("triton_poi_fused_add_3", 8, 1.0), ("gemm_128x64_tn", 8, 2.0)],
            &[("triton_poi_fused_add_7", 8, 1.1), ("gemm_64x64_tn", 16, 2.1)],
            &[("triton_poi_fused_add_9", 8, 1.2), ("gemm_64x64_tn", 16, 2.2)],
        ]);
        let expected = [
            ("gemm_64x64_tn".to_owned(), vec![Some(2.0), Some(2.1), Some(2.2)]),
            ("triton_poi_fused_add_9".to_owned(), vec![Some(1.0), Some(1.1), Some(1.2)]),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn shapes_that_stay_are_kernels_of_their_own() {
        let found = tracks(&[
            &[("f(int)", 8, 1.0), ("f(int)", 16, 2.0), ("g", 1, 0.1)],
            &[("f(int)", 8, 1.1), ("f(long)", 16, 2.1)],
            &[("f(int)", 8, 1.2), ("f(long)", 16, 2.2), ("g", 1, 0.3)],
        ]);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].1, [Some(2.0), Some(2.1), Some(2.2)]);
        assert_eq!(found[1].1, [Some(1.0), Some(1.1), Some(1.2)]);
        assert_eq!(found[2].1, [Some(0.1), None, Some(0.3)]);
    }

    #[test]
    fn a_kernel_that_comes_or_goes_leaves_the_others_alone() {
        let found = tracks(&[
            &[("add_1", 8, 1.0), ("triton_a_1", 8, 3.0), ("triton_a_2", 8, 5.0)],
            &[("add_1", 8, 1.0), ("triton_a_2", 8, 5.0), ("new", 8, 9.0)],
        ]);
        let of = |name: &str| found.iter().find(|one| one.0 == name).unwrap().1.clone();
        assert_eq!(of("triton_a_2"), [Some(5.0), Some(5.0)]);
        assert_eq!(of("triton_a_1"), [Some(3.0), None]);
        assert_eq!(of("new"), [None, Some(9.0)]);
        assert_eq!(found[0].0, "new");
    }

    /// Of hashed names only the time of all can be followed where one of two kernels goes.
    #[test]
    fn kernels_that_come_and_go_under_other_names_are_mixed() {
        let mixed = |commits: &[&[u64]]| {
            let entries: Vec<Entry> = commits
                .iter()
                .enumerate()
                .map(|(commit, launches)| {
                    let made = launches.iter().enumerate().map(|(at, launches)| RunKernel {
                        launches: *launches,
                        ..kernel(&format!("fused_0a{commit}b{at}c{commit}d{at}"), 1.0)
                    });
                    entry(run("L4", made.collect()))
                })
                .collect();
            let batches: Vec<Batch> =
                entries.iter().map(|entry| Batch { entries: vec![entry] }).collect();
            let tracks = linked(&batches);
            assert_eq!(tracks.len(), 1);
            tracks[0].is_mixed
        };
        assert!(mixed(&[&[10, 10], &[10, 10], &[10]]));
        assert!(!mixed(&[&[10, 10], &[20], &[10, 10]]));
        assert!(!mixed(&[&[10], &[20], &[10]]));
    }

    #[test]
    fn kernels_on_other_devices_or_of_other_operators_are_others() {
        let one = RunKernel { operator: Some("aten::add".to_owned()), ..kernel("k", 1.0) };
        let two = RunKernel { operator: Some("aten::mul".to_owned()), ..kernel("k", 1.0) };
        let entry = entry(run("L4", vec![one, two]));
        assert_eq!(linked(&[Batch { entries: vec![&entry] }]).len(), 2);
    }
}
