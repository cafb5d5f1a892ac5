//! By what a command judges: devices, kernel names, the configuration, and its options over it.

use std::path::PathBuf;
use std::sync::Arc;

use super::args::{Model, Roofs};
use super::exit::Failure;
use super::{catalog, clock};
use crate::analysis::AnalysisError;
use crate::catalog::{Catalog, CatalogError};
use crate::config::Config;
use crate::model::DeviceHint;
use crate::plain;
use crate::session::Session;
use crate::taxonomy::Taxonomy;

/// By what profiles are judged: the configuration and devices from these files.
pub(super) fn configured(devices: &[PathBuf], config: Config) -> Result<Session, Failure> {
    let taxonomy = taxonomy(&config)?;
    let mut session = Session::new(catalog::load(devices)?, config);
    session.options.taxonomy = taxonomy;
    session.today = Some(clock::now().date());
    Ok(session)
}

/// By what launches are summed up, without limits for savings.
pub(super) fn roofs(roofs: &Roofs, config: Config) -> Result<Session, Failure> {
    let mut session = configured(&roofs.devices, config)?;
    if let Some(name) = &roofs.device {
        known(&session.catalog, name)?;
    }
    session.options.device.clone_from(&roofs.device);
    session.options.ceilings = roofs.ceilings.set();
    Ok(session)
}

/// By what profiles are judged: the configuration, and what the command line says over it.
pub(super) fn new(model: &Model, config: Config) -> Result<Session, Failure> {
    let mut session = roofs(&model.roofs, config)?;
    let options = &mut session.options;
    options.threshold = model.threshold.or(options.threshold);
    options.floor = model.min_savings.or(options.floor);
    options.floor_share = model.min_share.or(options.floor_share);
    Ok(session)
}

/// Refuses a name that no device has before anything is read; which of several it is, the export may say.
pub(super) fn known(catalog: &Catalog, name: &str) -> Result<(), Failure> {
    match catalog.find(name, &DeviceHint::default()) {
        Err(error @ CatalogError::NotFound { .. }) => Err(AnalysisError::from(error).into()),
        _ => Ok(()),
    }
}

/// The user's own kernel names before the built-in ones.
pub(super) fn taxonomy(config: &Config) -> Result<Option<Arc<Taxonomy>>, Failure> {
    let Some(path) = &config.kernel_names else { return Ok(None) };
    let shown = path.display().to_string();
    let text = plain::text_of(path, plain::PAGES).map_err(|cause| {
        Failure::usage(format!("{shown}: cannot read kernel names: {}", plain::io(&cause)))
            .help("check kernel-names in the configuration")
    })?;
    let taxonomy = Taxonomy::with_text(&shown, &text).map_err(Failure::KernelNames)?;
    Ok(Some(Arc::new(taxonomy)))
}
