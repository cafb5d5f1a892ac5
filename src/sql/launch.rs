//! The view with one row per launch: the law over the columns of a table of launches.

use std::collections::BTreeSet;

use super::columns::operations;
use super::engine::Engine;
use super::expr::{Arena, Choice, Condition, Figure};
use super::steps::Steps;
use crate::ingest;
use crate::law::{
    self, AVERAGED, CeilingSet, Counted, Instrument, Nature, Origin, Reading, Uncounted,
};
use crate::model::{MemoryLevel, OriginKind, Pipe, Precision, Profiler, Quantity};
use crate::roofline::formula;
use crate::scalar::{Maybe, Number, Truth, Word};
use crate::table::{Fact, Facts, Form, columns, device_columns};

/// The columns of a table of launches.
struct Columns<'a>(&'a Arena);

impl<'a> Reading<Figure<'a>> for Columns<'a> {
    fn value(&self, quantity: Quantity) -> Maybe<Figure<'a>, Figure<'a>> {
        self.0.column(&quantity.column())
    }

    fn counted(&self, quantity: Quantity) -> Maybe<Figure<'a>, Counted<Figure<'a>>> {
        let name = quantity.column();
        self.value(quantity).map(|value| {
            let is = |kind: OriginKind| self.0.is_text(&format!("{name}_origin"), kind.label());
            let low = self.0.column(&format!("{name}_low"));
            let high = self.0.column(&format!("{name}_high"));
            let (zero, one, infinite) =
                (Figure::of(0.0), Figure::of(1.0), Figure::of(f64::INFINITY));
            // Beside one bound the other is open; without bounds the value is exact.
            let origin = Origin {
                is_algorithmic: is(OriginKind::Algorithmic),
                is_instrumented: is(OriginKind::Instrumented),
                low: low.unwrap_or(Figure::select(high.is, || zero, || one)),
                high: high.unwrap_or(Figure::select(low.is, || infinite, || one)),
            };
            Counted { value, origin }
        })
    }

    fn each_work(&self, mut visit: impl FnMut(Pipe, Maybe<Figure<'a>, Counted<Figure<'a>>>)) {
        for pipe in Pipe::ALL {
            visit(*pipe, self.counted(Quantity::Work(*pipe)));
        }
    }

    fn blocks(&self) -> Maybe<Figure<'a>, Figure<'a>> {
        self.0.column("blocks")
    }

    fn threads_per_block(&self) -> Maybe<Figure<'a>, Figure<'a>> {
        self.0.column("threads_per_block")
    }
}

/// Whole numbers of the launch table that formulas read.
const COUNTS: [&str; 2] = ["blocks", "threads_per_block"];

/// Columns of the launch table that identify a launch and its kernel.
const IDENTITY: [&str; 15] = [
    "source", "process", "id", "kernel", "operator", "stream", "start_ns", "launches", "grid_x",
    "grid_y", "grid_z", "block_x", "block_y", "block_z", "device",
];

/// Columns of the table of names that the launch view passes on.
pub(super) const OF_NAMES: [&str; 10] = [
    "kernel_identity",
    "category",
    "kind",
    "crosses_link",
    "is_matrix_product",
    "is_per_element",
    "is_persistent_by_name",
    "is_serial_by_name",
    "has_work_by_name",
    "tensor",
];

/// Outputs of the law, in order, with their expressions.
fn outputs<'a>(arena: &'a Arena, set: Option<CeilingSet>) -> Vec<(String, u32)> {
    let launch = Columns(arena);
    let roofs = law::roofs(|name| arena.column(name));
    let everywhere = arena.constant("ceilings");
    let everywhere = CeilingSet::ALL.into_iter().find(|set| Some(set.label()) == everywhere);
    let set = set.or(everywhere).map_or_else(|| arena.choice("ceilings"), Choice::Known);
    let nature = Nature {
        moves_data: arena.truth("moves_data"),
        is_product: arena.truth("is_product"),
        product: arena.choice::<Precision>("product_format"),
        tensor: arena.choice::<Uncounted>("uncounted_tensor"),
        fp64: arena.choice("uncounted_fp64"),
        fp32: arena.choice("uncounted_fp32"),
        fp16: arena.choice("uncounted_fp16"),
    };
    let is_of = |profilers: fn(Profiler) -> bool| {
        let formats = ingest::FORMATS.iter().filter(|one| profilers(one.profiler));
        formats
            .map(|format| arena.is_text("source_format", format.name))
            .fold(Condition::of(false), |any, is| any | is)
    };
    let instrument = Instrument::of(
        is_of(|profiler| profiler == Profiler::NsightCompute),
        is_of(Profiler::selects_counters),
    );
    let judged = law::judge(&launch, &roofs, set, nature, instrument);
    let duration = launch.value(Quantity::Duration);
    let times = judged.times(duration);
    let mut all: Vec<(String, u32)> = Vec::new();
    let mut number = |name: &str, value: Maybe<Figure<'a>, Figure<'a>>| {
        all.push((name.to_owned(), arena.or_null(value)));
    };
    number("duration_s", duration);
    number("bytes", judged.bytes);
    for work in &judged.work {
        let is = work.is;
        number(&operations(work.pipe), Maybe::when(is, || work.operations));
        number(&format!("t_{}_s", work.pipe.key()), Maybe::when(is, || work.time));
    }
    let known = |side: Maybe<Figure<'a>, law::Interval<Figure<'a>>>| {
        side.filter(law::Interval::is_known).map(|time| time.value)
    };
    number("t_mem_s", known(judged.memory));
    number("t_math_s", known(judged.math));
    number("t_tensor_activity_s", judged.tensor_activity);
    for level in MemoryLevel::ALL.into_iter().filter(|level| *level != MemoryLevel::Dram) {
        let traffic = judged.levels[level as usize];
        number(&format!("bytes_{}", level.key()), traffic.map(|traffic| traffic.bytes));
        number(&format!("t_{}_s", level.key()), judged.level_time(level));
    }
    number("roofline_s", times.map(|times| times.roofline_time.value));
    number("roofline_low_s", times.map(|times| times.roofline_time.low));
    number("roofline_likely_s", times.map(|times| times.roofline_time.likely));
    number("roofline_high_s", times.map(|times| times.roofline_time.high));
    number("hierarchical_s", times.map(|times| times.hierarchical));
    number("structural_s", times.map(|times| times.structural));
    let headroom = duration.zip(times.map(|times| times.roofline_time.value));
    let headroom = headroom.filter(|(_, roofline)| Figure::of(0.0).less(roofline));
    number("headroom", headroom.map(|(time, roofline)| formula::headroom(time, roofline)));
    number("savings_low_s", times.map(|times| times.savings_low));
    number("savings_s", times.map(|times| times.savings));
    number("savings_high_s", times.map(|times| times.savings_high));
    number("fixed_cost_s", Maybe::known(instrument.fixed_cost));
    number("l2_cache_bytes", roofs.l2_bytes);
    number("multiprocessors", roofs.sms);
    for quantity in AVERAGED {
        number(&quantity.column(), launch.value(quantity));
    }
    let uncounted = judged.uncounted.node(arena);
    all.push(("uncounted".to_owned(), uncounted));
    let problem = judged.problem;
    all.push(("problem".to_owned(), arena.or_null_word(problem)));
    let mut truth = |name: &str, is: Condition<'a>| all.push((name.to_owned(), is.node(arena)));
    truth("is_judged", times.is);
    truth(
        "is_faster_than_roofline",
        times.is & times.map_or(Condition::of(false), |times| times.is_faster),
    );
    truth("is_algorithmic", judged.algorithmic);
    truth("by_utilization", judged.by_utilization);
    truth("math_by_utilization", judged.math_by_utilization);
    truth(
        "is_instrumented",
        launch.counted(Quantity::Duration).is_some_and(|one| one.origin.is_instrumented),
    );
    all
}

/// The view of launches.
pub(super) struct Made {
    /// The statement that makes it.
    pub(super) sql: String,
    /// The columns of launches that it reads, with their types.
    pub(super) reads: Vec<(String, &'static str)>,
    /// What is known of its columns.
    pub(super) facts: Facts,
}

/// Makes the view.
pub(super) fn view(engine: Engine, set: Option<CeilingSet>, facts: &Facts) -> Made {
    let arena = Arena::new(facts.clone());
    let outputs = outputs(&arena, set);
    let steps = Steps::new(&arena, &outputs);
    let text = engine.text();
    let mut reads = Reads::new(text);
    let devices: BTreeSet<String> = super::figures().into_iter().collect();
    let keys = device_columns().filter(|column| *facts.of(&column.name) != Fact::Missing);
    let keys = keys.map(|column| {
        let blank = if column.form == Form::Text { "''" } else { "-1" };
        let name = &column.name;
        format!("\n    AND coalesce(l.{name}, {blank}) = coalesce(d.{name}, {blank})")
    });
    let keys: Vec<String> = keys.collect();
    let known = format!("coalesce(d.ceilings, '{}')", CeilingSet::Spec.label());
    let ceilings = set.map_or(known, |set| format!("'{}'", set.label()));
    let mut made = |name: &str| match name {
        "run" => format!("CAST(l.run AS {text})"),
        "rank" => "CAST(l.rank AS BIGINT)".to_owned(),
        "ceilings" => ceilings.clone(),
        "device_number" => "CAST(d.device_number AS BIGINT)".to_owned(),
        "device_id" | "device_name" => format!("d.{name}"),
        // Without a row of the table of names nothing is known of the work.
        "product_format" => format!("coalesce(n.{name}, '{}')", Precision::BLANK.key()),
        name if name.starts_with("uncounted_") => format!("CAST(n.{name} AS DOUBLE)"),
        name if OF_NAMES.contains(&name) || NATURE.contains(&name) => format!("n.{name}"),
        name if devices.contains(name) => format!("d.{name}"),
        name => match reads.note(name) {
            _ if COUNTS.contains(&name) => format!("CAST(l.{name} AS DOUBLE)"),
            "BIGINT" => format!("CAST(l.{name} AS BIGINT)"),
            _ => format!("l.{name}"),
        },
    };
    let first = |columns: &BTreeSet<&str>| {
        let columns = columns.iter().map(|name| format!("{} AS {name}", made(name)));
        let columns: Vec<String> = columns.collect();
        format!(
            "  SELECT {}\n  FROM launches l\n  LEFT JOIN devices d ON CAST(d.run AS {text}) = CAST(l.run AS {text}) \
             AND CAST(d.rank AS BIGINT) = CAST(l.rank AS BIGINT){}\n  LEFT JOIN names n ON \
             coalesce(n.kernel, '') = coalesce(l.kernel, '') AND coalesce(n.operator, '') = coalesce(l.operator, '')",
            columns.join(",\n    "),
            keys.concat(),
        )
    };
    let identity =
        IDENTITY.into_iter().filter(|one| *one != "device").chain(COUNTS).chain(OF_NAMES);
    let identity: Vec<&str> =
        ["run", "rank", "ceilings", "device_number", "device_id", "device_name"]
            .into_iter()
            .chain(identity)
            .collect();
    let query = steps.query(first, &identity, &outputs);
    for column in device_columns() {
        reads.note(&column.name);
    }
    let sql = format!("{} launch_roofline AS {query};\n", engine.view());
    Made { sql, reads: reads.into_sorted(), facts: arena.facts_of(&outputs) }
}

/// Columns of the table of names that the law reads.
const NATURE: [&str; 7] = [
    "moves_data",
    "is_product",
    "product_format",
    "uncounted_tensor",
    "uncounted_fp64",
    "uncounted_fp32",
    "uncounted_fp16",
];

/// The columns of launches that are read, with their types.
struct Reads {
    text: &'static str,
    all: BTreeSet<(String, &'static str)>,
}

impl Reads {
    fn new(text: &'static str) -> Self {
        Self { text, all: BTreeSet::new() }
    }

    fn note(&mut self, name: &str) -> &'static str {
        let column = columns().iter().find(|column| column.name == name);
        let form = column.map_or(Form::Number("1"), |column| column.form);
        let kind = match form {
            Form::Text => self.text,
            Form::Count => "BIGINT",
            Form::Truth => "BOOLEAN",
            _ => "DOUBLE",
        };
        self.all.insert((name.to_owned(), kind));
        kind
    }

    fn into_sorted(self) -> Vec<(String, &'static str)> {
        self.all.into_iter().collect()
    }
}
