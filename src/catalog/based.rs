//! Devices of a user that are built-in ones with some figures changed: a lower power limit, fewer SMs, a measured
//! bandwidth.

use toml::{Table, Value};

/// Tables of a device file whose entries are figures.
const SECTIONS: [&str; 7] = [
    "memory",
    "cache",
    "peaks_tflops",
    "peaks_sparse_tflops",
    "achievable_gbs",
    "achievable_tflops",
    "sources",
];

/// A device with every citation written out.
pub(super) fn cited(mut table: Table) -> Table {
    let sources = table.remove("sources");
    let sources = sources.as_ref().and_then(Value::as_table);
    let cite = |value: &mut Value| {
        if let Some(source) = value.get_mut("source")
            && let Some(text) = source.as_str().and_then(|key| sources?.get(key))
        {
            *source = text.clone();
        }
    };
    for (_, value) in &mut table {
        cite(value);
        for (_, value) in value.as_table_mut().into_iter().flatten() {
            cite(value);
        }
    }
    table
}

/// The figures of a base with those of a user's device in their place. What follows from clock and SMs follows from
/// those of the user: peaks, and the bandwidth of L2. What was measured at others is left out.
pub(super) fn merged(mut base: Table, mut own: Table) -> Table {
    own.remove("base");
    let is_same = base.get("name") == own.get("name");
    if !is_same {
        // Exports with those names are of the built-in device.
        base.remove("driver_name");
        base.remove("aliases");
    }
    let boost = Change::of(&base, &own, "boost_clock_mhz", "MHz");
    let sms = Change::of(&base, &own, "sms", "SMs");
    let clocks = Clocks::of(&base, &own);
    for section in ["peaks_tflops", "peaks_sparse_tflops"] {
        let figures = base.get_mut(section).and_then(Value::as_table_mut);
        for (pipe, figure) in figures.into_iter().flatten() {
            for change in clocks.change(pipe).iter().chain(&sms) {
                change.scale(figure);
            }
        }
    }
    if let Some(figure) = base.get_mut("cache").and_then(|cache| cache.get_mut("l2_bandwidth_gbs"))
        && let Some(change) = &boost
    {
        change.scale(figure);
    }
    // Tensor cores run no faster than the rest.
    if let (Some(tensor), Some(boost)) = (clocks.tensor, clocks.own_boost)
        && boost < tensor
        && !own.contains_key("tensor_clock_mhz")
    {
        base.insert("tensor_clock_mhz".to_owned(), Value::Float(boost));
    }
    follow_peaks(&mut base, &own);
    let memory = own.get("memory").and_then(Value::as_table);
    let is_other_memory = memory.is_some_and(|memory| !memory.is_empty());
    let is_other_core = boost.is_some() || clocks.own_tensor.is_some() || sms.is_some();
    if sms.is_some() {
        // The user may mean one GPU of a package.
        base.remove("launches_on");
    }
    if is_other_core {
        base.remove("achievable_tflops");
        // Those of a clock that is still reached are still right.
        let exceptions = base.get_mut("exceptions").and_then(Value::as_array_mut);
        let most = clocks.own_boost.unwrap_or(f64::INFINITY);
        if let Some(list) = exceptions {
            list.retain(|one| implied_clock(one).is_some_and(|clock| clock <= most));
        }
    }
    if is_other_core || is_other_memory {
        base.remove("achievable_gbs");
    }
    if let Some(memory) = memory
        && !memory.contains_key("bandwidth_gbs")
        && (memory.contains_key("pin_rate_gbps") || memory.contains_key("bus_bits"))
        && let Some(known) = base.get_mut("memory").and_then(Value::as_table_mut)
    {
        // It follows from those two.
        known.remove("bandwidth_gbs");
    }
    for (key, value) in own {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(known)), Value::Table(more)) if SECTIONS.contains(&&*key) => {
                known.extend(more);
            }
            (_, value) => {
                base.insert(key, value);
            }
        }
    }
    base
}

/// Where the user gives a peak, the one with sparsity keeps its ratio to it, and what a benchmark reached was another
/// device's.
fn follow_peaks(base: &mut Table, own: &Table) {
    for (pipe, peak) in own.get("peaks_tflops").and_then(Value::as_table).into_iter().flatten() {
        let known = base.get("peaks_tflops").and_then(|peaks| peaks.get(pipe));
        let change = Change::new(known, Some(peak), "TFLOP/s of the dense peak");
        let sparse = base.get_mut("peaks_sparse_tflops").and_then(|peaks| peaks.get_mut(pipe));
        if let Some((change, sparse)) = change.zip(sparse) {
            change.scale(sparse);
        }
        if let Some(reached) = base.get_mut("achievable_tflops").and_then(Value::as_table_mut) {
            reached.remove(pipe);
        }
    }
}

/// The clocks in MHz at which the peaks of a base hold, and those of the user's device.
struct Clocks {
    /// Those that figures which do not follow from the formula imply, by pipe.
    implied: Vec<(String, f64)>,
    boost: Option<f64>,
    tensor: Option<f64>,
    own_boost: Option<f64>,
    own_tensor: Option<f64>,
}

impl Clocks {
    fn of(base: &Table, own: &Table) -> Self {
        let of = |table: &Table, key: &str| table.get(key).and_then(number);
        let exceptions = base.get("exceptions").and_then(Value::as_array).into_iter().flatten();
        let implied = exceptions.flat_map(|one| {
            let figures = one.get("figures").and_then(Value::as_array).into_iter().flatten();
            let clock = implied_clock(one);
            figures.filter_map(move |figure| Some((figure.as_str()?.to_owned(), clock?)))
        });
        Self {
            implied: implied.collect(),
            boost: of(base, "boost_clock_mhz"),
            tensor: of(base, "tensor_clock_mhz"),
            own_boost: of(own, "boost_clock_mhz"),
            own_tensor: of(own, "tensor_clock_mhz"),
        }
    }

    /// How the clock of a pipe changes.
    fn change(&self, pipe: &str) -> Option<Change> {
        // NVIDIA specifies FP64 on tensor cores at the boost clock.
        let is_tensor = pipe.contains("_matrix") && !pipe.starts_with("fp64");
        let implied = self.implied.iter().find(|(of, _)| of == pipe).map(|(_, clock)| *clock);
        let lower = implied.or(self.tensor.filter(|_| is_tensor));
        let from = lower.or(self.boost)?;
        let to = match (self.own_tensor.filter(|_| is_tensor), self.own_boost) {
            (Some(tensor), _) => tensor,
            // A higher boost clock says nothing of a clock below it.
            (None, Some(boost)) if lower.is_some() => boost.min(from),
            (None, Some(boost)) => boost,
            (None, None) => from,
        };
        Some(Change { from, to, unit: "MHz" })
    }
}

/// The clock in MHz that an exception implies.
fn implied_clock(exception: &Value) -> Option<f64> {
    exception.get("implied_clock_mhz").and_then(number)
}

/// A figure that the user's device has otherwise than its base.
#[derive(Debug, Clone)]
struct Change {
    from: f64,
    to: f64,
    unit: &'static str,
}

impl Change {
    fn of(base: &Table, own: &Table, key: &str, unit: &'static str) -> Option<Self> {
        Self::new(base.get(key), own.get(key), unit)
    }

    fn new(from: Option<&Value>, to: Option<&Value>, unit: &'static str) -> Option<Self> {
        Some(Self { from: number(from?)?, to: number(to?)?, unit })
    }

    /// Scales a figure, and says so in its citation.
    fn scale(&self, figure: &mut Value) {
        let Self { from, to, unit } = self;
        if from.total_cmp(to).is_eq() {
            return;
        }
        let Some(value) = number(figure) else { return };
        let cited = figure.get("source").and_then(Value::as_str).unwrap_or("built-in device");
        let cited = format!("{cited}, × {to}/{from} {unit}");
        let mut scaled = Table::new();
        scaled.insert("value".to_owned(), Value::Float(value * to / from));
        scaled.insert("source".to_owned(), Value::String(cited));
        scaled.insert("derived".to_owned(), Value::Boolean(true));
        *figure = Value::Table(scaled);
    }
}

/// A figure: a number, or a table with one.
fn number(figure: &Value) -> Option<f64> {
    match figure {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Table(table) => table.get("value").and_then(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Catalog, Device};
    use crate::model::{DeviceHint, Pipe};

    fn device(text: &str, name: &str) -> Device {
        let catalog = Catalog::builtin().with_text("own.toml", text).unwrap();
        catalog.find(name, &DeviceHint::default()).unwrap()
    }

    fn near(one: f64, two: f64) {
        assert!((one / two - 1.0).abs() < 1e-9, "{one} {two}");
    }

    /// 989.4 TFLOP/s hold at 1830 MHz, 66.9 at 1980: at 1500, 989.4 × 1500/1830 = 811.0 and 66.9 × 1500/1980 = 50.7.
    #[test]
    fn peaks_follow_a_lower_clock() {
        let text = "name = 'H100 capped'\nbase = 'H100 SXM5 80GB'\nboost_clock_mhz = 1500\n";
        let own = device(text, "H100 capped");
        let peak = |pipe| own.peak(pipe).unwrap().value.get() / 1e12;
        near(peak(Pipe::Fp16Matrix), (989.4 * 1500.0_f64 / 1830.0 * 1e12).round() / 1e12);
        near(peak(Pipe::Fp32Vector), (66.9 * 1500.0_f64 / 1980.0 * 1e12).round() / 1e12);
        let source = &own.peak(Pipe::Fp32Vector).unwrap().source;
        assert!(source.contains("whitepaper") && source.ends_with("× 1500/1980 MHz"), "{source}");
        assert!(own.achievable.peaks.is_empty() && own.achievable.dram.is_none());
        near(own.memory.bandwidth.unwrap().value.get(), 3352e9);
        assert_eq!((own.sms, own.driver_name), (Some(132), None));
    }

    /// Peaks hold at the clock that a measured one is compared with: at 1410 of 1410 MHz nothing is scaled again. FP64 on tensor
    /// cores is at the boost clock: 66.9 × 1410/1980 = 47.6. A B200's peaks hold at 1856 MHz.
    #[test]
    fn a_lower_clock_counts_once() {
        let text = "name = 'capped'\nbase = 'H100 SXM5 80GB'\nboost_clock_mhz = 1410\n";
        let own = device(text, "capped");
        let peak = |device: &Device, pipe| device.peak(pipe).unwrap().value.get() / 1e12;
        let clock = |device: &Device, pipe| device.clock_of(pipe).unwrap().get() / 1e6;
        for (pipe, expected) in [
            (Pipe::Fp16Matrix, 989.4 * 1410.0_f64 / 1830.0),
            (Pipe::Fp64Matrix, 66.9 * 1410.0_f64 / 1980.0),
        ] {
            near(peak(&own, pipe), (expected * 1e12).round() / 1e12);
            near(clock(&own, pipe), 1410.0);
        }
        let base = device("name = 'x'\nbase = 'B200'\n", "x");
        let text = "name = 'capped'\nbase = 'B200'\nboost_clock_mhz = 1500\n";
        let own = device(text, "capped");
        for pipe in [Pipe::Fp16Matrix, Pipe::Fp32Vector, Pipe::Fp64Vector] {
            let ratio = peak(&own, pipe) / peak(&base, pipe);
            let clocks = clock(&own, pipe) / clock(&base, pipe);
            assert!((ratio / clocks - 1.0).abs() < 1e-6, "{pipe:?}: {ratio} {clocks}");
        }
    }

    /// A boost clock above that of tensor cores leaves their peaks; half of the SMs halve them.
    #[test]
    fn peaks_follow_the_sms() {
        let text = "name = 'half'\nbase = 'H100 SXM5 80GB'\nboost_clock_mhz = 1900\nsms = 66\n";
        let own = device(text, "half");
        let peak = |pipe| own.peak(pipe).unwrap().value.get() / 1e12;
        near(peak(Pipe::Fp16Matrix), 989.4 / 2.0);
        near(peak(Pipe::Fp32Vector), (66.9 * 1900.0_f64 / 1980.0 / 2.0 * 1e12).round() / 1e12);
    }

    #[test]
    fn what_is_given_stays_and_the_same_name_takes_the_place_of_the_base() {
        let text = "name = 'H100 SXM5 80GB'\nbase = 'H100 SXM5 80GB'\nsms = 100\nmemory.bandwidth_gbs = 3000\n\
                    peaks_tflops.fp16_matrix = 700\nachievable_gbs.dram = 2800\n";
        let own = device(text, "NVIDIA H100 80GB HBM3");
        assert_eq!(own.sms, Some(100));
        near(own.peak(Pipe::Fp16Matrix).unwrap().value.get(), 700e12);
        near(own.achievable.dram.as_ref().unwrap().figure().value.get(), 2800e9);
        near(own.memory.bandwidth.unwrap().value.get(), 3000e9);
    }

    /// Half of the dense peak is half of the sparse one; the benchmark of the base says nothing of it.
    #[test]
    fn a_peak_of_the_user_takes_its_sparse_one_along() {
        let own =
            device("name = 'x'\nbase = 'H100 SXM5 80GB'\npeaks_tflops.bf16_matrix = 494.7\n", "x");
        let base = device("name = 'y'\nbase = 'H100 SXM5 80GB'\n", "y");
        let sparse = |device: &Device| device.peak(Pipe::Bf16MatrixSparse).unwrap().value.get();
        near(sparse(&own), sparse(&base) / 2.0);
        assert!(base.achievable.peaks.contains_key(&Pipe::Bf16Matrix));
        assert!(!own.achievable.peaks.contains_key(&Pipe::Bf16Matrix));
        let reached = own.achievable_peak(Pipe::Bf16Matrix).unwrap().value.get();
        assert!(reached < 494.7e12, "{reached}");
    }

    #[test]
    fn counts_of_zero_empty_names_and_unknown_targets_are_refused() {
        for (text, why) in [
            ("name = 'x'\nsms = 0\n", "own.toml:2:7: 0 is not above zero"),
            ("name = 'x'\nmemory.bus_bits = { value = 0 }\n", "0 is not above zero"),
            (
                "name = 'x'\ncompute_capability = '90'\n",
                "own.toml:2:22: \"90\" is not a compute cap",
            ),
            ("name = 'x'\ngfx = 'sm_90'\n", "\"sm_90\" is not a target"),
            ("name = 'x'\nrate_class = 'gforce'\n", "unknown class of rates \"gforce\"; expected"),
            ("name = ' '\n", "own.toml:1:8: a device needs a name"),
        ] {
            let error = Catalog::builtin().with_text("own.toml", text).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn an_unknown_base_is_an_error_at_its_line() {
        let text = "name = 'x'\nbase = 'H1000'\n";
        let error = Catalog::builtin().with_text("own.toml", text).unwrap_err();
        assert!(error.to_string().starts_with("own.toml:2:8: "), "{error}");
        assert!(error.to_string().contains("H1000"), "{error}");
    }
}
