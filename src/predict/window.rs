//! Geometry of windows that slide over images: pooling and convolution.
#![expect(clippy::many_single_char_names, reason = "the letters of the formulas")]

use super::arguments::Arguments;
use super::error::PredictError;
use super::parameter::{DTYPE, EXACT, Parameter};
use crate::model::DataType;

/// An R×S window that slides over N images of C×H×W and yields P×Q positions on each channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// N·C·H·W.
    pub(super) input: f64,
    /// N·C times the rows and columns that a tap meets: a stride wider than the window leaves some out, and so do taps
    /// that fall beside each other or on the border.
    pub(super) met: f64,
    /// N·C·P·Q.
    pub(super) output: f64,
    /// C.
    pub(super) channels: f64,
    /// R·S.
    pub(super) taps: f64,
    /// N·P·Q.
    positions: f64,
    /// N·H·W.
    pixels: f64,
}

const N: Parameter = Parameter::size("n", "images");
const C: Parameter = Parameter::size("c", "input channels");
const H: Parameter = Parameter::size("h", "input height");
const W: Parameter = Parameter::size("w", "input width").same_as("h");
const K: Parameter = Parameter::size("k", "output channels");
const R: Parameter = Parameter::size("r", "height of the window or filter");
const S: Parameter = Parameter::size("s", "width of the window or filter").same_as("r");
const STRIDE: Parameter = Parameter::size("stride", "step of the window").or("1");
const PAD: Parameter = Parameter::whole("pad", "rows and columns added at each border").or("0");
const DILATION: Parameter = Parameter::size("dilation", "distance of the window's taps").or("1");
const GROUPS: Parameter = Parameter::size("groups", "groups of channels").or("1");
const TYPE: Parameter = DTYPE.or("fp16");

impl Window {
    /// Parameters of a layer with a window and as many channels out as in.
    pub(super) const PARAMETERS: &'static [Parameter] =
        &[N, C, H, W, R, S, STRIDE, PAD, DILATION, TYPE];
    /// Parameters of pooling.
    pub(super) const POOL: &'static [Parameter] = &[
        N,
        C,
        H,
        W,
        R,
        S,
        STRIDE,
        PAD,
        DILATION,
        Parameter::choice("kind", &["max", "avg"], "maximum or average"),
        Parameter::flag("indices", "keep the places of the maxima, as int64"),
        TYPE,
        EXACT,
    ];

    pub(super) fn of(given: &Arguments) -> Result<Self, PredictError> {
        let [n, c, h, w] = ["n", "c", "h", "w"].map(|key| given.number(key));
        let [r, s, stride] = ["r", "s", "stride"].map(|key| given.number(key));
        let [pad, dilation] = ["pad", "dilation"].map(|key| given.number(key));
        let positions = |length: f64, taps: f64| {
            ((length + 2.0 * pad - dilation * (taps - 1.0) - 1.0) / stride).floor() + 1.0
        };
        let (p, q) = (positions(h, r), positions(w, s));
        if p < 1.0 || q < 1.0 {
            let (high, wide) = (h + 2.0 * pad, w + 2.0 * pad);
            let size = format!("{}×{}", dilation * (r - 1.0) + 1.0, dilation * (s - 1.0) + 1.0);
            return Err(given.misfit(format!("a window of {size} does not fit into {high}×{wide}")));
        }
        Ok(Self {
            input: n * c * h * w,
            met: n
                * c
                * places_met(h, (p, stride), (r, dilation), pad)
                * places_met(w, (q, stride), (s, dilation), pad),
            output: n * c * p * q,
            channels: c,
            taps: r * s,
            positions: n * p * q,
            pixels: n * h * w,
        })
    }
}

/// Returns how many of `length` rows some tap of a window meets, at so many positions of this stride.
pub(crate) fn places_met(
    length: f64,
    (positions, stride): (f64, f64),
    (taps, dilation): (f64, f64),
    pad: f64,
) -> f64 {
    /// Windows with more taps are not laid out.
    const MOST_TAPS: f64 = 65_536.0;
    /// Nor those of sizes that are no whole numbers, as traces may have them.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let is_whole = |size: &f64| size.abs() <= LARGEST;
    if taps > MOST_TAPS || ![length, positions, stride, dilation, pad].iter().all(is_whole) {
        return length.min(positions * taps);
    }
    let whole = |number: f64| number as i128;
    let (length, positions, stride) = (whole(length), whole(positions), whole(stride).max(1));
    // Rows of one remainder by the stride are as far apart as positions: what a tap meets of them is an interval.
    let first = |tap: i128| tap * whole(dilation) - whole(pad);
    let mut begins: Vec<(i128, i128)> = (0..whole(taps))
        .map(|tap| (first(tap).rem_euclid(stride), first(tap).div_euclid(stride)))
        .collect();
    begins.sort_unstable();
    let mut met = 0;
    let mut reached = (-1, 0);
    for (remainder, begin) in begins {
        let rows = (length - remainder + stride - 1).div_euclid(stride).max(0);
        let from = if reached.0 == remainder { reached.1 } else { 0 }.max(begin);
        let until = (begin + positions).min(rows);
        met += (until - from).max(0);
        reached = (remainder, from.max(until));
    }
    met as f64
}

/// A convolution from C to K channels in g groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Convolution {
    pub(super) data_type: DataType,
    pub(super) groups: f64,
    /// C.
    pub(super) inputs: f64,
    /// K.
    pub(super) outputs: f64,
    /// R·S.
    pub(super) taps: f64,
    /// (C/g)·R·S.
    pub(super) depth: f64,
    /// N·C·H·W.
    pub(super) input: f64,
    /// What filters meet of the input: N·C times the rows and columns that a tap meets.
    pub(super) met: f64,
    /// K·(C/g)·R·S.
    pub(super) filters: f64,
    /// N·K·P·Q.
    pub(super) output: f64,
    /// N·P·Q.
    pub(super) positions: f64,
    /// N·H·W.
    pub(super) pixels: f64,
    /// By how much Winograd's algorithm reduces the multiplications.
    reduction: f64,
}

impl Convolution {
    pub(super) const PARAMETERS: &'static [Parameter] = &[
        N,
        C,
        H,
        W,
        K,
        R,
        S,
        STRIDE,
        PAD,
        DILATION,
        GROUPS,
        Parameter::whole("winograd", "outputs m of Winograd's F(m×m, r×r); 0: direct").or("0"),
        TYPE,
    ];

    pub(super) fn of(given: &Arguments) -> Result<Self, PredictError> {
        let window = Window::of(given)?;
        let (outputs, groups) = (given.number("k"), given.number("groups"));
        if window.channels % groups != 0.0 || outputs % groups != 0.0 {
            let (c, k) = (window.channels, outputs);
            return Err(given.misfit(format!("groups={groups} must divide c={c} and k={k}")));
        }
        let depth = window.channels / groups * window.taps;
        Ok(Self {
            data_type: given.data_type("dtype"),
            groups,
            inputs: window.channels,
            outputs,
            taps: window.taps,
            depth,
            input: window.input,
            met: window.met,
            filters: outputs * depth,
            output: window.positions * outputs,
            positions: window.positions,
            pixels: window.pixels,
            reduction: winograd(given)?,
        })
    }

    /// 2·N·K·P·Q·(C/g)·R·S, less what Winograd's algorithm saves.
    pub(super) fn operations(&self) -> f64 {
        2.0 * self.output * self.depth / self.reduction
    }
}

/// m²r²/(m+r−1)², by which F(m×m, r×r) reduces the multiplications.
fn winograd(given: &Arguments) -> Result<f64, PredictError> {
    let [m, r, s] = ["winograd", "r", "s"].map(|key| given.number(key));
    if m == 0.0 {
        return Ok(1.0);
    }
    if r != s || given.number("stride") != 1.0 || given.number("dilation") != 1.0 {
        let reason = "Winograd's algorithm needs a square filter, stride 1 and dilation 1";
        return Err(given.misfit(reason));
    }
    Ok((m * r / (m + r - 1.0)).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows of 56 that taps at 2p − 2, 2p and 2p + 2 meet, p below 28: the even ones. Of 29 in steps of 3, two taps each:
    /// 0, 2 and 3, 5 and 6, … 26 and 27.
    #[test]
    fn taps_meet_some_rows_of_an_image() {
        assert_eq!(places_met(56.0, (28.0, 2.0), (3.0, 2.0), 2.0), 28.0);
        assert_eq!(places_met(29.0, (10.0, 3.0), (2.0, 1.0), 1.0), 19.0);
        assert_eq!(places_met(56.0, (56.0, 1.0), (3.0, 1.0), 1.0), 56.0);
        // A trace may say anything.
        for huge in [1e40, f64::INFINITY, f64::NAN, -1e300] {
            assert_eq!(places_met(8.0, (2.0, 2.0), (3.0, huge), 1.0), 6.0);
            assert_eq!(places_met(8.0, (2.0, huge), (3.0, 1.0), huge), 6.0);
        }
        assert_eq!(places_met(56.0, (28.0, 2.0), (1.0, 1.0), 0.0), 28.0);
    }

    proptest! {
        #[test]
        fn rows_that_are_met_are_those_that_a_count_one_by_one_finds(
            length in 1_i64..60, stride in 1_i64..7, taps in 1_i64..9, dilation in 1_i64..6, pad in 0_i64..9,
        ) {
            let positions = (length + 2 * pad - dilation * (taps - 1) - 1).div_euclid(stride) + 1;
            prop_assume!(positions > 0);
            let rows = (0..positions).flat_map(|at| (0..taps).map(move |tap| at * stride - pad + tap * dilation));
            let rows: std::collections::BTreeSet<i64> = rows.filter(|row| (0..length).contains(row)).collect();
            let [length, positions, stride, taps, dilation, pad] =
                [length, positions, stride, taps, dilation, pad].map(|number| number as f64);
            prop_assert_eq!(places_met(length, (positions, stride), (taps, dilation), pad), rows.len() as f64);
        }
    }
}
