//! Matches kernels of two runs by the strictest key that fits on both sides.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::both::Both;
use super::family::{family, spelled, written};
use crate::analysis::{Analysis, Kernel};
use crate::model::KernelName;

/// How two kernels were matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchLevel {
    /// Same name with all its arguments, same operator, same grid and block.
    Exact,
    /// Same name without return type and parameters, however its template arguments are spelled; same
    /// operator, grid and block.
    Signature,
    /// Same signature and operator, with any grid and block.
    Name,
    /// Same name [`family`] and same operator.
    Family,
    /// Names differ; launches, place in the run and time say that it was renamed, fused or split.
    Inferred,
}

impl MatchLevel {
    /// All levels of names, strictest first.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Signature, Self::Name, Self::Family];

    /// Name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Signature => "signature",
            Self::Name => "name",
            Self::Family => "family",
            Self::Inferred => "inferred",
        }
    }

    fn key(self, kernel: &Identity) -> String {
        let Identity { full, operator, shape, device, .. } = kernel;
        match self {
            Self::Exact => format!("{full}\0{operator}\0{device}\0{shape}"),
            Self::Signature => {
                format!("{}\0{operator}\0{device}\0{shape}", spelled(&KernelName::head(full)))
            }
            Self::Name => format!("{}\0{operator}\0{device}", spelled(&KernelName::head(full))),
            Self::Family | Self::Inferred => {
                format!("{}\0{operator}\0{device}", family(&KernelName::head(full)))
            }
        }
    }
}

/// What distinguishes a kernel from the others of its side.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    /// Full name as written in the export, else the short name.
    pub(crate) full: String,
    /// Framework operator; empty if there is none.
    pub(crate) operator: String,
    /// Grid and block.
    pub(crate) shape: String,
    /// The device, if a side has several.
    pub(crate) device: String,
    /// Runs of the side in which it occurs.
    pub(crate) runs: Vec<usize>,
}

impl Identity {
    fn of(kernel: &Kernel) -> Self {
        Self {
            full: written(&kernel.full_name, &kernel.name).to_owned(),
            operator: kernel.operator.as_deref().unwrap_or_default().to_owned(),
            shape: format!("{:?}", kernel.shape),
            device: String::new(),
            runs: vec![0],
        }
    }
}

/// Matching kernels of two runs, by their positions. If a looser key joins several, only their
/// totals can be compared, not single launches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// How they were matched.
    pub level: MatchLevel,
    /// Kernels of the baseline.
    pub before: Vec<usize>,
    /// Kernels of the current run.
    pub after: Vec<usize>,
}

/// The matching of two runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pairing {
    /// Matched kernels, in the order of the current run.
    pub pairs: Vec<Pair>,
    /// Kernels of the baseline that the current run lacks.
    pub vanished: Vec<usize>,
    /// Kernels of the current run that the baseline lacks.
    pub new: Vec<usize>,
}

/// Matches the kernels of two analyses level by level. A looser key never overrides a stricter one,
/// and partial names never match.
#[must_use]
pub fn pair(before: &Analysis, after: &Analysis) -> Pairing {
    let of = |analysis: &Analysis| analysis.kernels.iter().map(Identity::of).collect::<Vec<_>>();
    let kernels = Both { before: of(before), after: of(after) };
    pair_sides(kernels.as_ref().map(Vec::as_slice), Both { before: 1, after: 1 })
}

/// Matches sides of several runs each. A kernel that some runs lack, because a library chose
/// another tile, is matched by the strictest key that every run has; if there is none, by the
/// strictest key that both sides have.
pub(crate) fn pair_sides(kernels: Both<&[Identity]>, runs: Both<usize>) -> Pairing {
    let Both { before, after } = kernels;
    let mut pairing = Pairing::default();
    let mut left: Vec<usize> = (0..before.len()).collect();
    let mut right: Vec<usize> = (0..after.len()).collect();
    for whole in [true, false] {
        for level in MatchLevel::ALL {
            if level == MatchLevel::Name {
                let mut rest = Both { before: left, after: right };
                pairing.pairs.extend(renumbered(kernels, &mut rest));
                Both { before: left, after: right } = rest;
            }
            let mut groups: BTreeMap<String, Both<Vec<usize>>> = BTreeMap::new();
            for position in left.drain(..) {
                groups.entry(level.key(&before[position])).or_default().before.push(position);
            }
            for position in right.drain(..) {
                groups.entry(level.key(&after[position])).or_default().after.push(position);
            }
            for Both { before: one, after: two } in groups.into_values() {
                let fits = !one.is_empty()
                    && !two.is_empty()
                    && (!whole
                        || covered(before, &one) == runs.before
                            && covered(after, &two) == runs.after);
                if fits {
                    pairing.pairs.push(Pair { level, before: one, after: two });
                } else {
                    left.extend(one);
                    right.extend(two);
                }
            }
        }
        // With one run per side, every kernel is in all of them.
        if runs == (Both { before: 1, after: 1 }) {
            break;
        }
    }
    pairing.pairs.sort_by(|one, two| one.after.cmp(&two.after));
    left.sort_unstable();
    right.sort_unstable();
    pairing.vanished = left;
    pairing.new = right;
    pairing
}

/// Pairs kernels that a compiler numbered anew, by grid and block: a kernel more before them moves all numbers. Only of
/// families of which more kernels agree in shape than in number; those that are paired are taken from the positions.
fn renumbered(kernels: Both<&[Identity]>, left: &mut Both<Vec<usize>>) -> Vec<Pair> {
    let mut families: BTreeMap<String, Both<Vec<usize>>> = BTreeMap::new();
    let key = |kernel: &Identity| {
        kernel.full.starts_with("triton_").then(|| MatchLevel::Family.key(kernel))
    };
    for position in &left.before {
        let Some(key) = key(&kernels.before[*position]) else { continue };
        families.entry(key).or_default().before.push(*position);
    }
    for position in &left.after {
        let Some(key) = key(&kernels.after[*position]) else { continue };
        families.entry(key).or_default().after.push(*position);
    }
    let mut pairs = Vec::new();
    for family in families.into_values() {
        let sides = |of: for<'a> fn(&'a Identity) -> &'a str| Both {
            before: grouped(kernels.before, &family.before, of),
            after: grouped(kernels.after, &family.after, of),
        };
        let common = |sides: &Both<BTreeMap<&str, Vec<usize>>>| {
            sides.before.keys().filter(|key| sides.after.contains_key(*key)).count()
        };
        let by_shape = sides(|kernel| &kernel.shape);
        if common(&by_shape) <= common(&sides(|kernel| &kernel.full)) {
            continue;
        }
        let Both { before, mut after } = by_shape;
        for (shape, before) in before {
            if let Some(after) = after.remove(shape) {
                pairs.push(Pair { level: MatchLevel::Family, before, after });
            }
        }
    }
    let taken = |of: fn(&Pair) -> &[usize]| -> BTreeSet<usize> {
        pairs.iter().flat_map(of).copied().collect()
    };
    let (before, after) = (taken(|pair| &pair.before), taken(|pair| &pair.after));
    left.before.retain(|position| !before.contains(position));
    left.after.retain(|position| !after.contains(position));
    pairs
}

/// Kernels at these positions by one of their names.
fn grouped<'a>(
    side: &'a [Identity],
    positions: &[usize],
    of: fn(&'a Identity) -> &'a str,
) -> BTreeMap<&'a str, Vec<usize>> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for position in positions {
        groups.entry(of(&side[*position])).or_default().push(*position);
    }
    groups
}

/// Counts the runs in which any of the kernels occurs.
fn covered(kernels: &[Identity], positions: &[usize]) -> usize {
    let runs = positions.iter().flat_map(|position| &kernels[*position].runs);
    runs.collect::<BTreeSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Options, analyze};
    use crate::catalog::Catalog;
    use crate::ingest;

    fn run(kernels: &[(&str, u32)]) -> Analysis {
        let mut text = "name,us,grid\n".to_owned();
        for (name, grid) in kernels {
            text.push_str(&format!("\"{name}\",5,{grid}\n"));
        }
        let map = "[columns]\nkernel = \"name\"\ntime = { column = \"us\", unit = \"us\" }\ngrid = \"grid\"\n";
        let map = ingest::Mapping::from_toml(map, "map.toml").unwrap();
        let options = ingest::Options { map: Some(map), ..ingest::Options::default() };
        let profile = ingest::read_text("made.csv", text.leak(), &options).unwrap();
        let options = Options { device: Some("L4".to_owned()), ..Options::default() };
        analyze(&profile, &Catalog::builtin(), &options).unwrap()
    }

    /// Pairs as names with their grids, and what has no partner.
    fn paired(before: &[(&str, u32)], after: &[(&str, u32)]) -> Vec<(MatchLevel, usize, usize)> {
        let (before, after) = (run(before), run(after));
        let pairing = pair(&before, &after);
        let of = |pair: &Pair| (pair.level, pair.before.len(), pair.after.len());
        let mut found: Vec<_> = pairing.pairs.iter().map(of).collect();
        found.sort_unstable();
        let all: usize = pairing.pairs.iter().map(|pair| pair.before.len()).sum();
        assert_eq!(all + pairing.vanished.len(), before.kernels.len());
        let all: usize = pairing.pairs.iter().map(|pair| pair.after.len()).sum();
        assert_eq!(all + pairing.new.len(), after.kernels.len());
        found
    }

    #[test]
    fn a_run_is_paired_with_itself_in_any_order() {
        let one =
            [("a(int)", 1), ("a(int)", 2), ("b<float>(int)", 1), ("triton_poi_fused_add_3", 9)];
        let mut two = one;
        two.reverse();
        assert_eq!(paired(&one, &two), [(MatchLevel::Exact, 1, 1); 4]);
    }

    #[test]
    fn names_are_the_same_as_far_as_they_are() {
        use MatchLevel::{Exact, Family, Name, Signature};
        assert_eq!(paired(&[("f(int)", 1)], &[("f(long)", 1)]), [(Signature, 1, 1)]);
        assert_eq!(paired(&[("f(int)", 1)], &[("f(int)", 2)]), [(Name, 1, 1)]);
        assert_eq!(paired(&[("f<(int)4>(int)", 1)], &[("f<4>(int)", 1)]), [(Signature, 1, 1)]);
        assert_eq!(
            paired(&[("triton_poi_fused_add_3", 9)], &[("triton_poi_fused_add_8", 9)]),
            [(Family, 1, 1)]
        );
        // The tighter key takes its own; what is left of the family is joined.
        assert_eq!(
            paired(
                &[("triton_poi_fused_add_3", 9), ("triton_poi_fused_add_4", 9)],
                &[("triton_poi_fused_add_4", 9), ("triton_poi_fused_add_5", 9)]
            ),
            [(Exact, 1, 1), (Family, 1, 1)]
        );
    }

    /// One kernel more before them; and another batch, with the numbers as before.
    #[test]
    fn numbers_of_a_compiler_follow_grids_where_more_of_them_agree() {
        use MatchLevel::{Family, Name};
        let names: Vec<String> = (0..5).map(|at| format!("triton_poi_fused_add_{at}")).collect();
        let before: Vec<(&str, u32)> = (0..4).map(|at| (names[at].as_str(), 1024 << at)).collect();
        let moved: Vec<(&str, u32)> =
            (0..4).map(|at| (names[at + 1].as_str(), 1024 << at)).collect();
        assert_eq!(paired(&before, &moved), [(Family, 1, 1); 4]);
        let larger: Vec<(&str, u32)> = (0..4).map(|at| (names[at].as_str(), 2048 << at)).collect();
        assert_eq!(paired(&before, &larger), [(Name, 1, 1); 4]);
        // Each kernel with the one of its grid.
        let (one, two) = (run(&before), run(&moved));
        for pair in pair(&one, &two).pairs {
            assert_eq!(one.kernels[pair.before[0]].shape, two.kernels[pair.after[0]].shape);
        }
    }

    #[test]
    fn a_part_of_a_name_is_not_the_name() {
        assert_eq!(paired(&[("gemm", 1)], &[("gemm_fast", 1)]), []);
        assert_eq!(paired(&[("f<gemm>(int)", 1)], &[("gemm", 1)]), []);
        assert_eq!(paired(&[("f<float>(int)", 1)], &[("f<double>(int)", 1)]), []);
    }
}
