//! Launches as columns, and the typed view of one.

use super::advice::AdviceColumn;
use super::shapes::{Shape, Shapes};
use super::uniform::Uniform;
use super::{HintId, NameId, Origin, OriginId, Pipe, Profile, Quantity, ToolAdvice};
use crate::units::{Bytes, Flops, Seconds};

/// The identity of a launch, without its measured values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// Index into [`Profile::sources`].
    pub source: u16,
    /// Operating-system process; 0 if the export has none.
    pub process: u32,
    /// ID of the launch within its export.
    pub id: u32,
    /// Kernel name as written in the export.
    pub name: NameId,
    /// Framework operator and its parameters, if the export has them.
    pub operator: NameId,
    /// Grid and block.
    pub shape: Shape,
    /// The device it ran on.
    pub device: HintId,
    /// CUDA stream.
    pub stream: Option<u32>,
    /// Start on the GPU in nanoseconds: since 1970 (UTC) if the export says so, otherwise since an instant that all
    /// launches of the file share. Whole, because absolute times lose nanoseconds as floats.
    pub start: Option<u64>,
    /// Number of launches in this row; if more than one, values are averages.
    pub count: u32,
    /// Where in the program it was launched, if the export has it: modules or lines of code.
    pub place: NameId,
}

/// The measured values of one launch while it is being read.
#[derive(Debug, Clone)]
pub struct Values {
    entries: Vec<(Quantity, f64, OriginId)>,
    /// Index of each quantity among the entries, plus one; zero if there is none.
    places: Vec<u8>,
}

impl Default for Values {
    fn default() -> Self {
        Self { entries: Vec::new(), places: vec![0; Quantity::COUNT] }
    }
}

impl Values {
    /// Adds a value in SI base units; one that the quantity does not allow counts as missing and is ignored.
    pub fn set(&mut self, quantity: Quantity, value: f64, origin: OriginId) {
        let place = &mut self.places[quantity.index()];
        if quantity.allows(value) && *place == 0 {
            self.entries.push((quantity, value, origin));
            *place = self.entries.len() as u8;
        }
    }

    /// Returns the value of a quantity.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        let place = usize::from(self.places[quantity.index()]);
        self.entries.get(place.checked_sub(1)?).map(|entry| entry.1)
    }

    /// Iterates over the values, in the order in which they were set.
    pub fn iter(&self) -> impl Iterator<Item = (Quantity, f64)> {
        self.entries.iter().map(|(quantity, value, _)| (*quantity, *value))
    }

    /// Iterates over the values with their origins, in the order in which they were set.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Quantity, f64, OriginId)> {
        self.entries.iter().copied()
    }

    /// Removes all values and keeps the memory.
    pub fn clear(&mut self) {
        for (quantity, ..) in self.entries.drain(..) {
            self.places[quantity.index()] = 0;
        }
    }
}

/// One quantity of all launches; often none varies, such as the peak of a pipe.
#[derive(Debug, Default, Clone)]
struct Column {
    /// Rows up to the last one with a value.
    len: usize,
    /// As bits, which can be compared.
    values: Uniform<u64>,
    origins: Uniform<OriginId>,
}

/// Marks a missing value, and never leaves this module.
const MISSING: u64 = f64::NAN.to_bits();

impl Column {
    fn put(&mut self, row: usize, value: f64, origin: OriginId) {
        if row < self.len {
            self.values.set(row, self.len, value.to_bits());
            self.origins.set(row, self.len, origin);
            return;
        }
        self.fill(row, origin);
        self.values.push(row, value.to_bits());
        self.origins.push(row, origin);
        self.len = row + 1;
    }

    /// Appends the column of launches that come after so many, whose origins have other ids here.
    fn append(&mut self, before: usize, other: &Self, ids: &[OriginId]) {
        let id = |id: OriginId| ids[id.position()];
        if other.len > 0 {
            self.fill(before, id(other.origins.get(0)));
            self.values.append(before, &other.values, other.len, |value| value);
            self.origins.append(before, &other.origins, other.len, id);
            self.len = before + other.len;
        }
    }

    /// Appends missing values until there are so many rows; they have the origin of the first value.
    fn fill(&mut self, rows: usize, next: OriginId) {
        if self.len >= rows {
            return;
        }
        let origin = if self.len > 0 { self.origins.get(0) } else { next };
        for row in self.len..rows {
            self.values.push(row, MISSING);
            self.origins.push(row, origin);
        }
        self.len = rows;
    }

    fn forget(&mut self, row: usize) {
        if row < self.len {
            self.values.set(row, self.len, MISSING);
        }
    }

    fn get(&self, row: usize) -> Option<(f64, OriginId)> {
        let value = if row < self.len { self.values.get(row) } else { MISSING };
        (value != MISSING).then(|| (f64::from_bits(value), self.origins.get(row)))
    }
}

/// The launches of a profile as columns; only quantities that occur use memory.
#[derive(Debug, Default)]
pub struct Launches {
    heads: Heads,
    shapes: Shapes,
    columns: Vec<Option<Column>>,
    advice: AdviceColumn,
}

/// The ids that the parts of one profile get in another.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    /// Sources before the first one.
    pub(super) sources: u16,
    pub(super) names: Vec<NameId>,
    pub(super) origins: Vec<OriginId>,
    pub(super) devices: Vec<HintId>,
}

impl Renumbered {
    fn name(&self, name: NameId) -> NameId {
        self.names[name.0 as usize]
    }
}

#[derive(Debug, Default)]
struct Heads {
    len: usize,
    source: Uniform<u16>,
    process: Uniform<u32>,
    id: Uniform<u32>,
    name: Uniform<NameId>,
    operator: Uniform<NameId>,
    shape: Uniform<u32>,
    device: Uniform<HintId>,
    stream: Uniform<u32>,
    start: Uniform<u64>,
    count: Uniform<u32>,
    place: Uniform<NameId>,
}

/// Marks an unknown stream; no export uses this number.
const NO_STREAM: u32 = u32::MAX;

/// Marks an unknown start.
const NO_START: u64 = u64::MAX;

impl Launches {
    /// Returns the number of launches.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heads.len
    }

    /// Returns `true` if there are no launches.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends a launch and returns its row.
    pub fn push(&mut self, head: Head, values: &Values) -> usize {
        let row = self.len();
        let shape = self.shape_id(head.shape);
        let heads = &mut self.heads;
        heads.source.push(row, head.source);
        heads.process.push(row, head.process);
        heads.id.push(row, head.id);
        heads.name.push(row, head.name);
        heads.operator.push(row, head.operator);
        heads.shape.push(row, shape);
        heads.device.push(row, head.device);
        heads.stream.push(row, head.stream.unwrap_or(NO_STREAM));
        heads.start.push(row, head.start.unwrap_or(NO_START));
        heads.count.push(row, head.count.max(1));
        heads.place.push(row, head.place);
        heads.len += 1;
        for (quantity, value, origin) in &values.entries {
            self.column(*quantity).put(row, *value, *origin);
        }
        row
    }

    /// Adds values to an existing launch; existing values are kept.
    pub fn fill(&mut self, row: usize, values: &Values) {
        for (quantity, value, origin) in &values.entries {
            if self.get(row, *quantity).is_none() {
                self.column(*quantity).put(row, *value, *origin);
            }
        }
    }

    /// Sets values of an existing launch, in the place of what it has.
    pub fn revise(&mut self, row: usize, values: &Values) {
        for (quantity, value, origin) in &values.entries {
            self.column(*quantity).put(row, *value, *origin);
        }
    }

    /// Returns all values of launch `row`, in the order of the quantities.
    pub(crate) fn values(&self, row: usize) -> Values {
        let mut values = Values::default();
        for quantity in self.quantities() {
            if let Some((value, origin)) = self.get(row, quantity) {
                values.set(quantity, value, origin);
            }
        }
        values
    }

    /// Removes a value of an existing launch.
    pub(crate) fn forget(&mut self, row: usize, quantity: Quantity) {
        if let Some(Some(column)) = self.columns.get_mut(quantity.index()) {
            column.forget(row);
        }
    }

    /// Gives an existing launch values in the place of all that it has.
    pub(crate) fn rewrite(&mut self, row: usize, values: &Values) {
        self.columns.iter_mut().flatten().for_each(|column| column.forget(row));
        self.revise(row, values);
    }

    /// Replaces or sets one value of an existing launch.
    pub fn replace(&mut self, row: usize, quantity: Quantity, value: f64, origin: OriginId) {
        self.column(quantity).put(row, value, origin);
    }

    /// Replaces name, operator, shape, device and stream of an existing launch, which were not known at first.
    pub fn describe(&mut self, row: usize, head: &Head) {
        let shape = self.shape_id(head.shape);
        let Heads { len, name, operator, shape: shapes, device, stream, .. } = &mut self.heads;
        name.set(row, *len, head.name);
        operator.set(row, *len, head.operator);
        shapes.set(row, *len, shape);
        device.set(row, *len, head.device);
        stream.set(row, *len, head.stream.unwrap_or(NO_STREAM));
    }

    /// Adds a result of a profiler rule to an existing launch, unless it is already there; returns
    /// `true` if there was room.
    pub fn advise(&mut self, row: usize, advice: ToolAdvice) -> bool {
        self.advice.put(row, advice)
    }

    /// Returns the results of the profiler's rules on launch `row`, in the profiler's order.
    #[must_use]
    pub fn advice(&self, row: usize) -> &[ToolAdvice] {
        self.advice.of(row)
    }

    /// Returns the identity of launch `row`.
    #[must_use]
    pub fn head(&self, row: usize) -> Head {
        let heads = &self.heads;
        let (stream, start) = (heads.stream.get(row), heads.start.get(row));
        Head {
            source: heads.source.get(row),
            process: heads.process.get(row),
            id: heads.id.get(row),
            name: heads.name.get(row),
            operator: heads.operator.get(row),
            shape: self.shapes.get(heads.shape.get(row)),
            device: heads.device.get(row),
            stream: (stream != NO_STREAM).then_some(stream),
            start: (start != NO_START).then_some(start),
            count: heads.count.get(row),
            place: heads.place.get(row),
        }
    }

    /// Returns a key that is equal for launches of the same name, operator, shape and device.
    #[must_use]
    pub fn kernel_key(&self, row: usize) -> (NameId, NameId, u32, HintId) {
        let heads = &self.heads;
        (heads.name.get(row), heads.operator.get(row), heads.shape.get(row), heads.device.get(row))
    }

    /// Iterates over the distinct shapes of all launches, in the order of their numbers in [`Launches::kernel_key`].
    pub(crate) fn shapes(&self) -> impl Iterator<Item = Shape> {
        self.shapes.iter()
    }

    /// Returns the source of launch `row`.
    #[must_use]
    pub fn source(&self, row: usize) -> u16 {
        self.heads.source.get(row)
    }

    /// Returns the device of launch `row`.
    #[must_use]
    pub fn device(&self, row: usize) -> HintId {
        self.heads.device.get(row)
    }

    /// Returns how many executions launch `row` stands for.
    #[must_use]
    pub fn count(&self, row: usize) -> u32 {
        self.heads.count.get(row)
    }

    /// Returns a value in SI base units.
    #[must_use]
    #[inline]
    pub fn value(&self, row: usize, quantity: Quantity) -> Option<f64> {
        self.get(row, quantity).map(|entry| entry.0)
    }

    /// Returns a value with the id of its origin.
    #[must_use]
    #[inline]
    pub fn get(&self, row: usize, quantity: Quantity) -> Option<(f64, OriginId)> {
        self.columns.get(quantity.index())?.as_ref()?.get(row)
    }

    /// Returns `true` if any launch has this quantity.
    #[must_use]
    pub fn has(&self, quantity: Quantity) -> bool {
        self.columns.get(quantity.index()).is_some_and(Option::is_some)
    }

    /// Leaves out quantities that no launch has any more.
    pub(crate) fn forget_unused(&mut self) {
        for column in &mut self.columns {
            let is_used = |column: &Column| (0..column.len).any(|row| column.get(row).is_some());
            *column = column.take().filter(is_used);
        }
    }

    /// Iterates over the quantities that at least one launch has, in table order.
    pub fn quantities(&self) -> impl Iterator<Item = Quantity> {
        Quantity::all().filter(|quantity| self.has(*quantity))
    }

    /// Returns the source and the process of launch `row`.
    #[must_use]
    pub fn run(&self, row: usize) -> (u16, u32) {
        (self.heads.source.get(row), self.heads.process.get(row))
    }

    /// Returns the process of launch `row` and its number there.
    #[must_use]
    pub fn numbers(&self, row: usize) -> (u32, u32) {
        (self.heads.process.get(row), self.heads.id.get(row))
    }

    /// Returns whether the start of any launch is known.
    pub(crate) fn has_starts(&self) -> bool {
        !self.is_empty() && !self.heads.start.are_all(NO_START)
    }

    /// Returns the start of launch `row` in nanoseconds, as in [`Head::start`].
    #[must_use]
    pub fn start(&self, row: usize) -> Option<u64> {
        Some(self.heads.start.get(row)).filter(|start| *start != NO_START)
    }

    /// Iterates over the devices of all launches.
    pub(super) fn devices(&self) -> impl Iterator<Item = HintId> {
        (0..self.len()).map(|row| self.device(row))
    }

    /// Gives the devices other ids, those at their old ones.
    pub(super) fn renumber_devices(&mut self, ids: &[HintId]) {
        let new = |device: HintId| ids.get(device.position()).copied().unwrap_or_default();
        let devices = std::mem::take(&mut self.heads.device);
        self.heads.device.append(0, &devices, self.heads.len, new);
    }

    /// Appends the launches of another profile, whose ids become those of this one.
    pub(super) fn append(&mut self, other: &Self, ids: &Renumbered) {
        if other.is_empty() {
            return;
        }
        let before = self.len();
        let shapes: Vec<u32> = other.shapes.iter().map(|shape| self.shapes.id(shape)).collect();
        let (heads, from, rows) = (&mut self.heads, &other.heads, other.len());
        let name = |name| ids.name(name);
        let device = |device: HintId| ids.devices[device.position()];
        heads.source.append(before, &from.source, rows, |id| id.saturating_add(ids.sources));
        heads.process.append(before, &from.process, rows, |process| process);
        heads.id.append(before, &from.id, rows, |id| id);
        heads.name.append(before, &from.name, rows, name);
        heads.operator.append(before, &from.operator, rows, name);
        heads.shape.append(before, &from.shape, rows, |shape| shapes[shape as usize]);
        heads.device.append(before, &from.device, rows, device);
        heads.stream.append(before, &from.stream, rows, |stream| stream);
        heads.start.append(before, &from.start, rows, |start| start);
        heads.count.append(before, &from.count, rows, |count| count);
        heads.place.append(before, &from.place, rows, name);
        heads.len += rows;
        for quantity in other.quantities() {
            if let Some(Some(column)) = other.columns.get(quantity.index()) {
                self.column(quantity).append(before, column, &ids.origins);
            }
        }
        for row in 0..other.len() {
            for advice in other.advice(row) {
                let (rule, about) = (ids.name(advice.rule), ids.name(advice.about));
                self.advise(before + row, ToolAdvice { rule, about, ..*advice });
            }
        }
    }

    /// Keeps only the launches for which `keep` returns `true`, in order.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let rows: Vec<usize> = (0..self.len()).filter(|row| keep(*row)).collect();
        let heads = &mut self.heads;
        heads.len = rows.len();
        heads.source.pick(&rows);
        heads.process.pick(&rows);
        heads.id.pick(&rows);
        heads.name.pick(&rows);
        heads.operator.pick(&rows);
        heads.shape.pick(&rows);
        heads.device.pick(&rows);
        heads.stream.pick(&rows);
        heads.start.pick(&rows);
        heads.count.pick(&rows);
        heads.place.pick(&rows);
        self.advice.pick(&rows);
        for column in self.columns.iter_mut().flatten() {
            let old = std::mem::take(column);
            for (row, from) in rows.iter().enumerate() {
                if let Some((value, origin)) = old.get(*from) {
                    column.put(row, value, origin);
                }
            }
        }
        self.forget_unused();
    }

    fn column(&mut self, quantity: Quantity) -> &mut Column {
        if self.columns.is_empty() {
            self.columns.resize(Quantity::COUNT, None);
        }
        self.columns[quantity.index()].get_or_insert_with(Column::default)
    }

    fn shape_id(&mut self, shape: Shape) -> u32 {
        // Neighboring launches often share a shape.
        if let Some(last) = self.len().checked_sub(1).map(|last| self.heads.shape.get(last))
            && self.shapes.get(last) == shape
        {
            return last;
        }
        self.shapes.id(shape)
    }
}

/// A typed view of one launch.
#[derive(Debug, Clone, Copy)]
pub struct Launch<'a> {
    pub(super) profile: &'a Profile,
    row: usize,
    /// Identity of the launch.
    pub head: Head,
}

impl<'a> Launch<'a> {
    pub(super) fn new(profile: &'a Profile, row: usize) -> Self {
        Self { profile, row, head: profile.launches.head(row) }
    }

    /// Returns the index among the launches of the profile.
    #[must_use]
    pub fn row(&self) -> usize {
        self.row
    }

    /// Returns the kernel's name as written in the export; may be empty.
    #[must_use]
    pub fn kernel(&self) -> &'a str {
        self.profile.names.get(self.head.name)
    }

    /// Returns a value in SI base units, with its origin.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> Option<(f64, &'a Origin)> {
        let (value, origin) = self.profile.launches.get(self.row, quantity)?;
        Some((value, self.profile.origins.get(origin)))
    }

    /// Returns a value in SI base units.
    #[must_use]
    pub fn value(&self, quantity: Quantity) -> Option<f64> {
        self.profile.launches.value(self.row, quantity)
    }

    /// Returns the time on the GPU, with its origin.
    #[must_use]
    pub fn duration(&self) -> Option<(Seconds, &'a Origin)> {
        self.get(Quantity::Duration).map(|(value, origin)| (Seconds::new(value), origin))
    }

    /// Returns the bytes to and from device memory, with their origin.
    #[must_use]
    pub fn dram_bytes(&self) -> Option<(Bytes, &'a Origin)> {
        self.get(Quantity::DramBytes).map(|(value, origin)| (Bytes::new(value), origin))
    }

    /// Returns the results of the profiler's own rules.
    #[must_use]
    pub fn advice(&self) -> &'a [ToolAdvice] {
        self.profile.launches.advice(self.row)
    }

    /// Iterates over the recorded work by pipe, including entries known to be zero.
    pub fn work(&self) -> impl Iterator<Item = (Pipe, Flops, &'a Origin)> {
        let (profile, row) = (self.profile, self.row);
        Pipe::ALL.iter().filter_map(move |pipe| {
            let (value, origin) = profile.launches.get(row, Quantity::Work(*pipe))?;
            Some((*pipe, Flops::new(value), profile.origins.get(origin)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_stay_missing_and_origins_follow_their_rows() {
        let mut launches = Launches::default();
        let mut values = Values::default();
        let mut origins = crate::model::Origins::default();
        let [one, two] = ["a", "b"].map(|column| origins.id(&Origin::measured(column)));
        launches.push(Head::default(), &values);
        values.set(Quantity::Duration, 1.5, one);
        launches.push(Head::default(), &values);
        values.clear();
        values.set(Quantity::Duration, 2.5, two);
        for impossible in [f64::NAN, f64::INFINITY, -1.0, 1e30] {
            values.set(Quantity::DramBytes, impossible, two);
        }
        values.set(Quantity::SmClock, 0.0, two);
        values.set(Quantity::SmClock, -1.0, two);
        values.set(Quantity::DramClock, 3.192e13, two);
        values.set(Quantity::L2HitRate, 0.0, two);
        launches.push(Head::default(), &values);
        let times = [0, 1, 2].map(|row| launches.get(row, Quantity::Duration));
        assert_eq!(times, [None, Some((1.5, one)), Some((2.5, two))]);
        let lost = [Quantity::DramBytes, Quantity::SmClock, Quantity::DramClock];
        assert!(lost.into_iter().all(|quantity| !launches.has(quantity)));
        assert_eq!(launches.get(2, Quantity::L2HitRate), Some((0.0, two)));
        launches.retain(|row| row != 1);
        assert_eq!((launches.len(), launches.get(0, Quantity::Duration)), (2, None));
        assert_eq!(launches.get(1, Quantity::Duration), Some((2.5, two)));
        launches.retain(|row| row == 0);
        assert_eq!(launches.quantities().count(), 0, "what no launch has is not in the table");
    }
}
