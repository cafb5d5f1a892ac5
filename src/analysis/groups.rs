//! Which launches are one kernel: same name, operator, shape and device.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Analysis, intent};
use crate::model::{KernelName, Launch, NameId, Profile};
use crate::taxonomy::{Category, Class, Taxonomy};

/// Head of the name, operator, shape and device: what makes launches one kernel.
pub(super) type Key = (usize, NameId, u32, usize);

/// What one name tells.
#[derive(Debug, Clone)]
pub(super) struct Name {
    pub(super) short: Arc<str>,
    pub(super) class: Arc<Class>,
    /// Whether tensor cores may have worked in it, unless counters say otherwise.
    pub(super) may_use_tensor_cores: bool,
}

/// The kernels met so far.
#[derive(Default)]
pub(super) struct Groups {
    /// The user's rules for names; none for the built-in ones.
    taxonomy: Option<Arc<Taxonomy>>,
    heads: HashMap<String, usize>,
    head_of_name: HashMap<NameId, usize>,
    names: Vec<Name>,
    /// What operators tell, for kernels whose names tell nothing.
    operators: HashMap<NameId, Arc<Class>>,
    index: HashMap<Key, usize>,
    pub(super) keys: Vec<Key>,
    last: Option<(Key, usize, bool)>,
}

impl Groups {
    pub(super) fn new(taxonomy: Option<Arc<Taxonomy>>) -> Self {
        Self { taxonomy, ..Self::default() }
    }

    /// The group of a launch, and whether tensor cores may have worked in it. Groups are numbered as
    /// they appear.
    pub(super) fn of(
        &mut self,
        profile: &Profile,
        launch: &Launch<'_>,
        device: usize,
    ) -> (usize, bool) {
        let (name, operator, shape, _) = profile.launches.kernel_key(launch.row());
        let head = match self.head_of_name.get(&name) {
            Some(head) => *head,
            None => self.head(profile, name),
        };
        let key = (head, operator, shape, device);
        if let Some((last, group, may)) = self.last
            && last == key
        {
            return (group, may);
        }
        let group = *self.index.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() - 1
        });
        let told = self.by_operator(profile, head, operator);
        let is_product = told.is_some_and(|class| class.category == Category::DotProduct);
        let may = is_product || self.names[head].may_use_tensor_cores;
        self.last = Some((key, group, may));
        (group, may)
    }

    /// What the name of a group's kernels tells, or their operator where the name tells nothing.
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

    /// What the operator tells of a kernel whose name tells nothing.
    fn by_operator(&mut self, profile: &Profile, head: usize, operator: NameId) -> Option<&Class> {
        if operator == NameId::default() || self.names[head].class.category != Category::Unknown {
            return None;
        }
        let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
        let classified = || Arc::new(taxonomy.classify_operator(profile.names.get(operator)));
        Some(self.operators.entry(operator).or_insert_with(classified))
    }

    fn head(&mut self, profile: &Profile, name: NameId) -> usize {
        let text = profile.names.get(name);
        let KernelName { head, short } = KernelName::parse(text);
        let next = self.names.len();
        let found = match self.heads.get(&head) {
            Some(found) => *found,
            None => {
                let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
                let class = taxonomy.classify(text);
                self.names.push(Name {
                    short: short.into(),
                    may_use_tensor_cores: intent::may_use_tensor_cores(&class, &head),
                    class: Arc::new(class),
                });
                self.heads.insert(head, next);
                next
            }
        };
        self.head_of_name.insert(name, found);
        found
    }
}

impl Analysis {
    /// Shows every launch with the position of its kernel, and whether tensor cores may have worked
    /// in it. Launches of kernels that were left out are not shown.
    pub(crate) fn each_grouped<'p>(
        &self,
        profile: &'p Profile,
        mut visit: impl FnMut(usize, &Launch<'p>, bool),
    ) {
        let mut groups = Groups::new(self.taxonomy.clone());
        // Each kernel is a group of its own: its longest launch makes the group's number the
        // kernel's position.
        for kernel in &self.kernels {
            groups.of(profile, &profile.launch(kernel.longest), kernel.device);
        }
        for launch in profile.iter() {
            let device = self.of_hint[usize::from(launch.head.device.0)];
            let (position, may_use_tensor_cores) = groups.of(profile, &launch, device);
            if position < self.kernels.len() {
                visit(position, &launch, may_use_tensor_cores);
            }
        }
    }
}
