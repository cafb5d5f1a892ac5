//! Estimates a kernel's time on a device without a profile: closed forms for operations and
//! compulsory bytes, compared with the roofs of the catalog.
//!
//! ```
//! use rooflint::catalog::Catalog;
//! use rooflint::model::DeviceHint;
//! use rooflint::predict::{Arguments, Options, form, predict};
//!
//! let device = Catalog::builtin().find("V100 SXM2 32GB", &DeviceHint::default())?;
//! let linear = Arguments::parse(form("linear")?, ["batch=512", "in=1024", "out=4096"])?;
//! let prediction = predict(&linear, &device, &Options::default())?;
//! assert_eq!(prediction.limiter.label(), "math");
//! assert!((prediction.roofline_time.get() - 34.36e-6).abs() < 1e-8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To add a kernel: one entry in the table of its family in `forms/`.

mod arguments;
mod count;
mod crossing;
mod error;
mod form;
mod forms;
mod heads;
mod judge;
mod links;
mod model_file;
mod number;
pub mod operator;
mod options;
mod parameter;
mod pipes;
mod prediction;
mod range;
mod remarks;
mod step;
mod sweep;
mod table;
mod tiling;
mod window;

pub use crate::model::DataType;
pub use arguments::Arguments;
pub use count::{Count, Link, Product, Traffic, Transfer, Work};
pub use crossing::{Crossing, Turn};
pub use error::PredictError;
pub use form::{Category, Form};
pub use forms::{FORMS, form};
pub use judge::predict;
pub use links::LinkTime;
pub use model_file::{ModelFile, Op};
pub use options::{Grid, Options};
pub use parameter::{Fallback, Kind, Parameter};
pub use pipes::PipeTime;
pub use prediction::{Achievable, PredictedLimiter, Prediction};
pub use step::{ModelPrediction, OpRow, Totals};
pub use sweep::{Axis, Sweep, SweepRow, SweepTable};
pub use table::{COLUMNS, Cell, Column};
pub use tiling::{Tiling, l2_intensity};
pub(crate) use window::places_met;
