//! The devices of a profile as rows of a table: the figures that the law takes.

use super::ceilings::Roofs;
use super::{AnalysisError, Options, choose_ceilings, resolve};
use crate::catalog::{Catalog, Observed};
use crate::law::{self, CeilingSet};
use crate::model::{DeviceHint, HintId, Profile};
use crate::table::{Cell, device_columns};

/// The figures of a device as launches name it.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    /// What launches on it have in the columns of [`device_columns`], without those that are missing.
    pub hint: Vec<(&'static str, Cell<'static>)>,
    /// Number among the devices of the profile; launches that name a device differently can share it.
    pub number: usize,
    /// Id in the catalog; `None` if it is unknown.
    pub id: Option<String>,
    /// Name for reports.
    pub name: String,
    /// Ceilings that an analysis of the launches would use.
    pub ceilings: CeilingSet,
    /// Figures by name, in SI base units, without those that are missing.
    pub figures: Vec<(String, f64)>,
}

/// Returns a row for every device on which launches of a profile ran, in order of appearance; launches could not tell
/// devices apart that share a row.
///
/// # Errors
/// [`AnalysisError`] under the same conditions as [`super::analyze`].
pub fn device_rows(
    profile: &Profile,
    catalog: &Catalog,
    options: &Options,
) -> Result<Vec<DeviceRow>, AnalysisError> {
    let (devices, of_hint) = resolve::devices(profile, catalog, options.device.as_deref())?;
    let (ceilings, _) = choose_ceilings(profile, options.ceilings)?;
    let mut known: Vec<HintId> = Vec::new();
    let mut rows: Vec<DeviceRow> = Vec::new();
    for launch in profile.iter() {
        let hint = launch.head.device;
        // Neighbors mostly share their device.
        if known.last() == Some(&hint) || known.contains(&hint) {
            continue;
        }
        known.push(hint);
        let cells = device_columns()
            .filter_map(|column| Some((&*column.name, column.get(profile, &launch)?.into_owned())));
        let hint: Vec<_> = cells.collect();
        if rows.iter().any(|row| row.hint == hint) {
            continue;
        }
        let Some(number) = of_hint.get(launch.head.device.position()).copied() else {
            continue;
        };
        let used = &devices[number];
        let figures = law::figures(&used.roofs.law).into_iter();
        rows.push(DeviceRow {
            hint,
            number,
            id: used.device.as_ref().map(|device| device.id.clone()),
            name: used.name().to_owned(),
            ceilings,
            figures: figures.filter_map(|(name, value)| Some((name, value?))).collect(),
        });
    }
    Ok(rows)
}

/// Returns the names of the figures, in order.
#[must_use]
pub fn device_figures() -> Vec<String> {
    let none = Roofs::new(None, &DeviceHint::default(), &Observed::default());
    law::figures(&none.law).into_iter().map(|(name, _)| name).collect()
}
