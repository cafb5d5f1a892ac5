//! Texts that people and other programs write: numbers, configuration, conditions, devices, names, saved runs.

use std::sync::OnceLock;

use rooflint::catalog::Catalog;
use rooflint::compare::{self, Run};
use rooflint::config::Config;
use rooflint::fleet::{self, Gathered, Manifest};
use rooflint::ingest::{self, Mapping, Numerals, Options};
use rooflint::model::{DataType, Date, DeviceHint, Dim3, KernelName, Profile};
use rooflint::predict::{self, Arguments, ModelFile, Sweep};
use rooflint::session::Session;
use rooflint::taxonomy::Taxonomy;

use super::oracles;

/// A few launches to judge by what a text says.
fn sample() -> &'static Profile {
    const TEXT: &str =
        include_str!("../../fixtures/ncu_wide/rtx2080ti-old-header-scaled-units.csv");
    static SAMPLE: OnceLock<Profile> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        ingest::read_text("sample", TEXT, &Options::default()).expect("the fixture can be read")
    })
}

/// A device of the catalog, which is not parsed anew each time.
fn device() -> &'static rooflint::catalog::Device {
    static DEVICE: OnceLock<rooflint::catalog::Device> = OnceLock::new();
    let find = || Catalog::builtin().find("L4", &DeviceHint::default()).expect("a known device");
    DEVICE.get_or_init(find)
}

/// Cells of a file, one a line: what the whole file is written in, and what each cell means then.
pub(crate) fn numbers(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let numerals = Numerals::detect(text.lines());
    for cell in bytes.split(|byte| *byte == b'\n') {
        let Ok(Some(value)) = numerals.parse(cell) else { continue };
        assert!(value.is_finite());
        // Grouping taken away and the point put in, it is the number that everybody reads.
        let cell = String::from_utf8_lossy(cell);
        let is_comma = numerals.to_string().contains("decimal comma");
        let (decimal, group) = if is_comma { (',', '.') } else { ('.', ',') };
        let plain: String = cell
            .trim_matches(|c: char| c.is_ascii_whitespace())
            .chars()
            .filter(|c| *c != group && !matches!(c, ' ' | '\u{a0}' | '\u{202f}'))
            .map(|c| if c == decimal { '.' } else { c })
            .collect();
        assert_eq!(plain.parse(), Ok(value), "{cell:?} as {numerals}");
    }
    let _ = (DataType::parse(&text), Dim3::parse(&text), rooflint::config::time(&text));
}

/// A configuration, and a run that is judged by it.
pub(crate) fn configuration(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(config) = Config::parse("rooflint.toml", text) {
        judged_by(config);
    }
}

fn judged_by(config: Config) {
    let gate = config.gate.clone();
    let session =
        Session { today: Date::new(2026, 1, 1), ..Session::new(Catalog::builtin(), config) };
    let judged = session.judge(sample()).expect("the device is known");
    assert!(judged.analysis.totals.savings.get() >= 0.0);
    let setting =
        rooflint::gate::Setting { today: session.today, order: Vec::new(), decides: true };
    let run = judged.run(0);
    let _ = rooflint::gate::judge(
        std::slice::from_ref(&run),
        std::slice::from_ref(&run),
        &gate,
        &setting,
    );
}

/// The condition and the message of a custom rule, a line each.
pub(crate) fn condition(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (when, message) = text.split_once('\n').unwrap_or((&text, "{kernel}"));
    let quoted = |text: &str| {
        let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
        let plain: String = plain.collect();
        format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
    };
    for over in ["kernels", "launches"] {
        let config = format!(
            "[[custom-rule]]\nid = \"mine\"\nover = \"{over}\"\nwhen = {}\nmessage = {}\nat-stake = {}\n",
            quoted(when),
            quoted(message),
            quoted("measured_s"),
        );
        if let Ok(config) = Config::parse("rooflint.toml", &config) {
            judged_by(config);
        }
    }
}

/// A device file, and a run on its devices.
pub(crate) fn devices(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(catalog) = Catalog::builtin().with_text("devices.toml", text) else { return };
    let own = catalog.devices().next().and_then(Result::ok);
    let Some(own) = own.filter(|device| text.contains(device.name.as_str())) else { return };
    let session = Session::new(catalog, Config::default()).on(Some(own.name));
    if let Ok(judged) = session.judge(sample()) {
        assert!(judged.analysis.totals.measured.get() > 0.0);
        assert!(judged.analysis.totals.roofline_time.get() >= 0.0);
    }
}

pub(crate) fn mapping(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Mapping::from_toml(text, "mapping.toml");
    }
}

/// A user's rules for names, and a name.
pub(crate) fn kernel_names(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (rules, name) = text.split_once("\n---\n").unwrap_or((text, "void gemm<float>(int)"));
    if let Ok(taxonomy) = Taxonomy::with_text("names.toml", rules) {
        let _ = (taxonomy.classify(name), taxonomy.classify_operator(name));
    }
}

/// The name of a kernel: mangled, cut, hostile.
pub(crate) fn name(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    let class = Taxonomy::builtin().classify(&name);
    assert_eq!(class, Taxonomy::builtin().classify(&name));
    let _ = Taxonomy::builtin().classify_operator(&name);
    let _ = (KernelName::parse(&name), compare::family(&name));
    if oracles::is_chosen(bytes) {
        let _ = Catalog::builtin().find(&name, &DeviceHint::default());
    }
}

/// A saved run or a JSON report; a run that was read is read again from what it is saved as.
pub(crate) fn saved(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(Some(run)) = Run::from_document(text) else { return };
    assert!(run.measured_s.get().is_finite());
    let again = Run::from_json(&run.json()).expect("a run that was read can be saved");
    assert_eq!(run.kernels, again.kernels);
    let setting = rooflint::gate::Setting { today: None, order: Vec::new(), decides: true };
    let policy = Config::default().gate;
    let _ = rooflint::gate::judge(std::slice::from_ref(&run), &[again], &policy, &setting);
}

/// A summary of ranks: what was read is written and read again as it was, and can be judged.
pub(crate) fn partial(bytes: &[u8]) {
    static SESSION: OnceLock<Session> = OnceLock::new();
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let session = SESSION.get_or_init(Session::default);
    let (catalog, options) = (&session.catalog, &session.options);
    let read = |text: &str| fleet::parse_partial("partial", text, catalog, options);
    let Ok(gathered) = read(text) else { return };
    let written = |gathered: &Gathered| {
        let mut bytes = Vec::new();
        fleet::write_partial(gathered, &mut bytes).expect("memory takes all");
        String::from_utf8(bytes).expect("JSON is text")
    };
    let document = written(&gathered);
    let again = read(&document).expect("what was written can be read");
    assert_eq!(written(&again), document);
    let _ = (fleet::stragglers(&gathered.ranks), fleet::imbalances(&gathered.ranks));
    let mut twice = again.partial;
    twice.merge(gathered.partial);
    let concluded = twice.conclude(options);
    let totals = session.explain(&concluded.profile, concluded.analysis).analysis.totals;
    assert!(totals.measured.get() >= 0.0 && totals.savings.get() >= 0.0);
}

/// The manifest of a partitioned launch table.
pub(crate) fn partitions(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(mut manifest) = Manifest::parse("manifest", text) else { return };
    let written = serde_json::to_string(&manifest).expect("a manifest is JSON");
    assert_eq!(Manifest::parse("manifest", &written).as_ref(), Ok(&manifest));
    manifest.settle();
    let _ = manifest.ceilings();
}

/// The arguments of a closed form, a line each after its name, or a model file.
pub(crate) fn predict(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(file) = ModelFile::parse("model.toml", text) {
        let _ = file.predict(device(), &predict::Options::default());
        return;
    }
    let mut lines = text.lines();
    let Ok(form) = predict::form(lines.next().unwrap_or_default()) else { return };
    let pairs: Vec<&str> = lines.collect();
    if let Ok(sweep) = Sweep::parse(form, &pairs) {
        assert!(sweep.len() <= 10_000);
    }
    let Ok(arguments) = Arguments::parse(form, &pairs) else { return };
    if let Ok(prediction) = predict::predict(&arguments, device(), &predict::Options::default()) {
        assert!(prediction.roofline_time.get() >= 0.0, "{}", arguments.text());
        assert!(prediction.roofline_time.get().is_finite(), "{}", arguments.text());
    }
}
