//! `predict`: a kernel or a whole step on devices, before there is a profile; or what can be predicted.

use std::path::Path;

use serde::Serialize;

use super::args::{Predict, Sheet, Units};
use super::catalog;
use super::exit::Failure;
use super::output::{self, Place, SHEETS, SheetOrPicture};
use super::terminal::Terminal;
use crate::catalog::Device;
use crate::model::{Engine, Pipe};
use crate::predict::{Crossing, FORMS, Form, ModelFile, Options, Sweep, form};
use crate::report::{self, Predicted, Style};

pub(super) fn run(command: &Predict, terminal: &Terminal) -> Result<(), Failure> {
    if command.list {
        return list(command, terminal);
    }
    // The options of pictures are understood, also where none can be drawn.
    #[cfg(not(feature = "plot"))]
    let _ = &command.picture;
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
    for place in places(command)? {
        let style = if place.is_stdout() { terminal.style() } else { Style::default() };
        let bytes = match place.format {
            SheetOrPicture::Sheet(sheet) => text(sheet, &style).into_bytes(),
            #[cfg(feature = "plot")]
            SheetOrPicture::Picture(encoding) => predicted
                .picture(&command.picture.canvas(), encoding)
                .map_err(|error| Failure::usage(error.to_string()))?,
        };
        terminal.write(&place.path, &bytes)?;
    }
    Ok(())
}

fn places(command: &Predict) -> Result<Vec<Place<SheetOrPicture>>, Failure> {
    output::places(&command.paths, command.format.asked(), SHEETS, "format of predictions")
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
