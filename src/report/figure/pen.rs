//! Colors, lines, marks and letters of a picture. Nothing is said by color alone.

use plotters::element::{Circle, Cross, EmptyElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::{Area, Drawn};

/// How a mark looks: its shape says what its color says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Look {
    pub(crate) mark: Mark,
    pub(crate) tone: Tone,
    /// An outline rather than an area.
    pub(crate) is_hollow: bool,
}

impl Look {
    /// The look of the n-th series.
    pub(crate) const fn nth(position: usize) -> Self {
        let mark = Mark::ALL[position % Mark::ALL.len()];
        Self { mark, tone: Tone::nth(position), is_hollow: false }
    }

    /// The same as an outline.
    pub(crate) const fn hollow(self) -> Self {
        Self { is_hollow: true, ..self }
    }
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

impl Mark {
    const ALL: [Self; 5] = [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::Cross];
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stroke {
    Solid,
    Dashed,
    Dotted,
}

/// A color by its name among the tokens of the pages (`html/tokens.css`), so that a page and a
/// picture of the same run agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tone {
    Ground,
    Ink,
    Faint,
    Edge,
    Grid,
    Blue,
    Orange,
    Green,
    Pink,
    Gold,
    Grey,
    Red,
    Good,
    Bad,
    PartRoofline,
    PartSavings,
    PartUnproven,
    PartGap,
}

impl Tone {
    const SERIES: [Self; 7] =
        [Self::Blue, Self::Orange, Self::Green, Self::Pink, Self::Gold, Self::Grey, Self::Red];

    /// The color of the n-th series.
    pub(crate) const fn nth(position: usize) -> Self {
        Self::SERIES[position % Self::SERIES.len()]
    }

    /// Name of the token, and its values on light and on dark ground.
    const fn token(self) -> (&'static str, [u32; 2]) {
        match self {
            Self::Ground => ("ground", [0xff_ff_ff, 0x16_1b_22]),
            Self::Ink => ("ink", [0x1b_21_27, 0xe3_e9_ef]),
            Self::Faint => ("faint", [0x57_61_6c, 0x9d_a8_b4]),
            Self::Edge => ("edge", [0xcf_d6_dd, 0x39_43_4e]),
            Self::Grid => ("grid", [0xe6_ea_ee, 0x26_2e_37]),
            Self::Blue => ("blue", [0x00_5a_a0, 0x56_b4_e9]),
            Self::Orange => ("orange", [0xc0_4c_00, 0xff_96_46]),
            Self::Green => ("green", [0x00_82_5f, 0x3c_c8_a0]),
            Self::Pink => ("pink", [0xa0_40_7a, 0xe6_96_c8]),
            Self::Gold => ("gold", [0x8f_64_00, 0xf0_c8_46]),
            Self::Grey => ("grey", [0x5f_67_70, 0xaa_b2_bb]),
            Self::Red => ("red", [0xa3_26_1c, 0xff_8f_80]),
            Self::Good => ("good", [0x00_75_4f, 0x4c_c3_8a]),
            Self::Bad => ("bad", [0xb3_26_1e, 0xff_8f_80]),
            Self::PartRoofline => ("part-roofline", [0x7d_8b_99, 0x70_80_91]),
            Self::PartSavings => ("part-savings", [0xc2_25_6b, 0xf0_6a_a6]),
            Self::PartUnproven => ("part-unproven", [0xe3_a3_c2, 0x80_40_5f]),
            Self::PartGap => ("part-gap", [0xb9_c3_cd, 0x4b_58_66]),
        }
    }
}

/// Colors and sizes for one picture, in pixels of its fine grid.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pen {
    dark: bool,
    /// Height of letters.
    pub(super) letters: u32,
    /// Width of an ordinary line.
    pub(super) stroke: u32,
    /// Whether letters are those of the carried font alone.
    has_own_letters: bool,
}

/// Letters of `sans.ttf`, as ranges: Latin, Greek, and the signs that reports use.
const LETTERS: [(char, char); 17] = [
    (' ', '~'),
    ('\u{a0}', 'ÿ'),
    ('Α', 'Ρ'),
    ('Σ', 'ω'),
    ('\u{2010}', '―'),
    ('‘', '‟'),
    ('…', '…'),
    ('⁰', 'ⁱ'),
    ('⁴', '₉'),
    ('←', '↓'),
    ('∑', '−'),
    ('√', '√'),
    ('∞', '∞'),
    ('≈', '≈'),
    ('≠', '≠'),
    ('≤', '≥'),
    ('⌈', '⌋'),
];

/// The text with a mark for each letter that the font lacks: it would leave a gap.
fn with_marks(text: &str) -> String {
    let is_there = |letter: char| LETTERS.iter().any(|(from, to)| (*from..=*to).contains(&letter));
    text.chars().map(|letter| if is_there(letter) { letter } else { '?' }).collect()
}

impl Pen {
    /// Series that can be told apart by color and mark.
    pub(super) const SERIES: usize = Tone::SERIES.len();

    /// Marks of which the small ones would cover each other at an ordinary size.
    const MANY: usize = 1_000;

    /// A pen for a picture of this side, on a grid so many times finer.
    pub(super) fn new(side: u32, fine: u32, dark: bool) -> Self {
        let letters = (side / 68).clamp(9, 60) * fine;
        Self { dark, letters, stroke: (letters / 8).max(1), has_own_letters: false }
    }

    /// The same for a picture of pixels, which has the letters of the carried font alone: a mark stands for others.
    pub(super) const fn with_own_letters(self) -> Self {
        Self { has_own_letters: true, ..self }
    }

    /// The same with letters of another size.
    pub(super) const fn sized(&self, numerator: u32, denominator: u32) -> Self {
        Self { letters: self.letters * numerator / denominator, ..*self }
    }

    pub(super) const fn rgb(&self, tone: Tone) -> RGBColor {
        let value = tone.token().1[self.dark as usize];
        RGBColor((value >> 16) as u8, (value >> 8) as u8, value as u8)
    }

    /// Height of letters, for coordinates.
    pub(super) const fn em(&self) -> i32 {
        self.letters as i32
    }

    /// From one line of text to the next.
    pub(super) const fn line(&self) -> i32 {
        self.em() * 3 / 2
    }

    /// The thinnest line: about a pixel of the picture.
    const fn thin(&self) -> u32 {
        let thin = self.stroke * 3 / 5;
        if thin == 0 { 1 } else { thin }
    }

    /// Letters in a color.
    pub(super) fn text(&self, tone: Tone) -> TextStyle<'static> {
        let font = ("sans-serif", f64::from(self.letters)).into_font();
        TextStyle { color: self.rgb(tone).to_backend_color(), ..TextStyle::from(font) }
    }

    /// Width and height of letters.
    pub(super) fn size(&self, text: &str) -> (i32, i32) {
        let font = ("sans-serif", f64::from(self.letters)).into_font();
        let guess = (text.len() as u32 * self.letters / 2, self.letters);
        let (width, height) = font.box_size(text).unwrap_or(guess);
        (width as i32, (height as i32).max(self.em()))
    }

    /// The text, cut with an ellipsis where it is wider than this.
    pub(super) fn fitted(&self, text: &str, width: i32) -> String {
        if self.size(text).0 <= width {
            return text.to_owned();
        }
        // No letter is narrower than a fifth of its height: the rest need not be measured.
        let most = width.max(0).unsigned_abs() / (self.letters / 5).max(1);
        let mut kept: Vec<char> = text.chars().take(most as usize).collect();
        while kept.pop().is_some() {
            let shorter: String = kept.iter().chain(&['…']).collect();
            if self.size(&shorter).0 <= width {
                return shorter;
            }
        }
        String::new()
    }

    /// The text in lines that are at most this wide, broken at spaces.
    pub(super) fn wrapped(&self, text: &str, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if self.size(&format!("{line} {word}")).0 <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(self.fitted(word, width)),
            }
        }
        lines
    }

    /// Letters with their left upper corner at a pixel.
    pub(super) fn write<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        text: &str,
        at: (i32, i32),
        tone: Tone,
    ) -> Drawn<DB> {
        // Backends agree on the middle of a line, less on its top.
        let style = self.text(tone).pos(Pos::new(HPos::Left, VPos::Center));
        let at = (at.0, at.1 + self.em() / 2);
        let text = if self.has_own_letters { with_marks(text) } else { text.to_owned() };
        area.draw(&Text::new(text, at, style))
    }

    /// Clears what lies below a label.
    pub(super) fn clear<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        at: (i32, i32),
        size: (i32, i32),
    ) -> Drawn<DB> {
        let corners = [at, (at.0 + size.0, at.1 + size.1)];
        area.draw(&Rectangle::new(corners, self.rgb(Tone::Ground).filled()))
    }

    /// A line through pixels.
    pub(super) fn stroke<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: &[(i32, i32)],
        tone: Tone,
        stroke: Stroke,
    ) -> Drawn<DB> {
        Self::stroked(area, points, self.rgb(tone).stroke_width(self.stroke), stroke)
    }

    /// The same, thin.
    pub(super) fn hair<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: &[(i32, i32)],
        tone: Tone,
        stroke: Stroke,
    ) -> Drawn<DB> {
        Self::stroked(area, points, self.rgb(tone).stroke_width(self.thin()), stroke)
    }

    fn stroked<DB: DrawingBackend>(
        area: &Area<DB>,
        points: &[(i32, i32)],
        style: ShapeStyle,
        stroke: Stroke,
    ) -> Drawn<DB> {
        let unit = f64::from(style.stroke_width);
        let (dash, gap) = match stroke {
            Stroke::Solid => return area.draw(&PathElement::new(points.to_vec(), style)),
            Stroke::Dashed => (5.5 * unit, 3.5 * unit),
            Stroke::Dotted => (1.2 * unit, 3.5 * unit),
        };
        for dash in dashes(points, dash, gap) {
            area.draw(&PathElement::new(dash, style))?;
        }
        Ok(())
    }

    /// A filled shape.
    pub(super) fn fill<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        corners: Vec<(i32, i32)>,
        tone: Tone,
        opacity: f64,
    ) -> Drawn<DB> {
        area.draw(&Polygon::new(corners, self.rgb(tone).mix(opacity).filled()))
    }

    /// A mark around a pixel, with this radius.
    pub(super) fn mark<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        look: Look,
        at: (i32, i32),
        radius: i32,
    ) -> Drawn<DB> {
        let (color, ground) = (self.rgb(look.tone), self.rgb(Tone::Ground));
        // A rim keeps marks apart that lie upon each other.
        let (inside, rim) = if look.is_hollow {
            (ground, color.stroke_width(self.stroke))
        } else {
            (color, ground.stroke_width(self.thin()))
        };
        let corners: Vec<(i32, i32)> = match look.mark {
            Mark::Circle => {
                area.draw(&Circle::new(at, radius, inside.filled()))?;
                return area.draw(&Circle::new(at, radius, rim));
            }
            Mark::Cross => {
                let stroke = color.stroke_width(self.stroke);
                return area.draw(&(EmptyElement::at(at) + Cross::new((0, 0), radius, stroke)));
            }
            Mark::Square => {
                let r = radius - radius / 8;
                vec![(-r, -r), (r, -r), (r, r), (-r, r)]
            }
            Mark::Triangle => {
                // Equilateral, around its center.
                let r = radius + radius / 4;
                let (half, foot) = (r * 7 / 8, r / 2);
                vec![(0, -r), (half, foot), (-half, foot)]
            }
            Mark::Diamond => {
                let r = radius + radius / 4;
                vec![(0, -r), (r, 0), (0, r), (-r, 0)]
            }
        };
        let mut corners: Vec<_> = corners.iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect();
        area.draw(&Polygon::new(corners.clone(), inside.filled()))?;
        corners.extend(corners.first().copied());
        area.draw(&PathElement::new(corners, rim))
    }

    /// The radius of an ordinary mark.
    pub(super) fn radius(&self) -> i32 {
        self.em() / 3
    }

    /// The radius of a mark whose area is a share of the time: all of it is a mark four letters wide.
    /// Among more than [`MANY`](Self::MANY) the least are dots.
    pub(super) fn radius_of(&self, share: Option<f64>, among: usize) -> i32 {
        let Some(share) = share else { return self.radius() };
        let whole = f64::from(self.letters) * 2.0;
        let least = if among > Self::MANY { self.em() / 7 } else { self.em() / 4 };
        ((share.clamp(0.0, 1.0).sqrt() * whole).round() as i32).max(least)
    }
}

/// The dashes of a line through points, each with the corners that it passes.
fn dashes(points: &[(i32, i32)], dash: f64, gap: f64) -> Vec<Vec<(i32, i32)>> {
    let mut all = Vec::new();
    let mut current: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    let (mut is_dash, mut left) = (true, dash);
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let length = (to.0 - from.0).hypot(to.1 - from.1);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let along = |from: f64, to: f64| (from + (to - from) * done / length).round() as i32;
            let at = (along(from.0, to.0), along(from.1, to.1));
            if is_dash {
                current.push(at);
                all.push(std::mem::take(&mut current));
            } else {
                current = vec![at];
            }
            is_dash = !is_dash;
            left = if is_dash { dash } else { gap };
        }
        left -= length - done;
        if is_dash {
            current.push(pair[1]);
        }
    }
    if is_dash && current.len() > 1 {
        all.push(current);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Tone; 18] = [
        Tone::Ground,
        Tone::Ink,
        Tone::Faint,
        Tone::Edge,
        Tone::Grid,
        Tone::Blue,
        Tone::Orange,
        Tone::Green,
        Tone::Pink,
        Tone::Gold,
        Tone::Grey,
        Tone::Red,
        Tone::Good,
        Tone::Bad,
        Tone::PartRoofline,
        Tone::PartSavings,
        Tone::PartUnproven,
        Tone::PartGap,
    ];

    #[test]
    fn colors_are_the_tokens_of_the_pages() {
        let css = include_str!("../html/tokens.css");
        for tone in ALL {
            let (name, values) = tone.token();
            let defined: Vec<&str> = css
                .lines()
                .filter_map(|line| line.trim().strip_prefix(&format!("--{name}: ")))
                .collect();
            let [light, dark] = values.map(|value| format!("#{value:06x};"));
            assert_eq!(defined[..2], [light, dark], "{name}");
        }
    }

    /// The segments of the character map of the font, in its format 4.
    #[test]
    fn letters_that_the_font_lacks_are_marked() {
        let font = include_bytes!("sans.ttf");
        let number = |at: usize| usize::from(u16::from_be_bytes([font[at], font[at + 1]]));
        let place = |at: usize| (number(at) << 16) + number(at + 2);
        let tables = (0..number(4)).map(|table| 12 + 16 * table);
        let map = tables
            .clone()
            .find(|at| &font[*at..*at + 4] == b"cmap")
            .map(|at| place(at + 8))
            .unwrap();
        let format = map + place(map + 8);
        assert_eq!(number(format), 4);
        let all = number(format + 6);
        let segments =
            (0..all / 2 - 1).map(|at| [16 + all, 14].map(|of| number(format + of + 2 * at)));
        let mut ranges: Vec<[usize; 2]> = Vec::new();
        for [from, to] in segments {
            match ranges.last_mut() {
                Some(last) if last[1] + 1 == from => last[1] = to,
                _ => ranges.push([from, to]),
            }
        }
        let own: Vec<[usize; 2]> =
            LETTERS.iter().map(|(from, to)| [*from as usize, *to as usize]).collect();
        assert_eq!(own, ranges);
        assert_eq!(with_marks("gemm 模型 ≥ 5 µs"), "gemm ?? ≥ 5 µs");
    }

    #[test]
    fn dashes_keep_their_length_around_corners() {
        // 20 along, then 10 down: dashes of 6 with gaps of 4 begin every 10.
        let all = dashes(&[(0, 0), (20, 0), (20, 10)], 6.0, 4.0);
        let expected: [&[(i32, i32)]; 3] =
            [&[(0, 0), (6, 0)], &[(10, 0), (16, 0)], &[(20, 0), (20, 6)]];
        assert_eq!(all, expected);
        assert_eq!(dashes(&[(0, 0), (4, 0), (4, 4)], 6.0, 4.0), [[(0, 0), (4, 0), (4, 2)]]);
        assert!(dashes(&[], 6.0, 4.0).is_empty());
    }
}
