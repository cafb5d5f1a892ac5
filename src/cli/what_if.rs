//! What `--what-if` names: devices of the catalog, other ways to write the kernels, closed forms.

use super::exit::Failure;
use crate::analysis::{Analysis, CeilingSet, Change, Compulsory};
use crate::catalog::{Catalog, CatalogError, Device};
use crate::model::DeviceHint;
use crate::predict::{Arguments, form};

/// Words for changes to the kernels themselves.
pub(super) const WORDS: [&str; 3] = ["tensor-cores", "bf16", "fused"];

fn named(word: &str) -> Option<Change> {
    match word.to_lowercase().as_str() {
        "tensor-cores" => Some(Change::TensorCores),
        "bf16" => Some(Change::SixteenBit),
        "fused" => Some(Change::Fused),
        _ => None,
    }
}

/// Reads the changes that are asked for; `chosen` are the kernels of `--kernel`, by longest launch.
pub(super) fn changes(
    asked: &[String],
    catalog: &Catalog,
    analysis: &Analysis,
    chosen: Option<&[usize]>,
) -> Result<Vec<Change>, Failure> {
    let (mut devices, mut others): (Vec<Device>, Vec<Change>) = (Vec::new(), Vec::new());
    for list in asked {
        if list.contains('=') {
            others.push(closed_form(list, chosen)?);
            continue;
        }
        for item in split(list, catalog) {
            match named(item) {
                Some(change) => others.push(change),
                None => add(&mut devices, find(item, catalog)?),
            }
        }
    }
    let mut changes = Vec::new();
    // Other devices are taken at their rated clock: what that alone does is shown first.
    if !devices.is_empty() && analysis.ceilings != CeilingSet::Spec {
        changes.push(Change::RatedClock);
    }
    changes.extend(devices.into_iter().map(|device| Change::Device(Box::new(device))));
    for change in others {
        if changes.iter().all(|known: &Change| known.label() != change.label()) {
            changes.push(change);
        }
    }
    Ok(changes)
}

/// Finds what is named wrong before anything is read; closed forms need the kernels.
pub(super) fn check(asked: &[String], catalog: &Catalog) -> Result<(), Failure> {
    let lists = asked.iter().filter(|list| !list.contains('='));
    for item in lists.flat_map(|list| split(list, catalog)) {
        if named(item).is_none() {
            find(item, catalog)?;
        }
    }
    Ok(())
}

/// The devices named in lists separated by commas.
pub(super) fn devices(asked: &[String], catalog: &Catalog) -> Result<Vec<Device>, Failure> {
    let mut devices = Vec::new();
    for item in asked.iter().flat_map(|list| split(list, catalog)) {
        add(&mut devices, catalog.find(item, &DeviceHint::default())?);
    }
    Ok(devices)
}

fn add(devices: &mut Vec<Device>, device: Device) {
    if devices.iter().all(|known| known.id != device.id) {
        devices.push(device);
    }
}

/// The parts of a list; a device whose name itself holds a comma is taken whole.
fn split<'l>(list: &'l str, catalog: &Catalog) -> Vec<&'l str> {
    if catalog.find(list.trim(), &DeviceHint::default()).is_ok() {
        return vec![list.trim()];
    }
    let parts: Vec<&str> = list.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { vec![list] } else { parts }
}

fn find(name: &str, catalog: &Catalog) -> Result<Device, Failure> {
    let close = WORDS.iter().find(|word| crate::plain::likeness(word, name) > 0.85);
    catalog.find(name, &DeviceHint::default()).map_err(|error| match close {
        Some(word) => Failure::usage(format!("nothing is called {name:?}")).help(format!(
            "did you mean {word:?}? `--what-if` takes devices, tensor-cores, bf16, fused"
        )),
        None => match error {
            CatalogError::NotFound { .. } if form(name).is_ok() => {
                Failure::usage(format!("the closed form {name:?} has no sizes")).help(format!(
                    "give them in the same argument, with the kernels that it describes; `rooflint predict {name}` shows which it takes"
                ))
            }
            CatalogError::NotFound { .. } => Failure::usage(error.to_string()).help(
                "--what-if takes devices (list all names with `rooflint devices`), tensor-cores, bf16, fused",
            ),
            CatalogError::Ambiguous { ref candidates, .. } => {
                let first = candidates.first().map_or("", String::as_str);
                Failure::usage(error.to_string())
                    .help(format!("choose one of them, such as --what-if {first:?}"))
            }
            error => error.into(),
        },
    })
}

/// A closed form that describes the chosen kernels: `gemm m=4096 n=4096 k=4096`.
fn closed_form(call: &str, chosen: Option<&[usize]>) -> Result<Change, Failure> {
    let Some(kernels) = chosen else {
        return Err(Failure::usage(format!("{call:?} does not say which kernels it describes"))
            .help("add --kernel NAME, or --kernel '#1' for the first of the ranking"));
    };
    let mut words = call.split_whitespace();
    let name = words.next().unwrap_or_default();
    let count = Arguments::parse(form(name)?, words)?.count()?;
    Ok(Change::Compulsory(Compulsory {
        call: call.to_owned(),
        bytes: count.bytes(),
        operations: count.operations(),
        kernels: kernels.to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_change() {
        assert!(WORDS.iter().all(|word| named(word).is_some()));
        assert!(named("H100").is_none());
    }
}
