//! A profile is written by anyone: whatever a kernel is called, nothing of it runs, and nothing is asked for.

use super::chrome::Browser;
use super::{html, sample};

/// Names that end, open or run something somewhere.
const HOSTILE: &[&str] = &[
    "<img src=x onerror=window.ran=1>",
    "</script><script>window.ran=1</script>",
    "</ScRiPt ><svg onload=window.ran=1>",
    "<!--<script>",
    "' onmouseover=window.ran=1 x='",
    "javascript:window.ran=1",
    "{{7*7}}${7*7}",
    "\u{2028}window.ran=1\u{2029}",
    "\u{202e}evil\u{1b}[31m",
    "</style><style>*{display:none}",
    "]]><x>&lt;img&gt;&#x3c;",
    "__proto__",
    "constructor",
];

/// The sample with hostile names; the last has two thousand letters.
fn hostile() -> String {
    let mut text = rooflint::SAMPLE.to_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let long = "a_very_long_kernel_name<".repeat(2000 / 24);
    for (at, name) in HOSTILE.iter().copied().chain([long.as_str()]).enumerate() {
        let row = &mut lines[2 + at];
        let mut cells: Vec<String> = row.split("\",\"").map(str::to_owned).collect();
        name.clone_into(&mut cells[4]);
        *row = cells.join("\",\"");
    }
    text = lines.join("\n");
    text.push('\n');
    text
}

#[test]
fn no_name_runs_anything_or_leaves_its_place() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let page = html("</title><img src=x onerror=window.ran=1>.csv", hostile());
    let address = browser.show(&page);
    let kernels = browser.number("document.querySelectorAll('#rows tr').length");
    assert!(kernels >= HOSTILE.len() as f64);
    for rank in 1..=kernels as usize {
        browser.evaluate(&format!(
            "document.querySelector('#rows tr:nth-child({rank}) button').click()"
        ));
    }
    let shown = browser.text("document.getElementById('rows').textContent");
    assert!(shown.contains("<img src=x onerror=window.ran=1>"), "{shown}");
    assert!(!shown.contains('\u{202e}') && !shown.contains('\u{1b}'));
    assert!(browser.holds("window.ran === undefined"));
    assert!(browser.holds("document.images.length === 0"));
    assert_eq!(browser.number("document.scripts.length"), 4.0);
    let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.number(over), 0.0, "long names stay inside");
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    for asked in browser.requests() {
        assert_eq!(asked.split('#').next(), address.split('#').next());
    }
    // The same without the script of the page, where the tables are those of the template.
    browser.scripts(false);
    browser.show(&page);
    assert!(browser.holds("document.images.length === 0 && window.ran === undefined"));
}

#[test]
fn the_policy_refuses_every_other_script_style_and_request() {
    let Some(mut browser) = Browser::start() else { return };
    let page = sample();
    let policy = "default-src 'none'; script-src 'sha256-";
    assert!(page.contains(policy) && !page.contains("unsafe-"));
    browser.show(&page);
    browser.evaluate(
        "window.refused = []; document.addEventListener('securitypolicyviolation', e => refused.push(e.effectiveDirective))",
    );
    browser.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = 1'; document.body.append(s); })()",
    );
    browser.evaluate(
        "(() => { const s = document.createElement('style'); s.textContent = 'body { opacity: 0.5 }'; document.body.append(s); })()",
    );
    browser.evaluate(
        "(() => { const i = new Image(); i.src = 'https://example.invalid/x.png'; document.body.append(i); })()",
    );
    browser.evaluate("fetch('https://example.invalid/').catch(() => 0)");
    browser
        .evaluate("document.body.setAttribute('onclick', 'window.ran = 1'); document.body.click()");
    browser.wait("refused.length >= 5");
    let mut refused: Vec<String> = serde_json::from_value(browser.evaluate("refused")).unwrap();
    refused.sort();
    assert_eq!(
        refused,
        ["connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-elem"]
    );
    assert!(browser.holds("window.ran === undefined"));
    assert_eq!(browser.text("getComputedStyle(document.body).opacity"), "1");
}
