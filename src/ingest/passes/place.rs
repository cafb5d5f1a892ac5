//! Where the files of passes are: those of one run are near each other.

/// What rocprofv3 calls its tables.
const TABLES: [&str; 2] = ["counter_collection", "kernel_trace"];

/// Where a file is.
pub(super) struct Place {
    pub(super) folders: Vec<String>,
    /// Without the name of the table.
    pub(super) name: String,
}

impl Place {
    pub(super) fn of(path: &str) -> Self {
        let mut folders: Vec<String> = path.split(['/', '\\']).map(str::to_owned).collect();
        let name = folders.pop().unwrap_or_default();
        // The profiler puts a name of the user's, or the process, before that of the table.
        let table = TABLES.iter().find_map(|table| name.split_once(table));
        let name = table.map_or(name.as_str(), |(name, _)| name).to_owned();
        Self { folders, name }
    }

    /// How many folders two files have in common, then whether they have one name, as passes of a rank in a folder for each
    /// pass.
    pub(super) fn nearness(&self, other: &Self) -> (usize, bool) {
        let folders = self.folders.iter().zip(&other.folders);
        (folders.take_while(|(one, two)| one == two).count(), self.name == other.name)
    }
}
