//! Report of a kernel on devices: the counts, the arithmetic of each time, and where a sweep
//! crosses the ridge point.

use super::forms::derivation;
use crate::model::Pipe;
use crate::predict::{
    Crossing, Form as ClosedForm, PredictedLimiter, Prediction, SweepRow, SweepTable, Tiling,
    Traffic,
};
use crate::report::document::{Block, Cell, Column, Document, Fact, Figure, Form, Table};
use crate::report::numbers::whole;
use crate::report::view::{count, digits, percent, printable, range, si};
use crate::units::{Bytes, FlopsPerByte, Seconds, interval};

pub(super) fn document(
    form: &ClosedForm,
    call: &str,
    table: &SweepTable,
    crossings: &[Crossing],
) -> Document {
    let mut document = Document::titled(printable(call));
    document.push(Block::Paragraph(form.summary.to_owned()));
    if table.axes.is_empty() {
        // The answer first; how it comes about follows.
        document.push(Block::Facts(times(table).take(ANSWERS).collect()));
    }
    document.push(derivation(form));
    if table.axes.is_empty() {
        if let Some(first) = table.rows.first() {
            counts(&mut document, &first.prediction);
        }
        for row in &table.rows {
            let one = &row.prediction;
            document.section(format!("On {}", printable(&one.device)), device(one));
        }
        if table.rows.len() > 1 {
            document.section("Compared", vec![Block::Table(compared(table))]);
        }
    } else {
        let keys: Vec<&str> = table.axes.iter().map(|axis| axis.key).collect();
        let mut over = vec![Block::Table(compared(table))];
        let remarked = table.rows.iter().filter(|row| !row.prediction.remarks.is_empty()).count();
        if remarked > 0 {
            let rows = count(table.rows.len() as u64, "row", "rows");
            over.push(Block::Paragraph(format!(
                "{remarked} of {rows} have remarks; predict a single point to see them."
            )));
        }
        document.section(format!("Over {}", keys.join(" and ")), over);
        let crossings = crossings.iter().map(sentence).collect();
        document.section("Ridge point crossings", vec![Block::lines(crossings)]);
    }
    document.push(Block::Paragraph(
        "All figures are modeled: each input is read once, each output written once; peaks are \
         dense, at the clock at which the vendor quotes them."
            .to_owned(),
    ));
    document
}

/// What is predicted without how it comes about: the time on each device, or where a sweep crosses ridge points; of a sweep
/// that crosses none, such as one over formats, its table.
pub(super) fn verdict(call: &str, table: &SweepTable, crossings: &[Crossing]) -> Document {
    let mut document = Document::new(printable(call));
    document.push(if table.axes.is_empty() {
        Block::Facts(times(table).collect())
    } else if crossings.is_empty() {
        Block::Table(compared(table))
    } else {
        Block::lines(crossings.iter().map(sentence).collect())
    });
    document
}

/// The time on each device.
fn times(table: &SweepTable) -> impl Iterator<Item = Fact> {
    table.rows.iter().map(|row| Fact::new("Time", answer(&row.prediction)))
}

/// As many devices as are answered for in front; a table compares all of them.
const ANSWERS: usize = 3;

/// The time of a kernel on a device, in a sentence: the roofline, tiles and waves, and what was reached.
fn answer(one: &Prediction) -> String {
    // Boards may run above the clock that their peaks are quoted at.
    let reached = one.achievable.as_ref().map(|reached| reached.roofline_time);
    let is_beaten = reached.is_some_and(|reached| reached < one.roofline_time);
    let time = si(one.roofline_time.get(), "s");
    let least =
        if is_beaten { format!("{time} at published peaks") } else { format!("at least {time}") };
    let mut parts = vec![least];
    parts.extend(one.tiling.as_ref().map(|tiling| {
        format!("{} in whole tiles and waves", range(tiling.least_time, tiling.most_time))
    }));
    parts.extend(
        one.achievable
            .as_ref()
            .map(|reached| format!("{} at achievable rates", si(reached.roofline_time.get(), "s"))),
    );
    format!("{} on {}", parts.join(", "), printable(&one.device))
}

fn counts(document: &mut Document, prediction: &Prediction) {
    let count = &prediction.count;
    let operations = if count.work.is_empty() {
        Block::Paragraph("no operations".to_owned())
    } else {
        let columns = vec![
            Column::text("what", "what"),
            Column::text("data_type", "computed as"),
            Column::number("operations", "operations", Form::Whole),
        ];
        let mut work = Table::new("operations", columns);
        for one in &count.work {
            let products = if one.is_product { ", matrix products" } else { "" };
            work.push([
                Cell::text(one.what),
                Cell::text(format!("{}{products}", one.data_type.name())),
                Cell::Number(one.operations.get()),
            ]);
        }
        Block::Table(work)
    };
    document.section("Operations", vec![operations]);
    let columns = vec![
        Column::name("operand", "operand"),
        Column::number("elements", "elements", Form::Whole),
        Column::text("data_type", "stored as"),
        Column::number("element_bytes", "B each", Form::Count).spare(21),
        Column::number("reads", "× read", Form::Count).spare(11),
        Column::number("writes", "× written", Form::Count).spare(12),
        Column::number("bytes", "bytes", Form::Whole),
    ];
    let mut traffic = Table::new("traffic", columns);
    for one in &count.traffic {
        traffic.push(operand(one));
    }
    let [elements, stored, each, read, written] = [const { Cell::Empty }; 5];
    let sum = Cell::Number(prediction.bytes.get());
    traffic.push([Cell::text("sum"), elements, stored, each, read, written, sum]);
    document.section("Compulsory traffic", vec![Block::Table(traffic)]);
}

fn operand(one: &Traffic) -> [Cell; 7] {
    let times = |times: f64| Cell::maybe(Some(times).filter(|times| *times > 0.0));
    [
        Cell::text(one.operand),
        Cell::Number(one.elements),
        Cell::text(one.data_type.name()),
        Cell::Number(one.data_type.bytes()),
        times(one.reads),
        times(one.writes),
        Cell::Number(one.read_bytes().get() + one.written_bytes().get()),
    ]
}

/// Shows the arithmetic on one device.
fn device(one: &Prediction) -> Vec<Block> {
    let time = |time: Seconds| si(time.get(), "s");
    let (bytes, bandwidth) = (si(one.bytes.get(), "B"), si(one.bandwidth.get(), "B/s"));
    let operation = one.pipes.first().map_or("FLOP", |main| main.pipe.operation());
    let (per_byte, per_second) = (format!("{operation}/B"), format!("{operation}/s"));
    let mut figures: Vec<Figure> = Vec::new();
    let mut add = |label: &'static str, value: String, how: String| {
        figures.push(Figure::new(label, value, how));
    };
    add("B", bytes.clone(), "the sum above".to_owned());
    add("t_mem", time(one.t_mem), format!("B ÷ BW = {bytes} ÷ {bandwidth}"));
    for pipe in &one.pipes {
        let unit = pipe.pipe.operation();
        let (work, peak) =
            (si(pipe.operations.get(), unit), si(pipe.peak.get(), &format!("{unit}/s")));
        let how = format!("F ÷ P = {work} ÷ {peak}, {}", pipe.pipe.label());
        let label = if one.pipes.len() > 1 { pipe.pipe.label() } else { "t_math" };
        add(label, time(pipe.time), how);
    }
    if one.pipes.len() > 1 {
        let how = "pipes that share hardware add up, others overlap";
        add("t_math", time(one.t_math), how.to_owned());
    }
    if let Some(link) = &one.link {
        let (bytes, rate) = (si(link.bytes.get(), "B"), si(link.bandwidth.get(), "B/s"));
        add("t_link", time(link.time), format!("{bytes} ÷ {rate}, {}", link.source));
    }
    if let (Some(intensity), Some(ridge), Some(peak)) = (one.intensity, one.ridge_point, one.peak) {
        let work = si(one.operations.get(), operation);
        let how = format!("F ÷ B = {work} ÷ {bytes}");
        add("intensity", format!("{} {per_byte}", digits(intensity.get())), how);
        let peak = si(peak.get(), &per_second);
        let of = if one.pipes.len() > 1 { ", with P = F ÷ t_math" } else { "" };
        let how = format!("P ÷ BW = {peak} ÷ {bandwidth}{of}");
        add("ridge point", format!("{} {per_byte}", digits(ridge.get())), how);
    }
    let longest = if one.link.is_some() { "t_mem, t_math, t_link" } else { "t_mem, t_math" };
    add("roofline time", time(one.roofline_time), format!("max({longest})"));
    add("limiter", one.limiter.label().to_owned(), why(one).to_owned());
    if let Some(attainable) = one.attainable {
        let by_roofs = if one.link.is_some() { "" } else { " = min(P, intensity × BW)" };
        let how = format!("F ÷ roofline time{by_roofs}");
        add("attainable", si(attainable.get(), &per_second), how);
    }
    if let Some(real) = &one.achievable {
        let peak = real
            .peak
            .map_or_else(String::new, |peak| format!(" and {}", si(peak.get(), &per_second)));
        let link = one.link.as_ref().map_or_else(String::new, |_| {
            format!(", and {} of the link", percent(crate::roofline::achievable::LINK))
        });
        let how = format!("roofline time with {}{peak}{link}", si(real.bandwidth.get(), "B/s"));
        add("achievable", time(real.roofline_time), how);
    }
    if let Some(tiling) = &one.tiling {
        tiles(&mut add, tiling, operation);
    }
    let mut notes = Vec::new();
    if let Some(real) = &one.achievable {
        let peak = real.peak_source.as_ref().map_or_else(String::new, |peak| format!("; {peak}"));
        let sources = printable(&format!("{}{peak}", real.bandwidth_source));
        notes.push(format!("achievable rates: {sources}"));
    }
    notes.extend(one.remarks.iter().map(|remark| format!("note: {remark}")));
    vec![Block::Figures(figures), Block::lines(notes)]
}

fn tiles(add: &mut impl FnMut(&'static str, String, String), tiling: &Tiling, operation: &str) {
    let Tiling { tile_m, tile_n, tile_k, split_k, threads, .. } = tiling;
    let split = if *split_k > 1.0 { format!(", k split by {split_k}") } else { String::new() };
    let how = format!("tiles of {tile_m}×{tile_n}, {tile_k} deep, {threads} threads each{split}");
    add("blocks", tiling.blocks.to_string(), how);
    let how = format!("with padding to whole tiles, {} more than needed", {
        percent(tiling.waste / (1.0 - tiling.waste))
    });
    add("executed", si(tiling.executed.get(), operation), how);
    if let (Some(waves), Some(resident)) = (tiling.waves, tiling.resident_per_sm) {
        let sms = tiling.blocks as f64 / waves / f64::from(resident);
        let how = format!("blocks ÷ ({sms:.0} multiprocessors × {resident} resident on each)");
        add("waves", digits(waves), how);
    }
    if let Some(share) = tiling.wave_efficiency {
        let how = "waves ÷ waves rounded up, if every wave takes equally long".to_owned();
        add("wave efficiency", percent(share), how);
    }
    if let Some(share) = tiling.sm_efficiency {
        let how = "blocks per SM ÷ blocks per SM rounded up".to_owned();
        add("SM efficiency", percent(share), how);
    }
    let value = range(tiling.least_time, tiling.most_time);
    let mut memory = "t_mem";
    if tiling.workspace_bytes > Bytes::ZERO {
        memory = "(B + workspace) ÷ BW";
        let how = "partial sums of the split k, written and read".to_owned();
        add("workspace", si(tiling.workspace_bytes.get(), "B"), how);
    }
    let how = format!("max({memory}, executed ÷ P ÷ efficiency), once with each efficiency");
    add("tiled", value, how);
}

/// Explains the limiter.
fn why(one: &Prediction) -> &'static str {
    match one.limiter {
        PredictedLimiter::Memory if one.pipes.is_empty() => "no operations",
        PredictedLimiter::Memory => "t_mem is longer: intensity is not above the ridge point",
        PredictedLimiter::Math => "t_math is longer: intensity is above the ridge point",
        PredictedLimiter::Latency => {
            "fewer than 4 blocks per SM, or blocks of fewer than 128 threads with fewer than 512 threads on an SM: too few to \
             reach a roof"
        }
        PredictedLimiter::Link => "t_link is the longest",
    }
}

/// Makes a table with one row for each point and device.
fn compared(table: &SweepTable) -> Table {
    let mut columns: Vec<Column> = table
        .axes
        .iter()
        .map(|axis| {
            let form = if axis.whole { Form::Count } else { Form::Text };
            Column::number(axis.key, axis.key, form)
        })
        .collect();
    columns.extend([
        Column::name("device", "device"),
        Column::text("pipe", "pipe").spare(20),
        Column::number("intensity_flop_per_byte", "FLOP/B", Form::Digits).spare(17),
        Column::number("ridge_point_flop_per_byte", "ridge FLOP/B", Form::Digits).spare(18),
        Column::number("t_mem_s", "t_mem", Form::Time).scale(1),
        Column::number("t_math_s", "t_math", Form::Time).scale(2),
        Column::number("roofline_s", "roofline", Form::Time).scale(3).spare(6),
        Column::number("achievable_expected_s", "achievable", Form::Time).scale(4).spare(19),
        Column::text("limiter", "limiter").spare(13),
    ]);
    let mut rows = Table::new("predictions", columns);
    for SweepRow { at, prediction: one } in &table.rows {
        let per_byte = |value: Option<FlopsPerByte>| Cell::maybe(value.map(FlopsPerByte::get));
        let mut row: Vec<Cell> = at.iter().map(|value| Cell::text(printable(value))).collect();
        row.extend([
            Cell::text(printable(&one.device)),
            Cell::maybe_text(one.pipes.first().map(|main| main.pipe.label())),
            per_byte(one.intensity),
            per_byte(one.ridge_point),
            Cell::time(one.t_mem),
            Cell::time(one.t_math),
            Cell::time(one.roofline_time),
            Cell::maybe(one.achievable.as_ref().map(|known| known.roofline_time.get())),
            Cell::text(one.limiter.label()),
        ]);
        rows.push(row);
    }
    rows
}

/// Describes a crossing, or the side on which the sweep stays.
fn sentence(crossing: &Crossing) -> String {
    let key = crossing.along;
    let (from, to) = (whole(crossing.from as f64), whole(crossing.to as f64));
    let operation = crossing.pipe.map_or("FLOP", Pipe::operation);
    let per_byte = |value: f64| {
        // One decimal at least: what turns differs little from the ridge point.
        let shown = if value >= 99.95 { format!("{value:.1}") } else { digits(value) };
        format!("{shown} {operation}/B")
    };
    let at = crossing.at.as_ref().map_or_else(String::new, |at| format!(", {}", printable(at)));
    let mut text = format!("{}{at}: ", printable(&crossing.device));
    let Some(ridge) = crossing.ridge_point else {
        return text + &format!("no operations, so {} limits everywhere", crossing.last.label());
    };
    let ridge = per_byte(ridge.get());
    if crossing.turns.is_empty() {
        let limiter = crossing.last;
        let side = if limiter == PredictedLimiter::Math { "above" } else { "below" };
        let is_roof = matches!(limiter, PredictedLimiter::Math | PredictedLimiter::Memory);
        text.push_str(&format!(
            "does not cross; {} limits from {key}={from} to {to}",
            limiter.label()
        ));
        let ends = crossing.first_intensity.zip(crossing.last_intensity);
        if let Some((first, last)) = ends.filter(|_| is_roof) {
            let range = interval(&per_byte(first.get()), &per_byte(last.get()));
            text.push_str(&format!(", {range}, {side} the ridge point of {ridge}"));
        }
    } else {
        let has_link = crossing.first == PredictedLimiter::Link
            || crossing.turns.iter().any(|turn| turn.becomes == PredictedLimiter::Link);
        let mut side = crossing.first.label();
        let parts = crossing.turns.iter().map(|turn| {
            let (before, after) = (whole(turn.before as f64), whole(turn.after as f64));
            let there = turn
                .intensity
                .filter(|_| !has_link)
                .map_or_else(String::new, |value| format!(" ({} there)", per_byte(value.get())));
            let becomes = turn.becomes.label();
            let part =
                format!("{side} limits up to {key}={before}, {becomes} from {key}={after}{there}");
            side = becomes;
            part
        });
        text.push_str(&parts.collect::<Vec<_>>().join("; "));
        if !has_link {
            text.push_str(&format!("; the ridge point is {ridge}"));
        }
    }
    if !crossing.monotone {
        text.push_str(
            "; the intensity is not monotone, so crossings between two probes may be missing",
        );
    }
    text
}
