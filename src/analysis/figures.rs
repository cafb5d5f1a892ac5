//! The devices of a profile as rows of a table: the figures that the law takes.

use super::ceilings::{CeilingSet, Roofs};
use super::{AnalysisError, Options, choose_ceilings, resolve};
use crate::catalog::{Catalog, Observed};
use crate::model::{DeviceHint, Profile};
use crate::table::{Cell, Form};

/// The figures of a device under one name.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceRow {
    /// Name, as the column `device` of the launch table has it; `None` if the export names none.
    pub device: Option<String>,
    /// Id in the catalog; `None` if it is unknown.
    pub id: Option<String>,
    /// Name for reports.
    pub name: String,
    /// Ceilings that an analysis of the launches would use.
    pub ceilings: CeilingSet,
    /// Figures by column, in SI base units.
    pub figures: Vec<(String, Form, Option<Cell<'static>>)>,
}

/// Returns a row for every device of a profile, in order; devices that differ only by their ordinal share one.
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
    let empty = [DeviceHint::default()];
    let hints = if profile.devices.is_empty() { &empty[..] } else { &profile.devices };
    let mut rows: Vec<DeviceRow> = Vec::new();
    for (hint, device) in hints.iter().zip(of_hint) {
        let used = &devices[device];
        let row = DeviceRow {
            device: hint.name.clone(),
            id: used.device.as_ref().map(|device| device.id.clone()),
            name: used.name().to_owned(),
            ceilings,
            figures: used.roofs.figures(),
        };
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Returns the columns of the figures, in order.
#[must_use]
pub fn device_columns() -> Vec<(String, Form)> {
    let none = Roofs::new(None, &DeviceHint::default(), &Observed::default());
    none.figures().into_iter().map(|(name, form, _)| (name, form)).collect()
}
