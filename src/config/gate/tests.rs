//! What the policy says in `rooflint.toml`, and what is wrong with it.

use crate::config::Config;
use crate::gate::{Action, Bound, Metric, Policy, Selector, Value};
use crate::rules::Severity;
use crate::units::{Bytes, RelativeChange, Seconds, Share};

fn policy(text: &str) -> Policy {
    Config::parse("rooflint.toml", text).unwrap().gate
}

#[test]
fn without_a_table_the_defaults_hold() {
    assert_eq!(policy(""), Policy::default());
    assert_eq!(policy("[gate]\nversion = 1\n"), Policy::default());
    assert_eq!(policy("[gate.noise]\n"), Policy::default());
}

#[test]
fn the_table_itself_is_read() {
    let text = "[gate]\nversion = 1\nwarn-only = true\nnew = \"fail\"\nvanished = \"none\"\n\
        ambiguous = \"inconclusive\"\nincomparable = \"notice\"\nimplausible = \"fail\"\n\
        incomplete = \"warn\"\nlisted-share = \"1%\"\nimplausible-factor = 5\n\
        across-devices = true\ncoverage = \"80%\"\nmax-age = \"2w\"\nrequired = [\"*gemm*\", \"softmax\"]\n\
        false-discovery = 0.01\n[gate.noise]\nkernel = 0.02\nfew-launches = \"8%\"\n\
        common = 0.05\ndevice = \"3%\"\nday = 0\ntimer = \"1us\"\n";
    let read = policy(text);
    assert!(read.warn_only && read.across_devices);
    let actions = [read.new, read.vanished, read.ambiguous, read.incomparable];
    assert_eq!(actions, [Action::Fail, Action::None, Action::Inconclusive, Action::Notice]);
    assert_eq!((read.implausible, read.incomplete), (Action::Fail, Action::Warn));
    assert_eq!((read.listed_share.get(), read.implausible_factor.get()), (0.01, 5.0));
    assert_eq!((read.max_age_days, read.false_discovery.get()), (14, 0.01));
    assert_eq!(read.required, ["*gemm*", "softmax"]);
    let noise = read.noise;
    assert_eq!(
        [noise.kernel, noise.few_launches, noise.common].map(RelativeChange::get),
        [0.02, 0.08, 0.05]
    );
    assert_eq!([noise.device, noise.day].map(RelativeChange::get), [0.03, 0.0]);
    assert_eq!(noise.timer_s.get(), 1e-6);
    assert_eq!((read.coverage, read.noise_is_declared), (Share::new(0.8), true));
    // The timer, devices and days say nothing of one run per side.
    assert!(!policy("[gate.noise]\ntimer = \"1us\"\nday = 0.02\n").noise_is_declared);
    assert_eq!(read.limits, Policy::default().limits);
    for (age, days) in [("\"90d\"", 90), ("30", 30), ("\"12 w\"", 84)] {
        assert_eq!(policy(&format!("[gate]\nmax-age = {age}\n")).max_age_days, days);
    }
    // Few launches are never quieter than many, also where only one of the two is given.
    assert_eq!(policy("[gate.noise]\nkernel = 0.2\n").noise.few_launches.get(), 0.2);
}

#[test]
fn limits_come_after_the_defaults() {
    let text = "[[gate.limit]]\nmetric = \"time\"\nkernel = \"*gemm*\"\nworse = \"2%\"\n\
        at-least = \"1us\"\nmin-share = 0.01\n\
        [[gate.limit]]\nmetric = \"bytes\"\nworse = 0.1\nat-least = \"1MiB\"\naction = \"warn\"\n\
        [[gate.limit]]\nmetric = \"findings\"\nseverity = \"high\"\nat-least = 1\n\
        [[gate.limit]]\nmetric = \"time\"\ncategory = \"communication\"\naction = \"none\"\n\
        [[gate.limit]]\nmetric = \"roof\"\noperator = \"aten::*\"\nworse = 0.05\n\
        [[gate.limit]]\nmetric = \"launches\"\nworse = \"300%\"\n\
        [[gate.limit]]\nmetric = \"total\"\nworse = 0.01\nat-least = \"10us\"\n";
    let all = policy(text).limits;
    let (defaults, own) = all.split_at(Policy::default().limits.len());
    assert_eq!(defaults, Policy::default().limits);
    assert_eq!((own[0].metric, own[0].worse.get()), (Metric::Time, 0.02));
    assert_eq!(
        (own[0].at_least, own[0].min_share),
        (Some(Seconds::new(1e-6).into()), Some(Share::new(0.01)))
    );
    assert_eq!(own[0].selector.kernel.as_deref(), Some("*gemm*"));
    assert_eq!((own[0].action, own[1].action), (Action::Fail, Action::Warn));
    assert_eq!(own[1].at_least, Some(Bytes::new(1_048_576.0).into()));
    assert_eq!((own[2].worse.get(), own[2].severity), (0.0, Some(Severity::High)));
    // Switched off: nothing is worse than that.
    assert_eq!((own[3].worse.get(), own[3].action), (f64::INFINITY, Action::None));
    assert_eq!(own[3].selector.category.as_deref(), Some("communication"));
    assert_eq!(own[4].selector.operator.as_deref(), Some("aten::*"));
    assert_eq!(own[5].worse.get(), 3.0);
    assert!((own[6].at_least.unwrap().value / 1e-5 - 1.0).abs() < 1e-12);
}

#[test]
fn bounds_waivers_and_places_are_read() {
    let text = "[[gate.bound]]\nname = \"GEMMs near the roof\"\nmetric = \"roof\"\n\
        category = \"dot-product\"\nmin = \"70%\"\nmin-share = 0.01\n\
        [[gate.bound]]\nname = \"no fp64\"\nmetric = \"fp64\"\nmax = 0\n\
        [[gate.bound]]\nname = \"believable\"\nmetric = \"roof\"\nmax = 1.03\naction = \"warn\"\n\
        [[gate.bound]]\nname = \"no spills\"\nmetric = \"findings\"\nrule = \"register-spills\"\n\
        severity = \"medium\"\nmax = 0\n\
        [[gate.bound]]\nname = \"a step\"\nmetric = \"total\"\nmin = \"1ms\"\nmax = \"12ms\"\n\
        [[gate.waiver]]\nkernel = \"old_*\"\nmetric = \"time\"\nreason = \"goes away\"\n\
        owner = \"kernels\"\nexpires = 2027-01-31\n\
        [[gate.waiver]]\nmetric = \"total\"\nreason = \"a second step was added\"\n\
        [[gate.code]]\nkernel = \"my_*\"\nfile = \"kernels/my.cu\"\nline = 42\n\
        [[gate.code]]\noperator = \"aten::mm\"\nfile = \"model.py\"\n";
    let read = policy(text);
    let number = |value: Option<Value>| value.map(|value| value.value);
    let of = |one: &Bound| (number(one.min), number(one.max), one.action);
    let bounds: Vec<_> = read.bounds.iter().map(of).collect();
    assert_eq!(
        bounds[..3],
        [
            (Some(0.7), None, Action::Fail),
            (None, Some(0.0), Action::Fail),
            (None, Some(1.03), Action::Warn)
        ]
    );
    assert_eq!([0, 1].map(|at| read.bounds[at].min_share.get()), [0.01, 0.0]);
    assert_eq!(read.bounds[3].rule.as_deref(), Some("register-spills"));
    assert_eq!(read.bounds[3].severity, Some(Severity::Medium));
    assert_eq!((bounds[4].0, bounds[4].1), (Some(1e-3), Some(12e-3)));
    assert_eq!(read.waivers[0].expires, crate::model::Date::new(2027, 1, 31));
    assert_eq!(
        (read.waivers[0].metric, read.waivers[1].metric),
        (Some(Metric::Time), Some(Metric::Total))
    );
    assert_eq!(read.waivers[1].selector, Selector::default());
    let places: Vec<_> = read.code.iter().map(|one| (one.file.as_str(), one.line)).collect();
    assert_eq!(places, [("kernels/my.cu", 42), ("model.py", 1)]);
}

/// Each pair is a text in which `^` marks the place, and what is told of it.
fn refuses(cases: &[(&str, &str)]) {
    for (marked, told) in cases {
        let before = &marked[..marked.find('^').unwrap()];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
        let error = Config::parse("rooflint.toml", &marked.replacen('^', "", 1)).unwrap_err();
        let found = format!("{error}; {}", error.help());
        let place = format!("rooflint.toml:{line}:{column}: ");
        assert!(found.starts_with(&place) && found.contains(told), "{marked}: {found}");
    }
}

#[test]
fn what_is_wrong_in_the_table_is_located_and_the_way_out_named() {
    refuses(&[
        ("[gate]\nversion = ^2", "unknown version 2 of [gate]; this program supports version 1"),
        ("[gate]\n^vanish = \"fail\"", "unknown key \"vanish\""),
        ("[gate]\n^vanish = \"fail\"", "did you mean \"vanished\"?"),
        (
            "[gate]\nnew = ^\"fial\"",
            "new cannot be \"fial\"; did you mean \"fail\"? it is one of none",
        ),
        ("[gate]\nwarn-only = ^\"yes\"", "expected "),
        ("[gate]\nlisted-share = ^1.0", "listed-share cannot be 1.0: it must be less than 1"),
        ("[gate]\nlisted-share = ^-0.1", "listed-share cannot be -0.1: it is negative"),
        ("[gate]\nlisted-share = ^nan", "listed-share cannot be nan: it is not finite"),
        ("[gate]\nimplausible-factor = ^1", "every improvement would be implausible"),
        ("[gate]\nimplausible-factor = ^inf", "it is not finite"),
        ("[gate]\nmax-age = ^\"90 days\"", "max-age cannot be \"90 days\"; write a number of days"),
        ("[gate]\nmax-age = ^0", "max-age cannot be 0"),
        ("[gate]\nmax-age = ^-3", "max-age cannot be -3"),
        ("[gate]\nmax-age = ^\"4000000000w\"", "max-age cannot be"),
        ("[gate]\nmax-age = ^1.5", "max-age cannot be 1.5"),
        ("[gate]\nrequired = [\"a\", ^\"\"]", "an empty pattern matches nothing"),
        ("[gate]\nrequired = ^\"a\"", "expected "),
        ("[gate]\nfalse-discovery = ^0", "no regression could be found"),
        ("[gate.noise]\nkernel = ^-0.1", "kernel cannot be -0.1: it is negative"),
        ("[gate.noise]\ncommon = ^7", "common cannot be 7: that is 700%"),
        ("[gate.noise]\ntimer = ^64", "a time needs its unit; use a form such as \"5us\""),
        ("[gate.noise]\ntimer = ^\"64\"", "give a time with its unit"),
        (
            "[gate.noise]\nfew-launches = ^0.01",
            "few launches cannot have less noise than many, at 0.03",
        ),
    ]);
}

#[test]
fn a_bound_on_a_rule_of_the_run_is_refused() {
    let bound = "[[gate.bound]]\nname = \"n\"\nmetric = \"findings\"\nmax = 0\n";
    refuses(&[
        (
            &format!("{bound}rule = ^\"host-bound\""),
            "rule host-bound looks at the whole run, not at kernels; bound the findings of a rule on kernels",
        ),
        (&format!("{bound}rule = ^\"tail-efect\""), "unknown rule \"tail-efect\""),
    ]);
    assert!(Config::parse("rooflint.toml", &format!("{bound}rule = \"tail-effect\"")).is_ok());
}

#[test]
fn what_is_wrong_in_a_limit_is_located_and_the_way_out_named() {
    refuses(&[
        (
            "[[gate.limit]]\nmetric = ^\"tiem\"\nworse = 0.1",
            "metric cannot be \"tiem\"; did you mean \"time\"?",
        ),
        ("[[gate.limit]]\nmetric = ^\"time\"", "has no value; add worse = 0.05"),
        ("[[gate.limit]]\nmetric = ^\"presence\"\nworse = 0.1", "set new, vanished or required"),
        (
            "[[gate.limit]]\nmetric = \"time\"\nworse = ^-0.05",
            "worse cannot be -0.05: it is negative",
        ),
        ("[[gate.limit]]\nmetric = \"time\"\nworse = ^5", "that is 500%"),
        ("[[gate.limit]]\nmetric = \"time\"\nworse = ^nan", "it is not finite"),
        ("[[gate.limit]]\nmetric = \"time\"\nworse = ^\"off\"", "worse cannot be \"off\""),
        ("[[gate.limit]]\nmetric = \"time\"\nworse = ^true", "neither a number nor text"),
        ("[[gate.limit]]\nmetric = \"roof\"\nworse = ^1.0", "cannot fall by more than 100%"),
        (
            "[[gate.limit]]\nmetric = \"time\"\nworse = 0.1\nat-least = ^5e-6",
            "a time needs its unit",
        ),
        (
            "[[gate.limit]]\nmetric = \"launches\"\nworse = 0.1\nat-least = ^1.5",
            "it is not a whole number",
        ),
        (
            "[[gate.limit]]\nmetric = \"common-shift\"\nworse = 0.1\nat-least = ^0.1",
            "has no absolute value, only a change",
        ),
        (
            "[[gate.limit]]\nmetric = \"total\"\nkernel = ^\"a\"\nworse = 0.1",
            "total applies to the whole run, not to kernels",
        ),
        (
            "[[gate.limit]]\nmetric = \"common-shift\"\ncategory = ^\"other\"\nworse = 0.1",
            "applies to the whole run",
        ),
        ("[[gate.limit]]\nmetric = \"total\"\nworse = 0.1\nmin-share = ^0.1", "so it has no share"),
        (
            "[[gate.limit]]\nmetric = \"time\"\nkernel = ^\" \"\nworse = 0.1",
            "an empty pattern matches nothing",
        ),
        (
            "[[gate.limit]]\nmetric = \"time\"\ncategory = ^\"reductoin\"\nworse = 0.1",
            "did you mean \"reduction\"?",
        ),
        (
            "[[gate.limit]]\nmetric = \"time\"\nworse = 0.1\nseverity = ^\"high\"",
            "severity applies to findings only, but the metric is time",
        ),
        ("[[gate.limit]]\nmetric = \"findings\"\nseverity = ^\"hihg\"", "did you mean \"high\"?"),
        (
            "[[gate.limit]]\nmetric = \"time\"\nworse = 0.1\naction = ^\"off\"",
            "action cannot be \"off\"; it is one of none",
        ),
        ("^[[gate.limit]]\nworse = 0.1", "missing key \"metric\""),
        ("[[gate.limit]]\nmetric = \"time\"\n^worst = 0.1", "did you mean \"worse\"?"),
    ]);
}

#[test]
fn what_is_wrong_in_bounds_waivers_and_places_is_located() {
    refuses(&[
        ("[[gate.bound]]\nname = ^\"b\"\nmetric = \"roof\"", "has no limit; add min, max or both"),
        ("[[gate.bound]]\nname = ^\"\"\nmetric = \"roof\"\nmin = 0.7", "a bound needs a name"),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = 0.9\nmax = ^0.7",
            "max cannot be 0.7: it is below min",
        ),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = ^70",
            "min cannot be 70: that is 7000%",
        ),
        ("[[gate.bound]]\nname = \"b\"\nmetric = \"fp64\"\nmax = ^-1", "it is negative"),
        ("[[gate.bound]]\nname = \"b\"\nmetric = \"total\"\nmax = ^12", "a time needs its unit"),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"total\"\nkernel = ^\"a\"\nmax = \"1s\"",
            "applies to the whole run",
        ),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = ^\"common-shift\"\nmax = 0.1",
            "use [[gate.limit]]",
        ),
        ("[[gate.bound]]\nname = \"b\"\nmetric = ^\"presence\"\nmin = 1", "required = ["),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = 0.5\nrule = ^\"small-grid\"",
            "rule applies to findings only",
        ),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"findings\"\nmax = 0\nrule = ^\"smal-grid\"",
            "did you mean \"small-grid\"?",
        ),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = 0.5\n[[gate.bound]]\nname = ^\"b\"\nmetric = \"fp64\"\nmax = 0",
            "two bounds are named \"b\"",
        ),
        (
            "[[gate.bound]]\nname = \"b\"\nmetric = \"roof\"\nmin = 0.5\nmin-share = ^\"110%\"",
            "it must be less than 1",
        ),
        ("^[[gate.bound]]\nname = \"b\"\nmin = 1", "missing key \"metric\""),
        ("[[gate.waiver]]\nkernel = \"a\"\nreason = ^\" \"", "a waiver needs a reason"),
        ("^[[gate.waiver]]\nkernel = \"a\"", "missing key \"reason\""),
        ("[[gate.waiver]]\nreason = ^\"r\"", "has no kernel, operator or category"),
        (
            "[[gate.waiver]]\nreason = ^\"r\"\nmetric = \"time\"",
            "has no kernel, operator or category",
        ),
        (
            "[[gate.waiver]]\nreason = \"r\"\nkernel = ^\"a\"\nmetric = \"total\"",
            "applies to the whole run",
        ),
        (
            "[[gate.waiver]]\nreason = \"r\"\nkernel = \"a\"\nexpires = ^07:32:00",
            "expires is not a date",
        ),
        ("[[gate.waiver]]\nreason = \"r\"\nkernel = \"a\"\nexpires = ^\"2027-01-31\"", "expected "),
        ("[[gate.code]]\nfile = ^\"a.cu\"", "has no kernel, operator or category"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = ^\"/src/a.cu\"", "it is not a relative path"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = ^\"C:/src/a.cu\"", "it is not a relative path"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = ^'src\\a.cu'", "it uses backslashes"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = ^\"../a.cu\"", "it is outside the repository"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = ^\"\"", "it is empty"),
        ("[[gate.code]]\nkernel = \"a\"\nfile = \"a.cu\"\nline = ^0", "lines start at 1"),
    ]);
}
