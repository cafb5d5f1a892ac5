//! Text that never grows beyond a limit: what does not fit is counted instead of cut in its middle.

/// A text with a limit in bytes of UTF-8.
#[derive(Debug)]
pub(super) struct Sheet {
    text: String,
    /// Of the whole.
    whole: usize,
    /// Of the part that is being written.
    limit: usize,
    /// Bytes that are kept for what closes the parts that are open.
    kept: usize,
}

impl Sheet {
    pub(super) fn new(limit: usize) -> Self {
        Self { text: String::new(), whole: limit, limit, kept: 0 }
    }

    /// Lets the next parts fill so many percent of the whole: what comes first must not crowd out what
    /// comes later.
    pub(super) fn up_to(&mut self, percent: usize) {
        self.limit = self.whole / 100 * percent.min(100);
        if percent >= 100 {
            self.limit = self.whole;
        }
    }

    fn fits(&self, length: usize) -> bool {
        self.text.len().saturating_add(length).saturating_add(self.kept) <= self.limit
    }

    /// Writes a block whole, or not at all.
    pub(super) fn block(&mut self, block: &str) -> bool {
        let fits = self.fits(block.len());
        if fits {
            self.text.push_str(block);
        }
        fits
    }

    /// Writes what opens a part, the part, and what closes it; nothing where the part has no room.
    pub(super) fn part(&mut self, before: &str, after: &str, write: impl FnOnce(&mut Self)) {
        if !self.fits(before.len() + after.len()) {
            return;
        }
        let start = self.text.len();
        self.text.push_str(before);
        let begun = self.text.len();
        self.kept += after.len();
        write(self);
        self.kept -= after.len();
        if self.text.len() == begun {
            self.text.truncate(start);
        } else {
            self.text.push_str(after);
        }
    }

    /// Writes what is before, as many lines as fit, how many do not, and what is after. Where that
    /// has no room for a single line, nothing of it is written.
    ///
    /// `more` says how many lines are left; it must not grow as their number falls.
    pub(super) fn lines(
        &mut self,
        before: &str,
        lines: &[String],
        after: &str,
        more: impl Fn(usize) -> String,
    ) {
        if lines.is_empty() {
            return;
        }
        let all: usize = lines.iter().map(String::len).sum();
        if self.fits(before.len() + all + after.len()) {
            self.text.push_str(before);
            self.text.push_str(&lines.concat());
            self.text.push_str(after);
            return;
        }
        let rest = more(lines.len()).len() + after.len();
        let Some(first) = lines.first() else { return };
        if !self.fits(before.len() + first.len() + rest) {
            self.block(&more(lines.len()));
            return;
        }
        self.text.push_str(before);
        let mut left = lines.len();
        for line in lines {
            if !self.fits(line.len() + rest) {
                break;
            }
            self.text.push_str(line);
            left -= 1;
        }
        self.text.push_str(&more(left));
        self.text.push_str(after);
    }

    pub(super) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::Sheet;

    #[test]
    fn what_does_not_fit_is_counted() {
        let lines: Vec<String> = (0..9).map(|line| format!("line {line}\n")).collect();
        for limit in 0..120 {
            let mut sheet = Sheet::new(limit);
            sheet.lines("before\n", &lines, "after\n", |left| format!("{left} more\n"));
            let text = sheet.finish();
            assert!(text.len() <= limit, "{limit}: {text}");
            assert_eq!(text.contains("before"), text.contains("after"), "{limit}: {text}");
            let written = text.matches("line").count();
            assert!(
                written == 9 || text.is_empty() || text.contains(&format!("{} more", 9 - written))
            );
        }
    }
}
