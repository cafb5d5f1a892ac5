//! Fused attention: two products over the pairs of queries and keys that see each other.

use super::{Need, Tensor, count};

/// Queries, keys and values of a fused attention, each of images by rows by heads by width, which pairs it computes, and
/// what is added to their scores.
#[derive(Debug, Clone, PartialEq)]
pub struct Attended {
    /// Queries, keys and values; then what is stored of a bias that is added to the scores, if there is one.
    pub tensors: Vec<Tensor>,
    /// Which keys a query sees.
    pub seen: Seen,
}

/// Which keys a query sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Seen {
    /// All of them.
    All,
    /// All, or those up to its own: the export does not say which.
    AllOrCausal,
    /// A band around the diagonal, as in causal attention and in sliding windows.
    Band(Band),
}

/// Query `i` sees key `j` if `i + offset - before <= j <= i + offset + after`, all counted from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Band {
    /// Keys before its own; infinite without a limit.
    pub before: f64,
    /// Keys after its own; infinite without a limit.
    pub after: f64,
    /// The key that is the first query's own: 0 if the diagonal begins there, keys - queries if it ends with the last of both.
    pub offset: f64,
}

impl Band {
    /// Returns the pairs of so many queries and keys in the band.
    fn pairs(self, queries: f64, keys: f64) -> f64 {
        // Keys up to `i + limit` of each query, added up: none at first, then one more with each, then all.
        let up_to = |limit: f64| {
            let first = (-limit - 1.0).clamp(0.0, queries);
            let last = (keys - limit - 1.0).clamp(0.0, queries);
            let rising = (last - first) * ((first + last - 1.0) / 2.0 + limit + 1.0);
            if limit == f64::INFINITY { queries * keys } else { rising + (queries - last) * keys }
        };
        let below =
            if self.before.is_finite() { up_to(self.offset - self.before - 1.0) } else { 0.0 };
        (up_to(self.offset + self.after) - below).max(0.0)
    }

    /// Returns the keys that any query sees.
    fn keys(self, queries: f64, keys: f64) -> f64 {
        let first = (self.offset - self.before).max(0.0);
        let last = (queries - 1.0 + self.offset + self.after).min(keys - 1.0);
        (last - first + 1.0).clamp(0.0, keys)
    }
}

impl Attended {
    /// Returns the work of the kernel that computes it, or its gradients.
    pub(super) fn need(&self, backward: bool) -> Option<Need> {
        let [query, key, value] = self.tensors.get(..3)? else { return None };
        let ([b, nq, h, d], [same, nk, g, width]) = (query.shape.as_slice(), key.shape.as_slice())
        else {
            return None;
        };
        if (b, d) != (same, width) || key.shape != value.shape || (h / g).fract() != 0.0 {
            return None;
        }
        let form = if backward { "attention-backward" } else { "attention" };
        let of = |keys| {
            let sizes = [("b", *b), ("h", *h), ("g", *g), ("nq", *nq), ("nk", keys), ("d", *d)];
            count(form, sizes, query.data_type)
        };
        let all = of(*nk)?;
        let need = |formula, operations, bytes| Need {
            is_product: true,
            ..Need::exact(formula, operations, bytes)
        };
        let (operations, bytes) = (all.operations().get(), all.bytes().get());
        // A bias has a number for each pair of rows; its gradient, which may be wanted, as many.
        let bias = self.tensors.get(3).map_or(0.0, |bias| bias.elements() * bias.data_type.bytes());
        let passes = if backward { 2.0 } else { 1.0 };
        let biased = |need: Need, least: f64| Need {
            bytes: need.bytes + least * bias,
            high: (need.bytes + passes * bias) / (need.bytes + least * bias),
            ..need
        };
        Some(match self.seen {
            Seen::All => {
                let need = need("sizes of the attention: all pairs of rows", operations, bytes);
                biased(need, 1.0)
            }
            Seen::AllOrCausal if nk >= nq => {
                let formula = "sizes of the attention: all pairs of rows, or half if it is causal";
                biased(need(formula, operations, bytes).operations_within(0.5, 1.0), 0.5)
            }
            Seen::AllOrCausal => return None,
            Seen::Band(band) => {
                let share = band.pairs(*nq, *nk) / (nq * nk);
                let seen = band.keys(*nq, *nk);
                let formula = if band.before.is_finite() {
                    "sizes of the attention: pairs of rows within the window"
                } else {
                    "sizes of the attention: pairs of rows up to the diagonal"
                };
                (share > 0.0).then_some(())?;
                biased(need(formula, operations * share, of(seen)?.bytes().get()), share)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_and_keys_of_a_band_are_those_counted_one_by_one(
            queries in 1_u32..40, keys in 1_u32..40, before in 0_i64..50, after in 0_i64..50,
            offset in -45_i64..45, open in 0..3,
        ) {
            let sees = |i: i64, j: i64| {
                let own = i + offset;
                (open == 1 || j >= own - before) && (open == 2 || j <= own + after)
            };
            let (mut pairs, mut seen) = (0_u32, std::collections::BTreeSet::new());
            for i in 0..i64::from(queries) {
                for j in (0..i64::from(keys)).filter(|j| sees(i, *j)) {
                    pairs += 1;
                    seen.insert(j);
                }
            }
            let infinite = |is_open: bool, number: i64| if is_open { f64::INFINITY } else { number as f64 };
            let band = Band {
                before: infinite(open == 1, before),
                after: infinite(open == 2, after),
                offset: offset as f64,
            };
            let (queries, keys) = (f64::from(queries), f64::from(keys));
            prop_assert_eq!(band.pairs(queries, keys), f64::from(pairs));
            // A band may leave keys out only at both ends.
            prop_assert_eq!(band.keys(queries, keys), seen.len() as f64);
        }
    }
}
