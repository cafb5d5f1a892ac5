//! A database that others wrote: opened so that nothing is written, locked or run, and read by the names of its columns.
//!
//! Exports hold private data: the environment of the profiled process, its output, the names of users and hosts. Only the
//! tables and rows named in this folder are read.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::MAGIC;
use crate::ingest::{IngestError, Reading};
use crate::plain;
use crate::unfinished::Unfinished;

/// The table of texts by their numbers.
pub(super) const STRINGS: &str = "StringIds";

/// Why a database cannot be read on.
#[derive(Debug)]
pub(super) enum Failure {
    /// SQLite says why.
    Database(rusqlite::Error),
    Refused(IngestError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self::Refused(error)
    }
}

impl Failure {
    pub(super) fn told(self, reading: &Reading<'_>) -> IngestError {
        match self {
            Self::Refused(error) => error,
            Self::Database(error) => {
                let why = match &error {
                    rusqlite::Error::SqliteFailure(_, Some(message)) => message.clone(),
                    other => other.to_string(),
                };
                reading.error(format!("the database is damaged: {why}")).help(AGAIN)
            }
        }
    }
}

/// What to do with a database that is not whole.
pub(super) const AGAIN: &str =
    "export it again: nsys export --type sqlite --force-overwrite true REPORT.nsys-rep";

/// Longest text of a row in bytes: environments of processes have some ten thousand.
const LONGEST: i32 = 64 << 20;

/// A cell of a row.
pub(super) type Cell<'a> = ValueRef<'a>;

/// A whole number of a cell.
pub(super) fn integer(cell: Cell<'_>) -> Option<i64> {
    match cell {
        ValueRef::Integer(number) => Some(number),
        ValueRef::Real(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(number as i64)
        }
        _ => None,
    }
}

/// The text of a cell, which need not be UTF-8.
pub(super) fn text(cell: Cell<'_>) -> Option<&[u8]> {
    match cell {
        ValueRef::Text(text) => Some(text),
        _ => None,
    }
}

/// A cell as a message shows it.
pub(super) fn shown(cell: Cell<'_>) -> String {
    match cell {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
        ValueRef::Blob(bytes) => format!("{} bytes", bytes.len()),
    }
}

/// An opened database.
pub(super) struct Database {
    connection: Connection,
    tables: HashSet<String>,
    /// Names of views, which are not read: one can carry the name of a table.
    views: HashSet<String>,
    /// A copy of what came compressed or through a pipe.
    _copy: Option<Copy>,
}

impl Database {
    /// Opens the database that is being read.
    ///
    /// # Errors
    /// When it is not whole, in use, or no database.
    pub(super) fn open(reading: &mut Reading<'_>) -> Result<Self, IngestError> {
        let (path, copy) = match reading.file() {
            Some(path) => (path.to_owned(), None),
            None => {
                let copy = copied(reading.bytes()).map_err(|error| {
                    reading
                        .error(format!("cannot copy to a file: {}", plain::io(&error)))
                        .help("give the database itself: neither compressed nor through a pipe")
                })?;
                (copy.file.path().to_owned(), Some(copy))
            }
        };
        check(&path, reading)?;
        connect(&path, copy).map_err(|error| Failure::from(error).told(reading))
    }

    /// Whether there is such a table.
    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.contains(table)
    }

    /// Whether there is such a view.
    pub(super) fn is_view(&self, name: &str) -> bool {
        self.views.contains(name)
    }

    /// The first of these tables that is there.
    pub(super) fn first<'t>(&self, tables: &[&'t str]) -> Option<&'t str> {
        tables.iter().copied().find(|table| self.has(table))
    }

    /// Whether a table has a column.
    pub(super) fn has_column(&self, table: &str, column: &str) -> Result<bool, Failure> {
        Ok(self.has(table) && self.columns(table)?.iter().any(|known| known == column))
    }

    fn columns(&self, table: &str) -> Result<Vec<String>, Failure> {
        let mut columns = Vec::new();
        let sql = format!("PRAGMA table_info(\"{table}\")");
        self.connection.prepare(&sql)?.query([])?.for_each_row(|row| {
            let name = text(row.get_ref(1)?).unwrap_or_default();
            columns.push(String::from_utf8_lossy(name).into_owned());
            Ok(())
        })?;
        Ok(columns)
    }

    /// Passes these columns of each row of a table on; nothing if there is no such table. A column that is not there is
    /// empty in each row.
    pub(super) fn each<const N: usize>(
        &self,
        table: &str,
        columns: [&str; N],
        mut take: impl FnMut([Cell<'_>; N]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if !self.has(table) {
            return Ok(());
        }
        let there = self.columns(table)?;
        let wanted = columns.map(|column| {
            // Names of columns that are words of SQL, such as `end`, need quotes.
            if there.iter().any(|known| known == column) {
                format!("\"{column}\"")
            } else {
                "NULL".to_owned()
            }
        });
        let sql = format!("SELECT {} FROM main.\"{table}\"", wanted.join(", "));
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let mut cells = [ValueRef::Null; N];
            for (at, cell) in cells.iter_mut().enumerate() {
                *cell = row.get_ref(at)?;
            }
            take(cells)?;
        }
        Ok(())
    }
}

trait EachRow {
    fn for_each_row(
        self,
        take: impl FnMut(&rusqlite::Row<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure>;
}

impl EachRow for rusqlite::Rows<'_> {
    fn for_each_row(
        mut self,
        mut take: impl FnMut(&rusqlite::Row<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while let Some(row) = self.next()? {
            take(row)?;
        }
        Ok(())
    }
}

/// A copy on the disk of what cannot be read back and forth.
struct Copy {
    file: tempfile::NamedTempFile,
    _unfinished: Unfinished,
}

/// Copies a database; of anything else only the beginning, which shows that it is none.
fn copied(mut bytes: impl Read) -> io::Result<Copy> {
    let make = || tempfile::Builder::new().prefix("rooflint-").suffix(".sqlite").tempfile();
    let (mut file, unfinished) = Unfinished::making(make, |file| file.path())?;
    let mut begin = Vec::new();
    bytes.by_ref().take(MAGIC.len() as u64).read_to_end(&mut begin)?;
    file.write_all(&begin)?;
    if begin == MAGIC {
        io::copy(&mut bytes, file.as_file_mut())?;
    }
    Ok(Copy { file, _unfinished: unfinished })
}

/// Checks what SQLite finds only later, or not at all.
fn check(path: &Path, reading: &Reading<'_>) -> Result<(), IngestError> {
    let failed = |error: io::Error| reading.failed(error);
    let mut header = [0_u8; 100];
    let mut file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if file.read_exact(&mut header).is_err() || !header.starts_with(MAGIC) {
        return Err(reading.error("the file has no header of SQLite").help(AGAIN));
    }
    // A size of 1 stands for 65,536.
    let page = match u64::from(u16::from_be_bytes([header[16], header[17]])) {
        1 => 65_536,
        page => page,
    };
    let pages = u32::from_be_bytes([header[28], header[29], header[30], header[31]]);
    let whole = page * u64::from(pages);
    if length < whole {
        return Err(reading
            .error(format!("the database breaks off: it has {length} of {whole} bytes"))
            .help("copy it again, or export it again: nsys export --type sqlite REPORT.nsys-rep"));
    }
    for (ending, what) in [("-wal", "write-ahead log"), ("-journal", "journal")] {
        let mut beside = path.as_os_str().to_owned();
        beside.push(ending);
        if PathBuf::from(&beside).metadata().is_ok_and(|of| of.len() > 0) {
            let message = format!(
                "the export is unfinished or in use: there is a {what} beside it ({})",
                PathBuf::from(beside).file_name().unwrap_or_default().to_string_lossy()
            );
            return Err(reading.error(message).help(
                "wait until nsys has finished; after a crash, export it again: nsys export --type sqlite --force-overwrite true REPORT.nsys-rep",
            ));
        }
    }
    Ok(())
}

fn connect(path: &Path, copy: Option<Copy>) -> Result<Database, rusqlite::Error> {
    // No lock is taken and nothing is written beside the file: it may lie on a disk that is read-only.
    let uri = format!("file:{}?mode=ro&immutable=1", encoded(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.execute_batch(
        "PRAGMA trusted_schema=OFF; PRAGMA query_only=ON; PRAGMA cell_size_check=ON;",
    )?;
    let names = |of: &str| -> Result<HashSet<String>, rusqlite::Error> {
        let mut names = HashSet::new();
        let query = format!("SELECT name FROM main.sqlite_master WHERE type = {of}");
        let mut statement = connection.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let ValueRef::Text(name) = row.get_ref(0)? {
                names.insert(String::from_utf8_lossy(name).into_owned());
            }
        }
        Ok(names)
    };
    // A virtual table runs code, and has no page of its own.
    let (tables, views) = (names("'table' AND rootpage > 0")?, names("'view'")?);
    Ok(Database { connection, tables, views, _copy: copy })
}

/// A path as a URI has it.
fn encoded(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec();
    #[cfg(not(unix))]
    let bytes = format!("/{}", path.to_string_lossy().replace('\\', "/")).into_bytes();
    let mut uri = String::new();
    for byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/-_.~:".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
