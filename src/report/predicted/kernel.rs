//! A kernel on devices, for a person: the counts, the arithmetic of each time, and where a sweep
//! crosses the ridge point.

use super::super::explained::Lines;
use super::super::numbers::{TimeUnit, count};
use super::super::text::{heading, table as draw};
use super::super::view::{MISSING, Style, Table, digits, percent, printable, si};
use super::wrap;
use crate::model::Pipe;
use crate::predict::{
    Crossing, Form, PredictedLimiter, Prediction, SweepRow, SweepTable, Tiling, Traffic,
};
use crate::roofline::Limiter;
use crate::units::{Bytes, Seconds};

pub(super) fn text(
    form: &Form,
    call: &str,
    table: &SweepTable,
    crossings: &[Crossing],
    style: &Style,
) -> String {
    let mut text = String::new();
    text.push_str(&format!("{}\n", style.bold(&printable(call))));
    wrap(&mut text, "  ", 2, form.summary, style);
    derivation(&mut text, form, style);
    if table.axes.is_empty() {
        if let Some(first) = table.rows.first() {
            counts(&mut text, &first.prediction, style);
        }
        for row in &table.rows {
            device(&mut text, &row.prediction, style);
        }
        if table.rows.len() > 1 {
            heading(&mut text, style, "Compared");
            draw(&mut text, &compared(table), &[], style, 0);
        }
    } else {
        let keys: Vec<&str> = table.axes.iter().map(|axis| axis.key).collect();
        heading(&mut text, style, &format!("Over {}", keys.join(" and ")));
        let elastic = table.axes.len();
        draw(&mut text, &compared(table), &[], style, elastic);
        let remarked = table.rows.iter().filter(|row| !row.prediction.remarks.is_empty()).count();
        if remarked > 0 {
            let rows = count(table.rows.len() as u64, "row", "rows");
            let note =
                format!("{remarked} of {rows} carry remarks; predict one alone to read them.");
            wrap(&mut text, "  ", 2, &note, style);
        }
        if !crossings.is_empty() {
            heading(&mut text, style, "Where it crosses the ridge point");
            for crossing in crossings {
                wrap(&mut text, "  ", 4, &sentence(crossing), style);
            }
        }
    }
    text.push('\n');
    wrap(
        &mut text,
        "",
        0,
        "All figures are modelled: each input is read once, each output written once; peaks are \
         dense, at the clock at which the vendor quotes them.",
        style,
    );
    text
}

pub(super) fn page(form: &Form, style: &Style) -> String {
    let mut text = String::new();
    text.push_str(&format!("{}\n", style.bold(form.name)));
    wrap(&mut text, "  ", 2, form.summary, style);
    if !form.aliases.is_empty() {
        wrap(&mut text, "  ", 2, &format!("also called {}", form.aliases.join(", ")), style);
    }
    wrap(&mut text, "  ", 2, &format!("an operation of kind {}", form.category.label()), style);
    derivation(&mut text, form, style);
    heading(&mut text, style, "Parameters");
    let mut parameters =
        Table::new(&[("key", false), ("when not given", false), ("meaning", false)]);
    for one in form.parameters() {
        parameters.rows.push(vec![
            one.name.to_owned(),
            one.shown_default(),
            one.meaning.to_owned(),
        ]);
    }
    draw(&mut text, &parameters, &[], style, 2);
    heading(&mut text, style, "Example");
    text.push_str(&format!(
        "  rooflint predict {} {} --device 'H100 SXM5 80GB'\n",
        form.name, form.example
    ));
    text
}

/// The text of the form's file, paragraph by paragraph.
fn derivation(text: &mut String, form: &Form, style: &Style) {
    heading(text, style, "How it is counted");
    let mut entries: Vec<String> = Vec::new();
    for line in form.derivation.lines().filter(|line| !line.is_empty()) {
        let labelled = line.split_once(": ").is_some_and(|(label, _)| {
            label.starts_with(char::is_uppercase) && !label.contains(' ')
        });
        match entries.last_mut() {
            Some(entry) if !labelled => {
                entry.push(' ');
                entry.push_str(line);
            }
            _ => entries.push(line.to_owned()),
        }
    }
    for entry in entries {
        wrap(text, "  ", 4, &entry, style);
    }
}

fn counts(text: &mut String, prediction: &Prediction, style: &Style) {
    let count = &prediction.count;
    heading(text, style, "Operations");
    if count.work.is_empty() {
        text.push_str("  nothing is computed\n");
    } else {
        let mut work = Table::new(&[("what", false), ("computed in", false), ("operations", true)]);
        for one in &count.work {
            let products = if one.is_product { ", products of matrices" } else { "" };
            work.rows.push(vec![
                one.what.to_owned(),
                format!("{}{products}", one.data_type.name()),
                whole(one.operations.get()),
            ]);
        }
        draw(text, &work, &[], style, 0);
    }
    heading(text, style, "Compulsory traffic");
    let mut traffic = Table::new(&[
        ("operand", false),
        ("elements", true),
        ("stored as", false),
        ("B each", true),
        ("read", true),
        ("written", true),
        ("bytes", true),
    ]);
    traffic.rows.extend(count.traffic.iter().map(operand));
    let (blank, sum) = (String::new, whole(prediction.bytes.get()));
    traffic.rows.push(vec!["sum".to_owned(), blank(), blank(), blank(), blank(), blank(), sum]);
    draw(text, &traffic, &[], style, 0);
}

fn operand(one: &Traffic) -> Vec<String> {
    let times = |times: f64| if times == 0.0 { MISSING.to_owned() } else { format!("{times} ×") };
    vec![
        one.operand.to_owned(),
        whole(one.elements),
        one.data_type.name().to_owned(),
        one.data_type.bytes().to_string(),
        times(one.reads),
        times(one.writes),
        whole(one.read_bytes().get() + one.written_bytes().get()),
    ]
}

/// The arithmetic on one device.
fn device(text: &mut String, one: &Prediction, style: &Style) {
    heading(text, style, &format!("On {}", printable(&one.device)));
    let time = |time: Seconds| si(time.get(), "s");
    let (bytes, bandwidth) = (si(one.bytes.get(), "B"), si(one.bandwidth.get(), "B/s"));
    let operation = one.pipes.first().map_or("FLOP", |main| main.pipe.operation());
    let (per_byte, per_second) = (format!("{operation}/B"), format!("{operation}/s"));
    let mut lines = Lines::default();
    let mut add = |label: &'static str, value: String, how: String| lines.add(label, value, how);
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
        add("t_math", time(one.t_math), "the longest of pipes that work side by side".to_owned());
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
    add("expected", time(one.expected), format!("max({longest})"));
    add("limiter", one.limiter.label().to_owned(), why(one).to_owned());
    if let Some(attainable) = one.attainable {
        let how = "F ÷ expected = min(P, intensity × BW)".to_owned();
        add("attainable", si(attainable.get(), &per_second), how);
    }
    if let Some(real) = &one.achievable {
        let peak = real
            .peak
            .map_or_else(String::new, |peak| format!(" and {}", si(peak.get(), &per_second)));
        let how = format!("the same with {}{peak}", si(real.bandwidth.get(), "B/s"));
        add("achievable", time(real.expected), how);
    }
    if let Some(tiling) = &one.tiling {
        tiles(&mut add, tiling, operation);
    }
    text.push_str(&lines.draw(&Style { ascii: false, ..*style }));
    if let Some(real) = &one.achievable {
        let peak = real.peak_source.as_ref().map_or_else(String::new, |peak| format!("; {peak}"));
        let sources = printable(&format!("{}{peak}", real.bandwidth_source));
        wrap(text, "  ", 4, &format!("achievable rates: {sources}"), style);
    }
    for remark in &one.remarks {
        wrap(text, "  ", 4, &format!("note: {remark}"), style);
    }
}

fn tiles(add: &mut impl FnMut(&'static str, String, String), tiling: &Tiling, operation: &str) {
    let Tiling { tile_m, tile_n, tile_k, split_k, threads, .. } = tiling;
    let split = if *split_k > 1.0 { format!(", k split by {split_k}") } else { String::new() };
    let how = format!("tiles of {tile_m}×{tile_n}, {tile_k} deep, {threads} threads each{split}");
    add("blocks", tiling.blocks.to_string(), how);
    let how = format!("with padding to whole tiles, {} more than asked", {
        percent(tiling.waste / (1.0 - tiling.waste))
    });
    add("executed", si(tiling.executed.get(), operation), how);
    if let (Some(waves), Some(resident)) = (tiling.waves, tiling.resident_per_sm) {
        let sms = tiling.blocks as f64 / waves / f64::from(resident);
        let how = format!("blocks ÷ ({sms:.0} SMs × {resident} resident on each)");
        add("waves", digits(waves), how);
    }
    if let Some(share) = tiling.wave_efficiency {
        let how = "waves ÷ waves rounded up, if every wave takes equally long".to_owned();
        add("wave efficiency", percent(share), how);
    }
    if let Some(share) = tiling.sm_efficiency {
        let how = "blocks per SM ÷ the same rounded up".to_owned();
        add("SM efficiency", percent(share), how);
    }
    let (least, most) = (si(tiling.least_time.get(), "s"), si(tiling.most_time.get(), "s"));
    let value = if least == most { least } else { format!("{least} to {most}") };
    let mut memory = "t_mem";
    if tiling.workspace_bytes > Bytes::ZERO {
        memory = "(B + workspace) ÷ BW";
        let how = "partial sums of the split k, written and read".to_owned();
        add("workspace", si(tiling.workspace_bytes.get(), "B"), how);
    }
    let how = format!("max({memory}, executed ÷ P ÷ efficiency), with both efficiencies");
    add("tiled", value, how);
}

/// Why the limiter is what it is.
fn why(one: &Prediction) -> &'static str {
    match one.limiter {
        PredictedLimiter::Memory if one.pipes.is_empty() => "nothing is computed",
        PredictedLimiter::Memory => "t_mem is the longer: intensity is not above the ridge point",
        PredictedLimiter::Math => "t_math is the longer: intensity is above the ridge point",
        PredictedLimiter::Latency => {
            "fewer than 4 blocks per SM, or 128 threads per block: neither roof is reached"
        }
        PredictedLimiter::Link => "t_link is the longest",
    }
}

/// One row for each point and device.
fn compared(table: &SweepTable) -> Table {
    let times = |of: fn(&Prediction) -> Seconds| {
        TimeUnit::of(table.rows.iter().map(move |row| of(&row.prediction)))
    };
    let (mem, math) = (times(|one| one.t_mem), times(|one| one.t_math));
    let (expected, real) = (times(|one| one.expected), times(achievable));
    let titles = [
        format!("t_mem {}", mem.symbol),
        format!("t_math {}", math.symbol),
        format!("expected {}", expected.symbol),
        format!("achievable {}", real.symbol),
    ];
    let mut columns: Vec<(&str, bool)> =
        table.axes.iter().map(|axis| (axis.key, axis.whole)).collect();
    columns.extend([("device", false), ("pipe", false), ("FLOP/B", true), ("ridge FLOP/B", true)]);
    columns.extend(titles.iter().map(|title| (title.as_str(), true)));
    columns.push(("limiter", false));
    let mut drawn = Table::new(&columns);
    for SweepRow { at, prediction: one } in &table.rows {
        let missing = || MISSING.to_owned();
        let mut row: Vec<String> = at.iter().map(|value| printable(value)).collect();
        row.extend([
            printable(&one.device),
            one.pipes.first().map_or_else(missing, |main| main.pipe.label().to_owned()),
            one.intensity.map_or_else(missing, |value| digits(value.get())),
            one.ridge_point.map_or_else(missing, |value| digits(value.get())),
            mem.show(one.t_mem),
            math.show(one.t_math),
            expected.show(one.expected),
            one.achievable.as_ref().map_or_else(missing, |known| real.show(known.expected)),
            one.limiter.label().to_owned(),
        ]);
        drawn.rows.push(row);
    }
    drawn
}

fn achievable(one: &Prediction) -> Seconds {
    one.achievable.as_ref().map_or(Seconds::ZERO, |known| known.expected)
}

/// A crossing in words; where there is none, on which side it stays.
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
        return text + "nothing is computed, so memory limits everywhere";
    };
    let ridge = per_byte(ridge.get());
    if crossing.turns.is_empty() {
        let side = if crossing.last == Limiter::Math { "above" } else { "below" };
        text.push_str(&format!(
            "does not cross; {} limits from {key}={from} to {to}",
            crossing.last.label()
        ));
        if let (Some(first), Some(last)) = (crossing.first_intensity, crossing.last_intensity) {
            let (first, last) = (per_byte(first.get()), per_byte(last.get()));
            let range = if first == last { first } else { format!("{first} to {last}") };
            text.push_str(&format!(", {range}, {side} the ridge point of {ridge}"));
        }
    } else {
        let mut side = crossing.first.label();
        let parts = crossing.turns.iter().map(|turn| {
            let (before, after) = (whole(turn.before as f64), whole(turn.after as f64));
            let there = turn
                .intensity
                .map_or_else(String::new, |value| format!(" ({} there)", per_byte(value.get())));
            let becomes = turn.becomes.label();
            let part =
                format!("{side} limits up to {key}={before}, {becomes} from {key}={after}{there}");
            side = becomes;
            part
        });
        text.push_str(&parts.collect::<Vec<_>>().join("; "));
        text.push_str(&format!("; the ridge point is {ridge}"));
    }
    if !crossing.monotone {
        text.push_str(
            "; the intensity rises and falls on the way, so turns between two probes may be missing",
        );
    }
    text
}

/// A count in full, with separators; with three digits where it is too large or not whole.
pub(super) fn whole(value: f64) -> String {
    if value.fract() != 0.0 || value >= 9e15 {
        return si(value, "").trim_end().to_owned();
    }
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown_in_full() {
        for (value, shown) in
            [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (137_438_953_472.0, "137,438,953,472")]
        {
            assert_eq!(whole(value), shown);
        }
        assert_eq!(whole(2.5), "2.50");
        assert_eq!(whole(1e16), "10.0 P");
    }
}
