//! What can be asked of a launch: the canonical launch table in its order, then what the name tells.

use super::{Cell, Column, Form, Get, named};
use crate::model::{DeviceHint, Dim3, Launch, OriginKind, Profile, Quantity};

type Of = for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>;

fn column(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, about, Get::Launch(get))
}

pub(super) fn columns() -> Vec<Column> {
    let mut all = identity();
    all.extend(shape());
    for quantity in Quantity::all() {
        let (name, about) = (quantity.column(), quantity.about().trim_end_matches('.'));
        all.push(Column::new(&name, Form::Number(quantity.unit()), about, Get::Value(quantity)));
        // Time, bytes and work are what conclusions rest on: each cell says how it came about.
        if matches!(quantity, Quantity::Duration | Quantity::DramBytes | Quantity::Work(_)) {
            let about = format!("how `{name}` came about");
            let name = format!("{name}_origin");
            let origin = Column::new(&name, Form::Text, &about, Get::Origin(quantity));
            all.push(origin.of(OriginKind::ALL.map(OriginKind::label)));
        }
    }
    all.extend(named::columns());
    all
}

fn identity() -> Vec<Column> {
    use Form::{Count, Text};
    vec![
        column("source", Text, "the file it was read from", |profile, launch| {
            let source = profile.sources.get(usize::from(launch.head.source))?;
            Some(Cell::Text(&source.path))
        }),
        column(
            "process",
            Count,
            "operating-system process; 0 where the export has none",
            |_, launch| Some(Cell::Count(u64::from(launch.head.process))),
        ),
        column("id", Count, "number of the launch within its export", |_, launch| {
            Some(Cell::Count(u64::from(launch.head.id)))
        }),
        column("kernel", Text, "name as the profiler wrote it", |_, launch| {
            Some(Cell::Text(launch.kernel()))
        }),
        column("operator", Text, "framework operator and its parameters", |profile, launch| {
            Some(Cell::Text(profile.names.get(launch.head.operator)))
        }),
        column("device", Text, "name of the device, as the export writes it", |profile, launch| {
            hint(profile, launch)?.name.as_deref().map(Cell::Text)
        }),
        column("device_ordinal", Text, "number of the device in its machine", |profile, launch| {
            hint(profile, launch)?.ordinal.as_deref().map(Cell::Text)
        }),
        column("stream", Count, "CUDA stream", |_, launch| {
            launch.head.stream.map(|stream| Cell::Count(u64::from(stream)))
        }),
        column("launches", Count, "executions the row stands for", |_, launch| {
            Some(Cell::Count(u64::from(launch.head.count)))
        }),
    ]
}

fn shape() -> Vec<Column> {
    use Form::Count;
    vec![
        column("grid_x", Count, "blocks in x", |_, launch| {
            extent(launch.head.shape.grid, |dim| dim.x)
        }),
        column("grid_y", Count, "blocks in y", |_, launch| {
            extent(launch.head.shape.grid, |dim| dim.y)
        }),
        column("grid_z", Count, "blocks in z", |_, launch| {
            extent(launch.head.shape.grid, |dim| dim.z)
        }),
        column("block_x", Count, "threads of a block in x", |_, launch| {
            extent(launch.head.shape.block, |dim| dim.x)
        }),
        column("block_y", Count, "threads of a block in y", |_, launch| {
            extent(launch.head.shape.block, |dim| dim.y)
        }),
        column("block_z", Count, "threads of a block in z", |_, launch| {
            extent(launch.head.shape.block, |dim| dim.z)
        }),
        column("blocks", Count, "blocks of the grid", |_, launch| {
            launch.head.shape.blocks.map(Cell::Count)
        }),
        column("threads_per_block", Count, "threads of a block", |_, launch| {
            launch.head.shape.threads_per_block.map(Cell::Count)
        }),
    ]
}

fn hint<'a>(profile: &'a Profile, launch: &Launch<'a>) -> Option<&'a DeviceHint> {
    profile.devices.get(usize::from(launch.head.device.0))
}

fn extent(dim: Option<Dim3>, of: fn(Dim3) -> u32) -> Option<Cell<'static>> {
    dim.map(|dim| Cell::Count(u64::from(of(dim))))
}
