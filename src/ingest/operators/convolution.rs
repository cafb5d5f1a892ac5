//! Operations and bytes of convolutions, from their sizes.

use super::forms::{Basis, Count, Work, eighths};
use super::params::Params;
use crate::predict::places_met;

/// Elements of a convolution.
struct Convolved {
    input: f64,
    /// What filters meet of the input.
    met: f64,
    /// Of one filter.
    filter: f64,
    /// Filters and output.
    others: f64,
    output: f64,
}

impl Convolved {
    fn of(params: &Params) -> Option<Self> {
        let number = |key| params.number(key);
        let (images, filters) = (number("N")?, number("K")?);
        let groups = number("g").filter(|groups| *groups >= 1.0).unwrap_or(1.0);
        let filter = number("C")? * number("R")? * number("S")? / groups;
        let [h, w, p, q] = [number("H")?, number("W")?, number("P")?, number("Q")?];
        let planes = images * number("C")?;
        let rows = met(params, ["rows", "U", "dh", "ph"], [h, p, number("R")?]);
        let columns = met(params, ["columns", "V", "dw", "pw"], [w, q, number("S")?]);
        let met = planes * rows * columns;
        let output = images * filters * p * q;
        Some(Self { input: planes * h * w, met, filter, others: filters * filter + output, output })
    }
}

/// How many of the places of a dimension filters meet: as the recorder says, or by stride, dilation and padding.
fn met(params: &Params, names: [&str; 4], [length, places, taps]: [f64; 3]) -> f64 {
    let [known, stride, dilation, padding] = names.map(|name| params.number(name));
    let by_steps = stride.zip(dilation).zip(padding).map(|((stride, dilation), padding)| {
        places_met(length, (places, stride), (taps, dilation), padding)
    });
    known.or(by_steps).unwrap_or(length.min(places * taps))
}

/// What `conv.py` prints as bytes where the stride is wider than the filter: the whole input.
pub(in crate::ingest) fn faulty_convolution(params: &Params, size: f64) -> Option<f64> {
    let Convolved { input, met, others, .. } = Convolved::of(params)?;
    (met < input).then_some(size * (input + others))
}

/// A convolution; its gradients take as much. Winograd and FFT kernels do less than is counted here.
///
/// A stride wider than the filter, or dilation, leaves rows and columns of the input out; its gradient is written there, too.
pub(in crate::ingest) fn convolution(params: &Params, size: f64, backward: bool) -> Option<Work> {
    static FLOPS: Basis = Basis::exact("2·N·K·P·Q·C·R·S/g from shapes");
    const BYTES: &str = "s·(N·C·H·W + K·C·R·S/g + N·K·P·Q) from shapes";
    static ALL: Basis = Basis::exact(BYTES);
    const MET: &str = "s·(N·C·(what filters meet of H·W) + K·C·R·S/g + N·K·P·Q) from shapes";
    let Convolved { input, met, filter, others, output } = Convolved::of(params)?;
    let whole = Work::new(2.0 * output * filter, &FLOPS, size * (input + others), &ALL);
    if met >= input {
        return Some(whole);
    }
    let most = if backward { (input + others) / (met + others) } else { 1.0 };
    let bytes = Count::new(size * (met + others), &Basis::within(MET, 1.0, eighths(most)));
    Some(Work { bytes: bytes.filter(|count| count.value > 0.0), ..whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows {2p − 2, 2p, 2p + 2 : p < 28} of 56 are the 28 even ones; P·R = 38 rows of 54 count two of padding.
    #[test]
    fn filters_meet_what_stride_dilation_and_padding_let_them() {
        let bytes = |params: &str| {
            let params = Params::parse(params).unwrap();
            convolution(&params, 4.0, false).unwrap().bytes.unwrap().value
        };
        let dilated =
            "N=64,C=256,H=56,W=56,K=8,P=28,Q=28,R=3,S=3,ph=2,pw=2,U=2,V=2,dh=2,dw=2,g=1,fp32,";
        let met = 64.0 * 256.0 * 28.0 * 28.0 + 8.0 * 256.0 * 9.0 + 64.0 * 8.0 * 28.0 * 28.0;
        assert_eq!(bytes(dilated), 4.0 * met);
        let strided =
            "N=1,C=1,H=54,W=54,K=1,P=19,Q=19,R=2,S=2,ph=1,pw=1,U=3,V=3,dh=1,dw=1,g=1,fp32,";
        assert_eq!(bytes(strided), 4.0 * (36.0 * 36.0 + 4.0 + 19.0 * 19.0));
        // Without steps at most so many rows as taps have places.
        let unknown = "N=1,C=1,H=54,W=54,K=1,P=19,Q=19,R=2,S=2,g=1,fp32,";
        assert_eq!(bytes(unknown), 4.0 * (38.0 * 38.0 + 4.0 + 19.0 * 19.0));
    }
}
