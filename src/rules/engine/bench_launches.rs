//! Profiles for the tests of rules, put together launch by launch; compiled for `#[cfg(test)]`.

use crate::analysis::{Options, analyze};
use crate::catalog::Catalog;
use crate::ingest;
use crate::model::{
    DeviceHint, Dim3, Head, HintId, Origin, OriginId, Pipe, Profile, Profiler, Quantity, Shape,
    Source, Values,
};
use crate::rules::{Finding, Findings, Settings, Tally, check};

/// Bytes per second of an H100 SXM.
pub(in crate::rules) const BANDWIDTH: f64 = 3.35e12;

/// A profile that grows by one launch after another.
pub(in crate::rules) struct Bench {
    profile: Profile,
    hint: HintId,
    origin: OriginId,
    options: Options,
}

/// Runs on an H100 SXM: 132 multiprocessors, base clock 1.59 GHz or so.
pub(in crate::rules) fn h100() -> Bench {
    on("NVIDIA H100 80GB HBM3")
}

/// Runs on a device of the catalog.
pub(in crate::rules) fn on(device: &str) -> Bench {
    let mut profile = Profile::default();
    let (path, format) = ("table.csv".to_owned(), "mapped".to_owned());
    profile.sources.push(Source { path, format, ..Source::default() });
    let origin = profile.origins.id(&Origin::measured("column"));
    let hint = profile.hint(DeviceHint { name: Some(device.to_owned()), ..DeviceHint::default() });
    Bench { profile, hint, origin, options: Options::default() }
}

/// A table of `PyProf` with these rows: kernel, operator, parameters, nanoseconds, FLOPs, bytes. It ran
/// on a V100.
pub(in crate::rules) fn pyprof(rows: &[&str]) -> Bench {
    let mut text = String::from(
        "\"Kernel\",\"Op\",\"Params\",\"Sil(ns)\",\"FLOPs\",\"Bytes\",\"TC\",\"Grid\",\"Block\"\n",
    );
    for row in rows {
        text.push_str(row);
        text.push_str(",\"-\",\"1000,1,1\",\"256,1,1\"\n");
    }
    let profile = ingest::read_text("table.csv", text.leak(), &ingest::Options::default()).unwrap();
    let device = Some("Tesla V100 SXM2 16GB".to_owned());
    let options = Options { device, ..Options::default() };
    Bench { profile, hint: HintId::default(), origin: OriginId::default(), options }
}

impl Bench {
    /// As if Nsight Compute had taken it.
    pub(in crate::rules) fn ncu(mut self) -> Self {
        self.profile.sources[0].profiler = Profiler::NsightCompute;
        self
    }

    /// As if it had left the caches as they were.
    pub(in crate::rules) fn keeping_caches(mut self) -> Self {
        self.profile.sources[0].keeps_caches = true;
        self
    }

    /// The following launches run on another device, described so.
    pub(in crate::rules) fn then_on(mut self, hint: DeviceHint) -> Self {
        self.hint = self.profile.hint(hint);
        self
    }

    /// What the following launches count was counted so.
    pub(in crate::rules) fn counted(mut self, origin: &Origin) -> Self {
        self.origin = self.profile.origins.id(origin);
        self
    }

    /// As if `--device` named it.
    pub(in crate::rules) fn named(mut self, device: &str) -> Self {
        self.options.device = Some(device.to_owned());
        self
    }

    /// Launches that have run at a tenth of the memory roof unless the values say otherwise.
    pub(in crate::rules) fn launch(
        self,
        name: &str,
        (blocks, threads): (u32, u32),
        (count, micros): (u32, f64),
        values: &[(Quantity, f64)],
    ) -> Self {
        let mut all = values.to_vec();
        all.push((Quantity::DramBytes, 0.1 * BANDWIDTH * micros * 1e-6));
        all.push((Quantity::Work(Pipe::Fp32Vector), 1e3));
        self.bare(name, (blocks, threads), (count, micros), &all)
    }

    /// Launches with these values and no other.
    pub(in crate::rules) fn bare(
        self,
        name: &str,
        (blocks, threads): (u32, u32),
        times: (u32, f64),
        values: &[(Quantity, f64)],
    ) -> Self {
        let line = |x| Some(Dim3 { x, y: 1, z: 1 });
        self.shaped(name, Shape::new(line(blocks), line(threads)), times, values)
    }

    /// One launch of blocks of 256 threads on a grid of two dimensions, with these values and no other.
    pub(in crate::rules) fn plane(
        self,
        name: &str,
        (x, y): (u32, u32),
        micros: f64,
        values: &[(Quantity, f64)],
    ) -> Self {
        let block = Dim3 { x: 256, y: 1, z: 1 };
        let shape = Shape::new(Some(Dim3 { x, y, z: 1 }), Some(block));
        self.shaped(name, shape, (1, micros), values)
    }

    /// The same of any shape, or of none.
    pub(in crate::rules) fn shaped(
        mut self,
        name: &str,
        shape: Shape,
        (count, micros): (u32, f64),
        values: &[(Quantity, f64)],
    ) -> Self {
        let mut all = Values::default();
        all.set(Quantity::Duration, micros * 1e-6, self.origin);
        for (quantity, value) in values {
            all.set(*quantity, *value, self.origin);
        }
        let head = Head {
            id: self.profile.launches.len() as u32,
            name: self.profile.names.id(name),
            shape,
            device: self.hint,
            count,
            ..Head::default()
        };
        self.profile.launches.push(head, &all);
        self
    }

    /// What the rules find with these settings.
    pub(in crate::rules) fn all(&self, settings: &Settings) -> Findings {
        let analysis = analyze(&self.profile, &Catalog::builtin(), &self.options).unwrap();
        check(&self.profile, &analysis, settings)
    }

    /// What a rule finds, and how often it could say what.
    pub(in crate::rules) fn ask(&self, rule: &str) -> (Vec<Finding>, Tally) {
        assert!(crate::rules::rule(rule).is_some(), "{rule}");
        let settings = Settings { select: [rule.to_owned()].into(), ..Settings::default() };
        let mut findings = self.all(&settings);
        let mut found = findings.run;
        found.extend(findings.by_kernel.into_values().flatten());
        (found, findings.tally.remove(0))
    }

    /// The one finding of a rule.
    #[track_caller]
    pub(in crate::rules) fn found(&self, rule: &str) -> Finding {
        let (mut found, tally) = self.ask(rule);
        assert_eq!(found.len(), 1, "{tally:?}");
        found.remove(0)
    }

    /// Whether a rule looked and has nothing to say.
    pub(in crate::rules) fn is_content(&self, rule: &str) -> bool {
        let (found, tally) = self.ask(rule);
        found.is_empty() && tally.minor == 0 && tally.cannot_judge == 0 && tally.content > 0
    }

    /// The metrics that a rule lacks.
    pub(in crate::rules) fn lacks(&self, rule: &str) -> Vec<&'static str> {
        self.ask(rule).1.missing.into_keys().collect()
    }
}
