//! Several files read at once, each into a profile of its own.

use std::thread;

use super::observed::{Beside, Observed};
use super::{IngestError, Input, Options, read_one};
use crate::model::Profile;

/// What was read of one file.
pub(super) struct Part {
    profile: Profile,
    result: Result<Observed, IngestError>,
}

impl Part {
    fn read(input: &Input, options: &Options) -> Self {
        let mut profile = Profile::default();
        let result = read_one(input, options, &mut profile);
        Self { profile, result }
    }

    /// Appends it to the files before it, as if it had been read after them.
    ///
    /// # Errors
    /// When it could not be read, or there are too many.
    pub(super) fn append_to(self, profile: &mut Profile) -> Result<Beside, IngestError> {
        let Self { profile: part, result } = self;
        let before = profile.launches.len();
        let most = usize::from(u16::MAX);
        if let Some(first) = part.sources.first()
            && profile.sources.len() + part.sources.len() > most
        {
            return Err(IngestError::new(&first.path, "more than 65,535 files in one report")
                .help("analyze them in parts"));
        }
        let devices = profile.append(part);
        let mut observed = result?;
        for id in &mut observed.devices {
            *id = devices[id.position()];
        }
        Ok(observed.complete(profile, before))
    }
}

/// Reads those inputs that are fresh; nothing where one thread does as well.
pub(super) fn read(inputs: &[Input], fresh: &[bool], options: &Options) -> Vec<Part> {
    let inputs: Vec<&Input> = inputs
        .iter()
        .zip(fresh)
        .filter(|(_, is_fresh)| **is_fresh)
        .map(|(input, _)| input)
        .collect();
    let [first, others @ ..] = inputs.as_slice() else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    let options = &Options { threads: 1, ..options.clone() };
    thread::scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map(|input| {
                let read = move || Part::read(input, options);
                let name = "rooflint-file".to_owned();
                (*input, thread::Builder::new().name(name).spawn_scoped(scope, read).ok())
            })
            .collect();
        let first = Part::read(first, options);
        let others = started.into_iter().map(|(input, thread)| {
            // Where no thread could be had, or it stopped, this one reads.
            let part = thread.and_then(|thread| thread.join().ok());
            part.unwrap_or_else(|| Part::read(input, options))
        });
        std::iter::once(first).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use crate::ingest::{self, Input, Options};
    use crate::model::{NameId, Profile, Quantity};

    /// Everything in a profile, ids included.
    fn all(profile: &Profile) -> String {
        let Profile { sources, devices, notes, checks, activities, calls, waits, steps, .. } =
            profile;
        let mut text = format!(
            "{sources:?}\n{devices:?}\n{notes:?}\n{checks:?}\n{activities:?}\n{calls:?}\n{waits:?}\n{steps:?}\n{}\n",
            profile.unread
        );
        for launch in profile.iter() {
            let values: Vec<_> = Quantity::all().filter_map(|of| launch.get(of)).collect();
            let operator = profile.names.get(launch.head.operator);
            let (head, kernel) = (launch.head, launch.kernel());
            text.push_str(&format!("{head:?} {kernel} {operator} {values:?} "));
            text.push_str(&format!("{:?}\n", launch.advice()));
        }
        text
    }

    /// A table of many chunks, made of these rows with their number for `#`; some are odd.
    fn large(header: &str, rows: &[&str], odd: &[&str]) -> String {
        let mut text = header.to_owned();
        let mut at = 0_usize;
        while text.len() < 400_000 {
            // Far apart, so that most chunks have none, and some are near a border.
            let is_odd = at % 311 == 300 && text.len() > 100_000;
            let row = if is_odd { odd[at / 311 % odd.len()] } else { rows[at % rows.len()] };
            text.push_str(&row.replace('#', &at.to_string()).replace('@', &(at % 97).to_string()));
            at += 1;
        }
        text
    }

    fn is_alike(text: &str) {
        let read = |threads, strict| {
            let options = Options { strict, threads, ..Options::default() };
            match ingest::read(&[Input::text("large.csv", text)], &options) {
                Ok(profile) => {
                    let names = (0..profile.names.len()).map(|id| NameId(id as u32));
                    let names: Vec<_> = names.map(|id| profile.names.get(id)).collect();
                    format!("{names:?} {}", all(&profile))
                }
                Err(error) => error.to_string(),
            }
        };
        for strict in [false, true] {
            let one = read(1, strict);
            for threads in [2, 3, 8] {
                assert!(read(threads, strict) == one, "{threads} threads, strict {strict}");
            }
        }
    }

    /// Each file of a folder and of those in it.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let mut paths: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let below = |path: PathBuf| if path.is_dir() { files(&path) } else { vec![path] };
        paths.into_iter().flat_map(below).collect()
    }

    #[test]
    fn real_exports_are_the_same_by_any_number_of_threads() {
        let Some(profiles) = std::env::var_os("ROOFLINT_PROFILES") else { return };
        for part in ["ncu", "pyprof"] {
            for path in files(&Path::new(&profiles).join(part)) {
                let read = |threads| {
                    let options = Options { threads, ..Options::default() };
                    let profile = ingest::read(&[Input::Named(path.clone())], &options);
                    profile.map_or_else(|error| error.to_string(), |profile| all(&profile))
                };
                let one = read(1);
                for threads in [2, 8] {
                    assert!(read(threads) == one, "{}: {threads} threads", path.display());
                }
            }
        }
    }

    #[test]
    fn a_large_raw_page_is_the_same_by_any_number_of_threads() {
        let metrics = ["gpu__time_duration.sum", "dram__bytes.sum", "launch__registers_per_thread"];
        let head = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\
                    \"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"";
        let header = format!("{head},\"{}\"\n{}", metrics.join("\",\""), "\"\",".repeat(11));
        let header = format!("{header}\"ns\",\"byte\",\"register/thread\"\n");
        let row = |kernel: &str, time: &str| {
            format!(
                "\"#\",\"1\",\"a \"\"b\"\"\",\"h\",\"{kernel}\",\"1\",\"7\",\"(@, 1, 1)\",\"(512, 1, 1)\",\
                 \"0\",\"9.0\",\"{time}\",\"1,234,@00\",\"32\"\n"
            )
        };
        let rows = [row("k@<\nint>", "#"), row("f, @", "5"), row("g#", "7.25")];
        let rows = rows.each_ref().map(String::as_str);
        let negative = row("k", "-5");
        let open = "\"1\",\"x\n";
        let stray = "1,1,5\" disk,h,k,1,7,1,1,0,9.0,1,1,1\n";
        let other = "\"1\",\"a\"\n";
        let message = "==PROF== Disconnected\n";
        let turned = header.replace("\"ns\",\"byte\"", "\"us\",\"Kbyte\"");
        is_alike(&large(&header, &rows, &[&negative]));
        is_alike(&large(&header, &rows, &[&negative, other]));
        is_alike(&large(&header, &rows, &[&negative, other, stray]));
        is_alike(&large(&header, &rows, &[other, message, &turned]));
        is_alike(&large(&header, &rows, &[open]));
    }

    #[test]
    fn a_large_metrics_list_is_the_same_by_any_number_of_threads() {
        let header = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\
                      \"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\
                      \"Metric Name\",\"Metric Unit\",\"Metric Value\",\"Rule Name\",\"Rule Type\",\
                      \"Rule Description\"\n";
        let start = |id: &str, kernel: &str| {
            format!(
                "\"{id}\",\"1\",\"app\",\"h\",\"{kernel}\",\"1\",\"7\",\"(@, 1, 1)\",\"(512, 1, 1)\",\"0\",\
                 \"9.0\",\"Command line profiler metrics\","
            )
        };
        let launch = |id: &str, kernel: &str, time: &str| {
            let start = start(id, kernel);
            let metric = |name: &str, unit: &str, value: &str| {
                format!("{start}\"{name}\",\"{unit}\",\"{value}\"\n")
            };
            [
                metric("gpu__time_duration.sum", "ns", time),
                metric("dram__bytes_read.sum", "byte", "1,234,@00"),
                metric("dram__bytes_write.sum", "byte", "5#"),
                metric("not__needed.sum", "", "#"),
            ]
            .concat()
        };
        let rule = |id: &str, text: &str| {
            let start = start(id, "k");
            format!("{start}\"\",\"\",\"\",\"HighPipeUtilization\",\"WRN\",\"{text}\"\n")
        };
        let ruled = launch("#", "k", "70") + &rule("#", "a rule @") + &rule("#", "");
        let rows = [launch("#", "k@", "#"), launch("#", "f, \"\"@\"\"", "5"), ruled];
        let rows = rows.each_ref().map(String::as_str);
        let negative = launch("#", "k", "-5");
        let other = format!("{}\"tpc__new_@.sum\",\"byte\",\"7\"\n", start("#", "k"));
        let sms = rule("#", "less than the GPU's 108 multiprocessors, so");
        let again = launch("12", "k@", "9");
        let apart = other.replace('#', "30") + &launch("#", "z", "1") + &other.replace('#', "30");
        let (short, open) = ("\"1\",\"a\"\n", "\"1\",\"x\n");
        let message = "==PROF== Disconnected\n";
        let turned =
            header.replace("\"Metric Unit\",\"Metric Value\"", "\"Metric Value\",\"Metric Unit\"");
        is_alike(&large(header, &rows, &[&negative]));
        is_alike(&large(header, &rows, &[&other, short, &negative]));
        is_alike(&large(header, &rows, &[&other, &again, short]));
        is_alike(&large(header, &rows, &[&other, &apart]));
        is_alike(&large(header, &rows, &[&sms, message, &turned]));
        is_alike(&large(header, &rows, &[short, open]));
    }

    #[test]
    fn a_large_table_of_pyprof_is_the_same_by_any_number_of_threads() {
        let header = "\"Idx\",\"Direction\",\"Sub\",\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"TC\",\"Device\",\
                      \"Stream\",\"Grid\",\"Block\",\"FLOPs\",\"Bytes\"\n";
        let row = |idx: &str, kernel: &str, rest: &str| {
            format!(
                "\"{idx}\",\"fprop\",\"0\",\"linear\",\"{kernel}\",\"M=@,N=512,K=1024,fp32,\",{rest}\n"
            )
        };
        let rest = "\"1234.7\",\"0\",\"0\",\"7\",\"@,1,1\",\"256,1,1\",\"67108864\",\"2195456\"";
        let unknown = "\"0.3\",\"0\",\"0\",\"7\",\"@,1,1\",\"256,1,1\",\"na\",\"na\"";
        let (one, two) = (row("#", "gemm_@", rest), row("#", "", unknown));
        let gap = row("7", "a \"b\" c", rest);
        let negative = row("#", "k#", &rest.replace("67108864", "-2147483648"));
        let joined = row("#", "a\nb", rest);
        let open = "\"1\",\"x\n";
        let traceback = "Traceback (most recent call last):\n";
        let turned = header.replace("\"FLOPs\",\"Bytes\"", "\"Bytes\",\"FLOPs\"");
        let rows = [one.as_str(), &two, &one];
        is_alike(&large(header, &rows, &[&gap]));
        is_alike(&large(header, &[&one, &negative], &[&gap]));
        is_alike(&large(header, &rows, &[&negative, &joined, open, "\n", traceback, &joined]));
        is_alike(&large(header, &rows, &[&turned]));
        let unnumbered = header.replace("\"Idx\"", "\"Trace\"");
        is_alike(&large(&unnumbered, &rows, &[&gap]));
    }

    #[test]
    fn files_read_side_by_side_make_the_same_profile() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let mut inputs = Vec::new();
        for part in ["ncu_wide", "ncu_long", "pyprof", "ncu_summary", "bad", "ncu_wide"] {
            let files = ingest::expand(&[folder.join(part)]).unwrap();
            // Found, not named: what cannot be read is noted.
            inputs.extend(files.into_iter().map(|input| Input::Found(input.path())));
        }
        let read = |threads| {
            let options = Options { threads, ..Options::default() };
            all(&ingest::read(&inputs, &options).unwrap())
        };
        let one = read(1);
        assert!(one.contains("given twice") && one.contains("not read"));
        for threads in [2, 3, 8] {
            assert!(read(threads) == one, "{threads} threads");
        }
        let named = Input::Named(folder.join("generate.py"));
        let mut failing = vec![inputs[0].clone(), named, inputs[1].clone()];
        failing.push(Input::Named("no-such-file".into()));
        for threads in [1, 4] {
            let options = Options { threads, ..Options::default() };
            let error = ingest::read(&failing, &options).unwrap_err().to_string();
            assert!(error.contains("generate.py"), "{error}");
        }
    }
}
