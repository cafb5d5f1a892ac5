//! The operators of a table, each with its names and amounts worked out once: they are fewer than rows.

use super::known::{Pairs, Texts};
use super::label::label;
use super::tally::Tally;
use crate::ingest::Reading;
use crate::ingest::operators::operator::Operator;
use crate::ingest::operators::params::Params;
use crate::model::NameId;

/// An operator with the names it goes by.
pub(super) struct Named {
    pub(super) operator: Operator,
    /// Operator and parameters.
    pub(super) label: NameId,
    /// The operator alone, which names launches whose kernel has no name.
    pub(super) plain: NameId,
}

const _: () = assert!(Pairs::<Named>::IS_HALF_A_LINE, "what every row asks for takes one access");

/// The cells of a row that name its operator.
pub(super) struct Cells<'a> {
    pub(super) op: &'a [u8],
    pub(super) module: &'a [u8],
    pub(super) direction: &'a [u8],
    pub(super) params: &'a [u8],
    /// Whether the parameters may have lost their end.
    pub(super) is_cut: bool,
    /// Number of the kernel within the operator, by which kernels without a name go; else empty.
    pub(super) sub: &'a [u8],
}

/// The operators met so far.
#[derive(Default)]
pub(super) struct Operators {
    /// Texts of all cells but the parameters, and of those.
    texts: [Texts; 2],
    named: Pairs<Named>,
    which: Vec<u8>,
}

impl Operators {
    /// Position of the operator that these cells name.
    pub(super) fn at(
        &mut self,
        cells: &Cells<'_>,
        reading: &mut Reading<'_>,
        tally: &mut Tally,
    ) -> usize {
        let Cells { op, module, direction, params, is_cut, sub } = *cells;
        let Self { texts: [of_which, of_params], named, which } = self;
        which.clear();
        for part in [op, module, direction, sub] {
            which.extend_from_slice(part);
            which.push(0);
        }
        which.push(u8::from(is_cut));
        named.at([of_which.number(which), of_params.number(params)], || {
            let [op, module, params, sub] =
                [op, module, params, sub].map(|cell| String::from_utf8_lossy(cell));
            let backward = direction == b"bprop";
            let operands = if is_cut { Params::parse_cut(&params) } else { Params::parse(&params) };
            let operator = match &operands {
                Some(operands) if is_cut => Operator::of_cut(&op, &module, backward, operands),
                operands => Operator::of(&op, &module, backward, operands.as_ref()),
            };
            tally.params(&op, &params);
            let (label, plain) = label(&op, &module, backward, &params, &sub);
            Named {
                operator,
                label: reading.name(label.as_bytes()),
                plain: reading.name(plain.as_bytes()),
            }
        })
    }

    /// The operator at a position.
    pub(super) fn get(&self, at: usize) -> &Named {
        self.named.get(at)
    }
}
