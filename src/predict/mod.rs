//! What a kernel should take on a device before there is a profile: closed forms for operations and
//! compulsory bytes, held against the roofs of the catalogue.
//!
//! To add a kernel: one file in `forms/` with a `FORM` constant, one line in the list there.

mod arguments;
mod count;
mod data_type;
mod error;
mod form;
mod forms;
mod heads;
mod number;
mod parameter;
mod window;

pub use arguments::Arguments;
pub use count::{Count, Link, Product, Traffic, Transfer, Work};
pub use data_type::DataType;
pub use error::PredictError;
pub use form::{Category, Form, form};
pub use forms::FORMS;
pub use parameter::{Fallback, Kind, Parameter};
