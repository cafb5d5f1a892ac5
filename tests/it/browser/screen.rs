//! The first screen: what is seen before anyone scrolls, on a desk and on a phone; and comparisons.

use super::chrome::Browser;
use super::{html, many, sample};
use rooflint::gate::{self, Policy, Setting};
use rooflint::ingest;
use rooflint::report::{self, Against, GateReport, Report, Style};
use rooflint::session::{Judged, Session};

/// The sample with the time of one kernel halved: a baseline that it got slower than.
fn earlier() -> String {
    let slower = |line: &str| line.contains("flash_fwd_kernel");
    let column = rooflint::SAMPLE.lines().next().unwrap().split("\",\"");
    let column = column.clone().position(|title| title.contains("time_duration")).unwrap();
    let lines = rooflint::SAMPLE.lines().enumerate().map(|(at, line)| {
        if at < 2 || !slower(line) {
            return line.to_owned();
        }
        let mut cells: Vec<String> = line.split("\",\"").map(str::to_owned).collect();
        let time: f64 = cells[column].replace(',', "").parse().unwrap();
        cells[column] = format!("{:.0}", time / 2.0);
        cells.join("\",\"")
    });
    lines.map(|line| line + "\n").collect()
}

/// The sample as it is compared with an earlier run, by a report and by itself.
fn written(with_report: bool) -> String {
    let before = earlier();
    let options = ingest::Options::default();
    let read = |name: &str, text: &'static str| ingest::read_text(name, text, &options).unwrap();
    let before = read("before", Box::leak(before.into_boxed_str()));
    let now = read("now", rooflint::SAMPLE);
    let session = Session::default();
    let (before, now) = (session.judge(&before).unwrap(), session.judge(&now).unwrap());
    let policy = Policy::default();
    let setting = Setting { today: None, order: Vec::new(), decides: !with_report };
    let decision = gate::judge(&[before.run(0)], &[now.run(0)], &policy, &setting);
    let changes = GateReport::new(&decision, &policy);
    let Judged { analysis, findings, .. } = &now;
    let report = Report { analysis, findings, top: 10, what_if: &[], command: None };
    let style = Style::default();
    let page = if with_report {
        report::written(&Against { report, changes }, "html", &style)
    } else {
        report::written(&changes, "html", &style)
    };
    page.unwrap()
}

/// The page of the sample with its baseline.
pub(super) fn compared() -> String {
    written(true)
}

/// The page of a gate that failed.
pub(super) fn gate() -> String {
    written(false)
}

/// Left, top, right and bottom of an element, in pixels of the window.
fn edges(browser: &mut Browser, selector: &str) -> [f64; 4] {
    let edges = browser.evaluate(&format!(
        "(() => {{ const r = document.querySelector({selector:?}).getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom] }})()"
    ));
    serde_json::from_value(edges).unwrap()
}

#[test]
fn figures_bar_cards_and_chart_are_on_the_first_screen_of_a_desk() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    for selector in [".figures-row", ".stack", ".cards .card", "#chart", "#off", "#detail h3"] {
        let [left, top, right, bottom] = edges(&mut browser, selector);
        let is_seen = left >= 0.0 && top >= 0.0 && right <= 1440.0 && bottom <= 900.0;
        assert!(is_seen && bottom > top, "{selector}: {left} {top} {right} {bottom}");
    }
    assert_eq!(browser.number("document.querySelectorAll('.summary .figure').length"), 3.0);
    let figures = browser.text("document.querySelector('.figures-row').innerText");
    for part in ["GPU time", "48.8 ms", "Potential savings", "Speedup"] {
        assert!(figures.contains(part), "{part}: {figures}");
    }
}

#[test]
fn the_chart_is_on_the_first_screen_of_a_phone() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(390, 844);
    browser.show(&sample());
    let [left, top, right, bottom] = edges(&mut browser, "#chart");
    assert!(left >= 0.0 && right <= 390.0 && top > 0.0 && bottom <= 844.0, "{top} {bottom}");
    assert!(bottom - top > 200.0);
    let [.., steps, _, _] = edges(&mut browser, ".steps");
    assert!(steps > 0.0);
}

#[test]
fn the_bar_adds_up_to_the_whole_time() {
    let Some(mut browser) = Browser::start() else { return };
    for page in [sample(), html("many", many(300))] {
        browser.show(&page);
        let parts = browser.evaluate(
            "[...document.querySelectorAll('.stack')[0].children].map(r => [Number(r.getAttribute('x')), Number(r.getAttribute('width'))])",
        );
        let parts: Vec<[f64; 2]> = serde_json::from_value(parts).unwrap();
        let mut end = 0.0;
        for [from, width] in &parts {
            assert!((from - end).abs() < 0.002, "{parts:?}");
            end = from + width;
        }
        assert!((end - 100.0).abs() < 0.01, "{parts:?}");
        let keys = browser.number("document.querySelectorAll('.summary .key li').length");
        assert_eq!(keys, parts.len() as f64);
    }
}

#[test]
fn a_press_on_a_card_selects_its_kernel_everywhere() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    browser.evaluate("document.querySelectorAll('.card[data-rank]')[1].click()");
    browser.settle();
    let rank = browser.text("document.querySelectorAll('.card[data-rank]')[1].dataset.rank");
    assert_eq!(browser.text("document.querySelector('#rows [aria-current] td').textContent"), rank);
    assert!(browser.text("document.querySelector('#detail h3').textContent").starts_with(&rank));
    assert!(browser.holds("!!document.querySelector('#chosen .ring')"), "in the chart");
    assert_eq!(browser.number("document.querySelectorAll('.card[aria-current]').length"), 1.0);
    assert_eq!(browser.number("window.scrollY"), 0.0, "the page stays where it is");
    // From the keyboard as well.
    browser.evaluate("document.querySelector('.card[data-rank]').focus()");
    browser.key("Enter");
    assert!(
        browser.holds("document.querySelector('.card[data-rank]').hasAttribute('aria-current')")
    );
}

#[test]
fn nothing_moves_while_the_page_is_built() {
    let Some(mut browser) = Browser::start() else { return };
    for (width, height) in [(1440, 900), (390, 844)] {
        browser.resize(width, height);
        browser.show(&html("many", many(300)));
        let moved = browser.number(
            "new Promise(done => { let sum = 0; new PerformanceObserver(list => { for (const one of list.getEntries()) sum += one.value }).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 200) })",
        );
        assert!(moved < 0.02, "{moved} at {width} px");
    }
}

/// Whether any label lies on any mark; the marks are on a canvas, so their places are asked of the script's own
/// hit test: a press in the middle of a label selects no kernel.
#[test]
fn labels_hide_no_mark() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    for page in [sample(), html("many", many(60))] {
        browser.show(&page);
        let named = browser.number("document.querySelectorAll('#frame text[data-k]').length");
        assert!(named >= 1.0, "the largest kernels are named");
        // Colors of limiters, which marks alone have on the canvas; its grid is grey.
        let hidden = browser.evaluate(
            "(() => { const canvas = document.getElementById('points'); const pen = canvas.getContext('2d'); const box = canvas.getBoundingClientRect(); const hidden = []; for (const label of document.querySelectorAll('#frame text[data-k]')) { const r = label.getBoundingClientRect(); const data = pen.getImageData(r.left - box.left, r.top - box.top + 2, r.width, r.height - 4).data; let colored = 0; for (let at = 0; at < data.length; at += 4) { const [red, green, blue, alpha] = data.slice(at, at + 4); if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) colored += 1; } if (colored > 0) hidden.push([label.textContent, colored]); } return hidden; })()",
        );
        assert_eq!(hidden, serde_json::json!([]));
    }
}

#[test]
fn small_kernels_are_in_the_chart_on_request() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    let small = "[...document.querySelectorAll('#chart-controls label')].find(l => l.textContent.includes('below 1%'))";
    let told = browser.text(&format!("{small}.textContent"));
    assert!(told.starts_with('2'), "{told}");
    let marks = "document.getElementById('points').toDataURL()";
    let before = browser.text(marks);
    browser.evaluate(&format!("{small}.querySelector('input').click()"));
    browser.settle();
    let all = browser.text(marks);
    browser.evaluate(&format!("{small}.querySelector('input').click()"));
    browser.settle();
    assert!(browser.text(marks) == before, "the same as before");
    assert!(all != before, "the chart has more marks");
}

#[test]
fn copies_and_kernels_without_a_roof_are_drawn() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    let off = browser.text("document.getElementById('off').innerText");
    for part in
        ["No FLOPs counted", "transpose_naive_kernel", "570 GB/s", "ncclDevKernel_AllReduce"]
    {
        assert!(off.contains(part), "{part}: {off}");
    }
    // 570 GB/s of 3.35 TB/s.
    let width = browser.text("document.querySelector('#off .bar-memory').getAttribute('width')");
    assert!((width.parse::<f64>().unwrap() - 17.0).abs() < 0.1, "{width}");
    browser.evaluate("document.querySelectorAll('#off li')[1].click()");
    assert!(browser.text("document.querySelector('#detail h3').textContent").contains("nccl"));
}

#[test]
fn the_details_are_not_clipped() {
    let Some(mut browser) = Browser::start() else { return };
    for width in [360, 768, 1344, 1440, 1920] {
        browser.resize(width, 900);
        browser.show(&sample());
        browser.evaluate("document.querySelector('.card[data-rank]').click()");
        browser.settle();
        let clipped = browser.evaluate(
            "(() => { const panel = document.getElementById('detail'); const edge = panel.getBoundingClientRect().right; return [panel.scrollWidth - panel.clientWidth, ...[...panel.querySelectorAll('*')].filter(e => e.getBoundingClientRect().right > edge + 1).map(e => e.textContent.slice(0, 40))] })()",
        );
        assert_eq!(clipped, serde_json::json!([0]), "{width} px");
    }
}

#[test]
fn the_table_says_where_it_goes_on() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&html("many", many(300)));
    browser.evaluate("document.getElementById('kernels').scrollIntoView()");
    browser.settle();
    for side in ["right", "below"] {
        let shown = format!("getComputedStyle(document.querySelector('.follow.{side}')).display");
        assert_ne!(browser.text(&shown), "none", "{side}");
    }
    assert!(
        browser.text("document.querySelector('.follow.right').textContent").contains("more column")
    );
    browser.evaluate(
        "(() => { const box = document.querySelector('#table .scroll'); box.scrollLeft = 1e6; box.scrollTop = 300 })()",
    );
    browser.settle();
    assert!(
        browser
            .holds("getComputedStyle(document.querySelector('.follow.right')).display === 'none'")
    );
    // Its titles stay in view, and bars show what numbers say.
    let [_, head, ..] = edges(&mut browser, "#table thead th");
    let [_, frame, ..] = edges(&mut browser, "#table .scroll");
    assert!((head - frame).abs() < 2.0, "{head} {frame}");
    assert!(browser.holds("document.querySelectorAll('#rows td.barred .bar').length > 100"));
}

#[test]
fn the_baseline_is_on_the_page_and_comparisons_have_their_own() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&compared());
    let figures = browser.text("document.querySelector('.figures-row').innerText");
    assert!(figures.contains("Since the baseline") && figures.contains("1 slower"), "{figures}");
    let slower = browser.text("document.querySelector('#compared .moves li').innerText");
    for part in ["flash_fwd_kernel", "+100%", "regression"] {
        assert!(slower.contains(part), "{part}: {slower}");
    }
    browser.show(&gate());
    let page = browser.text("document.querySelector('main').innerText");
    for part in ["failed", "Before", "Now", "Slower", "flash_fwd_kernel", "+100%"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for width in [360, 1920] {
        browser.resize(width, 900);
        let over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.number(over), 0.0, "{width} px");
    }
    assert!(browser.complaints().is_empty());
}
