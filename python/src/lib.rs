//! The native part of the Python package: commands called with words, their answers, tables as Arrow streams.
//!
//! It decides nothing. What a command takes and refuses is declared once, by the command line; the package in
//! `rooflint/` gives it a Python face.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyKeyError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyList};
use rooflint::cli::call::{self, Held, Problem, Wording};
use rooflint::report::Encoding;
use rooflint::table::Cells;
use rooflint::table::frames::{self, FrameError};

/// Time between two looks for Ctrl-C.
const MOMENT: Duration = Duration::from_millis(50);

/// What a program's main thread has; other threads have less unless asked.
const STACK: usize = 8 << 20;

/// Runs the program and returns its exit code.
///
/// It runs in this process: an extension module and an executable in one wheel would ship all code twice.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        let code = rooflint::cli::run(arguments);
        // A program flushes at its end, a library does not. If the reader went away nothing is left to do.
        let _ = std::io::stdout().flush();
        code
    })
}

/// Runs a command on files and on what is in memory, and returns its answer.
///
/// Another thread works, so that this one can look for Ctrl-C.
#[pyfunction]
fn run(
    py: Python<'_>,
    words: Vec<OsString>,
    contents: BTreeMap<PathBuf, PyBackedBytes>,
    runs: BTreeMap<PathBuf, Py<Answer>>,
    earlier: usize,
) -> PyResult<Answer> {
    let stop = Arc::new(AtomicBool::new(false));
    let given =
        runs.into_iter().filter_map(|(name, answer)| Some((name, answer.get().0.run()?.clone())));
    let held = Held {
        bytes: contents.into_iter().map(|(name, bytes)| (name, Arc::from(&*bytes))).collect(),
        runs: given.collect(),
        earlier,
        stop: Arc::clone(&stop),
    };
    let (sender, mut receiver) = mpsc::sync_channel(1);
    thread::Builder::new().name("rooflint".to_owned()).stack_size(STACK).spawn(move || {
        // Nobody waits any more after Ctrl-C.
        let _ = sender.send(call::call(words, held));
    })?;
    loop {
        let answer;
        (answer, receiver) = py.detach(move || (receiver.recv_timeout(MOMENT), receiver));
        match answer {
            Ok(answer) => {
                let answer = answer.map_err(|problem| refused(py, &problem))?;
                return Ok(Answer(Arc::new(answer)));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "rooflint stopped unexpectedly: please report it",
                ));
            }
        }
    }
}

/// The exception for an error: one of the package's own classes, by exit code.
fn refused(py: Python<'_>, problem: &Problem) -> PyErr {
    let make = || py.import("rooflint._errors")?.call_method1("refused", (problem.json(),));
    make().map_or_else(|error| error, PyErr::from_value)
}

/// The result of a command.
#[pyclass(frozen, module = "rooflint._rooflint")]
struct Answer(Arc<call::Answer>);

#[pymethods]
impl Answer {
    /// Returns the answer in a format, by the format's name.
    #[pyo3(signature = (format, full = false, full_names = false, width = None))]
    fn written(
        &self,
        py: Python<'_>,
        format: &str,
        full: bool,
        full_names: bool,
        width: Option<usize>,
    ) -> PyResult<String> {
        let wording = Wording { full, full_names, width };
        let text = py.detach(|| self.0.written(format, wording));
        text.ok_or_else(|| PyValueError::new_err(format!("no such format: {format:?}")))
    }

    /// Writes files, each in the format of its ending.
    fn save(
        &self,
        py: Python<'_>,
        paths: Vec<PathBuf>,
        full: bool,
        full_names: bool,
        drawing: Vec<String>,
    ) -> PyResult<()> {
        let wording = Wording { full, full_names, width: None };
        py.detach(|| self.0.save(&paths, wording, &drawing))
            .map_err(|problem| refused(py, &problem))
    }

    /// Draws the answer as SVG or PNG.
    fn picture<'py>(
        &self,
        py: Python<'py>,
        drawing: Vec<String>,
        as_png: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let encoding = if as_png { Encoding::Png } else { Encoding::Svg };
        let drawn = py.detach(|| self.0.picture(&drawing, encoding));
        Ok(PyBytes::new(py, &drawn.map_err(|problem| refused(py, &problem))?))
    }

    /// Returns the rows of the table of kernels that a name, a part of it, a pattern or a rank finds.
    fn found(&self, py: Python<'_>, query: &str) -> PyResult<Vec<usize>> {
        self.0.found(query).map_err(|problem| refused(py, &problem))
    }

    /// Explains kernels, by name, pattern or rank.
    fn explained(
        &self,
        py: Python<'_>,
        kernels: Vec<String>,
        format: &str,
        width: Option<usize>,
    ) -> PyResult<String> {
        let wording = Wording { width, ..Wording::default() };
        let text = py.detach(|| self.0.explained(&kernels, format, wording));
        text.map_err(|problem| refused(py, &problem))
    }

    /// Returns one of the tables.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        let frame = py.detach(|| self.0.table(name).map(|table| frames::Frame::of(&table)));
        let frame = frame.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(Frame(frame.map_err(failed)?))
    }

    /// Returns figures by flat names, as JSON.
    fn metrics(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.metrics())
    }

    /// Returns outcome, reason and exit code of a decision.
    fn decision(&self) -> Option<(&'static str, String, u8)> {
        let (decision, code) = self.0.decision()?;
        Some((decision.outcome.label(), decision.reason.clone(), code))
    }
}

fn failed(error: FrameError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A table in Arrow's memory layout.
#[pyclass(frozen, module = "rooflint._rooflint")]
struct Frame(frames::Frame);

#[pymethods]
impl Frame {
    /// Exports the rows through Arrow's C stream interface; a requested schema is not followed, which the
    /// protocol allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let stream = py.detach(|| self.0.stream()).map_err(failed)?;
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.0.height()
    }

    /// Returns the names of the columns.
    fn names(&self) -> Vec<String> {
        self.0.names()
    }

    /// Returns the unit and meaning of a column.
    fn about(&self, name: &str) -> Option<&str> {
        self.0.about(name)
    }

    /// Returns the cells of a column; missing ones are `None`.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        match self.0.column(name) {
            Some(Cells::Text(cells)) => PyList::new(py, cells),
            Some(Cells::Truth(cells)) => PyList::new(py, cells),
            Some(Cells::Count(cells)) => PyList::new(py, cells),
            Some(Cells::Number(cells)) => PyList::new(py, cells),
            Some(Cells::Numbers(cells)) => PyList::new(py, cells),
            Some(Cells::Launches(..)) | None => Err(PyKeyError::new_err(name.to_owned())),
        }
    }
}

/// The native module.
#[pymodule]
mod _rooflint {
    #[pymodule_export]
    use super::{Answer, Frame, main, run};

    /// The version of the program.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
