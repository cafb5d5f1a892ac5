//! Which GPU a kernel ran on: the number that its process knows is not the number of the table of GPUs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::database::{Database, Failure, integer, text};
use crate::ingest::Reading;
use crate::model::{DeviceHint, HintId};
use crate::units::Hertz;

/// One row of the table of GPUs.
struct Gpu {
    id: i64,
    /// Its number for a process that sees all of them.
    cuda: Option<i64>,
    hint: DeviceHint,
}

/// The GPUs of an export.
pub(super) struct Gpus {
    all: Vec<Gpu>,
    /// Process and the number it knows, with the number in the table; exports of 2025.1 and later.
    of_process: HashMap<(u32, i64), i64>,
    /// Whether each process has a GPU of its own, whatever its number.
    is_one_each: bool,
    hints: HashMap<(u32, i64), HintId>,
}

const TABLE: &str = "TARGET_INFO_GPU";

/// The table of exports until 2021, with clocks in kHz.
const OLD_TABLE: &str = "TARGET_INFO_CUDA_GPU";

impl Gpus {
    /// Reads the GPUs; `used` are the processes with the numbers that they know their GPUs by.
    pub(super) fn of(
        database: &Database,
        reading: &mut Reading<'_>,
        used: impl Iterator<Item = (u32, i64)>,
    ) -> Result<Self, Failure> {
        let mut gpus = Self::listed(database)?;
        gpus.share_out(reading, used);
        Ok(gpus)
    }

    fn listed(database: &Database) -> Result<Self, Failure> {
        let mut gpus = Vec::new();
        let columns = [
            "id",
            "name",
            "cuDevice",
            "smCount",
            "clockRate",
            "l2CacheSize",
            "computeMajor",
            "computeMinor",
        ];
        database.each(TABLE, columns, |[id, name, cuda, sms, clock, l2, major, minor]| {
            // Graphics of the processor and of the system are listed too.
            if let Some(sms) = integer(sms).filter(|sms| *sms > 0) {
                let clock = integer(clock).map(|hertz| hertz as f64);
                let hint = hint(TABLE, text(name), sms, clock, [integer(major), integer(minor)]);
                let l2_bytes = integer(l2).and_then(|bytes| u64::try_from(bytes).ok());
                gpus.push(Gpu {
                    id: integer(id).unwrap_or_default(),
                    cuda: integer(cuda),
                    hint: DeviceHint { l2_bytes: l2_bytes.filter(|bytes| *bytes > 0), ..hint },
                });
            }
            Ok(())
        })?;
        if gpus.is_empty() {
            let columns = [
                "deviceId",
                "name",
                "numMultiprocessors",
                "coreClockRate",
                "computeCapabilityMajor",
                "computeCapabilityMinor",
            ];
            database.each(OLD_TABLE, columns, |[id, name, sms, clock, major, minor]| {
                if let Some(sms) = integer(sms).filter(|sms| *sms > 0) {
                    let clock = integer(clock).map(|kilohertz| kilohertz as f64 * 1e3);
                    let version = [integer(major), integer(minor)];
                    let hint = hint(OLD_TABLE, text(name), sms, clock, version);
                    let id = integer(id);
                    gpus.push(Gpu { id: id.unwrap_or_default(), cuda: id, hint });
                }
                Ok(())
            })?;
        }
        let mut of_process = HashMap::new();
        let columns = ["gpuId", "cudaId", "pid"];
        database.each("TARGET_INFO_CUDA_DEVICE", columns, |[gpu, cuda, pid]| {
            if let [Some(gpu), Some(cuda), Some(pid)] = [gpu, cuda, pid].map(integer)
                && let Ok(pid) = u32::try_from(pid)
            {
                of_process.insert((pid, cuda), gpu);
            }
            Ok(())
        })?;
        Ok(Self { all: gpus, of_process, is_one_each: false, hints: HashMap::new() })
    }

    /// Decides whether processes that know a GPU by the same number share it. Exports before 2025.1 do not say; launchers
    /// of several processes show each of them one GPU, which is its number 0.
    fn share_out(&mut self, reading: &mut Reading<'_>, used: impl Iterator<Item = (u32, i64)>) {
        if !self.of_process.is_empty() || self.all.len() == 1 {
            return;
        }
        let (mut of_number, mut of_process) = (BTreeMap::new(), BTreeMap::new());
        for (process, number) in used {
            of_number.entry(number).or_insert_with(BTreeSet::new).insert(process);
            of_process.entry(process).or_insert_with(BTreeSet::new).insert(number);
        }
        let most = of_number.iter().max_by_key(|(_, processes)| processes.len());
        let Some((number, processes)) = most.filter(|(_, processes)| processes.len() > 1) else {
            return;
        };
        let sharing = processes.len();
        let sees_one = |numbers: &BTreeSet<i64>| numbers.iter().eq([&0]);
        self.is_one_each = of_process.values().all(sees_one)
            && of_process.len() <= self.all.len()
            && self.alike().is_some();
        let taken =
            if self.is_one_each { "taken as one GPU for each process" } else { "taken as one GPU" };
        reading.check(&format!(
            "{sharing} processes used a GPU that they know as number {number}, and the export does not say whether it \
             is the same one: {taken}; exports of Nsight Systems 2025.1 and later say it"
        ));
    }

    /// Any of the GPUs where all are of one kind, so that the choice does not matter.
    fn alike(&self) -> Option<&Gpu> {
        let first = self.all.first()?;
        self.all.iter().all(|gpu| gpu.hint == first.hint).then_some(first)
    }

    /// The device with this number in a process.
    pub(super) fn hint(&mut self, reading: &mut Reading<'_>, process: u32, number: i64) -> HintId {
        if let Some(known) = self.hints.get(&(process, number)) {
            return *known;
        }
        let hint = reading.hint(self.describe(process, number));
        self.hints.insert((process, number), hint);
        hint
    }

    fn describe(&self, process: u32, number: i64) -> DeviceHint {
        let by_id = |id: &i64| self.all.iter().find(|gpu| gpu.id == *id);
        let by_number = || self.all.iter().find(|gpu| gpu.cuda == Some(number));
        if let Some(gpu) = self.of_process.get(&(process, number)).and_then(by_id) {
            return DeviceHint { ordinal: Some(gpu.id.to_string()), ..gpu.hint.clone() };
        }
        if self.is_one_each {
            let hint = self.alike().map(|gpu| gpu.hint.clone());
            let ordinal = Some(format!("{number} of process {process}"));
            return DeviceHint { ordinal, ..hint.unwrap_or_default() };
        }
        let hint = by_number().or_else(|| self.alike()).map(|gpu| gpu.hint.clone());
        DeviceHint { ordinal: Some(number.to_string()), ..hint.unwrap_or_default() }
    }

    /// Bytes of shared memory that the driver takes of each block besides: from compute capability 8 on.
    pub(super) fn reserved(reading: &Reading<'_>, device: HintId) -> Option<u64> {
        let capability = reading.device(device).compute_capability.as_deref()?;
        let major: u32 = capability.split('.').next()?.parse().ok()?;
        Some(if major >= 8 { 1024 } else { 0 })
    }
}

fn hint(
    table: &str,
    name: Option<&[u8]>,
    sms: i64,
    clock: Option<f64>,
    version: [Option<i64>; 2],
) -> DeviceHint {
    let name = name.map(|name| String::from_utf8_lossy(name).into_owned());
    let compute_capability = match version {
        [Some(major), Some(minor)] if major > 0 => Some(format!("{major}.{minor}")),
        _ => None,
    };
    DeviceHint {
        name_from: name.as_ref().map(|_| table.to_owned()),
        name,
        compute_capability,
        sms: u32::try_from(sms).ok(),
        max_sm_clock: clock.filter(|hertz| *hertz > 0.0).map(Hertz::new),
        ..DeviceHint::default()
    }
}
