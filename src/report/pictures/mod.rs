//! A report as pictures: the roofline of the run, and bars of where its time goes.
//!
//! To add a picture: a variant of [`Subject`], its words, and the figure it becomes.

mod before;
mod roofline;
mod time;

use super::Report;
use super::figure::{Canvas, Encoding, PictureError, encoded};
use super::numbers::{count, printable, si};
use super::view::{Style, name};
use crate::analysis::{Analysis, Kernel};
use crate::units::Seconds;

/// What a picture of a report shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subject {
    /// Kernels on the roofline of the device with the most measured time.
    #[default]
    Roofline,
    /// The first kernels: measured time, and how much of it the roofline explains.
    Kernels,
    /// Measured time by category of kernel.
    Categories,
    /// Potential savings, kernel upon kernel.
    Opportunities,
}

impl Subject {
    /// Every subject.
    pub const ALL: [Self; 4] =
        [Self::Roofline, Self::Kernels, Self::Categories, Self::Opportunities];

    /// Whether a baseline is drawn beside the run.
    #[must_use]
    pub const fn compares(self) -> bool {
        matches!(self, Self::Roofline | Self::Kernels)
    }

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Roofline => "roofline",
            Self::Kernels => "kernels",
            Self::Categories => "categories",
            Self::Opportunities => "opportunities",
        }
    }

    /// The subject with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subject| subject.name() == name)
    }
}

/// Draws a report, with a baseline beside it if there is one. The same reports give the same bytes.
///
/// # Errors
/// [`PictureError`] if the canvas is too small for axes.
pub fn picture(
    report: &Report<'_>,
    baseline: Option<&Analysis>,
    subject: Subject,
    canvas: &Canvas,
    encoding: Encoding,
) -> Result<Vec<u8>, PictureError> {
    match subject {
        Subject::Roofline => encoded(&roofline::roofline(report, baseline), canvas, encoding),
        Subject::Kernels => encoded(&time::kernels(report, baseline), canvas, encoding),
        Subject::Categories => encoded(&time::categories(report), canvas, encoding),
        Subject::Opportunities => encoded(&time::savings(report), canvas, encoding),
    }
}

/// Rank and short name, as the table has them.
fn label(kernel: &Kernel) -> String {
    format!("#{} {}", kernel.rank, name(kernel, &Style::default()))
}

/// The name of a device.
fn device(report: &Report<'_>, device: usize) -> String {
    let device = report.analysis.devices.get(device);
    printable(device.map_or("unknown device", |device| device.name()))
}

/// What ran where: the file without folder and ending, as far as a person named it, and the device.
fn run(report: &Report<'_>, device: String) -> String {
    let analysis = report.analysis;
    let path = analysis.sources.first().map_or("", |source| source.path.as_str());
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.trim_end_matches(".gz").trim_end_matches(".zst");
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let is_hash = stem.len() >= 12 && stem.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_named = !stem.is_empty() && !is_hash && !stem.starts_with('<');
    let more = match analysis.sources.len() {
        0 | 1 => String::new(),
        files => format!(" and {} more", files - 1),
    };
    if is_named { format!("{}{more} on {device}", printable(stem)) } else { device }
}

/// How much time some kernels took.
fn extent<'a>(kernels: impl Iterator<Item = &'a Kernel>) -> String {
    let (mut number, mut time) = (0, Seconds::ZERO);
    for kernel in kernels {
        number += 1;
        time += kernel.measured;
    }
    format!("{} GPU time, {}", si(time.get(), "s"), count(number, "kernel", "kernels"))
}
