//! `[[group]]`: kernels that a team looks at together, and the efficiency it wants of them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::ConfigError;
use super::limits::written_share;
use super::place::Place;
use super::wire::{Amount, CategoryKey, KindKey, Spanned};
use crate::analysis::Group;
use crate::plain;
use crate::taxonomy::{Category, Kind};

/// Kernels that are looked at together: those that fit all that is said.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wire {
    /// How the group is called.
    name: Spanned<String>,
    /// A whole name, short or full, or a pattern in which `*` stands for anything.
    kernel: Option<Spanned<String>>,
    /// A pattern for the framework operator.
    operator: Option<Spanned<String>>,
    /// Category from the kernel name.
    #[schemars(with = "Option<CategoryKey>")]
    category: Option<Spanned<String>>,
    /// Operation from the kernel name.
    #[schemars(with = "Option<KindKey>")]
    kind: Option<Spanned<String>>,
    /// The efficiency wanted of the group: more than 0, and 1 at the roof, such as 0.7 or "70%".
    target: Option<Spanned<Amount>>,
}

/// Reads the groups in their order: the first that fits a kernel takes it.
pub(super) fn read(place: &Place<'_>, wires: Vec<Wire>) -> Result<Vec<Group>, ConfigError> {
    let mut groups: Vec<Group> = Vec::new();
    for wire in wires {
        let span = wire.name.span();
        let group = group(place, wire)?;
        if groups.iter().any(|known| known.name == group.name) {
            let message = format!("two groups are called {:?}", group.name);
            return Err(place.wrong(&span, message, "give each group a name of its own"));
        }
        groups.push(group);
    }
    Ok(groups)
}

fn group(place: &Place<'_>, wire: Wire) -> Result<Group, ConfigError> {
    let span = wire.name.span();
    let name = wire.name.into_inner();
    if name.trim().is_empty() || name == Group::REST {
        let message = format!("a group cannot be called {name:?}");
        let help = format!("give it a name; {:?} is what no group takes", Group::REST);
        return Err(place.wrong(&span, message, help));
    }
    let pattern = |pattern: Option<Spanned<String>>| match pattern {
        Some(text) if text.get_ref().is_empty() => {
            let message = "an empty pattern fits nothing".to_owned();
            Err(place.wrong(&text.span(), message, "give a name, or a pattern with *"))
        }
        text => Ok(text.map(Spanned::into_inner)),
    };
    let category = word(place, "category", wire.category, Category::from_key, || {
        Category::ALL.iter().map(|category| category.key()).collect()
    })?;
    let kind = word(place, "kind", wire.kind, Kind::from_key, || {
        Kind::ALL.iter().map(|kind| kind.key()).collect()
    })?;
    let target = wire.target.map(|target| efficiency(place, &target)).transpose()?;
    let group = Group {
        name,
        kernel: pattern(wire.kernel)?,
        operator: pattern(wire.operator)?,
        category,
        kind,
        target,
    };
    let unconditional = group.kernel.is_none() && group.operator.is_none();
    if unconditional && group.category.is_none() && group.kind.is_none() {
        let message = format!("the group {:?} does not say which kernels it holds", group.name);
        let help = "add one or more of kernel, operator, category and kind; all must hold";
        return Err(place.wrong(&span, message, help));
    }
    Ok(group)
}

/// The efficiency that is wanted of a group.
fn efficiency(place: &Place<'_>, target: &Spanned<Amount>) -> Result<f64, ConfigError> {
    let help = "roofline time over measured time: more than 0, at most 1, such as 0.7 or \"70%\"";
    let wrong = |message: String| place.wrong(&target.span(), message, help);
    let number = target.get_ref().number(written_share).map_err(wrong)?;
    if number > 0.0 && number <= 1.0 {
        Ok(number)
    } else {
        Err(wrong(format!("the target {number} is not an efficiency")))
    }
}

/// A word from a list of known ones.
fn word<T>(
    place: &Place<'_>,
    what: &str,
    word: Option<Spanned<String>>,
    known: impl Fn(&str) -> Option<T>,
    all: impl Fn() -> Vec<&'static str>,
) -> Result<Option<T>, ConfigError> {
    let Some(word) = word else { return Ok(None) };
    let found = known(word.get_ref()).ok_or_else(|| {
        let all = all();
        let near = plain::did_you_mean(word.get_ref(), all.iter().copied());
        let message = format!("no {what} is called {:?}", word.get_ref());
        place.wrong(&word.span(), message, format!("{near}it is one of {}", all.join(", ")))
    })?;
    Ok(Some(found))
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::taxonomy::{Category, Kind};

    #[test]
    fn groups_are_read_in_their_order() {
        let text = "[[group]]\nname = \"GEMMs\"\nkernel = \"*gemm*\"\ntarget = 0.7\n\
                    [[group]]\nname = \"norms\"\ncategory = \"reduction\"\nkind = \"layernorm\"\n\
                    operator = \"aten::*\"\n\
                    [[group]]\nname = \"half\"\nkernel = \"half*\"\ntarget = \"50%\"\n";
        let groups = Config::parse("rooflint.toml", text).unwrap().groups;
        assert_eq!((groups[0].name.as_str(), groups[0].target), ("GEMMs", Some(0.7)));
        assert_eq!(groups[0].kernel.as_deref(), Some("*gemm*"));
        assert_eq!(groups[2].target, Some(0.5));
        assert_eq!(groups[1].category, Some(Category::Reduction));
        assert_eq!((groups[1].kind, groups[1].target), (Some(Kind::Layernorm), None));
        assert_eq!(groups[1].operator.as_deref(), Some("aten::*"));
    }

    #[test]
    fn what_is_wrong_is_located_and_the_way_out_named() {
        for (group, told) in [
            ("name = \"\"\nkernel = \"a\"", "2:8: a group cannot be called \"\""),
            ("name = \"other\"\nkernel = \"a\"", "2:8: a group cannot be called \"other\""),
            ("name = \"a\"", "2:8: the group \"a\" does not say which kernels it holds; add one"),
            ("name = \"a\"\ntarget = 0.5", "does not say which kernels it holds"),
            ("name = \"a\"\nkernel = \"\"", "3:10: an empty pattern fits nothing"),
            (
                "name = \"a\"\nkernel = \"b\"\ntarget = 70",
                "4:10: the target 70 is not an efficiency",
            ),
            (
                "name = \"a\"\nkernel = \"b\"\ntarget = 0.0",
                "4:10: the target 0 is not an efficiency",
            ),
            ("name = \"a\"\nkernel = \"b\"\ntarget = nan", "4:10: the target NaN is not"),
            (
                "name = \"a\"\nkernel = \"b\"\ntarget = \"170%\"",
                "4:10: the target 1.7 is not an efficiency",
            ),
            (
                "name = \"a\"\nkernel = \"b\"\ntarget = [0.7]",
                "4:10: expected a number or text in quotes, found a list",
            ),
            (
                "name = \"a\"\ncategory = \"reductoin\"",
                "3:12: no category is called \"reductoin\"; did you mean \"reduction\"? it is one \
                 of",
            ),
            (
                "name = \"a\"\nkind = \"sofmax\"",
                "3:8: no kind is called \"sofmax\"; did you mean \"softmax\"?",
            ),
            ("name = \"a\"\npattern = \"b\"", "3:1: unknown key \"pattern\""),
            ("kernel = \"b\"", "missing key \"name\""),
            (
                "name = \"a\"\nkernel = \"b\"\n[[group]]\nname = \"a\"\nkernel = \"c\"",
                "5:8: two groups are called \"a\"",
            ),
        ] {
            let text = format!("[[group]]\n{group}\n");
            let error = Config::parse("rooflint.toml", &text).unwrap_err();
            let found = format!("{error}; {}", error.help());
            assert!(found.contains(told), "{group}: {found}");
        }
    }
}
