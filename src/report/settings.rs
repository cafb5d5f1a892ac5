//! Report of the settings that hold, with where each comes from.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::document::{Block, Cell, Column, Document, Fact, Table};
use super::view::{Style, printable};
use super::{Reported, pretty};
use crate::json;

/// The settings that hold in a folder.
#[derive(Debug, Clone, Copy)]
pub struct SettingList<'a> {
    /// The configuration file that is used.
    pub file: Option<&'a str>,
    /// Whether no file was looked for, because `--no-config` says so.
    pub is_without: bool,
    /// Configuration files beside it, which are ignored.
    pub ignored: &'a [String],
    /// The settings.
    pub settings: &'a [Setting],
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// Its key in the configuration, or the name of its option.
    pub key: String,
    /// Its value; `null` if it is not set.
    pub value: Value,
    /// The value as it is written in TOML; empty if it is not set.
    #[serde(skip)]
    pub written: String,
    /// Where it comes from.
    pub origin: SettingOrigin,
}

/// Where a setting comes from: the command line is stronger than the environment, which is stronger than the
/// configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SettingOrigin {
    /// Built in.
    Default,
    /// A line of the configuration file.
    File {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: usize,
    },
    /// An environment variable.
    Environment {
        /// Its name.
        variable: String,
    },
    /// An option of the command line.
    CommandLine {
        /// Its name, with dashes.
        option: String,
    },
}

impl SettingOrigin {
    fn words(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::File { file, line } => format!("{}:{line}", printable(file)),
            Self::Environment { variable: name } | Self::CommandLine { option: name } => {
                name.clone()
            }
        }
    }
}

/// The settings that hold in a folder, with where each comes from.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// The configuration file that is used.
    file: Option<&'a str>,
    /// Configuration files beside it, which are ignored.
    ignored: &'a [String],
    /// The settings.
    settings: &'a [Setting],
}

/// Returns the JSON schema of the settings, as pretty-printed JSON.
#[must_use]
pub fn settings_schema() -> String {
    json::schema::<Listing<'_>>("settings-1", "Settings of rooflint with their origins")
}

impl Reported for SettingList<'_> {
    fn document(&self, _: &Style) -> Document {
        let none = if self.is_without {
            "none: --no-config"
        } else {
            "none: no rooflint.toml, .rooflint.toml or [tool.rooflint] in pyproject.toml, here or above"
        };
        let file = self.file.map_or_else(|| none.to_owned(), printable);
        let mut facts = vec![Fact::new("File", file)];
        if !self.ignored.is_empty() {
            let ignored = self.ignored.iter().map(|path| printable(path)).collect();
            facts.push(Fact::list("Ignored", ignored, usize::MAX));
        }
        let columns = vec![
            Column::text("setting", "setting"),
            Column::text("value", "value"),
            Column::text("from", "from"),
        ];
        let mut table = Table::new("settings", columns);
        for setting in self.settings {
            let value = Some(printable(&setting.written)).filter(|value| !value.is_empty());
            table.push([
                Cell::text(printable(&setting.key)),
                Cell::maybe_text(value),
                Cell::text(setting.origin.words()),
            ]);
        }
        let mut document = Document::new("Settings");
        document.push(Block::Facts(facts));
        document.push(Block::Table(table));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        (format == "json").then(|| {
            pretty(&Listing {
                schema: "rooflint/settings/1",
                rooflint: env!("CARGO_PKG_VERSION"),
                file: self.file,
                ignored: self.ignored,
                settings: self.settings,
            })
        })
    }
}
