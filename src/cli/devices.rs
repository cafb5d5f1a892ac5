//! `devices`: the catalogue, or one device with every figure, its source, and its ridge points.

use std::collections::BTreeMap;

use serde::Serialize;

use super::args::{Devices, Listing};
use super::catalog;
use super::exit::Failure;
use super::terminal::Terminal;
use crate::catalog::{Catalog, Confidence, Device, Figure};
use crate::model::{DeviceHint, Pipe};
use crate::units::{FlopsPerByte, FlopsPerSecond};

pub(super) fn run(command: &Devices, terminal: &Terminal) -> Result<(), Failure> {
    let catalog = catalog(&command.files)?;
    let text = match (&command.name, command.format) {
        (None, Listing::Text) => list(&catalog)?,
        (None, Listing::Json) => {
            let devices = catalog.devices().collect::<Result<Vec<Device>, _>>()?;
            json(&devices.iter().map(Document::of).collect::<Vec<_>>())
        }
        (Some(name), Listing::Text) => one(&catalog.find(name, &DeviceHint::default())?),
        (Some(name), Listing::Json) => {
            json(&Document::of(&catalog.find(name, &DeviceHint::default())?))
        }
    };
    terminal.print(&terminal.style().adapted(text))
}

/// A device with what follows from its figures.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    device: &'a Device,
    pipes: BTreeMap<Pipe, PipeDocument>,
}

#[derive(Serialize)]
struct PipeDocument {
    fma_per_clock_per_sm: Option<f64>,
    ridge_point_flop_per_byte: Option<f64>,
    l2_ridge_point_flop_per_byte: Option<f64>,
}

impl<'a> Document<'a> {
    fn of(device: &'a Device) -> Self {
        let pipe = |&pipe: &Pipe| {
            let document = PipeDocument {
                fma_per_clock_per_sm: multiply_adds(device, pipe),
                ridge_point_flop_per_byte: device.ridge_point(pipe).map(FlopsPerByte::get),
                l2_ridge_point_flop_per_byte: device.l2_ridge_point(pipe).map(FlopsPerByte::get),
            };
            (pipe, document)
        };
        Self { device, pipes: device.peaks.keys().map(pipe).collect() }
    }
}

/// Dense rates only: a sparse multiply-add leaves half of its products out.
fn multiply_adds(device: &Device, pipe: Pipe) -> Option<f64> {
    device.rate(pipe).and_then(|rate| rate.fma_per_clock_per_sm)
}

fn json<T: Serialize>(value: &T) -> String {
    // Catalogue types have string keys only, so they always serialize.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn list(catalog: &Catalog) -> Result<String, Failure> {
    let mut text = format!(
        "{:44} {:8} {:>5} {:>10} {:>8} {:>9} {:>9} {:>9}\n",
        "name", "target", "SMs", "DRAM GB/s", "fp64", "fp32", "bf16 t.", "fp8 t."
    );
    for device in catalog.devices() {
        let device = device?;
        let peak = |pipe| {
            device.peak(pipe).map_or_else(
                || "-".to_owned(),
                |figure| format!("{:.1}", figure.value.get() / 1e12),
            )
        };
        text.push_str(&format!(
            "{:44} {:8} {:>5} {:>10} {:>8} {:>9} {:>9} {:>9}\n",
            device.name,
            device.target().unwrap_or("-"),
            device.sms.map_or_else(|| "-".to_owned(), |sms| sms.to_string()),
            device.memory.bandwidth.as_ref().map_or_else(
                || "-".to_owned(),
                |figure| format!("{:.0}", figure.value.get() / 1e9)
            ),
            peak(Pipe::Fp64Vector),
            peak(Pipe::Fp32Vector),
            peak(Pipe::Bf16Matrix),
            peak(Pipe::Fp8Matrix),
        ));
    }
    text.push_str(
        "\nPeaks in TFLOP/s, dense, at the clock at which the vendor quotes them; t. = tensor.\n",
    );
    text.push_str("`rooflint devices NAME` shows one device with every figure and its source.\n");
    Ok(text)
}

fn one(device: &Device) -> String {
    let mut page = Page::default();
    page.title(&device.name);
    page.row("driver name", device.driver_name.clone(), "");
    page.row("also called", (!device.aliases.is_empty()).then(|| device.aliases.join(", ")), "");
    let chip = [&device.vendor, &device.architecture, &device.chip]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>();
    page.row("chip", (!chip.is_empty()).then(|| chip.join(" ")), "");
    page.row("target", device.target().map(str::to_owned), "");
    let cited =
        |key: &str| device.citations.get(key).map_or("", |citation| citation.source.as_str());
    page.row("multiprocessors", device.sms.map(|sms| sms.to_string()), cited("sms"));
    page.figure("base clock", device.base_clock.as_ref(), |clock| {
        format!("{:.0} MHz", clock.get() / 1e6)
    });
    page.figure("boost clock", device.boost_clock.as_ref(), |clock| {
        format!("{:.0} MHz", clock.get() / 1e6)
    });
    page.figure("at the lowest power", device.lowest_boost_clock.as_ref(), |clock| {
        format!("{:.0} MHz", clock.get() / 1e6)
    });
    page.figure("tensor clock", device.tensor_clock.as_ref(), |clock| {
        format!("{:.0} MHz", clock.get() / 1e6)
    });
    page.row(
        "documented by",
        device.confidence.map(|confidence| match confidence {
            Confidence::Vendor => "the vendor".to_owned(),
            Confidence::Secondary => "secondary sources".to_owned(),
            Confidence::ThirdParty => "third parties only".to_owned(),
        }),
        "",
    );

    page.title("Memory");
    let memory = &device.memory;
    page.row("kind", memory.kind.clone(), "");
    page.row(
        "size",
        memory.bytes.map(|bytes| format!("{:.0} GB", bytes as f64 / 1e9)),
        cited("memory.size_gb"),
    );
    page.row("bus", memory.bus_bits.map(|bits| format!("{bits} bit")), cited("memory.bus_bits"));
    page.figure("bandwidth", memory.bandwidth.as_ref(), |rate| {
        format!("{:.0} GB/s", rate.get() / 1e9)
    });
    page.figure("achievable", device.achievable_bandwidth().as_ref(), |rate| {
        format!("{:.0} GB/s", rate.get() / 1e9)
    });
    page.row(
        "L2",
        device.l2_bytes.map(|bytes| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))),
        cited("cache.l2_mib"),
    );
    page.figure("L2 bandwidth", device.l2_bandwidth.as_ref(), |rate| {
        format!("{:.0} GB/s", rate.get() / 1e9)
    });
    if let Some(l2) = &device.achievable.l2 {
        page.figure("L2, measured", Some(&l2.figure()), |rate| {
            format!("{:.0} GB/s", rate.get() / 1e9)
        });
    }

    page.title("Peaks (dense unless stated), multiply-adds per clock and SM, ridge points");
    for pipe in Pipe::ALL {
        let Some(peak) = device.peak(*pipe) else { continue };
        page.row(pipe.label(), Some(roofs(device, *pipe, peak.value)), &source(peak));
    }
    if !device.achievable.peaks.is_empty() {
        page.title("Reached by published benchmarks");
        for (pipe, achieved) in &device.achievable.peaks {
            let value = format!("{:>8.1} T{}/s", achieved.value.get() / 1e12, pipe.operation());
            page.row(pipe.label(), Some(value), &achieved.figure().source);
        }
    }
    if !device.notes.is_empty() || !device.exceptions.is_empty() {
        page.title("Notes");
        for note in &device.notes {
            page.note(note);
        }
        for exception in &device.exceptions {
            page.note(&format!("{}: {}", exception.figures.join(", "), exception.reason));
        }
    }
    page.text
}

/// A peak, the multiply-adds behind it, and where the roofs of DRAM and of L2 meet it.
fn roofs(device: &Device, pipe: Pipe, peak: FlopsPerSecond) -> String {
    let operation = pipe.operation();
    let rate = multiply_adds(device, pipe).map_or_else(String::new, |fma| format!("{fma} FMA"));
    let against = |level: &str, ridge: Option<FlopsPerByte>| {
        ridge.map_or_else(String::new, |ridge| {
            format!("{level} ridge {:.1} {operation}/B", ridge.get())
        })
    };
    let l2 = if device.l2_bandwidth.is_some() { "L2" } else { "measured L2" };
    format!(
        "{:>8.1} {:8} {rate:>9}  {:24} {:32}",
        peak.get() / 1e12,
        format!("T{operation}/s"),
        against("DRAM", device.ridge_point(pipe)),
        against(l2, device.l2_ridge_point(pipe)),
    )
}

/// Where a figure comes from; a derived one says so.
fn source<T>(figure: &Figure<T>) -> String {
    if figure.derived { format!("derived: {}", figure.source) } else { figure.source.clone() }
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn title(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(title);
        self.text.push('\n');
    }

    fn row(&mut self, label: &str, value: Option<String>, source: &str) {
        let Some(value) = value else { return };
        let line = format!("  {label:30} {value:34} {source}");
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    fn figure<T: Copy>(
        &mut self,
        label: &str,
        figure: Option<&Figure<T>>,
        show: impl Fn(T) -> String,
    ) {
        if let Some(figure) = figure {
            self.row(label, Some(show(figure.value)), &source(figure));
        }
    }

    fn note(&mut self, note: &str) {
        self.text.push_str("  - ");
        self.text.push_str(note);
        self.text.push('\n');
    }
}
