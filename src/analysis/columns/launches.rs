//! What can be asked of a launch: the canonical launch table in its order, then what the name tells.

use super::{Cell, Column, Form, Get, named};
use crate::model::{DeviceHint, Dim3, Launch, OriginKind, Profile, Quantity};

type Of = for<'a> fn(&'a Profile, &Launch<'a>) -> Option<Cell<'a>>;

fn column(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, about, Get::Launch(get))
}

/// A column that few tables have.
fn rare(name: &str, form: Form, about: &str, get: Of) -> Column {
    Column::new(name, form, about, Get::Rare(get))
}

pub(super) fn columns() -> Vec<Column> {
    let mut all = identity();
    all.extend(shape());
    all.extend(device());
    for quantity in Quantity::all() {
        let (name, about) = (quantity.column(), quantity.about().trim_end_matches('.'));
        all.push(Column::new(&name, Form::Number(quantity.unit()), about, Get::Value(quantity)));
        // Time, bytes and work are what conclusions rest on: each cell says how it came about.
        if matches!(quantity, Quantity::Duration | Quantity::DramBytes | Quantity::Work(_)) {
            let about = format!("how `{name}` came about");
            let origin = format!("{name}_origin");
            let origin = Column::new(&origin, Form::Text, &about, Get::Origin(quantity));
            all.push(origin.of(OriginKind::ALL.map(OriginKind::label)));
            let about =
                format!("the true `{name}` is at least this times it; missing where it is exact");
            let low = format!("{name}_low");
            all.push(Column::new(&low, Form::Number("1"), &about, Get::Low(quantity)));
            let about = format!(
                "the true `{name}` is at most this times it; missing where it is exact, and beside a `_low` where nothing bounds it"
            );
            let high = format!("{name}_high");
            all.push(Column::new(&high, Form::Number("1"), &about, Get::High(quantity)));
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
        rare("source_format", Text, "the format in which that file was read", |profile, launch| {
            let source = profile.sources.get(usize::from(launch.head.source))?;
            Some(Cell::Text(&source.format))
        }),
        rare(
            "caches_kept",
            Count,
            "1 where the profiler said that it left caches as they were between passes",
            |profile, launch| {
                let source = profile.sources.get(usize::from(launch.head.source))?;
                source.keeps_caches.then_some(Cell::Count(1))
            },
        ),
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

/// What the export says of the device beyond its name.
fn device() -> Vec<Column> {
    use Form::{Count, Number, Text};
    vec![
        rare(
            "device_compute_capability",
            Text,
            "compute capability of the device, as the export says",
            |profile, launch| hint(profile, launch)?.compute_capability.as_deref().map(Cell::Text),
        ),
        rare(
            "device_multiprocessors",
            Count,
            "multiprocessors of the device, as the export says",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.sms?))),
        ),
        rare(
            "device_max_sm_clock_hz",
            Number("Hz"),
            "highest SM clock of the device, as the export says",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_sm_clock?.get())),
        ),
        rare(
            "device_max_memory_clock_hz",
            Number("Hz"),
            "highest memory clock of the device, as the export says",
            |profile, launch| Some(Cell::Number(hint(profile, launch)?.max_memory_clock?.get())),
        ),
        rare(
            "device_memory_clock_hz",
            Number("Hz"),
            "a memory clock observed while a kernel ran",
            |profile, launch| {
                Some(Cell::Number(hint(profile, launch)?.observed_memory_clock?.get()))
            },
        ),
        rare(
            "device_memory_bus_bits",
            Count,
            "width of the device's memory bus in bits, as the export says",
            |profile, launch| Some(Cell::Count(u64::from(hint(profile, launch)?.memory_bus_bits?))),
        ),
        rare(
            "device_l2_bytes",
            Count,
            "size of the device's L2 cache in bytes, as the export says",
            |profile, launch| Some(Cell::Count(hint(profile, launch)?.l2_bytes?)),
        ),
    ]
}

fn hint<'a>(profile: &'a Profile, launch: &Launch<'a>) -> Option<&'a DeviceHint> {
    profile.devices.get(usize::from(launch.head.device.0))
}

fn extent(dim: Option<Dim3>, of: fn(Dim3) -> u32) -> Option<Cell<'static>> {
    dim.map(|dim| Cell::Count(u64::from(of(dim))))
}
