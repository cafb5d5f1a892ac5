//! What the commands found that look something up: a list, or pages on some of its lines.

use std::path::Path;

use super::exit::Failure;
use super::output::{self, Places};
use super::terminal::Terminal;
use crate::catalog::Device;
use crate::predict::Form;
use crate::report::{
    DeviceList, DevicePage, FormList, FormPages, Reported, RuleList, RulePage, Style,
};
use crate::rules::Custom;

/// A list or pages, which outlive their command.
#[derive(Debug)]
pub(super) enum Listing {
    Devices(Vec<Device>),
    Device(Box<Device>),
    /// The built-in rules and these.
    Rules(Vec<Custom>),
    /// Documentation in Markdown: of a rule, or of the columns that rules can use.
    Page(String),
    Forms(Vec<&'static Form>),
    FormPages(Vec<&'static Form>),
}

impl Listing {
    /// Makes something of what was found.
    pub(super) fn with<T>(&self, make: impl FnOnce(&dyn Reported) -> T) -> T {
        match self {
            Self::Devices(devices) => make(&DeviceList(devices)),
            Self::Device(device) => make(&DevicePage(device)),
            Self::Rules(custom) => make(&RuleList(custom)),
            Self::Page(text) => make(&RulePage(text)),
            Self::Forms(forms) => make(&FormList(forms)),
            Self::FormPages(forms) => make(&FormPages(forms)),
        }
    }

    /// Writes it to its places.
    pub(super) fn write(&self, places: &Places, terminal: &Terminal) -> Result<(), Failure> {
        let style = |style: Style, _: &Path| style;
        self.with(|subject| output::write(places, subject, style, terminal))
    }
}
