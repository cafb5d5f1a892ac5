//! What a reader can do: hover, select, filter, sort, step through, share, print, and do without a script.

use super::chrome::Browser;
use super::{html, many, page_of, sample};
use crate::golden::{fixtures, reading};
use crate::profiles::{collection, read};
use rooflint::analysis;
use rooflint::ingest::{self, Input};
use rooflint::model::Profile;
use rooflint::report::Explained;
use rooflint::session::{Judged, Session};

/// Place of a kernel's mark in the window, by its rank.
fn mark(browser: &mut Browser, rank: usize) -> (f64, f64) {
    // The page keeps its own things to itself; the key steps to a kernel, and a ring shows where it is.
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("Home");
    for _ in 1..rank {
        browser.key("ArrowDown");
    }
    browser.evaluate("document.getElementById('chart').scrollIntoView({ block: 'center' })");
    browser.settle();
    let side = |side: &str| {
        format!(
            "(() => {{ const r = document.querySelector('#chosen .ring').getBoundingClientRect(); return r.{side} }})()"
        )
    };
    let (left, right) = (browser.number(&side("left")), browser.number(&side("right")));
    let (top, bottom) = (browser.number(&side("top")), browser.number(&side("bottom")));
    (f64::midpoint(left, right), f64::midpoint(top, bottom))
}

fn clean(browser: &mut Browser, address: &str) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let beyond: Vec<String> = browser
        .requests()
        .into_iter()
        .filter(|asked| asked.split('#').next() != address.split('#').next())
        .collect();
    assert!(beyond.is_empty(), "asked for {beyond:?}");
}

#[test]
fn pointing_at_a_mark_tells_what_it_is_and_a_press_selects_its_row() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    let (x, y) = mark(&mut browser, 2);
    browser.evaluate("document.querySelector('#rows tr:nth-child(3) button').click()");
    assert_eq!(browser.text("document.querySelector('#rows [aria-current] td').textContent"), "3");
    browser.point(x, y);
    let card = browser.text("document.getElementById('tip').innerText");
    for part in ["2. flash_fwd_kernel", "2.95 ms", "6.0%", "2.17×", "math", "flagged"] {
        assert!(card.contains(part), "{part}: {card}");
    }
    browser.click(x, y);
    assert_eq!(browser.text("document.querySelector('#rows [aria-current] td').textContent"), "2");
    assert!(
        browser
            .text("document.getElementById('detail').innerText")
            .contains("low-tensor-utilization")
    );
    browser.point(2.0, 2.0);
    assert!(browser.holds("document.getElementById('tip').hidden"));
    clean(&mut browser, &address);
}

#[test]
fn filters_and_columns_arrange_the_table() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    let rows = "document.querySelectorAll('#rows tr').length";
    assert_eq!(browser.number(rows), 13.0);
    browser.evaluate("document.getElementById('search').focus()");
    browser.write("NVJET coopa");
    assert_eq!(browser.number(rows), 3.0);
    assert!(
        browser.text("document.getElementById('count').textContent").starts_with("3 of 13 kernels")
    );
    let press =
        |column: &str| format!("document.querySelector('#table [data-sort={column}]').click()");
    let first = "document.querySelector('#rows tr td:nth-child(5)').textContent";
    browser.evaluate(&press("measured"));
    assert_eq!(browser.text(first), "16.0");
    assert_eq!(
        browser.text("document.querySelector('#table [aria-sort]').getAttribute('aria-sort')"),
        "descending"
    );
    browser.evaluate(&press("measured"));
    assert_eq!(browser.text(first), "9.59");
    browser.evaluate("document.getElementById('reset').click()");
    assert_eq!(browser.number(rows), 13.0);
    browser.evaluate(
        "(() => { const list = document.querySelectorAll('#filters select')[0]; list.value = 'flagged'; list.dispatchEvent(new Event('change')) })()",
    );
    assert_eq!(browser.number(rows), 3.0);
    // Missing values stand last, whichever way a column is sorted.
    browser.evaluate("document.getElementById('reset').click()");
    let last = "document.querySelector('#rows tr:last-child td:nth-child(7)').textContent";
    for _ in 0..2 {
        browser.evaluate(&press("headroom"));
        assert_eq!(browser.text(last), "-");
    }
    clean(&mut browser, &address);
}

#[test]
fn the_address_keeps_filter_and_selection() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    browser.show(&sample());
    assert_eq!(browser.text("location.hash"), "", "nothing was asked for yet");
    browser.evaluate("document.getElementById('search').focus()");
    browser.write("nvjet");
    browser.evaluate("document.querySelector('#rows tr:nth-child(2) button').click()");
    let fragment = browser.text("location.hash");
    let (rows, chosen) = (
        browser.text("document.getElementById('rows').innerText"),
        browser.text("document.querySelector('#detail h3').textContent"),
    );
    browser.reopen(&fragment);
    assert_eq!(browser.text("document.getElementById('rows').innerText"), rows);
    assert_eq!(browser.text("document.querySelector('#detail h3').textContent"), chosen);
    // What the address says is not believed blindly.
    browser.reopen("#kernel=99999&state=%3Cimg%3E&device=-1&sort=x&level=l9&category=__proto__");
    assert_eq!(browser.number("document.querySelectorAll('#rows tr').length"), 13.0);
    assert!(browser.complaints().is_empty());
}

#[test]
fn the_chart_is_walked_by_keys_and_says_what_it_shows() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("Home");
    browser.key("ArrowRight");
    let spoken = browser.text("document.getElementById('spoken').textContent");
    for part in ["2: flash_fwd_kernel", "flagged", "2.95 ms", "2.17×"] {
        assert!(spoken.contains(part), "{part}: {spoken}");
    }
    browser.key("Enter");
    assert_eq!(browser.text("document.activeElement.id"), "detail");
    browser.evaluate("document.getElementById('chart').focus()");
    browser.key("End");
    assert!(
        browser.text("document.getElementById('spoken').textContent").starts_with("13: "),
        "the last one"
    );
    browser.key("Escape");
    assert!(!browser.holds("!!document.querySelector('#rows [aria-current]')"));
    clean(&mut browser, &address);
}

#[test]
fn the_chart_zooms_moves_and_shows_all_again() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    let (x, y) = mark(&mut browser, 2);
    let ticks =
        "[...document.querySelectorAll('#frame .axes text')].map(t => t.textContent).join()";
    let (before, wide) = (browser.text(ticks), browser.evaluate("window.scrollY"));
    for _ in 0..2 {
        browser.wheel(x, y, -300.0);
    }
    let near = browser.text(ticks);
    assert_ne!(before, near, "the wheel zooms where the chart has the focus");
    assert_eq!(browser.evaluate("window.scrollY"), wide, "and does not scroll");
    let (nearer_x, nearer_y) = ring(&mut browser);
    // The pointer stands on whole pixels, and what it is off by grows with the zoom.
    let off = (nearer_x - x).abs().max((nearer_y - y).abs());
    assert!(off < 5.0, "around the pointer: {off}");
    browser.drag((x - 60.0, y + 40.0), (x - 160.0, y + 90.0));
    let (moved_x, moved_y) = ring(&mut browser);
    let off = (moved_x - (nearer_x - 100.0)).abs().max((moved_y - (nearer_y + 50.0)).abs());
    assert!(off < 3.0, "with the pointer: {off}");
    browser.key("0");
    assert_eq!(browser.text(ticks), before);
    // Axes keep two labels or more, however near one looks.
    for _ in 0..12 {
        browser.key("+");
        let labels = "['middle', 'end'].map(side => document.querySelectorAll(`#frame .axes text[text-anchor=${side}]:not(.title)`).length)";
        let labels = browser.evaluate(labels);
        for side in labels.as_array().unwrap() {
            assert!(side.as_u64().unwrap() >= 2, "{labels}");
        }
    }
    clean(&mut browser, &address);
}

fn ring(browser: &mut Browser) -> (f64, f64) {
    let place = browser.evaluate(
        "(() => { const r = document.querySelector('#chosen .ring').getBoundingClientRect(); return [(r.left + r.right) / 2, (r.top + r.bottom) / 2] })()",
    );
    (place[0].as_f64().unwrap(), place[1].as_f64().unwrap())
}

#[test]
fn roofs_can_be_left_out_and_other_levels_looked_at() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    let address = browser.show(&sample());
    let lines = "document.querySelectorAll('#frame line.roof.theoretical').length";
    let all = browser.number(lines);
    browser.evaluate("document.querySelector('#legend fieldset input').click()");
    browser.settle();
    assert_eq!(browser.number(lines), all - 1.0);
    browser.evaluate("document.querySelectorAll('#legend fieldset input')[0].click()");
    browser.evaluate(
        "[...document.querySelectorAll('#legend label')].find(l => l.textContent.startsWith('achievable')).click()",
    );
    browser.settle();
    assert_eq!(
        browser.number("document.querySelectorAll('#frame line.roof.achievable').length"),
        0.0
    );
    clean(&mut browser, &address);
}

#[test]
fn marks_and_roofs_are_painted_on_light_and_on_dark_ground() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    // Of the style: ground, blue roofs and circles, orange roofs and squares, green triangles.
    let light = [[255, 255, 255], [0, 90, 160], [192, 76, 0], [0, 130, 95]];
    let dark = [[22, 27, 34], [86, 180, 233], [255, 150, 70], [60, 200, 160]];
    for (is_dark, colors) in [(false, light), (true, dark)] {
        browser.media(false, is_dark);
        browser.show(&sample());
        browser.evaluate("document.getElementById('chart').scrollIntoView()");
        let pixels = browser.picture();
        for color in colors {
            let painted = pixels.chunks_exact(3).filter(|pixel| **pixel == color).count();
            assert!(painted > 20, "{color:?}: {painted} pixels");
        }
    }
}

#[test]
fn the_page_holds_its_essence_without_a_script_and_on_paper() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1280, 900);
    browser.scripts(false);
    let address = browser.show(&sample());
    let text = browser.text("document.body.innerText");
    for part in
        ["GPU time", "48.8 ms", "Next steps", "transpose_naive_kernel", "Not ranked", "Roofs"]
    {
        assert!(text.contains(part), "{part}");
    }
    assert!(browser.holds("document.getElementById('chart').offsetHeight === 0"));
    clean(&mut browser, &address);
    browser.scripts(true);
    let address = browser.show(&sample());
    assert!(browser.holds("document.querySelector('.still').offsetHeight === 0"));
    browser.media(true, true);
    assert_eq!(
        browser.text("getComputedStyle(document.body).backgroundColor"),
        "rgb(255, 255, 255)",
        "paper is white"
    );
    assert!(browser.holds("document.getElementById('filters').offsetHeight === 0"));
    clean(&mut browser, &address);
}

#[test]
fn no_width_makes_the_page_scroll_sideways() {
    let Some(mut browser) = Browser::start() else { return };
    for (width, height) in [(360, 740), (768, 1024), (1199, 800), (1440, 900), (3840, 2160)] {
        browser.resize(width, height);
        let address = browser.show(&sample());
        for hash in ["", "#kernel=1"] {
            browser.reopen(hash);
            let over = browser.number(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(over, 0.0, "{width} px wide{hash}");
        }
        clean(&mut browser, &address);
    }
}

/// Reads of device memory without its writes.
const READ: &str = r#"ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,dram__bytes_read.sum,device__attribute_display_name
,,,,,,,ns,byte,
0,7,gemv,"(1024, 1, 1)","(14, 1, 1)",0,9.0,100000,200000000,NVIDIA H100 80GB HBM3
"#;

/// Bytes of one launch of two beside how busy DRAM was in both, and a kernel without bytes.
const PARTLY: &str = r#"ID,Process ID,Kernel Name,Block Size,Grid Size,Device,CC,gpu__time_duration.sum,dram__bytes.sum,gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed,smsp__sass_thread_inst_executed_op_fadd_pred_on.sum,smsp__sass_thread_inst_executed_op_fmul_pred_on.sum,smsp__sass_thread_inst_executed_op_ffma_pred_on.sum,device__attribute_display_name
,,,,,,,ns,byte,%,inst,inst,inst,
0,7,copy,"(256, 1, 1)","(4096, 1, 1)",0,9.0,100000,200000000,60,1000,1000,1000000,NVIDIA H100 80GB HBM3
1,7,copy,"(256, 1, 1)","(4096, 1, 1)",0,9.0,100000,,50,1000,1000,1000000,NVIDIA H100 80GB HBM3
2,7,scale,"(256, 1, 1)","(4096, 1, 1)",0,9.0,50000,,70,1000,1000,1000000,NVIDIA H100 80GB HBM3
"#;

#[test]
fn details_are_the_arithmetic_of_explain() {
    let Some(mut browser) = Browser::start() else { return };
    browser.resize(1440, 1000);
    for (name, text, lists) in [
        ("demo", rooflint::SAMPLE, &[][..]),
        ("partly", PARTLY, &["bandwidths", "busy"]),
        ("read", READ, &[]),
    ] {
        let profile = ingest::read_text(name, text, &ingest::Options::default()).unwrap();
        browser.show(&page_of(&profile, None));
        for list in lists {
            let data = "JSON.parse(document.getElementById('data').textContent)";
            let count = browser.number(&format!("Object.keys({data}.{list}).length"));
            assert_eq!(count, 1.0, "{list}");
        }
        compare_details(&mut browser, &profile);
    }
}

/// What the page writes of each kernel against the text of `--explain`.
fn compare_details(browser: &mut Browser, profile: &Profile) {
    let Judged { analysis, .. } = Session::default().judge(profile).unwrap();
    for kernel in &analysis.kernels {
        let explanation = analysis::explain(profile, &analysis, kernel);
        let style = rooflint::report::Style::default();
        let (analysis, explanation, findings) = (&analysis, &explanation, [].as_slice());
        let explained = Explained { analysis, kernel, explanation, findings };
        let explained = rooflint::report::written(&explained, "text", &style).unwrap();
        browser.reopen(&format!("#kernel={}", kernel.rank));
        let rows = browser.evaluate(
            "[...document.querySelectorAll('#detail .sums > div')].map(r => [...r.children].map(one => one.textContent))",
        );
        for row in rows.as_array().unwrap() {
            let (symbol, value) = (row[0].as_str().unwrap(), row[1].as_str().unwrap());
            // Where it came from is said in the same words.
            let is_counted = ["T", "B"].contains(&symbol) || symbol.starts_with("F ");
            let from = is_counted.then(|| row[2].as_str().unwrap());
            let same = explained.lines().any(|line| {
                line.trim_start()
                    .strip_prefix(symbol)
                    .and_then(|rest| rest.trim_start().strip_prefix(value))
                    .is_some_and(|rest| from.is_none_or(|from| rest.trim() == from))
            });
            // What communication should take no roof of this device says; what opportunities
            // cover together is no arithmetic of one.
            let said = value == "-" || symbol == "cumulative" || same;
            assert!(said, "{}: {symbol} = {value} is not in\n{explained}", kernel.name);
        }
        assert!(rows.as_array().unwrap().len() > 5, "{}", kernel.name);
    }
}

#[test]
fn every_fixture_makes_a_page_without_complaints() {
    let Some(mut browser) = Browser::start() else { return };
    for (path, device) in fixtures() {
        let profile = ingest::read(&[Input::Named(path.clone())], &reading(&path)).unwrap();
        let Ok(analysis) = Session::default().on(device.clone()).analyze(&profile) else {
            continue;
        };
        let address = browser.show(&page_of(&profile, device));
        assert!(browser.number("document.querySelectorAll('#rows tr').length") > 0.0);
        // What has a measured time is drawn, on the chart or beside it.
        let drawn = "document.querySelectorAll('#off li').length + (document.documentElement.classList.contains('alone') ? 0 : 1)";
        if analysis.totals.measured.get() > 0.0 {
            assert!(browser.number(drawn) > 0.0, "{}", path.display());
        }
        clean(&mut browser, &address);
    }
}

#[test]
fn every_real_export_makes_a_page_without_complaints() {
    let Some(collection) = collection() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let mut pages = 0;
    for folder in ["ncu", "pyprof"] {
        let Ok(entries) = std::fs::read_dir(collection.join(folder)) else { continue };
        let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let Ok(profile) = read(&path) else { continue };
            // Where an export does not name its device, any will do to draw it.
            let any = [None, Some("H100 SXM5 80GB".to_owned())];
            let fits = |device: &Option<String>| {
                Session::default().on(device.clone()).analyze(&profile).is_ok()
            };
            let Some(device) = any.into_iter().find(fits) else { continue };
            let address = browser.show(&page_of(&profile, device));
            assert!(browser.holds("document.querySelectorAll('#rows tr').length > 0"));
            clean(&mut browser, &address);
            pages += 1;
        }
    }
    println!("{pages} pages of real exports");
    assert!(pages > 20);
}

#[test]
fn one_kernel_and_many_fill_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    for kernels in [1, 300] {
        let address = browser.show(&html("many", many(kernels)));
        let rows = browser.number("document.querySelectorAll('#rows tr').length");
        assert_eq!(rows, (kernels.min(100)) as f64);
        if kernels > 100 {
            browser.evaluate("document.querySelector('#more button').click()");
            assert_eq!(browser.number("document.querySelectorAll('#rows tr').length"), 200.0);
        }
        clean(&mut browser, &address);
    }
}

/// Communication takes all but a thousandth of the time: the kernels that have a roofline are the longest of those.
#[test]
fn the_chart_shows_kernels_where_none_takes_a_hundredth_of_the_time() {
    let Some(mut browser) = Browser::start() else { return };
    let header = "source,source_format,kernel,device,device_ordinal,launches,grid_x,blocks,threads_per_block,duration_s,\
                  dram_bytes,dram_bytes_origin,flops_fp32_vector,flops_fp32_vector_origin\n";
    let row = |name: &str, time: &str, counts: &str| {
        format!("run,pytorch-trace,{name},H100 SXM5 80GB,0,1,4096,4096,256,{time},{counts}\n")
    };
    let collectives = (0..4).map(|at| row(&format!("ncclDevKernel_AllReduce_{at}"), "0.1", ",,,"));
    let kernels = (0..5).map(|at| {
        row(&format!("kernel_{at}"), "1e-4", &format!("{at}00000000,algorithmic,1e7,algorithmic"))
    });
    let rows: Vec<String> = collectives.chain(kernels).collect();
    browser.show(&html("table", format!("{header}{}", rows.concat())));
    let names = browser.number("document.querySelectorAll('#chart text[data-k]').length");
    assert!(names >= 3.0, "{names}");
}
