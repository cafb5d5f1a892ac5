//! The document of Proton: a list of trees and of tables of devices, read node by node, however deep scopes are: with
//! Python's frames as scopes they are many.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{STATED, TIME};
use crate::ingest::document::{Document, Fault, LIST, OBJECT, twice};
use crate::ingest::scan::Spot;

/// What a document says.
#[derive(Default)]
pub(super) struct Tree {
    /// In the order of the document, each before the nodes below it; the root of each tree has depth 0.
    pub(super) nodes: Vec<Node>,
    /// By kind and number.
    pub(super) devices: BTreeMap<String, BTreeMap<String, Device>>,
}

/// A scope, or a kernel.
#[derive(Default)]
pub(super) struct Node {
    pub(super) depth: usize,
    /// Position behind the last node below it.
    pub(super) end: usize,
    pub(super) name: String,
    pub(super) metrics: BTreeMap<String, Metric>,
}

impl Node {
    /// A scope has no time of its own; a node with time is a kernel, wherever it is.
    pub(super) fn is_kernel(&self) -> bool {
        self.depth > 0 && self.metrics.contains_key(TIME)
    }
}

impl Node {
    /// Whether it says how much work was done.
    pub(super) fn states_work(&self) -> bool {
        let is_number = |name: &str| matches!(self.metrics.get(name), Some(Metric::Number(_)));
        STATED.iter().map(|(name, _)| *name).chain(["flops"]).any(is_number)
    }
}

/// A metric: a number, or the text of a device.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Metric {
    Number(f64),
    Text(String),
}

/// Attributes of a device, as far as they are used. Clocks are in kHz, the width of the bus in bits.
#[derive(Deserialize)]
pub(super) struct Device {
    pub(super) arch: Option<String>,
    pub(super) bus_width: Option<u32>,
    pub(super) clock_rate: Option<f64>,
    pub(super) memory_clock_rate: Option<f64>,
    pub(super) num_sms: Option<u32>,
}

#[derive(Deserialize)]
struct Frame {
    name: String,
}

/// Metrics by name, each once.
#[derive(Deserialize)]
#[serde(transparent)]
struct Metrics(#[serde(deserialize_with = "crate::json::unique")] BTreeMap<String, Metric>);

/// Devices of one kind by number, each once.
#[derive(Deserialize)]
#[serde(transparent)]
struct Devices(#[serde(deserialize_with = "crate::json::unique")] BTreeMap<String, Device>);

/// An object whose end has not come yet.
struct Open {
    node: usize,
    start: Spot,
    has_children: bool,
    has_frame: bool,
    has_metrics: bool,
    /// The first member that is neither that of a node nor a table of devices.
    odd: Option<Fault>,
}

impl Tree {
    /// Reads the whole document.
    pub(super) fn read(document: &mut Document) -> Result<Self, Fault> {
        let mut tree = Self::default();
        if document.open(LIST, "the document must begin with [")? {
            tree.items(document)?;
        }
        document.end()?;
        Ok(tree)
    }

    /// Reads the items of the document's list, without a call for each level of them.
    fn items(&mut self, document: &mut Document) -> Result<(), Fault> {
        let mut open: Vec<Open> = Vec::new();
        loop {
            // An item of the list of the innermost node begins.
            let (node, start) = (self.nodes.len(), document.spot()?);
            self.nodes.push(Node { depth: open.len(), ..Node::default() });
            let mut goes_on = document.open(OBJECT, "a node is not an object")?;
            open.push(Open {
                node,
                start,
                has_children: false,
                has_frame: false,
                has_metrics: false,
                odd: None,
            });
            loop {
                if goes_on && self.member(document, &mut open)? {
                    break;
                }
                if !goes_on {
                    self.close(open.pop())?;
                    if document.more(b']')? {
                        break;
                    }
                    if open.is_empty() {
                        return Ok(());
                    }
                }
                goes_on = document.more(b'}')?;
            }
        }
    }

    /// Reads a member of the innermost node; `true` if it is a list of nodes that begins.
    fn member(&mut self, document: &mut Document, open: &mut [Open]) -> Result<bool, Fault> {
        let is_first = open.len() == 1;
        let (spot, key) = document.key()?;
        let Some(inner) = open.last_mut() else { return Ok(false) };
        let (again, node) = match key.as_str() {
            "children" => (&mut inner.has_children, &mut self.nodes[inner.node]),
            "frame" => (&mut inner.has_frame, &mut self.nodes[inner.node]),
            "metrics" => (&mut inner.has_metrics, &mut self.nodes[inner.node]),
            _ => {
                let value = document.value()?;
                if is_first {
                    match value.read() {
                        Ok(Devices(_)) if self.devices.contains_key(&key) => {
                            return Err(twice(spot, &key));
                        }
                        Ok(Devices(devices)) => _ = self.devices.insert(key, devices),
                        Err(odd) => _ = inner.odd.get_or_insert(odd),
                    }
                } else {
                    let IgnoredAny = value.read()?;
                }
                return Ok(false);
            }
        };
        if std::mem::replace(again, true) {
            return Err(twice(spot, &key));
        }
        match key.as_str() {
            "children" => return document.open(LIST, "\"children\" is not a list"),
            "frame" => {
                let Frame { name } = document.value()?.read()?;
                node.name = name;
            }
            _ => {
                let Metrics(metrics) = document.value()?.read()?;
                node.metrics = metrics;
            }
        }
        Ok(false)
    }

    /// Ends an object: a node, or a table of devices.
    fn close(&mut self, open: Option<Open>) -> Result<(), Fault> {
        let Some(Open { node, start, has_children, has_frame, has_metrics, odd }) = open else {
            return Ok(());
        };
        if !has_frame {
            if let Some(odd) = odd {
                return Err(odd);
            }
            if self.nodes[node].depth > 0 || has_children || has_metrics {
                let missing = "a node has no \"frame\"".to_owned();
                return Err(Fault::At(start, missing));
            }
        }
        self.nodes[node].end = self.nodes.len();
        Ok(())
    }
}
