//! The tutorial and the playground in a report: cases, controls, play, and doing without a script.

use rooflint::catalog::{Catalog, Device};
use rooflint::model::DeviceHint;
use rooflint::report;
use serde_json::json;

use super::chrome::Browser;
use super::sample;

fn device(name: &str) -> Device {
    Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
}

fn lesson(name: &str) -> String {
    report::learn(&Catalog::builtin(), Some(&device(name))).unwrap()
}

fn clean(browser: &mut Browser, address: &str) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(browser.requests().iter().all(|asked| asked == address), "{:?}", browser.requests());
}

fn press(browser: &mut Browser, selector: &str) {
    browser.evaluate(&format!("document.querySelector('{selector}').click()"));
    browser.settle();
}

/// Value of a row of the arithmetic.
fn sum(browser: &mut Browser, symbol: &str) -> String {
    browser.text(&format!(
        "[...document.querySelectorAll('#bench-sums tr')].find((row) => row.cells[0].textContent === '{symbol}').cells[1].textContent"
    ))
}

/// Writes a number into a field.
fn set(browser: &mut Browser, key: &str, text: &str) {
    browser.evaluate(&format!(
        "(() => {{ const box = document.querySelector('[data-key={key}] input[type=text]'); box.value = '{text}'; box.dispatchEvent(new Event('change')); }})()"
    ));
    browser.settle();
}

fn bound(browser: &mut Browser) -> String {
    browser.text("document.getElementById('bench').dataset.bound")
}

#[test]
fn each_case_is_one_press_away_and_has_the_numbers_of_the_table() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    for name in
        ["H100 SXM5 80GB", "Tesla K80", "RTX 4090", "Instinct MI300X", "H100 SXM5 64GB (custom)"]
    {
        let Ok(device) = Catalog::builtin().find(name, &DeviceHint::default()) else { continue };
        let page = report::learn(&Catalog::builtin(), Some(&device)).unwrap();
        let address = browser.show(&page);
        for case in ["memory", "balanced", "math", "parallelism"] {
            press(&mut browser, &format!("button[data-case={case}]"));
            assert_eq!(bound(&mut browser), case, "{name}");
            for (symbol, column) in [
                ("intensity", 4),
                ("ridge point", 5),
                ("t_mem", 6),
                ("t_math", 7),
                ("roofline time", 8),
                ("estimated time", 9),
            ] {
                let cell = format!(
                    "document.querySelector('[data-lesson={case}]').cells[{column}].textContent"
                );
                let (shown, table) = (sum(&mut browser, symbol), browser.text(&cell));
                assert_eq!(shown, table, "{name}: {symbol} of {case}");
            }
        }
        clean(&mut browser, &address);
    }
}

#[test]
fn what_is_turned_moves_numbers_words_and_the_point() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&lesson("H100 SXM5 80GB"));
    let point = "document.querySelector('.bench-point').getAttribute('cy')";
    let before = browser.text(point);
    assert_eq!(bound(&mut browser), "memory");
    // 768 MB at 3.35 TB/s, then at 6.7 TB/s.
    assert_eq!(sum(&mut browser, "t_mem"), "229 µs");
    set(&mut browser, "bandwidth", "6.7T");
    assert_eq!(sum(&mut browser, "t_mem"), "115 µs");
    assert_ne!(browser.text(point), before);
    assert!(
        browser
            .text("document.getElementById('bench-sums').innerText")
            .contains("768 MB ÷ 6.70 TB/s")
    );
    set(&mut browser, "peak", "0.5T");
    assert_eq!(bound(&mut browser), "math");
    // What is no number changes nothing and is marked.
    set(&mut browser, "sms", "many");
    assert!(browser.holds(
        "document.querySelector('[data-key=sms] input[type=text]').matches('[aria-invalid]')"
    ));
    assert_eq!(browser.text("document.querySelectorAll('.bench-sm').length.toString()"), "132");
    set(&mut browser, "sms", "64");
    assert_eq!(browser.number("document.querySelectorAll('.bench-sm').length"), 64.0);
    // A slider by the keyboard.
    browser.evaluate("document.querySelector('[data-key=blocks] input[type=range]').focus()");
    browser.call(
        "Input.dispatchKeyEvent",
        json!({ "type": "keyDown", "key": "Home", "windowsVirtualKeyCode": 36 }),
    );
    browser.settle();
    assert_eq!(sum(&mut browser, "waves"), "0.002");
    assert_eq!(bound(&mut browser), "parallelism");
    assert_eq!(
        browser.number("document.querySelectorAll('.bench-sm.waits, .bench-sm.on').length"),
        1.0
    );
    clean(&mut browser, &address);
}

#[test]
fn it_plays_pauses_and_steps_and_stands_still_for_who_asks() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let address = browser.show(&lesson("A100 SXM4 80GB"));
    // Less motion was asked for: the end is shown, and there is nothing to play.
    let time = "Number(document.getElementById('bench-time').value)";
    assert_eq!(browser.number(time), 1000.0);
    assert!(browser.holds("document.getElementById('bench-play').hidden"));
    press(&mut browser, "#bench-back");
    assert_eq!(browser.number(time), 975.0);
    let feature = json!([{ "name": "prefers-reduced-motion", "value": "no-preference" }]);
    browser.call("Emulation.setEmulatedMedia", json!({ "features": feature }));
    browser.settle();
    press(&mut browser, "button[data-case=math]");
    browser.wait(&format!("{time} > 100"));
    assert!(
        browser.number("document.querySelectorAll('.bench-packet:not([hidden])').length") > 5.0
    );
    press(&mut browser, "#bench-play");
    assert_eq!(browser.text("document.getElementById('bench-play').textContent"), "play");
    let now = browser.number(time);
    browser.settle();
    assert_eq!(browser.number(time), now);
    press(&mut browser, "#bench-step");
    assert!((browser.number(time) - now - 25.0).abs() <= 1.0);
    clean(&mut browser, &address);
}

#[test]
fn without_a_script_the_lesson_says_so_and_shows_the_cases() {
    let Some(mut browser) = Browser::start() else { return };
    browser.scripts(false);
    let page = lesson("H100 SXM5 80GB");
    browser.show(&page);
    browser.scripts(true);
    let text = browser.text("document.body.innerText");
    for part in
        ["The playground needs JavaScript", "axpy n=64000000, fp32", "229 µs", "too few blocks"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Nothing to press is left over, and all explanations are there.
    assert!(!text.contains("L2 reads per byte") && text.contains("split-K"), "{text}");
}

#[test]
fn a_kernel_of_a_report_is_laid_on_the_bench() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    assert!(!browser.holds("document.getElementById('bench-section').open"));
    browser.evaluate("document.querySelector('#rows tr:nth-child(2) button').click()");
    let ridge = browser.text(
        "[...document.querySelectorAll('#detail .sums > div')].find((row) => row.children[0].textContent === 't_math').children[1].textContent",
    );
    press(&mut browser, "#detail .try");
    assert!(browser.holds("document.getElementById('bench-section').open"));
    assert!(
        browser
            .text("document.getElementById('bench-note').textContent")
            .contains("flash_fwd_kernel")
    );
    // One launch on the bench, all of them among the details.
    let launches = browser.text("document.querySelector('#rows tr:nth-child(2)').innerText");
    assert!(!ridge.is_empty() && !sum(&mut browser, "t_math").is_empty(), "{launches}");
    assert_eq!(bound(&mut browser), "math");
    clean(&mut browser, &address);
}

/// A kernel at its compute roof, whose L2 traffic has no known roof; the run's clock is not that of the catalog.
#[test]
fn the_bench_lays_a_kernel_on_the_roofs_it_was_judged_by() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    browser.show(&sample());
    browser.reopen("#kernel=3");
    let value = |symbol: &str| {
        format!(
            "[...document.querySelectorAll('#detail .sums > div')].find((row) => row.children[0].textContent === '{symbol}')?.children[1].textContent ?? ''"
        )
    };
    let (limiter, bandwidth) = (browser.text(&value("limiter")), browser.text(&value("BW")));
    assert_eq!(limiter, "math");
    press(&mut browser, "#detail .try");
    assert_eq!(bound(&mut browser), "math");
    assert_eq!(sum(&mut browser, "t_L2"), "-");
    let sums = browser.text("document.getElementById('bench-sums').innerText");
    assert!(sums.contains(&bandwidth), "{bandwidth}: {sums}");
    assert!(sums.contains("1.59 GHz"), "{sums}");
}

#[test]
fn numbers_that_mean_nothing_change_nothing() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&lesson("H100 SXM5 80GB"));
    let before = browser.text("document.getElementById('bench-sums').innerText");
    let wrong = [
        ("sms", "5G"),
        ("sms", "200000"),
        ("bandwidth", "1e-320"),
        ("bandwidth", "1e300"),
        ("fixed", "1e9"),
    ];
    for (key, text) in wrong {
        set(&mut browser, key, text);
        let field = format!("document.querySelector('[data-key={key}] input[type=text]')");
        assert!(browser.holds(&format!("{field}.matches('[aria-invalid]')")), "{key} = {text}");
        let note = browser.text("document.getElementById('bench-note').textContent");
        assert!(note.contains("a number from"), "{note}");
        assert_eq!(browser.text("document.getElementById('bench-sums').innerText"), before);
    }
    for (key, text) in [("sms", "4096"), ("bandwidth", "10M"), ("blocks", "1G"), ("size-n", "100G")]
    {
        set(&mut browser, key, text);
    }
    let text = browser.text("document.getElementById('bench').innerText");
    assert!(!text.contains("NaN") && !text.contains("Infinity"), "{text}");
    clean(&mut browser, &address);
}

#[test]
fn it_fits_screens_from_a_phone_to_a_wall() {
    let Some(mut browser) = Browser::start() else { return };
    for (width, height, dark) in [
        (360, 800, false),
        (360, 800, true),
        (1440, 1000, false),
        (1440, 1000, true),
        (3840, 2160, false),
    ] {
        browser.resize(width, height);
        browser.media(false, dark);
        let address = browser.show(&lesson("H100 SXM5 80GB"));
        for case in ["math", "parallelism", "balanced", "memory"] {
            press(&mut browser, &format!("button[data-case={case}]"));
            let wide = browser.number("document.documentElement.scrollWidth");
            assert!(wide <= f64::from(width), "{width}: {wide}, {case}");
            browser.evaluate("document.getElementById('playground').scrollIntoView()");
            let shown = "[...document.querySelectorAll('.lesson')].filter((one) => one.offsetHeight > 0).map((one) => one.id).join()";
            assert_eq!(browser.text(shown), format!("lesson-{case}"), "{width}");
            if std::env::var_os("PICTURES").is_some() {
                browser.picture();
            }
        }
        if std::env::var_os("PICTURES").is_some() {
            browser.evaluate("document.getElementById('bench-hardware').scrollIntoView()");
            browser.picture();
            browser.evaluate("scrollTo(0, 0)");
            browser.picture();
        }
        clean(&mut browser, &address);
    }
}

#[test]
fn the_chart_and_the_first_slider_need_no_scrolling() {
    let Some(mut browser) = Browser::start() else { return };
    for (width, height, most) in [(1440, 900, "[data-key=reuse]"), (390, 844, "#bench-chart")] {
        browser.resize(width, height);
        let address = browser.show(&lesson("H100 SXM5 80GB"));
        for seen in ["#bench-chart", most] {
            let bottom = format!("document.querySelector('{seen}').getBoundingClientRect().bottom");
            let bottom = browser.number(&bottom);
            assert!(bottom > 0.0 && bottom <= f64::from(height), "{width}: {seen} {bottom}");
        }
        clean(&mut browser, &address);
    }
}

#[test]
fn every_slider_has_a_label_a_value_in_words_and_obeys_the_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    let address = browser.show(&lesson("H100 SXM5 80GB"));
    let sliders = "[...document.querySelectorAll('.bench-field input[type=range]')]";
    let keys = browser.text(&format!("{sliders}.map((one) => one.id).join()"));
    assert!(keys.split(',').count() >= 8, "{keys}");
    assert!(browser.holds(&format!(
        "{sliders}.every((one) => one.labels.length === 1 && one.getAttribute('aria-valuetext') !== '')"
    )));
    for key in ["bandwidth", "peak", "sms"] {
        let value =
            format!("document.getElementById('bench-{key}').getAttribute('aria-valuetext')");
        browser.evaluate(&format!("document.getElementById('bench-{key}').focus()"));
        let before = browser.text(&value);
        browser.call(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyDown", "key": "PageUp", "windowsVirtualKeyCode": 33 }),
        );
        browser.settle();
        assert_ne!(browser.text(&value), before, "{key}");
    }
    let spoken = "document.getElementById('bench-bandwidth').getAttribute('aria-valuetext')";
    assert!(browser.text(spoken).ends_with("B/s"), "{}", browser.text(spoken));
    clean(&mut browser, &address);
}
