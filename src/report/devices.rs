//! Reports of the catalog: a table of devices, or one device with every figure, its source and its
//! ridge points.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Figure as Row, Form, Section, Table};
use super::view::{Style, printable};
use super::{Reported, pretty};
use crate::catalog::{Confidence, Device, Figure};
use crate::json;
use crate::model::Pipe;
use crate::units::{FlopsPerByte, digits};

/// A table of devices.
#[derive(Debug, Clone, Copy)]
pub struct DeviceList<'a>(pub &'a [Device]);

/// One device with all figures.
#[derive(Debug, Clone, Copy)]
pub struct DevicePage<'a>(pub &'a Device);

impl Reported for DeviceList<'_> {
    fn document(&self, _: &Style) -> Document {
        let mut document = Document::new("Devices");
        document.push(Block::Table(list(self.0)));
        document.push(Block::Paragraph(
            "Peaks in TFLOP/s, dense, at the clock at which the vendor quotes them; t. = tensor. \
             Run `rooflint devices NAME` for all figures of one device with their sources."
                .to_owned(),
        ));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        own(self.0, format)
    }
}

impl Reported for DevicePage<'_> {
    fn document(&self, _: &Style) -> Document {
        let mut document = Document::titled(printable(&self.0.name));
        let page = one(self.0);
        document.push(Block::Figures(page.rows));
        for section in page.sections {
            document.add(section);
        }
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        own(std::slice::from_ref(self.0), format)
    }
}

/// Devices with every figure and its source, for programs.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The devices.
    devices: Vec<Described<'a>>,
}

/// A device with figures derived from its own.
#[derive(Serialize, JsonSchema)]
struct Described<'a> {
    #[serde(flatten)]
    device: &'a Device,
    /// What follows from its figures, by pipe.
    #[schemars(with = "BTreeMap<String, PipeDescribed>")]
    pipes: BTreeMap<Pipe, PipeDescribed>,
}

#[derive(Serialize, JsonSchema)]
struct PipeDescribed {
    /// Dense multiply-adds per clock of one SM.
    fma_per_clock_per_sm: Option<f64>,
    /// Intensity at which the peak and the bandwidth of device memory meet.
    ridge_point_flop_per_byte: Option<f64>,
    /// Intensity at which the peak and the bandwidth of L2 meet.
    l2_ridge_point_flop_per_byte: Option<f64>,
}

/// Returns the JSON schema of the list of devices, as pretty-printed JSON.
#[must_use]
pub fn device_list_schema() -> String {
    json::schema::<Listing<'_>>("known-devices-1", "GPUs that rooflint knows")
}

fn own(devices: &[Device], format: &str) -> Option<String> {
    let listing = || Listing {
        schema: "rooflint/known-devices/1",
        devices: devices.iter().map(Described::of).collect(),
    };
    (format == "json").then(|| pretty(&listing()))
}

impl<'a> Described<'a> {
    fn of(device: &'a Device) -> Self {
        let pipe = |&pipe: &Pipe| {
            let described = PipeDescribed {
                fma_per_clock_per_sm: multiply_adds(device, pipe),
                ridge_point_flop_per_byte: device.ridge_point(pipe).map(FlopsPerByte::get),
                l2_ridge_point_flop_per_byte: device.l2_ridge_point(pipe).map(FlopsPerByte::get),
            };
            (pipe, described)
        };
        Self { device, pipes: device.peaks.keys().map(pipe).collect() }
    }
}

/// Returns dense rates only, because a sparse multiply-add skips half of its products.
fn multiply_adds(device: &Device, pipe: Pipe) -> Option<f64> {
    device.rate(pipe).and_then(|rate| rate.fma_per_clock_per_sm)
}

/// Makes the table of peaks with multiply-adds and the ridge points of DRAM and L2.
fn peaks(device: &Device) -> Table {
    let mut columns = vec![
        Column::text("pipe", "pipe"),
        Column::number("peak_op_per_s", "peak", Form::Tera("FLOP/s")),
        Column::number("fma_per_clock_per_sm", "FMA/clk/SM (CU)", Form::Count).spare(1),
        Column::number("ridge_point_flop_per_byte", "DRAM ridge", Form::Tenths("FLOP/B")),
        Column::number("l2_ridge_point_flop_per_byte", "L2 ridge", Form::Tenths("FLOP/B")).spare(2),
        Column::text("source", "source"),
    ];
    let has_l2 = Pipe::ALL.iter().any(|pipe| device.l2_ridge_point(*pipe).is_some());
    columns.retain(|column| has_l2 || column.key != "l2_ridge_point_flop_per_byte");
    let mut table = Table::new("peaks", columns);
    for pipe in Pipe::ALL {
        let Some(peak) = device.peak(*pipe) else { continue };
        let is_integer = pipe.operation() == "OP";
        let (rate, intensity) = if is_integer {
            (Form::Tera("OP/s"), Form::Tenths("OP/B"))
        } else {
            (Form::Tera("FLOP/s"), Form::Tenths("FLOP/B"))
        };
        let ridge = |ridge: Option<FlopsPerByte>| {
            ridge.map_or(Cell::Missing, |ridge| Cell::Other(ridge.get(), intensity))
        };
        let mut row = vec![
            Cell::text(pipe.label()),
            Cell::Other(peak.value.get(), rate),
            Cell::maybe(multiply_adds(device, *pipe)),
            ridge(device.ridge_point(*pipe)),
        ];
        if has_l2 {
            row.push(ridge(device.l2_ridge_point(*pipe)));
        }
        row.push(Cell::text(printable(&source(peak))));
        table.push(row);
    }
    table
}

fn list(devices: &[Device]) -> Table {
    let mut table = Table::new(
        "devices",
        vec![
            Column::name("name", "name"),
            Column::text("target", "target").spare(2),
            Column::number("sms", "SMs/CUs", Form::Count).spare(3),
            Column::number("dram_gb_per_s", "DRAM GB/s", Form::Digits),
            Column::number("fp64_tflop_per_s", "fp64", Form::Digits).spare(1),
            Column::number("fp32_tflop_per_s", "fp32", Form::Digits),
            Column::number("bf16_tensor_tflop_per_s", "bf16 t.", Form::Digits),
            Column::number("fp8_tensor_tflop_per_s", "fp8 t.", Form::Digits),
        ],
    );
    for device in devices {
        let peak = |pipe| Cell::maybe(device.peak(pipe).map(|figure| figure.value.get() / 1e12));
        let bandwidth = device.memory.bandwidth.as_ref();
        table.push([
            Cell::text(printable(&device.name)),
            Cell::maybe_text(device.target()),
            Cell::maybe(device.sms.map(f64::from)),
            Cell::maybe(bandwidth.map(|figure| figure.value.get() / 1e9)),
            peak(Pipe::Fp64Vector),
            peak(Pipe::Fp32Vector),
            peak(Pipe::Bf16Matrix),
            peak(Pipe::Fp8Matrix),
        ]);
    }
    table
}

/// Makes the page of a device: every figure with its source.
fn one(device: &Device) -> Page {
    let mut page = Page::default();
    page.row("driver name", device.driver_name.clone(), "");
    page.row("aliases", (!device.aliases.is_empty()).then(|| device.aliases.join(", ")), "");
    let chip = [&device.vendor, &device.architecture, &device.chip]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>();
    page.row("chip", (!chip.is_empty()).then(|| chip.join(" ")), "");
    page.row("target", device.target().map(str::to_owned), "");
    let cited =
        |key: &str| device.citations.get(key).map_or("", |citation| citation.source.as_str());
    page.row(device.units_label(), device.sms.map(|sms| sms.to_string()), cited("sms"));
    page.figure("base clock", device.base_clock.as_ref(), |clock| {
        format!("{} MHz", few(clock.get() / 1e6))
    });
    page.figure("boost clock", device.boost_clock.as_ref(), |clock| {
        format!("{} MHz", few(clock.get() / 1e6))
    });
    page.figure("boost at lowest power", device.lowest_boost_clock.as_ref(), |clock| {
        format!("{} MHz", few(clock.get() / 1e6))
    });
    page.figure("tensor clock", device.tensor_clock.as_ref(), |clock| {
        format!("{} MHz", few(clock.get() / 1e6))
    });
    page.row(
        "source",
        device.confidence.map(|confidence| match confidence {
            Confidence::Vendor => "vendor".to_owned(),
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
        format!("{} GB/s", few(rate.get() / 1e9))
    });
    page.figure("achievable", device.achievable_bandwidth().as_ref(), |rate| {
        format!("{} GB/s", few(rate.get() / 1e9))
    });
    page.row(
        "L2",
        // Some have half a MiB.
        device.l2_bytes.map(|bytes| format!("{} MiB", bytes as f64 / f64::from(1 << 20))),
        cited("cache.l2_mib"),
    );
    page.figure("L2 bandwidth", device.l2_bandwidth.as_ref(), |rate| {
        format!("{} GB/s", few(rate.get() / 1e9))
    });
    if let Some(l2) = &device.achievable.l2 {
        page.figure("L2, measured", Some(&l2.figure()), |rate| {
            format!("{} GB/s", few(rate.get() / 1e9))
        });
    }

    let measured = device.l2_bandwidth.is_none() && device.achievable.l2.is_some();
    let measured = if measured { " (L2: measured bandwidth)" } else { "" };
    page.sections.push(Section::new(
        format!(
            "Peaks (dense unless stated), multiply-adds per clock and {}, ridge points{measured}",
            device.units_label().trim_end_matches('s')
        ),
        vec![Block::Table(peaks(device))],
    ));
    page.title("Achievable (published benchmarks)");
    for (pipe, achieved) in &device.achievable.peaks {
        let value = format!("{:.1} T{}/s", achieved.value.get() / 1e12, pipe.operation());
        page.row(pipe.label(), Some(value), &achieved.figure().source);
    }
    page.title("Notes");
    for note in &device.notes {
        page.note(note);
    }
    for exception in &device.exceptions {
        page.note(&format!("{}: {}", exception.figures.join(", "), exception.reason));
    }
    page
}

/// Shows three digits at least: a figure in a wrong unit, such as 3.35 GB/s, is recognized by them.
fn few(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { digits(value) }
}

/// Returns the source of a figure, marked if it is derived.
fn source<T>(figure: &Figure<T>) -> String {
    if figure.derived { format!("derived: {}", figure.source) } else { figure.source.clone() }
}

/// Rows with sources, in sections.
#[derive(Default)]
struct Page {
    /// Rows before the first section.
    rows: Vec<Row>,
    sections: Vec<Section>,
}

impl Page {
    fn title(&mut self, title: &str) {
        self.sections.push(Section::new(title, Vec::new()));
    }

    fn row(&mut self, label: &str, value: Option<String>, source: &str) {
        let Some(value) = value else { return };
        let row = Row::new(label, printable(&value), printable(source));
        let Some(section) = self.sections.last_mut() else { return self.rows.push(row) };
        match section.blocks.last_mut() {
            Some(Block::Figures(rows)) => rows.push(row),
            _ => section.blocks.push(Block::Figures(vec![row])),
        }
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
        let Some(section) = self.sections.last_mut() else { return };
        match section.blocks.last_mut() {
            Some(Block::List(notes)) => notes.push(printable(note).into()),
            _ => section.blocks.push(Block::lines(vec![printable(note)])),
        }
    }
}
