//! The database of `DLProf`: kernels with the operator they belong to, without registers, shared memory and stream.

use std::collections::HashMap;

use super::database::{Cell, Database, Failure, integer, shown, text};
use crate::ingest::timeline::LeftOut;
use crate::ingest::{IngestError, Reading};
use crate::model::{
    DeviceHint, Dim3, Head, HintId, NameId, Origin, Profiler, Quantity, Shape, Values,
};

/// Reads the launches.
///
/// # Errors
/// When the database is damaged, or a row cannot be used and reading is strict.
pub(super) fn read(database: &Database, reading: &mut Reading<'_>) -> Result<(), Failure> {
    reading.source.profiler = Profiler::DLProf;
    "database of DLProf".clone_into(&mut reading.source.dialect);
    let mut texts: HashMap<i64, NameId> = HashMap::new();
    database.each("dictionary", ["id", "string"], |[id, value]| {
        if let (Some(id), Some(value)) = (integer(id), text(value)) {
            texts.insert(id, reading.name(value));
        }
        Ok(())
    })?;
    let mut extents: HashMap<i64, Dim3> = HashMap::new();
    database.each("read_only_grid_block", ["id", "x", "y", "z"], |[id, x, y, z]| {
        let side = |cell| integer(cell).and_then(|side| u32::try_from(side).ok());
        if let (Some(id), Some(x), Some(y), Some(z)) = (integer(id), side(x), side(y), side(z)) {
            extents.insert(id, Dim3 { x, y, z });
        }
        Ok(())
    })?;
    let mut operators: HashMap<i64, NameId> = HashMap::new();
    let key =
        if database.has_column("read_only_ops", "name_id")? { "name_id" } else { "op_name_id" };
    database.each("read_only_ops", ["id", key], |[id, name]| {
        if let (Some(id), Some(name)) = (integer(id), integer(name))
            && let Some(name) = texts.get(&name)
        {
            operators.insert(id, *name);
        }
        Ok(())
    })?;
    let mut devices = devices(database, reading, &texts)?;
    let origin = reading.origin(&Origin::measured("gpu_stop − gpu_start"));
    let columns = [
        "gpu_start",
        "gpu_stop",
        "long_name_id",
        "name_id",
        "grid_id",
        "block_id",
        "device_id",
        "process_id",
        "read_only_ops_id",
    ];
    let mut launches: Vec<(Head, Option<u64>)> = Vec::new();
    database.each("read_only_kernels", columns, |cells| {
        reading.source.rows += 1;
        let [start, stop, long, short, grid, block, device, process, operator] = cells.map(integer);
        let time = start.zip(stop).and_then(|(start, stop)| {
            let (start, stop) = (u64::try_from(start).ok()?, u64::try_from(stop).ok()?);
            Some((start, stop.checked_sub(start)?))
        });
        let name = [long, short].into_iter().flatten().find_map(|id| texts.get(&id));
        let (Some((start, duration)), Some(name)) = (time, name) else {
            let (column, reason) = match time {
                Some(_) => (2, "no name"),
                None => (usize::from(start.is_some()), "not a time"),
            };
            let row = reading.source.rows;
            reading.skip(row, Some(columns[column]), &shown(cells[column]), reason)?;
            return Ok(());
        };
        let mut extent = |at: usize, id: Option<i64>| -> Result<Option<Dim3>, IngestError> {
            let found = id.and_then(|id| extents.get(&id)).copied();
            if found.is_none() && cells[at] != Cell::Null {
                let (row, id) = (reading.source.rows, shown(cells[at]));
                reading.skip(row, Some(columns[at]), &id, "no such grid or block")?;
            }
            Ok(found)
        };
        let shape = Shape::new(extent(4, grid)?, extent(5, block)?);
        let head = Head {
            process: process.and_then(|id| u32::try_from(id).ok()).unwrap_or_default(),
            name: *name,
            operator: operator.and_then(|id| operators.get(&id)).copied().unwrap_or_default(),
            shape,
            device: device_of(&mut devices, reading, device.unwrap_or_default()),
            start: Some(start),
            count: 1,
            ..Head::default()
        };
        launches.push((head, Some(duration).filter(|duration| *duration > 0)));
        Ok(())
    })?;
    once(&mut launches, reading);
    let mut values = Values::default();
    for (id, (head, duration)) in (0..).zip(launches) {
        values.clear();
        if let Some(duration) = duration {
            values.set(Quantity::Duration, duration as f64 / 1e9, origin);
        }
        reading.push(Head { id, ..head }, &values);
    }
    reading.source.clues.extend(moved(database)?.clue());
    Ok(())
}

/// Copies and fills, which are left out.
fn moved(database: &Database) -> Result<LeftOut, Failure> {
    let mut left_out = LeftOut::default();
    for table in ["read_only_memcpys", "read_only_memsets"] {
        database.each(table, ["gpu_start", "gpu_stop"], |[start, stop]| {
            let time = integer(start).zip(integer(stop));
            let time = time.map_or(0, |(start, stop)| stop.saturating_sub(start).max(0));
            left_out.add(1, time as f64 / 1e9);
            Ok(())
        })?;
    }
    Ok(left_out)
}

/// Sorts launches by their starts, and leaves those that are there again out.
fn once(launches: &mut Vec<(Head, Option<u64>)>, reading: &mut Reading<'_>) {
    launches.sort_by_key(|(head, _)| (head.start, head.process, head.name, head.device));
    let all = launches.len();
    launches.dedup_by(|one, other| one == other && one.1.is_some());
    reading.leave_out_repeats((all - launches.len()) as u64);
}

/// The GPU with a number, which may not be listed.
fn device_of(devices: &mut HashMap<i64, HintId>, reading: &mut Reading<'_>, id: i64) -> HintId {
    *devices.entry(id).or_insert_with(|| {
        reading.hint(DeviceHint { ordinal: Some(id.to_string()), ..DeviceHint::default() })
    })
}

/// The GPUs by their numbers.
fn devices(
    database: &Database,
    reading: &mut Reading<'_>,
    texts: &HashMap<i64, NameId>,
) -> Result<HashMap<i64, HintId>, Failure> {
    let mut devices = HashMap::new();
    let columns = [
        "device_id",
        "gpu_name",
        "sm_count",
        "compute_capability_major",
        "compute_capability_minor",
    ];
    database.each("read_only_gpu_infos", columns, |[id, name, sms, major, minor]| {
        let Some(id) = integer(id) else { return Ok(()) };
        let name = match integer(name) {
            Some(id) => texts.get(&id).map(|id| reading.text(*id).to_owned()),
            None => text(name).map(|text| String::from_utf8_lossy(text).into_owned()),
        };
        let version = integer(major).zip(integer(minor));
        let hint = DeviceHint {
            name_from: name.as_ref().map(|_| "read_only_gpu_infos".to_owned()),
            name,
            compute_capability: version.map(|(major, minor)| format!("{major}.{minor}")),
            sms: integer(sms).and_then(|sms| u32::try_from(sms).ok()),
            ordinal: Some(id.to_string()),
            ..DeviceHint::default()
        };
        devices.insert(id, reading.hint(hint));
        Ok(())
    })?;
    Ok(devices)
}
