//! What a text must contain for a pattern to match it, from the pattern's syntax alone.
//!
//! Most patterns are lists of words: a search for their words decides them, and leaves few others to
//! compile. Where the syntax is not understood nothing is required, so that the pattern is tried.

use std::borrow::Cow;

/// A text of the program, or of a user's file.
pub(super) type Text = Cow<'static, str>;

/// Shortest literal that is worth a search.
pub(super) const SHORTEST: usize = 2;

/// One of the alternatives that make up a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alternative {
    /// A pattern of its own.
    pub(super) pattern: Text,
    /// One of these is in every text that matches; empty if nothing is known.
    pub(super) needs: Cow<'static, [Text]>,
    /// True if the case of ASCII letters does not matter.
    pub(super) ignores_case: bool,
    /// Where the literal must be, if the alternative is nothing but one literal.
    pub(super) whole: Option<Place>,
    /// True if it has named groups.
    pub(super) has_groups: bool,
}

/// Where a literal must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Place {
    /// At the start of the text.
    pub(super) start: bool,
    /// At its end.
    pub(super) end: bool,
}

/// Takes a valid pattern apart; one with named groups stays whole, because their alternatives
/// depend on each other.
pub(super) fn alternatives(pattern: &str) -> Vec<Alternative> {
    let (flags, rest) = match pattern.strip_prefix("(?i)") {
        Some(rest) => ("(?i)", rest),
        None => ("", pattern),
    };
    let ignores_case = !flags.is_empty();
    let mut scan = Scan { text: rest.as_bytes(), at: 0, has_groups: false };
    let sequences = scan.alternation().filter(|_| scan.at == rest.len());
    let all_of = |needs: Vec<String>| needs.into_iter().map(Text::from).collect();
    let whole = |needs| Alternative {
        pattern: pattern.to_owned().into(),
        needs: all_of(needs),
        ignores_case,
        whole: None,
        has_groups: true,
    };
    let Some(sequences) = sequences else { return vec![whole(Vec::new())] };
    if scan.has_groups {
        return vec![whole(any_of(&sequences))];
    }
    let alone = |sequence: Sequence| Alternative {
        pattern: format!("{flags}{}", rest.get(sequence.range.clone()).unwrap_or(rest)).into(),
        needs: all_of(sequence.needs),
        ignores_case,
        whole: sequence.whole,
        has_groups: false,
    };
    sequences.into_iter().map(alone).collect()
}

/// What follows each other, up to `|`, `)` or the end.
#[derive(Default)]
struct Sequence {
    range: std::ops::Range<usize>,
    needs: Vec<String>,
    whole: Option<Place>,
}

/// How often something is matched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Times {
    Once,
    Maybe,
    Repeated,
}

struct Scan<'p> {
    text: &'p [u8],
    at: usize,
    has_groups: bool,
}

/// Literals of which any text that matches one of the sequences has one.
fn any_of(sequences: &[Sequence]) -> Vec<String> {
    if sequences.iter().any(|one| one.needs.is_empty()) {
        return Vec::new();
    }
    sequences.iter().flat_map(|one| one.needs.iter().cloned()).collect()
}

/// Keeps the more telling of two requirements, which is the one with longer words.
fn offer(best: &mut Vec<String>, other: Vec<String>) {
    let shortest = |all: &[String]| all.iter().map(String::len).min().unwrap_or_default();
    if shortest(&other) >= SHORTEST.max(shortest(best)) {
        *best = other;
    }
}

/// Each method returns `None` for syntax that it does not know.
impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn takes(&mut self, text: &str) -> bool {
        let is_next =
            self.text.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()));
        self.at += if is_next { text.len() } else { 0 };
        is_next
    }

    fn alternation(&mut self) -> Option<Vec<Sequence>> {
        let mut all = vec![self.sequence()?];
        while self.takes("|") {
            all.push(self.sequence()?);
        }
        Some(all)
    }

    fn sequence(&mut self) -> Option<Sequence> {
        let start = self.at;
        let mut found = Sequence::default();
        let mut run = String::new();
        let (mut place, mut is_literal) = (Place::default(), true);
        while let Some(next) = self.peek() {
            let literal = match next {
                b'|' | b')' => break,
                b'*' | b'+' | b'?' | b'{' => return None,
                b'^' | b'$' => {
                    let is_start = next == b'^';
                    is_literal &= if is_start { self.at == start } else { !place.end };
                    (place.start, place.end) = (place.start || is_start, place.end || !is_start);
                    self.at += 1;
                    offer(&mut found.needs, vec![std::mem::take(&mut run)]);
                    continue;
                }
                b'(' => {
                    offer(&mut found.needs, vec![std::mem::take(&mut run)]);
                    let inside = self.group()?;
                    if self.times()? != Times::Maybe {
                        offer(&mut found.needs, any_of(&inside));
                    }
                    is_literal = false;
                    continue;
                }
                b'[' => {
                    self.class()?;
                    None
                }
                b'.' => {
                    self.at += 1;
                    None
                }
                b'\\' => match self.escape()? {
                    Escaped::Literal(byte) => Some(byte),
                    Escaped::Class => None,
                },
                _ => {
                    self.at += 1;
                    Some(next).filter(u8::is_ascii).map(Some)?
                }
            };
            let times = self.times()?;
            if let Some(literal) = literal.filter(|_| times != Times::Maybe) {
                run.push(char::from(literal));
            }
            // Nothing follows the end of the text.
            is_literal &= literal.is_some() && times == Times::Once && !place.end;
            if literal.is_none() || times != Times::Once {
                offer(&mut found.needs, vec![std::mem::take(&mut run)]);
            }
        }
        offer(&mut found.needs, vec![run]);
        found.range = start..self.at;
        found.whole = (is_literal && found.needs.len() == 1).then_some(place);
        Some(found)
    }

    fn group(&mut self) -> Option<Vec<Sequence>> {
        if self.takes("(?<") || self.takes("(?P<") {
            self.has_groups = true;
            while self.peek()? != b'>' {
                self.at += 1;
            }
            self.at += 1;
        } else if !self.takes("(?:") {
            // Flags hold from here on, for alternatives that follow, too.
            if !self.takes("(") || self.peek()? == b'?' {
                return None;
            }
        }
        let inside = self.alternation()?;
        self.takes(")").then_some(inside)
    }

    /// Skips a class; those inside classes are not read.
    fn class(&mut self) -> Option<()> {
        self.at += 1;
        self.takes("^");
        self.takes("]");
        loop {
            match self.peek()? {
                b']' => break,
                b'[' => return None,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        Some(())
    }

    /// What an escape stands for; `None` if it is not read here.
    fn escape(&mut self) -> Option<Escaped> {
        let escaped = *self.text.get(self.at + 1)?;
        self.at += 2;
        match escaped {
            b'd' | b'D' | b's' | b'S' | b'w' | b'W' | b'B' => Some(Escaped::Class),
            // `\b{start}` is a place, too.
            b'b' if self.peek() != Some(b'{') => Some(Escaped::Class),
            _ => escaped.is_ascii_punctuation().then_some(Escaped::Literal(escaped)),
        }
    }

    fn times(&mut self) -> Option<Times> {
        let times = match self.peek() {
            Some(b'*' | b'?') => Times::Maybe,
            Some(b'+') => Times::Repeated,
            Some(b'{') => match self.text.get(self.at + 1)? {
                b'1'..=b'9' => Times::Repeated,
                _ => Times::Maybe,
            },
            _ => return Some(Times::Once),
        };
        if self.peek() == Some(b'{') {
            while self.peek()? != b'}' {
                self.at += 1;
            }
        }
        self.at += 1;
        self.takes("?");
        // A repetition of a repetition may be none at all.
        let again = matches!(self.peek(), Some(b'*' | b'+' | b'?' | b'{'));
        (!again).then_some(times)
    }
}

/// What an escape stands for.
enum Escaped {
    /// One character.
    Literal(u8),
    /// One of several, or a place between two.
    Class,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(pattern: &str) -> Vec<Vec<Text>> {
        alternatives(pattern).into_iter().map(|one| one.needs.into_owned()).collect()
    }

    #[test]
    fn words_are_found_whole_and_others_by_their_longest_part() {
        let at = |start, end| Some(Place { start, end });
        let wholes = |pattern| -> Vec<_> {
            alternatives(pattern).into_iter().map(|one| (one.pattern, one.whole)).collect()
        };
        let of = |text: &'static str, place| (Text::from(text), place);
        assert_eq!(
            wholes("(?i)gemm|^nvjet_|_fft$|^topk$|soft_?max"),
            [
                of("(?i)gemm", at(false, false)),
                of("(?i)^nvjet_", at(true, false)),
                of("(?i)_fft$", at(false, true)),
                of("(?i)^topk$", at(true, true)),
                of("(?i)soft_?max", None),
            ]
        );
        assert_eq!(needs(r"flash_?(?:attn|attention)"), [["flash"]]);
        assert_eq!(needs(r"(?:^|_)d(?:gemm|cudnn)(?:_|$)"), [["gemm", "cudnn"]]);
        assert_eq!(needs(r"\(int\)a|b\.cd+e"), [["(int)a"], ["b.cd"]]);
    }

    #[test]
    fn what_may_be_left_out_is_not_required() {
        for pattern in [
            "(?:gemm)?",
            "(?:gemm)*x",
            "(?:gemm){0,3}",
            "[gemm]",
            "(?:gemm|x)",
            r"\pL",
            "a{2}{0}",
            "(?i:gemm)",
            "ab(?i)cd",
            r"\x41\x42",
            "[[:alpha:]]ab",
            "gemm|",
            "ü",
        ] {
            let all = needs(pattern);
            assert!(all.iter().any(Vec::is_empty), "{pattern}: {all:?}");
        }
    }

    #[test]
    fn patterns_with_groups_stay_whole() {
        let all = alternatives("x_(?<a>f16|f32)|tile(?<m>d+)");
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].has_groups, all[0].whole), (true, None));
        assert_eq!(all[0].needs[..], ["f16", "f32", "tile"]);
    }
}
