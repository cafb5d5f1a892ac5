//! The GPUs of a trace: what `deviceProperties` says of them.

use super::event::{count, integer};
use crate::ingest::scan::{items, members, text};
use crate::model::DeviceHint;

/// A GPU of the machine, whether anything ran on it or not.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Properties {
    id: Option<i64>,
    hint: DeviceHint,
    /// What was concluded from its size, if its name says nothing.
    pub(super) clue: Option<String>,
}

/// AMD's devices by compute units and memory in GiB, as libdrm calls them. The driver calls all of them
/// "AMD Radeon Graphics" where its list of names is missing.
const AMD: [(u64, u64, &str, &str); 8] = [
    (60, 16, "AMD Instinct MI50", ""),
    (64, 32, "AMD Instinct MI60", ""),
    (120, 32, "AMD Instinct MI100", ""),
    (104, 64, "AMD Instinct MI250", ", or an MI210, which has the same peaks"),
    (110, 64, "AMD Instinct MI250X", ""),
    (228, 128, "AMD Instinct MI300A", ""),
    (304, 192, "AMD Instinct MI300X", ""),
    (304, 256, "AMD Instinct MI325X", ""),
];

/// The GPUs listed in a trace.
pub(super) fn properties(list: &[u8]) -> Vec<Properties> {
    items(list).map(one).collect()
}

fn one(object: &[u8]) -> Properties {
    let [mut units, mut memory, mut major, mut minor] = [None; 4];
    let (mut id, mut name) = (None, None);
    for (key, value) in members(object) {
        match key {
            b"id" => id = integer(value),
            b"name" => name = Some(String::from_utf8_lossy(&text(value)).into_owned()),
            b"numSms" => units = count(value),
            b"totalGlobalMem" => memory = count(value),
            b"computeMajor" => major = count(value),
            b"computeMinor" => minor = count(value),
            _ => {}
        }
    }
    let is_amd =
        name.as_deref().is_some_and(|name| name.contains("AMD") || name.contains("Radeon"));
    let mut hint = DeviceHint {
        name_from: name.as_ref().map(|_| "deviceProperties of the trace".to_owned()),
        name,
        sms: units.and_then(|units| u32::try_from(units).ok()),
        ..DeviceHint::default()
    };
    let mut clue = None;
    if !is_amd {
        hint.compute_capability = major.zip(minor).map(|(major, minor)| format!("{major}.{minor}"));
    } else if hint.name.as_deref() == Some("AMD Radeon Graphics")
        && let Some((units, memory)) = units.zip(memory)
    {
        // A little of the memory is not the program's.
        let gib = |gib: u64| (gib * 15 / 16) << 30..=gib << 30;
        let found = AMD.iter().find(|(of, size, ..)| *of == units && gib(*size).contains(&memory));
        if let Some((_, size, name, besides)) = found {
            clue = Some(format!(
                "the trace calls its GPU only \"AMD Radeon Graphics\"; {units} compute units and {size} GiB make it an {}{besides}",
                name.trim_start_matches("AMD Instinct ")
            ));
            hint.name = Some((*name).to_owned());
            hint.name_from = Some("numSms and totalGlobalMem of the trace".to_owned());
        }
    }
    Properties { id, hint, clue }
}

/// The GPU with this number. Numbers are labels: where none fits and all are alike, it is one of them.
fn of(properties: &[Properties], number: Option<i64>) -> Option<&Properties> {
    let named = properties.iter().find(|one| one.id == number && number.is_some());
    named.or_else(|| {
        let first = properties.first()?;
        properties.iter().all(|one| one.hint == first.hint).then_some(first)
    })
}

/// What is known of the GPU with this number.
pub(super) fn hint(properties: &[Properties], number: Option<i64>) -> DeviceHint {
    of(properties, number).map_or_else(|| unlisted(number), |known| known.hint(number))
}

/// A GPU of which only the number is known.
fn unlisted(number: Option<i64>) -> DeviceHint {
    DeviceHint { ordinal: number.map(|number| number.to_string()), ..DeviceHint::default() }
}

impl Properties {
    /// What is known of it; the number tells devices of a file apart.
    fn hint(&self, number: Option<i64>) -> DeviceHint {
        DeviceHint { ordinal: number.map(|number| number.to_string()), ..self.hint.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_amd_is_told_by_its_size() {
        let found = properties(
            br#"[{"id": 0, "name": "AMD Radeon Graphics", "totalGlobalMem": 68702699520,
                "computeMajor": 9, "computeMinor": 0, "numSms": 104}]"#,
        );
        let hint = of(&found, Some(2)).unwrap().hint(Some(2));
        assert_eq!(hint.name.as_deref(), Some("AMD Instinct MI250"));
        assert_eq!((hint.sms, hint.compute_capability), (Some(104), None));
        assert_eq!(hint.ordinal.as_deref(), Some("2"));
        assert!(found[0].clue.as_ref().unwrap().contains("or an MI210"));
    }

    #[test]
    fn a_number_that_is_not_listed_is_a_device_only_if_all_are_alike() {
        let found = properties(
            br#"[{"id": 0, "name": "A", "computeMajor": 9, "computeMinor": 0}, {"id": 1, "name": "B"}]"#,
        );
        let name = |number| of(&found, number).map(|one| one.hint(None).name.unwrap());
        assert_eq!((name(Some(1)), name(Some(2)), name(None)), (Some("B".to_owned()), None, None));
        assert_eq!(found[0].hint.compute_capability.as_deref(), Some("9.0"));
        assert!(of(&[], Some(0)).is_none());
    }
}
