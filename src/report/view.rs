//! What all subjects share for people: the style, names and shapes of kernels, ranges.

pub(super) use super::document::MISSING;
pub(super) use super::numbers::{count, digits, factor, percent, printable, si};
use crate::analysis::{Kernel, Totals};
use crate::units::{self, Seconds};

/// How a human-readable output is drawn.
#[derive(Debug, Clone, Copy, Default)]
pub struct Style {
    /// Columns of the terminal; `None` keeps every name whole.
    pub width: Option<usize>,
    /// Whether escape sequences for color may be used.
    pub color: bool,
    /// Whether escape sequences for links may be used: the terminal opens them.
    pub links: bool,
    /// Whether only ASCII may be used.
    pub ascii: bool,
    /// Whether names are printed as the profiler wrote them.
    pub full_names: bool,
    /// Whether the report of a run has all sections; else a terminal shows the brief.
    pub full: bool,
    /// The most bytes that Markdown may have: platforms drop what is longer.
    pub limit: Option<usize>,
    /// Whether lists are whole, however long.
    pub verbose: bool,
}

impl Style {
    /// Wraps text in a color, if colors are on. Color never says what the words do not.
    pub(super) fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Text that opens a page, where the terminal can (OSC 8).
    pub(super) fn link(&self, text: &str, page: Option<&str>) -> String {
        match page.filter(|_| self.links) {
            Some(page) => format!("\u{1b}]8;;{page}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\"),
            None => text.to_owned(),
        }
    }

    /// Bold.
    pub(super) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// The text as this style allows it: in ASCII, if asked for.
    #[must_use]
    pub fn adapted(&self, text: String) -> String {
        if !self.ascii {
            return text;
        }
        let text = SYMBOLS.iter().fold(text, |text, (symbol, words)| text.replace(symbol, words));
        text.chars()
            .map(|c| match c {
                '×' => "x".to_owned(),
                '÷' => "/".to_owned(),
                '·' => "*".to_owned(),
                'µ' => "u".to_owned(),
                '…' => "...".to_owned(),
                '—' | '–' | '−' => "-".to_owned(),
                '±' => "~".to_owned(),
                '≥' => ">=".to_owned(),
                '≤' => "<=".to_owned(),
                c if c.is_ascii() => c.to_string(),
                _ => "?".to_owned(),
            })
            .collect()
    }
}

/// Symbols of formulas, spelled out.
const SYMBOLS: [(&str, &str); 20] = [
    ("α", "alpha"),
    ("β", "beta"),
    ("η", "eta"),
    ("λ", "lambda"),
    ("′", "'"),
    ("→", "->"),
    ("ε", "epsilon"),
    ("Σ", "sum "),
    ("√", "sqrt "),
    ("²", "^2"),
    ("¹", "^1"),
    ("⁻", "^-"),
    ("₂", "2"),
    ("ᵀ", "^T"),
    ("≠", "!="),
    ("é", "e"),
    ("⌈", "ceil("),
    ("⌉", ")"),
    ("⌊", "floor("),
    ("⌋", ")"),
];

/// The name of a kernel as tables show it, with what tells it from others of the same name.
pub(super) fn name(kernel: &Kernel, style: &Style) -> String {
    let name = if style.full_names && !kernel.full_name.is_empty() {
        &kernel.full_name
    } else {
        &kernel.name
    };
    let name = printable(name);
    match &kernel.operator {
        Some(operator) => format!("{name} [{}]", printable(operator)),
        None => name,
    }
}

/// Grid × block, as far as known.
pub(super) fn shape(kernel: &Kernel) -> String {
    let part = |dim: Option<crate::model::Dim3>, product: Option<u64>| match (dim, product) {
        (Some(dim), _) if dim.y == 1 && dim.z == 1 => dim.x.to_string(),
        (Some(dim), _) => dim.to_string(),
        (None, Some(product)) => product.to_string(),
        (None, None) => MISSING.to_owned(),
    };
    let shape = &kernel.shape;
    if shape.blocks.is_none() && shape.threads_per_block.is_none() {
        return MISSING.to_owned();
    }
    format!("{} / {}", part(shape.grid, shape.blocks), part(shape.block, shape.threads_per_block))
}

/// Formats a headroom, which uncounted work makes an interval: `1.32–1.50×`, or `≤0.95×`; `≥1.03×` where nothing says
/// what had to be done.
pub(super) fn interval(headroom: f64, low: f64) -> String {
    if headroom.is_infinite() {
        format!("≥{}", factor(low))
    } else if low >= headroom * 0.999 {
        factor(headroom)
    } else if low > 0.005 {
        units::interval(&factor(low), &factor(headroom))
    } else {
        let most = factor(headroom);
        // Less than the least that is shown is a bound by itself.
        if most.starts_with('<') { most } else { format!("≤{most}") }
    }
}

/// Formats how many times the roofline time a kernel takes; `None` if that is unknown.
pub(super) fn ratio(kernel: &Kernel) -> Option<String> {
    kernel.headroom_ends().map(|(most, least)| interval(most, least))
}

/// Formats how many times the roofline time a run takes; `None` if that is unknown.
pub(super) fn overall(totals: &Totals) -> Option<String> {
    totals.headroom_ends().map(|(most, least)| interval(most, least))
}

/// Formats an interval of times: `3.22–3.78 ms`.
pub(super) fn range(low: Seconds, high: Seconds) -> String {
    units::interval(&si(low.get(), "s"), &si(high.get(), "s"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_style_leaves_only_ascii() {
        let style = Style { ascii: true, ..Style::default() };
        assert!(style.adapted("2.0× µs ≥ … — é".to_owned()).is_ascii());
    }
}
