//! Rows of a launch table, from a part or a partial, as a profile again.

use std::collections::HashMap;

use crate::ingest;
use crate::model::{DeviceHint, Head, HintId, OriginId, OriginKind, Profile, Profiler, Quantity};
use crate::model::{Source, Values};
#[cfg(feature = "frames")]
use crate::table::CHECKS;
#[cfg(feature = "frames")]
use crate::table::parts::RowGroup;
use crate::table::{Row, Value};

/// How a value came about, with its bounds.
type Derivation = (Quantity, OriginKind, [u64; 2]);

/// Rows on their way back to a profile.
#[derive(Default)]
pub(super) struct Rows {
    profile: Profile,
    /// How each quantity was derived, by the metadata of the part.
    formulas: HashMap<Quantity, String>,
    origins: HashMap<Derivation, OriginId>,
    /// The exports that the launches come from: source and format.
    sources: Vec<[Option<String>; 2]>,
    /// The device of the last row: neighbors often share it.
    device: Option<(DeviceHint, HintId)>,
    values: Values,
}

impl Rows {
    /// No rows yet, of a part with this metadata.
    #[cfg(feature = "frames")]
    pub(super) fn with_metadata(metadata: &[(String, String)]) -> Self {
        let mut rows = Self::default();
        for quantity in Quantity::all() {
            let name = quantity.column();
            let key = format!("column:{name}");
            let found = metadata.iter().find(|(known, _)| *known == key);
            // Of `[B] a + b` the unit is left out.
            let formula =
                found.map(|(_, text)| text.split_once("] ").map_or(&**text, |(_, rest)| rest));
            rows.formulas.insert(quantity, formula.unwrap_or(&name).to_owned());
        }
        let checks = metadata.iter().filter(|(key, _)| key == CHECKS);
        for check in checks.flat_map(|(_, text)| text.lines()) {
            rows.profile.check(check.to_owned());
        }
        rows
    }

    /// Returns all launches that were added.
    pub(super) fn finish(mut self) -> Profile {
        self.profile.names.finish();
        self.profile
    }

    /// Adds a row group; `false` if a row is not valid.
    #[cfg(feature = "frames")]
    pub(super) fn add(&mut self, group: &RowGroup) -> bool {
        let mut row = Row::default();
        (0..group.height()).all(|at| {
            let is_valid = group.read(at, &mut row);
            self.launch(&row);
            is_valid
        })
    }

    /// Adds a launch.
    pub(super) fn launch(&mut self, row: &Row) {
        self.values.clear();
        for value in &row.values {
            let origin = self.origin(value);
            self.values.set(value.quantity, value.value, origin);
        }
        let source = self.source(row);
        let device = self.device(&row.device);
        let names = &mut self.profile.names;
        let mut name = |text: &Option<String>| names.id(text.as_deref().unwrap_or_default());
        let head = Head {
            source,
            process: row.process.unwrap_or_default(),
            id: row.id.unwrap_or_default(),
            name: name(&row.kernel),
            operator: name(&row.operator),
            shape: row.shape(),
            device,
            stream: row.stream,
            start: row.start,
            count: row.launches.unwrap_or(1),
            ..Head::default()
        };
        self.profile.launches.push(head, &self.values);
    }

    fn origin(&mut self, value: &Value) -> OriginId {
        let key = (value.quantity, value.kind, value.bounds().map(f64::to_bits));
        let (origins, formulas) = (&mut self.profile.origins, &self.formulas);
        *self.origins.entry(key).or_insert_with(|| {
            let formula = formulas.get(&value.quantity).map_or("", String::as_str);
            origins.id(&value.origin(formula))
        })
    }

    fn device(&mut self, device: &DeviceHint) -> HintId {
        if let Some((known, id)) = &self.device
            && known == device
        {
            return *id;
        }
        let id = self.profile.hint(device.clone());
        self.device = Some((device.clone(), id));
        id
    }

    /// Returns the number of the export that a row comes from.
    fn source(&mut self, row: &Row) -> u16 {
        let is_it =
            |known: &[Option<String>; 2]| known[0] == row.source && known[1] == row.source_format;
        let at = self.sources.iter().rposition(is_it).unwrap_or_else(|| {
            let format = row.source_format.as_deref().unwrap_or("launch-table");
            let known = ingest::format(format);
            self.sources.push([row.source.clone(), row.source_format.clone()]);
            self.profile.sources.push(Source {
                path: row.source.clone().unwrap_or_default(),
                format: format.to_owned(),
                profiler: known.map_or(Profiler::Other, |known| known.profiler),
                ..Source::default()
            });
            self.sources.len() - 1
        });
        if let Some(source) = self.profile.sources.get_mut(at) {
            source.keeps_caches |= row.keeps_caches;
            source.rows += 1;
            source.launches += row.launches.map_or(1, u64::from);
        }
        u16::try_from(at).unwrap_or(u16::MAX)
    }
}
