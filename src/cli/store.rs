//! Which store of baselines, and which of its entries, a command is about.

use clap::Args;

use super::catalog;
use super::exit::Failure;
use crate::history::Filter;
use crate::model::DeviceHint;

/// Where baselines are kept if nothing else is said.
pub(super) const FOLDER: &str = "baselines";

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
    pub(super) fn filter(&self) -> Result<Filter, Failure> {
        // A device may be called by any name that the catalog knows, or as its export calls it.
        let device = match &self.of_device {
            Some(name) => {
                let found = catalog::load(&[])?.find(name, &DeviceHint::default());
                Some(found.map_or_else(|_| name.clone(), |device| device.name))
            }
            None => None,
        };
        Ok(Filter { name: self.name.clone(), branch: self.branch.clone(), device, commit: None })
    }
}
