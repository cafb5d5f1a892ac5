//! Picture of a trend: a panel for the run and for the kernels that changed most.

use super::{day, name, short};
use crate::history::{Line, Trend, TrendMetric};
use crate::report::figure::{
    Canvas, Caption, Encoding, Level, PictureError, Scatter, SeriesFigure, SeriesMark, SeriesPanel,
    encoded,
};
use crate::report::numbers::change;
use crate::report::view::{Style, percent, printable};
use crate::units::median;

/// Largest number of panels in one picture.
const PANELS: usize = 4;

/// Draws a trend; the same trend gives the same bytes.
///
/// # Errors
/// [`PictureError`] if the canvas is too small for axes.
pub fn trend_picture(
    trend: &Trend,
    canvas: &Canvas,
    encoding: Encoding,
) -> Result<Vec<u8>, PictureError> {
    encoded(&figure(trend), canvas, encoding)
}

fn figure(trend: &Trend) -> SeriesFigure {
    let is_chosen = trend.chosen.is_some();
    let moved = |line: &&Line| is_chosen || !line.changes.is_empty() || line.drift.is_some();
    let moved = trend.kernels.iter().filter(moved);
    let shown: Vec<&Line> = trend.whole.iter().chain(moved).take(PANELS).collect();
    let mut notes = vec!["Vertical axes do not begin at zero.".to_owned()];
    let left_out = if is_chosen { trend.kernels.len().saturating_sub(shown.len()) } else { 0 };
    if left_out > 0 {
        notes.push(format!("{left_out} more matching kernels are not drawn"));
    }
    let labels = trend.points.iter().map(|point| {
        let commit = point.commit.as_deref().map(short).unwrap_or_default();
        let day = point.saved.as_deref().and_then(day).map(printable).unwrap_or_default();
        [commit, day]
    });
    SeriesFigure {
        caption: Caption { title: trend.title(), notes, ..Caption::default() },
        labels: labels.collect(),
        panels: shown.into_iter().map(|line| panel(trend, line)).collect(),
    }
}

fn panel(trend: &Trend, line: &Line) -> SeriesPanel {
    let words = line.metric.words(line.kernel.is_some());
    let share = match line.kernel {
        Some(_) if line.is_gone => {
            format!(" (gone; {} of the last run)", percent(line.share.get()))
        }
        Some(_) => format!(" ({} of the time)", percent(line.share.get())),
        None => String::new(),
    };
    let points = line.values.iter().enumerate().filter_map(|(at, value)| {
        value.map(|one| Scatter { at, middle: one.median, ends: [one.least, one.greatest] })
    });
    let marks = line.changes.iter().map(|found| SeriesMark {
        at: found.point,
        label: change(found.step.change.get()),
        is_worse: found.step.change.get() > 0.0,
    });
    SeriesPanel {
        title: match line.kernel {
            Some(_) => format!("{}{share}, {words}", name(trend, line, &Style::default())),
            None => words.to_owned(),
        },
        unit: match trend.metric {
            TrendMetric::Time | TrendMetric::Total => "s",
            TrendMetric::Headroom => "×",
            TrendMetric::Share => "%",
        },
        points: points.collect(),
        levels: levels(line),
        marks: marks.collect(),
    }
}

/// Returns the medians between changes, or the drift.
fn levels(line: &Line) -> Vec<Level> {
    let there: Vec<usize> =
        line.values.iter().enumerate().filter_map(|(at, value)| value.map(|_| at)).collect();
    let (Some(first), Some(last)) = (there.first(), there.last()) else { return Vec::new() };
    if let Some(drift) = &line.drift {
        return vec![Level { from: (*first, drift.from), to: (*last, drift.to) }];
    }
    let mut levels = Vec::new();
    let mut from = *first;
    for change in &line.changes {
        let before = there.iter().copied().filter(|at| *at < change.point).max();
        let height = change.step.before;
        levels.push(Level { from: (from, height), to: (before.unwrap_or(from), height) });
        from = change.point;
    }
    let height = match line.changes.last() {
        Some(change) => Some(change.step.after),
        None => median(&line.values.iter().flatten().map(|one| one.median).collect::<Vec<_>>()),
    };
    levels.extend(height.map(|height| Level { from: (from, height), to: (*last, height) }));
    levels
}
