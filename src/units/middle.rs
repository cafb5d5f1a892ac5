//! The middle of values, for every report and check.

/// Returns the median, which is the mean of the two middle values for an even number; `None` for no
/// values.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    match values {
        [one] => Some(*one),
        _ => median_of(&mut values.to_vec()),
    }
}

/// Returns the median and reorders the values.
pub(crate) fn median_of(values: &mut [f64]) -> Option<f64> {
    let length = values.len();
    if length == 0 {
        return None;
    }
    let (below, upper, _) = values.select_nth_unstable_by(length / 2, f64::total_cmp);
    let upper = *upper;
    if length % 2 == 1 {
        return Some(upper);
    }
    let lower = below.iter().copied().max_by(f64::total_cmp).unwrap_or(upper);
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        // Large values do not overflow, and limits that are infinite have themselves as the middle.
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(median(&[f64::INFINITY; 2]), Some(f64::INFINITY));
    }
}
