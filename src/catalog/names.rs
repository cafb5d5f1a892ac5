//! Device names: comparison of spellings, and suggestions for unknown names.

/// Optional words before the name: vendor and product line.
const OPTIONAL_WORDS: &[&str] = &["nvidia", "amd", "intel", "geforce", "tesla"];

/// What is longer is the name of no device.
const LONGEST: usize = 256;

/// Normalizes spellings that differ in case, `(R)`, blanks, `-`, `_`, vendor or product line.
///
/// Two names are the same if their normalized forms are equal. Parts of names never match: `H20` is
/// not `H200`, and `A100` is not in `RTX A1000`.
pub(crate) fn normalized(name: &str) -> String {
    let spelled = without_ordinal(name).to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let mut words: Vec<&str> = words(&spelled).collect();
    while words.len() > 1 && OPTIONAL_WORDS.contains(&words[0]) {
        words.remove(0);
    }
    words.join(" ")
}

/// Removes the ordinal that tools append: `NVIDIA H200 (0)`.
fn without_ordinal(name: &str) -> &str {
    let ordinal = name.trim_end().strip_suffix(')').and_then(|rest| rest.rsplit_once('('));
    match ordinal {
        Some((name, digits))
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => name,
    }
}

/// Returns the id of a device without a file name: its name in lower case with hyphens.
pub(super) fn slug(name: &str) -> String {
    let parts = name.to_lowercase();
    let parts = parts.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

/// Returns up to five of `names` that resemble `wanted`, best first: names with the same words,
/// then similar spellings. Each item is a spelling with the unique name to suggest.
pub(super) fn nearest(wanted: &str, names: &[(String, String)]) -> Vec<String> {
    const CLOSE: f64 = 0.85;
    const SHOWN: usize = 5;
    let wanted = normalized(wanted);
    // No device has so long a name; comparing it with all of them takes seconds.
    if wanted.is_empty() || wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut ranked: Vec<(f64, &str)> = names
        .iter()
        .map(|(spelling, proposal)| (resemblance(&wanted, &normalized(spelling)), &**proposal))
        .filter(|(score, _)| *score >= CLOSE)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let mut shown: Vec<String> = Vec::new();
    for (_, proposal) in ranked {
        if shown.len() < SHOWN && !shown.iter().any(|known| known == proposal) {
            shown.push(proposal.to_owned());
        }
    }
    shown
}

/// Returns the proposals of `names` whose words begin with those of a part such as `A100` or `MI300`, in alphabetical
/// order.
pub(super) fn with_part(part: &str, names: &[(String, String)]) -> Vec<String> {
    let part = normalized(part);
    if part.len() > LONGEST {
        return Vec::new();
    }
    let fits = |name: &str| {
        let name = normalized(name);
        // A100 is no part of A1000.
        let goes_on = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        let begins = |word: &str, wanted: &str| {
            let cuts_number = wanted.ends_with(|c: char| c.is_ascii_digit());
            word.strip_prefix(wanted).is_some_and(|rest| !(cuts_number && goes_on(rest)))
        };
        let has = |wanted: &str| words(&name).any(|word| begins(word, wanted));
        words(&part).next().is_some() && words(&part).all(has)
    };
    let fitting = names.iter().filter(|(spelling, _)| fits(spelling));
    let mut found: Vec<String> = fitting.map(|(_, proposal)| proposal.clone()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the proposals of `names` that have all words of a name, whole.
pub(super) fn with_words(wanted: &str, names: &[(String, String)]) -> Vec<String> {
    let wanted = normalized(wanted);
    let has_all = |name: &str| {
        let name = normalized(name);
        words(&wanted).all(|word| words(&name).any(|other| other == word))
    };
    let fitting = names.iter().filter(|(spelling, _)| has_all(spelling));
    let mut found: Vec<String> = fitting.map(|(_, proposal)| proposal.clone()).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns those of `names` that are the wanted one but for blanks: `RTX4090`, `MI 300X`.
pub(super) fn run_together<'n>(wanted: &str, names: &'n [(String, String)]) -> Vec<&'n str> {
    // Digits stay apart: the first GPU of that name, `H20 0`, is not an H200.
    let joined = |name: &str| {
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        words(&normalized(name)).fold(String::new(), |mut text, word| {
            if is_digit(text.chars().last()) && is_digit(word.chars().next()) {
                text.push(' ');
            }
            text + word
        })
    };
    let wanted = joined(wanted);
    let mut found: Vec<&str> = Vec::new();
    for (spelling, proposal) in names {
        if !wanted.is_empty() && joined(spelling) == wanted && !found.contains(&&**proposal) {
            found.push(proposal);
        }
    }
    found
}

fn resemblance(wanted: &str, name: &str) -> f64 {
    let has = |word| words(name).any(|other| other == word);
    let spelling = crate::plain::likeness(wanted, name);
    if words(wanted).all(has) || is_within(wanted, name) { 1.0 + spelling } else { spelling }
}

/// Whether words of a name that follow each other are the wanted ones but for blanks: `2080Ti` in `rtx 2080 ti`.
fn is_within(wanted: &str, name: &str) -> bool {
    let wanted: String = words(wanted).collect();
    let mut starts = name.char_indices().map(|(at, _)| &name[at..]);
    let is_start = |rest: &str| {
        let before = &name[..name.len() - rest.len()];
        before.is_empty() || before.ends_with(is_blank)
    };
    !wanted.is_empty()
        && starts.any(|rest| {
            is_start(rest)
                && words(rest)
                    .scan(wanted.as_str(), |left, word| {
                        *left = left.strip_prefix(word)?;
                        Some(left.is_empty())
                    })
                    .any(|is_whole| is_whole)
        })
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(is_blank).filter(|word| !word.is_empty())
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '-' || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_equal_and_of_two_are_not() {
        for same in
            ["NVIDIA A100-SXM4-80GB", "a100 sxm4 80gb", "A100_SXM4-80GB", "nvidia-a100-sxm4-80gb"]
        {
            assert_eq!(normalized(same), "a100 sxm4 80gb");
        }
        assert_eq!(normalized("Intel(R) Data Center GPU Max 1550"), "data center gpu max 1550");
        assert_eq!(normalized("RTX 4090"), normalized("NVIDIA GeForce RTX 4090"));
        assert_ne!(normalized("NVIDIA H200"), normalized("NVIDIA H20"));
        assert_eq!(normalized("NVIDIA"), "nvidia");
        assert_eq!(normalized("NVIDIA H200 (0)"), "h200");
        assert_eq!(normalized("My GPU (2nd)"), "my gpu (2nd)");
    }

    #[test]
    fn names_with_the_same_word_come_first() {
        let names = ["RTX A1000", "A100 PCIe 80GB", "A10"].map(|name| (name.into(), name.into()));
        assert_eq!(nearest("a100", &names)[0], "A100 PCIe 80GB");
        assert_eq!(nearest("zzz", &names), Vec::<String>::new());
        assert_eq!(run_together("A100PCIe 80 GB", &names), ["A100 PCIe 80GB"]);
        assert!(run_together("A100", &names).is_empty());
        assert!(run_together("A10 0", &[("A100".into(), "A100".into())]).is_empty());
        assert_eq!(slug("My GPU (2nd)"), "my-gpu-2nd");
        let cards = ["GeForce RTX 2080 Ti", "GeForce RTX 4070 Ti SUPER", "Titan V"]
            .map(|name| (name.into(), name.into()));
        for (wanted, first) in [
            ("2080Ti", "GeForce RTX 2080 Ti"),
            ("2080ti", "GeForce RTX 2080 Ti"),
            ("4070TiSuper", "GeForce RTX 4070 Ti SUPER"),
            ("4070-TiSuper", "GeForce RTX 4070 Ti SUPER"),
        ] {
            assert_eq!(
                nearest(wanted, &cards).first().map(String::as_str),
                Some(first),
                "{wanted}"
            );
        }
        assert!(!is_within("80ti", "rtx 2080 ti") && !is_within("208", "rtx 2080 ti"));
    }
}
