//! What is selected, and what the address keeps of it: first choices, going back, links to parts of the page, keys; and
//! rows and marks at the ends of long tables and wide axes.

use super::chrome::Browser;
use super::{LARGE, html, sample};

const HASH: &str = "location.hash";
const IS_CHOSEN: &str = "document.documentElement.classList.contains('chosen')";

#[test]
fn a_press_on_the_kernel_that_the_page_chose_first_is_a_choice() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    assert_eq!(browser.text(HASH), "", "the page's own choice is nobody's");
    assert!(!browser.holds(IS_CHOSEN));
    browser.evaluate("document.querySelector('.card[data-rank]').click()");
    browser.settle();
    assert_eq!(browser.text(HASH), "#kernel=1");
    assert!(browser.holds(IS_CHOSEN));
}

#[test]
fn an_address_without_a_kernel_has_none_selected() {
    let Some(mut browser) = Browser::start() else { return };
    let title = "(document.querySelector('#detail h3')?.textContent ?? '')";
    for (width, first) in [(1440, "1."), (800, "")] {
        browser.resize(width, 900);
        browser.show(&sample());
        browser.evaluate("location.hash = '#kernel=3'");
        browser.wait(&format!("{title}.startsWith('3.')"));
        browser.evaluate("history.back()");
        browser.wait(&format!("{title}.startsWith('{first}') && !{title}.startsWith('3.')"));
        assert!(!browser.holds(IS_CHOSEN), "{width}");
        assert_eq!(browser.text(HASH), "");
    }
}

/// Without next steps the chart has their room, and the details stay beside it.
#[test]
fn a_page_without_next_steps_has_no_empty_column() {
    let Some(mut browser) = Browser::start() else { return };
    let rows = rooflint::SAMPLE.lines().enumerate();
    let near = rows.filter(|(at, line)| *at < 2 || line.contains("GeluCUDA"));
    let lines: Vec<&str> = near.map(|(_, line)| line).collect();
    browser.show(&html("near", lines.join("\n")));
    assert!(browser.holds("document.documentElement.classList.contains('no-steps')"));
    let [picture, detail] = [".picture", "#detail"]
        .map(|of| format!("document.querySelector('{of}').getBoundingClientRect()"));
    for width in [1366, 1500, 1920] {
        browser.resize(width, 900);
        browser.settle();
        let part = browser.number(&format!("{picture}.width / innerWidth"));
        assert!(part > 0.6, "{width}: {part}");
        assert!(browser.holds(&format!("{detail}.top === {picture}.top")), "{width}");
        assert!(browser.holds(&format!("{detail}.left > {picture}.right")), "{width}");
    }
}

#[test]
fn a_link_to_a_part_of_the_page_keeps_search_and_sorting() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    browser.reopen("#q=nvjet&sort=-measured&level=l2&kernel=3");
    let shown = "document.getElementById('count').textContent";
    let before = browser.text(shown);
    assert!(before.starts_with("5 of 13") || before.contains(" of 13"), "{before}");
    browser.evaluate("document.querySelector('.skip').click()");
    browser.settle();
    assert_eq!(browser.text(shown), before);
    let hash = browser.text(HASH);
    for part in ["kernel=3", "q=nvjet", "sort=-measured", "level=l2"] {
        assert!(hash.contains(part), "{hash}");
    }
}

#[test]
fn escape_leaves_the_details() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("ArrowRight");
    browser.key("Enter");
    assert_eq!(browser.text("document.activeElement.id"), "detail");
    browser.key("Escape");
    assert_eq!(browser.text("document.activeElement.id"), "chart");
    assert_eq!(browser.text(HASH), "");
    assert!(!browser.holds("!!document.querySelector('#rows [aria-current]')"));
}

#[test]
fn what_is_missing_comes_last_whichever_way_a_column_is_sorted() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    for (column, place) in [("savings", 3), ("limiter", 9), ("roofline", 6)] {
        for _ in 0..2 {
            browser.evaluate(&format!(
                "document.querySelector('#table [data-sort={column}]').click()"
            ));
            let cells = format!(
                "[...document.querySelectorAll('#rows tr')].map(row => row.children[{}].textContent)",
                place - 1
            );
            let cells: Vec<String> = serde_json::from_value(browser.evaluate(&cells)).unwrap();
            let first = cells.iter().position(|cell| cell == "-").unwrap_or(cells.len());
            assert!(first > 0 && first < cells.len(), "{column}: {cells:?}");
            assert!(cells[first..].iter().all(|cell| cell == "-"), "{column}: {cells:?}");
        }
    }
}

#[test]
fn a_row_far_beyond_those_shown_is_shown_when_it_is_selected() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&LARGE);
    let rows = "document.querySelectorAll('#rows tr').length";
    let rest = "document.getElementById('more').textContent";
    assert!(browser.text(rest).starts_with("100 of 20000 rows are shown"));
    browser.reopen("#kernel=15000");
    let selected = "document.querySelector('#rows tr:last-child[aria-current] td')?.textContent";
    assert_eq!(browser.text(selected), "15000");
    assert_eq!(browser.number(rows), 101.0);
    assert!(browser.text(rest).contains(", which is selected"), "{}", browser.text(rest));
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("End");
    assert_eq!(browser.number(rows), 101.0);
    browser.key("Home");
    assert_eq!(browser.number(rows), 100.0, "it is among the first");
    assert!(browser.complaints().is_empty());
}

/// Three devices, and kernels of one second to a nanosecond and of a byte to a terabyte.
fn table(devices: &[&str], kernels: &[(&str, f64, f64, f64)]) -> String {
    let header = "source,source_format,kernel,device,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                  dram_bytes,flops_fp32_vector\n";
    let rows = kernels.iter().enumerate().map(|(at, (name, time, bytes, operations))| {
        let (device, ordinal) = (devices[at % devices.len()], at % devices.len());
        format!("run,ncu-wide,{name},{device},{ordinal},1,4096,4096,256,{time:e},{bytes:e},{operations:e}\n")
    });
    format!("{header}{}", rows.collect::<String>())
}

#[test]
fn the_chart_says_where_filters_leave_nothing_of_its_device() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    let kernels: Vec<(String, f64)> =
        (0..6).map(|at| (format!("k{at}"), f64::from(at + 1) * 1e-3)).collect();
    let kernels: Vec<(&str, f64, f64, f64)> =
        kernels.iter().map(|(name, time)| (name.as_str(), *time, 1e9, 1e9)).collect();
    browser.show(&html(
        "table",
        table(&["H100 SXM5 80GB", "A100 SXM4 80GB", "V100 SXM2 16GB"], &kernels),
    ));
    let choose = |label: &str, value: &str| {
        format!(
            "(() => {{ const list = [...document.querySelectorAll('{label} label')].find(one => one.textContent.startsWith('device')).querySelector('select'); list.value = {value}; list.dispatchEvent(new Event('change')) }})()"
        )
    };
    let absent = "document.getElementById('absent').textContent";
    browser.evaluate(&choose("#filters", "list.options[1].value"));
    browser.settle();
    assert_eq!(browser.text(absent), "");
    browser
        .evaluate(&choose("#chart-controls", "[...list.options].find(one => !one.selected).value"));
    browser.settle();
    assert!(
        browser.text(absent).contains("fits the filters of the table"),
        "{}",
        browser.text(absent)
    );
}

#[test]
fn the_outermost_marks_are_whole() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    let kernels = [
        ("most_bytes", 1.0, 1e12, 1e9),
        ("most_work", 0.1, 1e6, 1e12),
        ("least_work", 0.1, 1e9, 1.0),
        ("short", 1e-9, 1.0, 1e9),
        ("long", 5000.0, 1e16, 1e9),
    ];
    browser.show(&html("table", table(&["H100 SXM5 80GB"], &kernels)));
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("Home");
    for _ in 0..kernels.len() {
        let over = browser.evaluate(
            "(() => { const ring = document.querySelector('#chosen .ring')?.getBoundingClientRect(); const edge = document.querySelector('#frame .edge').getBoundingClientRect(); return ring ? Math.max(edge.left - ring.left, ring.right - edge.right, edge.top - ring.top, ring.bottom - edge.bottom) : null })()",
        );
        if let Some(over) = over.as_f64() {
            assert!(over <= 1.0, "{over} px beyond the edge");
        }
        browser.key("ArrowDown");
    }
}

#[test]
fn the_bar_of_a_kernel_tells_unproven_savings_from_what_its_shape_costs() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 900);
    browser.show(&sample());
    // 812 µs, of which 183 at the roofline and 210 with what the shape costs; nothing proves the rest.
    browser.reopen("#kernel=10");
    let key = browser.text("document.querySelector('#detail .key').innerText");
    for part in [
        "183 µs",
        "26.4 µs (3.3%) launches, grid, usual share of a roof",
        "603 µs",
        "savings unproven",
    ] {
        assert!(key.contains(part), "{part}: {key}");
    }
    assert!(!key.contains("0 s"), "{key}");
    browser.reopen("#kernel=1");
    let key = browser.text("document.querySelector('#detail .key').innerText");
    assert!(key.contains("savings") && !key.contains("unproven"), "{key}");
}
