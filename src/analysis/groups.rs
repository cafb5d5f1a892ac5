//! Groups launches into kernels: same name and parameters, operator, shape and device.

use std::collections::HashMap;
use std::sync::Arc;

use super::Analysis;
use super::nature::Nature;
use crate::model::{KernelName, Launch, NameId, Profile, make_unique};
use crate::taxonomy::{Category, Class, Taxonomy};

/// Key of a kernel: name with parameter types, operator, shape and device.
pub(super) type Key = (usize, NameId, u32, usize);

/// Facts derived from one name.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) short: Arc<str>,
    pub(super) class: Arc<Class>,
    /// Likely work of the kernel, unless counters disagree.
    pub(super) nature: Nature,
}

/// The kernels met so far.
#[derive(Default)]
pub(super) struct Groups {
    /// The user's rules for names; `None` for the built-in ones.
    taxonomy: Option<Arc<Taxonomy>>,
    /// Names by head and parameter list, because overloads are different kernels.
    heads: HashMap<(String, String), usize>,
    head_of_name: HashMap<NameId, usize>,
    names: Vec<Name>,
    /// Classes of operators, for kernels whose names are not recognized.
    operators: HashMap<NameId, Arc<Class>>,
    index: HashMap<Key, usize>,
    pub(super) keys: Vec<Key>,
    last: Option<(Key, usize, Nature)>,
}

impl Groups {
    pub(super) fn new(taxonomy: Option<Arc<Taxonomy>>) -> Self {
        Self { taxonomy, ..Self::default() }
    }

    /// Returns the group of a launch and its likely work. Groups are numbered in order of
    /// appearance.
    pub(super) fn of(
        &mut self,
        profile: &Profile,
        launch: &Launch<'_>,
        device: usize,
    ) -> (usize, Nature) {
        let (name, operator, shape, _) = profile.launches.kernel_key(launch.row());
        let head = match self.head_of_name.get(&name) {
            Some(head) => *head,
            None => self.head(profile, name),
        };
        let key = (head, operator, shape, device);
        if let Some((last, group, nature)) = self.last
            && last == key
        {
            return (group, nature);
        }
        let group = *self.index.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() - 1
        });
        let own = self.names[head].nature;
        let nature = match self.by_operator(profile, head, operator) {
            Some(class) if class.category == Category::DotProduct => own.launched_by_product(),
            Some(class) if class.category != Category::Unknown => Nature::of(class, ""),
            _ => own,
        };
        self.last = Some((key, group, nature));
        (group, nature)
    }

    /// Returns the facts from the name of a group's kernels, or from their operator if the name is
    /// not recognized.
    pub(super) fn name(&self, group: usize) -> Name {
        let (head, operator, ..) = self.keys[group];
        let mut name = self.names[head].clone();
        if name.class.category == Category::Unknown
            && let Some(class) = self.operators.get(&operator)
        {
            name.class = Arc::clone(class);
        }
        name
    }

    /// Returns the class of the operator, for a kernel whose name is not recognized.
    fn by_operator(&mut self, profile: &Profile, head: usize, operator: NameId) -> Option<&Class> {
        if operator == NameId::default() || self.names[head].class.category != Category::Unknown {
            return None;
        }
        let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
        let classified = || Arc::new(taxonomy.classify_operator(profile.names.get(operator)));
        Some(self.operators.entry(operator).or_insert_with(classified))
    }

    /// Makes short names of different kernels unique.
    pub(super) fn make_unique(&mut self, profile: &Profile) {
        let mut text_of = vec![NameId::default(); self.names.len()];
        // Of several spellings of a name, the one that was met first.
        let mut spelled: Vec<_> = self.head_of_name.iter().collect();
        spelled.sort_unstable_by(|one, two| two.cmp(one));
        for (name, head) in spelled {
            text_of[*head] = *name;
        }
        let parsed: Vec<KernelName> =
            text_of.into_iter().map(|name| KernelName::parse(profile.names.get(name))).collect();
        for (name, shown) in self.names.iter_mut().zip(make_unique(&parsed)) {
            name.short = shown.into();
        }
    }

    fn head(&mut self, profile: &Profile, name: NameId) -> usize {
        let text = profile.names.get(name);
        let parsed = KernelName::parse(text);
        let overload = parsed.overload();
        let KernelName { head, short, .. } = parsed;
        let next = self.names.len();
        let key = (head, overload);
        let found = match self.heads.get(&key) {
            Some(found) => *found,
            None => {
                let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
                let class = taxonomy.shared(text);
                self.names.push(Name {
                    short: short.into(),
                    nature: Nature::of(&class, &key.0),
                    class,
                });
                self.heads.insert(key, next);
                next
            }
        };
        self.head_of_name.insert(name, found);
        found
    }
}

impl Analysis {
    /// Visits every launch with the index of its kernel, except launches of omitted kernels.
    pub(crate) fn each_grouped<'p>(
        &self,
        profile: &'p Profile,
        mut visit: impl FnMut(usize, &Launch<'p>),
    ) {
        self.each_with_nature(profile, |position, launch, _| visit(position, launch));
    }

    /// Visits every launch with the index of its kernel and its likely work, except launches of
    /// omitted kernels.
    pub(super) fn each_with_nature<'p>(
        &self,
        profile: &'p Profile,
        mut visit: impl FnMut(usize, &Launch<'p>, Nature),
    ) {
        let mut groups = Groups::new(self.taxonomy.clone());
        // Each kernel is a group of its own: its longest launch makes the group's number the
        // kernel's position.
        for kernel in &self.kernels {
            groups.of(profile, &profile.launch(kernel.longest), kernel.device);
        }
        for launch in profile.iter() {
            let device = self.of_hint[usize::from(launch.head.device.0)];
            let (position, nature) = groups.of(profile, &launch, device);
            if position < self.kernels.len() {
                visit(position, &launch, nature);
            }
        }
    }
}
