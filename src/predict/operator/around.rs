//! A convolution and the kernels around it: layouts, transforms, biases.

use super::part::{Part, Transformed};
use super::{Convolved, Launched, Need, between, count};
use crate::model::DataType;

/// A tensor of a convolution as images of channels of pixels.
#[derive(Debug, Clone, Copy)]
struct Images {
    count: f64,
    channels: f64,
    pixels: f64,
}

impl Images {
    fn elements(self) -> f64 {
        self.count * self.channels * self.pixels
    }

    fn planes(self) -> f64 {
        self.count * self.channels
    }

    /// Returns `true` if the grid is that of `cuDNN`'s changes of layout: tiles of 32 pixels and 32
    /// channels.
    fn tiled_by(self, launched: Launched) -> bool {
        launched.grid.is_some_and(|grid| {
            let blocks = [grid.x, grid.y, grid.z].map(f64::from);
            blocks == [(self.pixels / 32.0).ceil(), (self.channels / 32.0).ceil(), self.count]
        })
    }
}

/// Storage of a tensor of unknown type: at least FP16, at most FP64.
const UNTOLD: (f64, f64) = (2.0, 4.0);

impl Convolved {
    pub(super) fn need(self, part: Part, backward: bool, launched: Launched) -> Option<Need> {
        let input = Images {
            count: self.images,
            channels: self.inputs,
            pixels: self.input.0 * self.input.1,
        };
        let output = Images {
            count: self.images,
            channels: self.outputs,
            pixels: self.output.0 * self.output.1,
        };
        let (size, size_factor) = self.data_type.map_or(UNTOLD, |kind| (kind.bytes(), 1.0));
        // A kernel may do one group of many, and how the others are launched is not told.
        if !self.is_one_group() {
            return None;
        }
        let filter = Images {
            count: self.outputs,
            channels: self.inputs,
            pixels: self.filter.0 * self.filter.1,
        };
        let around = Around { sizes: self, input, filter, output, size, launched };
        let need = around.need(part, backward)?;
        Some(need.at_most(size_factor))
    }

    /// Returns `true` if it can only be one group; groups divide the channels on both sides.
    fn is_one_group(self) -> bool {
        self.groups.unwrap_or_else(|| divisor(self.inputs, self.outputs)) == 1.0
    }
}

/// Returns the greatest common divisor of two counts; 1 if they have none.
fn divisor(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a, b);
    while b >= 1.0 {
        (a, b) = (b, a % b);
    }
    a.max(1.0)
}

/// A kernel around a convolution of one group.
#[derive(Debug, Clone, Copy)]
struct Around {
    sizes: Convolved,
    input: Images,
    filter: Images,
    output: Images,
    size: f64,
    launched: Launched,
}

impl Around {
    /// What filters meet of the input: a stride wider than the filter leaves rows and columns out.
    fn met(self) -> f64 {
        let met = |input: f64, output: f64, taps: f64| input.min(output * taps);
        let Convolved { input, output, filter, .. } = self.sizes;
        self.input.planes() * met(input.0, output.0, filter.0) * met(input.1, output.1, filter.1)
    }

    fn need(self, part: Part, backward: bool) -> Option<Need> {
        let Self { input, filter, output, size, .. } = self;
        let all = [input, filter, output];
        Some(match part {
            Part::Convolution => {
                let formula = "sizes of the convolution: 2·N·K·P·Q·C·R·S; input, filter and output";
                let operations = 2.0 * output.elements() * filter.channels * filter.pixels;
                let met = self.met();
                let elements = met + filter.elements() + output.elements();
                let need = Need::exact(formula, operations, size * elements);
                // The gradient of the input is written where no filter met it, too.
                let most =
                    if backward { (elements - met + input.elements()) / elements } else { 1.0 };
                Need { is_product: true, ..need.at_most(most) }
            }
            Part::Layout { channels_last } => {
                let tensors: &[Images] = match (backward, channels_last) {
                    // Results come back with the channels first.
                    (false, false) => &[output],
                    (true, true) => &all,
                    _ => &[input, filter],
                };
                let tiled = |one: &Images| one.tiled_by(self.launched);
                let (elements, factor) = one_of(tensors, tiled, Images::elements)?;
                let count = count("transpose", [("n", elements)], self.data_type())?;
                let formula =
                    "sizes of the convolution: one tensor read and written in another layout";
                self.moved(Need::of(formula, &count)).at_most(factor)
            }
            Part::Scale => {
                let tensors: &[Images] = if backward { &[input, filter] } else { &[output] };
                let has_work = |one: &Images| self.launched.has_work_for(one.elements());
                let (elements, factor) = one_of(tensors, has_work, Images::elements)?;
                // Scaled by 0 it is only written, scaled by anything else read as well.
                let formula =
                    "sizes of the convolution: one tensor written, read unless it is cleared";
                Need::exact(formula, 0.0, size * elements).at_most(2.0 * factor)
            }
            Part::Columns { each_image } => {
                let images = if each_image { input.count } else { 1.0 };
                let columns = output.count * output.pixels * filter.channels * filter.pixels;
                // A stride wider than the filter leaves pixels out.
                let read = input.elements().min(columns);
                let formula =
                    "sizes of the convolution: the input read, N·P·Q·C·R·S columns written";
                Need::exact(formula, 0.0, size * (read + columns) / images)
            }
            Part::FlippedFilter => {
                let formula = "sizes of the convolution: the filter read and written";
                Need::exact(formula, 0.0, 2.0 * size * filter.elements())
            }
            Part::Spectrum { tile, inverse } => {
                self.spectrum(f64::from(tile), inverse, backward)?
            }
            Part::Winograd { outputs, taps, operand, of_filter } => {
                let is_of_input = backward && !of_filter;
                // The products for the filter's gradient come back as a filter.
                let operand = match operand {
                    Transformed::Output if of_filter => Transformed::Filter,
                    operand => operand,
                };
                self.winograd((f64::from(outputs), f64::from(taps)), operand, is_of_input)?
            }
            Part::Product => self.products(backward)?,
            Part::Elementwise if !backward && self.is_bias() => {
                let sizes = [("n", output.elements()), ("broadcast", self.sizes.outputs)];
                let count = count("elementwise", sizes, self.data_type())?;
                let formula = "sizes of the convolution: bias added, N·K·P·Q read and written";
                self.moved(Need::of(formula, &count))
            }
            Part::Reduction if backward => {
                let sizes = [("n", output.elements()), ("m", self.sizes.outputs)];
                let count = count("reduction", sizes, self.data_type())?;
                let formula = "sizes of the convolution: gradient of the bias, N·K·P·Q summed to K";
                self.moved(Need::of(formula, &count))
            }
            _ => return None,
        })
    }

    /// Returns the type to count in; the counts are scaled to the certain size.
    fn data_type(self) -> DataType {
        self.sizes.data_type.unwrap_or(DataType::Fp16)
    }

    fn moved(self, need: Need) -> Need {
        Need { bytes: need.bytes / self.data_type().bytes() * self.size, ..need }
    }

    /// Returns `true` if an element-wise forward kernel works on the output, as far as the grid
    /// shows.
    fn is_bias(self) -> bool {
        self.launched.counts().is_none() || self.launched.covers(self.output.elements())
    }

    /// How many tiles of T×T cover the output, of which T−R+1 by T−S+1 are results.
    fn tiles(self, tile: f64) -> Option<f64> {
        self.tiles_over(self.sizes.output, tile)
    }

    /// The same over other extents: the gradient of the input is as large as the input.
    fn tiles_over(self, (p, q): (f64, f64), tile: f64) -> Option<f64> {
        let (high, wide) = self.sizes.filter;
        let (step_high, step_wide) = (tile - high + 1.0, tile - wide + 1.0);
        (step_high >= 1.0 && step_wide >= 1.0)
            .then(|| (p / step_high).ceil() * (q / step_wide).ceil())
    }

    /// Planes of one tensor in tiles of T×T, to or from T·(T/2+1) pairs of FP32 numbers.
    fn spectrum(self, tile: f64, inverse: bool, backward: bool) -> Option<Need> {
        let Self { input, filter, output, size, .. } = self;
        let tiles = self.tiles(tile)?;
        let tensors: &[(Images, f64)] = match (backward, inverse) {
            (false, true) => &[(output, tiles)],
            (true, false) => &[(input, tiles), (filter, 1.0), (output, tiles)],
            _ => &[(input, tiles), (filter, 1.0)],
        };
        let spectrum = 8.0 * tile * (tile / 2.0 + 1.0);
        let bytes =
            |(one, tiles): &(Images, f64)| size * one.elements() + spectrum * one.planes() * tiles;
        // Of a real transform of T² points: 2.5·T²·log₂T².
        let points = tile * tile;
        let each = 2.5 * points * points.log2();
        let operations = |(one, tiles): &(Images, f64)| each * one.planes() * tiles;
        // A row or column of a tile for each thread.
        let fits = |(one, tiles): &&(Images, f64)| {
            self.launched.counts().is_some_and(|(blocks, threads)| {
                blocks == (one.planes() * tiles * tile / threads).ceil()
            })
        };
        let fitting: Vec<_> = tensors.iter().filter(fits).collect();
        let fitting = if fitting.is_empty() { tensors.iter().collect() } else { fitting };
        let (bytes, factor) = between(fitting.iter().copied().map(bytes))?;
        let (operations, more) = between(fitting.into_iter().map(operations))?;
        let formula =
            "sizes of the convolution: one tensor, T·(T/2+1) complex numbers per tile of T×T";
        let need = Need::exact(formula, operations, bytes).operations_within(1.0, more);
        Some(need.at_most(factor))
    }

    /// A transform of F(m×m, r×r): tiles of (m+r−1)×(m+r−1) on one side, the tensor on the other.
    /// For the gradient of the input the output changes places with the input.
    fn winograd(
        self,
        (outputs, taps): (f64, f64),
        operand: Transformed,
        is_of_input: bool,
    ) -> Option<Need> {
        if self.sizes.filter != (taps, taps) {
            return None;
        }
        let tile = outputs + taps - 1.0;
        let Self { input, filter, output, .. } = self;
        let (one, covered) = match (operand, is_of_input) {
            (Transformed::Data, false) => (input, Some(self.sizes.output)),
            (Transformed::Output, false) | (Transformed::Delta, _) => {
                (output, Some(self.sizes.output))
            }
            (Transformed::Data, true) => (output, Some(self.sizes.input)),
            (Transformed::Output, true) => (input, Some(self.sizes.input)),
            (Transformed::Filter, _) => (filter, None),
        };
        let tiles = match covered {
            Some(extents) => self.tiles_over(extents, tile)?,
            None => 1.0,
        };
        let bytes = self.size * (one.elements() + one.planes() * tiles * tile * tile);
        let formula = "sizes of the convolution: one tensor, (m+r−1)² numbers per Winograd tile";
        // An addition for each number of a tile at least, two dense products of tiles at most.
        let numbers = one.planes() * tiles * tile * tile;
        Some(Need::exact(formula, numbers, bytes).operations_within(1.0, 4.0 * tile))
    }

    /// The products of transformed tiles, one for each number of a tile: the grid has them in z.
    fn products(self, backward: bool) -> Option<Need> {
        let products = f64::from(self.launched.grid?.z);
        let (taps, wide) = self.sizes.filter;
        let of_winograd = || {
            // The tiles that `cuDNN` has kernels for.
            let tile = [(2.0, 3.0), (4.0, 3.0), (9.0, 5.0)]
                .into_iter()
                .filter(|(_, r)| (*r, *r) == (taps, wide))
                .map(|(m, r)| m + r - 1.0)
                .find(|tile| tile * tile == products)?;
            Some((
                tile,
                2.0,
                self.size,
                "sizes of the convolution: a K×C×tiles product per number of a Winograd tile",
            ))
        };
        let of_spectrum = || {
            // Spectra of gradients are tiled otherwise.
            if backward {
                return None;
            }
            let tile = [16.0, 32.0].into_iter().find(|t| t * (t / 2.0 + 1.0) == products)?;
            Some((
                tile,
                8.0,
                8.0,
                "sizes of the convolution: a complex K×C×tiles product per number of a spectrum",
            ))
        };
        let (tile, each, size, formula) = of_winograd().or_else(of_spectrum)?;
        // Tiles of the gradient of the input cover it, those of the filter's the output.
        let covered = [self.sizes.output, self.sizes.input];
        let covered = if backward { &covered[..] } else { &covered[..1] };
        let tiles: Option<Vec<f64>> =
            covered.iter().map(|extents| self.tiles_over(*extents, tile)).collect();
        let (tiles, more) = between(tiles?)?;
        let columns = self.sizes.images * tiles;
        let (k, c) = (self.sizes.outputs, self.sizes.inputs);
        let operations = each * products * k * c * columns;
        let bytes = size * products * (k * c + c * columns + k * columns);
        let need = Need { is_product: true, ..Need::exact(formula, operations, bytes) };
        Some(need.operations_within(1.0, more).at_most(more))
    }
}

/// Returns the smallest of these tensors and how much larger it may be: of those that match the
/// launch, or of all if none does.
fn one_of(
    tensors: &[Images],
    fits: impl Fn(&Images) -> bool,
    value: impl Fn(Images) -> f64,
) -> Option<(f64, f64)> {
    let fitting = || tensors.iter().filter(|one| fits(one)).copied();
    match between(fitting().map(&value)) {
        Some(found) => Some(found),
        None => between(tensors.iter().copied().map(value)),
    }
}
