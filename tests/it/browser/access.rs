//! What people with other eyes and hands meet: axe-core on every page, light and dark, from a phone to a wall.

use super::chrome::Browser;
use super::screen::{compared, gate};
use super::{sample, tools};
use rooflint::catalog::Catalog;

/// Violations as axe-core names them, with the first elements concerned.
const RUN: &str = "axe.run().then(found => found.violations.map(one => `${one.impact} ${one.id}: ${one.nodes.slice(0, 3).map(node => `${node.target.join(' ')} ${node.any[0]?.message ?? ''}`).join(' | ')}`))";

#[test]
fn axe_core_finds_nothing_on_any_page() {
    let Some(tools) = tools() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let axe = std::fs::read_to_string(tools.join("axe-core/axe.min.js")).unwrap();
    let lesson = rooflint::report::learn(&Catalog::builtin(), None).unwrap();
    // Landmarks and order of the tutorial: what is only moderate is left to its own tests.
    let grave = RUN.replace(
        "violations.map",
        "violations.filter(one => one.impact !== 'moderate' && one.impact !== 'minor').map",
    );
    let pages = [
        ("report", sample()),
        ("report with baseline", compared()),
        ("comparison", gate()),
        ("tutorial", lesson),
    ];
    for (name, page) in &pages {
        for is_dark in [false, true] {
            browser.media(false, is_dark);
            for width in [360, 768, 1280, 1920] {
                browser.resize(width, 900);
                browser.show(page);
                browser.evaluate(&format!("{axe};0"));
                let found = browser.evaluate(if *name == "tutorial" { &grave } else { RUN });
                let found: Vec<String> = serde_json::from_value(found).unwrap();
                let ground = if is_dark { "dark" } else { "light" };
                assert!(found.is_empty(), "{name}, {width} px, {ground}: {found:#?}");
            }
        }
    }
}
