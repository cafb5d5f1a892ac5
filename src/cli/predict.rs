//! `predict`: a kernel or a whole step on devices, before there is a profile; or what can be predicted.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::args::{Predict, Sheet, Units};
use super::catalog;
use super::exit::Failure;
use super::terminal::Terminal;
use crate::catalog::Device;
use crate::model::{Engine, Pipe};
use crate::predict::{Crossing, FORMS, Form, ModelFile, Options, Sweep, form};
use crate::report::{self, Predicted, Style};

pub(super) fn run(command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    if command.list {
        return list(command, terminal);
    }
    match &command.model {
        Some(path) => step(command, path, terminal),
        None => kernel(command, terminal),
    }
}

fn kernel(command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    let Some((name, given)) = command.call.split_first() else {
        return Err(Failure::usage("no kernel is named")
            .help("`rooflint predict --list` shows every kernel with its parameters"));
    };
    if name.contains('=') {
        return Err(Failure::usage(format!("{name:?} stands where the kernel's name belongs"))
            .help("write for example: rooflint predict gemm m=4096 n=4096 k=4096 --device L4"));
    }
    let form = form(name)?;
    let sweep = Sweep::parse(form, pairs(command, given)?)?;
    // A size that is missing is told before a device that is.
    let first: Vec<&str> = sweep.points().next().unwrap_or_default();
    sweep.arguments(&first)?;
    let options = options(command)?;
    let devices = devices(command)?;
    let table = sweep.table(&devices, &options)?;
    let mut crossings: Vec<Crossing> = Vec::new();
    for device in &devices {
        crossings.extend(sweep.crossings(device, &options)?);
    }
    let call: Vec<String> =
        std::iter::once(form.name.to_owned()).chain(pairs(command, given)?).collect();
    let predicted =
        Predicted::Kernel { form, call: &call.join(" "), table: &table, crossings: &crossings };
    print(&predicted, command, terminal)
}

/// The arguments of the kernel; `--dtype` is one of them.
fn pairs(command: &Predict, given: &[String]) -> Result<Vec<String>, Failure> {
    let mut pairs = given.to_vec();
    if let Some(data_type) = &command.dtype {
        let is_given = |pair: &String| {
            pair.split_once('=').is_some_and(|(key, _)| key.trim().eq_ignore_ascii_case("dtype"))
        };
        if given.iter().any(is_given) {
            return Err(Failure::usage("--dtype and dtype= are both given")
                .help("they mean the same: leave one of them out"));
        }
        pairs.push(format!("dtype={data_type}"));
    }
    Ok(pairs)
}

fn step(command: &Predict, path: &Path, terminal: &Terminal) -> Result<(), Failure> {
    let model = ModelFile::read(path)?.with_sizes(&command.call)?;
    let options = options(command)?;
    let mut steps = Vec::new();
    for device in devices(command)? {
        steps.push(model.predict(&device, &options)?);
    }
    print(&Predicted::Step { sizes: model.sizes(), steps: &steps }, command, terminal)
}

fn print(predicted: &Predicted<'_>, command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    let text = |sheet: Sheet, style: &Style| match sheet {
        Sheet::Text => predicted.text(style),
        Sheet::Csv => predicted.csv(),
        Sheet::Json => predicted.json(),
    };
    if command.paths.is_empty() {
        return terminal.print(&text(command.format, &terminal.style()));
    }
    // All endings are checked before anything is written.
    let is_out = |path: &&PathBuf| path.as_os_str() == "-";
    for path in command.paths.iter().filter(|path| !is_out(path)) {
        let ending = path.extension().and_then(|end| end.to_str());
        if !matches!(ending, Some("txt" | "csv" | "json" | "svg" | "png")) {
            return Err(no_such_ending(path));
        }
    }
    if command.format != Sheet::Text && !command.paths.iter().any(|path| is_out(&path)) {
        return Err(Failure::usage(
            "--format is for the standard output, and all output goes to files",
        )
        .help("a file's ending chooses its format; add `-o -` for the standard output"));
    }
    for path in &command.paths {
        if path.as_os_str() == "-" {
            terminal.print(&text(command.format, &terminal.style()))?;
            continue;
        }
        let bytes = match path.extension().and_then(|end| end.to_str()) {
            Some("txt") => text(Sheet::Text, &Style::default()).into_bytes(),
            Some("csv") => text(Sheet::Csv, &Style::default()).into_bytes(),
            Some("json") => text(Sheet::Json, &Style::default()).into_bytes(),
            _ => picture(predicted, command, path)?,
        };
        terminal.write(path, &bytes)?;
    }
    Ok(())
}

/// A file's ending that is no format.
fn no_such_ending(path: &Path) -> Failure {
    Failure::usage(format!("{}: no format of predictions has this ending", path.display()))
        .help("use one of .txt, .csv, .json, .svg, .png")
}

#[cfg(feature = "plot")]
fn picture(predicted: &Predicted<'_>, command: &Predict, path: &Path) -> Result<Vec<u8>, Failure> {
    let encoding = report::Encoding::of(path).ok_or_else(|| no_such_ending(path))?;
    predicted
        .picture(&command.picture.canvas(), encoding)
        .map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(not(feature = "plot"))]
fn picture(_: &Predicted<'_>, _: &Predict, path: &Path) -> Result<Vec<u8>, Failure> {
    match path.extension().and_then(|end| end.to_str()) {
        Some("svg" | "png") => Err(Failure::usage("this build draws no pictures")
            .help("build with the feature `plot`, which is on by default")),
        _ => Err(no_such_ending(path)),
    }
}

fn devices(command: &Predict) -> Result<Vec<Device>, Failure> {
    let catalog = catalog(&command.devices)?;
    if command.device.is_empty() {
        return Err(Failure::usage("no device is named").help(
            "add --device 'H100 SXM5 80GB', or several separated by commas; `rooflint devices` \
             lists them",
        ));
    }
    super::what_if::devices(&command.device, &catalog)
}

fn options(command: &Predict) -> Result<Options, Failure> {
    let engine = command.engine.map(|units| match units {
        Units::Matrix => Engine::Matrix,
        Units::Vector => Engine::Vector,
    });
    Ok(Options {
        pipe: command.pipe.as_deref().and_then(Pipe::from_key),
        engine,
        grid: command.launch.as_deref().map(str::parse).transpose()?,
    })
}

#[derive(Serialize)]
struct Listing<'a> {
    schema: &'static str,
    forms: &'a [&'a Form],
}

/// Every kernel, or one in full.
fn list(command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    let chosen: Vec<&Form> = match command.call.as_slice() {
        [] => FORMS.iter().collect(),
        names => names.iter().map(|name| form(name)).collect::<Result<_, _>>()?,
    };
    let text = match command.format {
        Sheet::Json => {
            let listing = Listing { schema: "rooflint/predictable-kernels/1", forms: &chosen };
            // Forms have string keys only, so they always serialize.
            serde_json::to_string_pretty(&listing).unwrap_or_default() + "\n"
        }
        Sheet::Csv => {
            return Err(Failure::usage("the list of kernels has no CSV form")
                .help("use --format text or --format json"));
        }
        Sheet::Text if command.call.is_empty() => report::kernel_list(&chosen, &terminal.style()),
        Sheet::Text => {
            let pages = chosen.iter().map(|form| report::kernel_page(form, &terminal.style()));
            pages.collect::<Vec<_>>().join("\n")
        }
    };
    terminal.print(&text)
}
