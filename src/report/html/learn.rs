//! The tutorial: a page of its own around the playground, to learn the roofline model with.

use askama::Template;

use super::{bench, hash, lean};
use crate::catalog::{Catalog, CatalogError, Device, Provenance};
use crate::predict::PredictError;
use crate::roofline::LAUNCH_COST_TIMELINE;

/// Numbers, elements, axes, the bench, and the start of this page.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("text.js"),
    include_str!("plot.js"),
    include_str!("bench-law.js"),
    include_str!("bench-stage.js"),
    include_str!("bench-chart.js"),
    include_str!("bench.js"),
    include_str!("learn.js"),
    "})();\n"
);

/// Before anything is shown: what needs the script is there only with it.
const START: &str = "document.documentElement.classList.add(\"lively\");";

const STYLE: &str = concat!(
    include_str!("tokens.css"),
    include_str!("chart.css"),
    include_str!("bench.css"),
    include_str!("learn.css"),
);

/// What kept the tutorial from being written.
#[derive(Debug, thiserror::Error)]
pub enum LearnError {
    /// A device file is malformed.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// How many SMs the device has is not known.
    #[error("the tutorial needs the number of SMs of {device}, which is not known")]
    Sms {
        /// Its name.
        device: String,
    },
    /// The device lacks a figure that a case needs.
    #[error("the tutorial needs figures that {device} lacks: {source}")]
    Predict {
        /// Its name.
        device: String,
        /// Which one.
        source: PredictError,
    },
}

#[derive(Template)]
#[template(path = "learn.html")]
struct Page {
    version: &'static str,
    style: String,
    style_hash: String,
    start: &'static str,
    start_hash: String,
    script: String,
    script_hash: String,
    bench: String,
    device: String,
    sms: u32,
    units: &'static str,
    lessons: Vec<bench::Lesson>,
    titles: [&'static str; 11],
    fixed: String,
}

/// The interactive roofline tutorial: a playground for any device of the catalog and any kernel, with
/// four cases to begin with.
///
/// Without a device it begins with an H100.
///
/// # Errors
/// [`LearnError`], where a device lacks its bandwidth, its SMs or a rate.
pub fn learn(catalog: &Catalog, device: Option<&Device>) -> Result<String, LearnError> {
    let default;
    let device = match device {
        Some(device) => device,
        None => {
            default = catalog.find(bench::DEFAULT, &crate::model::DeviceHint::default())?;
            &default
        }
    };
    let Some(sms) = device.sms else {
        return Err(LearnError::Sms { device: device.name.clone() });
    };
    let (script, style) = (lean(SCRIPT), lean(STYLE));
    let lessons = bench::lessons(device, LAUNCH_COST_TIMELINE)
        .map_err(|source| LearnError::Predict { device: device.name.clone(), source })?;
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        style_hash: hash(&style),
        style,
        start: START,
        start_hash: hash(START),
        script_hash: hash(&script),
        script,
        bench: bench::json(catalog, Some(&device.name), LAUNCH_COST_TIMELINE)?,
        device: super::view::printable(&device.name),
        sms,
        units: device.units_label(),
        lessons,
        titles: bench::TITLES,
        fixed: super::view::si(LAUNCH_COST_TIMELINE.get(), "s"),
    };
    // Writing to a string does not fail, and the template calls nothing that could.
    Ok(page.render().unwrap_or_default())
}

/// Which of the user's devices are not among those of the tutorial, as their figures do not suffice; a line for each.
///
/// # Errors
/// When a device file is malformed.
pub fn left_out_of_learn(catalog: &Catalog) -> Result<Vec<String>, CatalogError> {
    let mut lines = Vec::new();
    for device in catalog.devices() {
        let device = device?;
        let lacks = bench::lacks(&device);
        if let (Provenance::UserFile(path), false) = (&device.provenance, lacks.is_empty()) {
            let name = super::view::printable(&device.name);
            lines.push(format!(
                "{path}: {name} is left out of the tutorial: {} not known",
                lacks.join(", ")
            ));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lesson_is_small_and_cannot_end_its_elements() {
        let (script, style) = (lean(SCRIPT), lean(STYLE));
        assert!(script.len() + style.len() < 150_000);
        assert!(!script.contains("</") && !script.contains("<!--") && !style.contains("</"));
        for line in SCRIPT.lines() {
            assert!(line.matches('`').count() % 2 == 0, "{line}");
        }
        let page = learn(&Catalog::builtin(), None).unwrap();
        assert!(page.len() < 200_000, "{}", page.len());
    }
}
