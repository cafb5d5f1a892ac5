//! Which store of baselines, and which of its entries, a command is about.

use std::path::Path;

use clap::Args;

use super::catalog;
use super::exit::Failure;
#[cfg(feature = "frames")]
use super::nights;
use crate::catalog::CatalogError;
#[cfg(feature = "frames")]
use crate::fleet;
use crate::history::{Filter, Store, is_baseline};
use crate::model::DeviceHint;
use crate::plain;
use crate::session::Session;

/// Where baselines are kept if nothing else is said.
pub(super) const FOLDER: &str = "baselines";

/// Opens a store, or makes one of the runs of a partitioned launch table, judged by a session of the caller's. Returns it
/// with notes on how they were judged.
pub(super) fn open(
    folder: &Path,
    session: impl FnOnce() -> Result<Session, Failure>,
) -> Result<(Store, Vec<String>), Failure> {
    #[cfg(feature = "frames")]
    if let Some((table, None)) = fleet::partitioned(folder) {
        nights::check(&table)?;
        let found = fleet::runs(&table, None, &session()?, (0, 0))?;
        return Ok((Store::of_runs(folder, found.runs)?, found.caveats));
    }
    #[cfg(not(feature = "frames"))]
    let _ = session;
    if folder.is_file() {
        let message = format!("{} is a file, and not a store of baselines", folder.display());
        return Err(Failure::missing_baseline(message)
            .help("name a store: the folder that `rooflint baseline save FILE` makes"));
    }
    refuse_inside(folder, ["", "--name"])?;
    Ok((Store::open(folder)?, Vec::new()))
}

/// Refuses a folder inside a store, one level too deep, in the words of an option that names a store.
pub(super) fn refuse_inside(folder: &Path, options: [&str; 2]) -> Result<(), Failure> {
    let is_file = folder.is_file() || folder.extension().is_some() && !folder.is_dir();
    if is_file || Store::is_store(folder) {
        return Ok(());
    }
    let is_here = |above: &Path| above.as_os_str().is_empty();
    let above = folder.parent().map(|above| if is_here(above) { Path::new(".") } else { above });
    let above = above.filter(|above| Store::is_store(above));
    // Other folders may lie there, with exports of their own.
    if folder.is_dir() && !is_baseline(folder) {
        return Ok(());
    }
    let Some((store, name)) = above.zip(folder.file_name()) else { return Ok(()) };
    let (store, name) = (plain::quoted(&store.display().to_string()), name.to_string_lossy());
    let [of_store, of_name] = options;
    Err(Failure::usage(format!("{} lies inside the store {store}", folder.display()))
        .help(format!("name the store: {of_store}{store} {of_name} {}", plain::quoted(&name))))
}

/// Opens a store that `--store` names.
pub(super) fn named(folder: &Path) -> Result<Store, Failure> {
    refuse_inside(folder, ["--store ", "--name"])?;
    Ok(Store::open(folder)?)
}

/// Whether a run of a store is on a device that its export calls so.
fn has_device(store: &Store, name: &str) -> bool {
    let mut devices = store.entries().iter().flat_map(|entry| entry.run.device_names());
    devices.any(|device| device.eq_ignore_ascii_case(name))
}

/// Which entries of a store.
#[derive(Debug, Args)]
pub(super) struct Chosen {
    /// Only this baseline
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only runs of this branch
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Only runs on this GPU, by any of its names
    #[arg(long = "device", value_name = "NAME")]
    of_device: Option<String>,
}

impl Chosen {
    pub(super) fn filter(&self, store: &Store) -> Result<Filter, Failure> {
        // A device may be called by any name that the catalog knows, or as its export calls it.
        let device = match &self.of_device {
            Some(name) => match catalog::load(&[])?.find(name, &DeviceHint::default()) {
                Ok(device) => Some(device.name),
                Err(error @ CatalogError::Ambiguous { .. }) if !has_device(store, name) => {
                    return Err(error.into());
                }
                Err(_) => Some(name.clone()),
            },
            None => None,
        };
        Ok(Filter { name: self.name.clone(), branch: self.branch.clone(), device, commit: None })
    }
}
