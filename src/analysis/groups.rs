//! Groups launches into kernels: same name and parameters, operator, shape and device.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashMap;

use super::Analysis;
use super::nature::{launched_by_product, nature};
use crate::law::Nature;
use crate::model::{KernelName, Launch, NameId, Profile, Shape, Text, Texts, make_unique};
use crate::taxonomy::{Category, Class, Taxonomy};

/// Key of a kernel: name with parameter types, operator, shape and device.
pub(super) type Key = (u32, NameId, u32, u32);

/// The kernels met so far.
#[derive(Default)]
pub(super) struct Groups {
    /// The user's rules for names; `None` for the built-in ones.
    taxonomy: Option<Arc<Taxonomy>>,
    /// Where a head and its parameter list lead by their hash, or one of the numbers after it:
    /// overloads are different kernels. The texts themselves are those of the profile.
    heads: HashMap<u64, u32>,
    state: RandomState,
    /// The head of each name of the profile.
    head_of_name: Vec<u32>,
    /// Facts derived from each head.
    classes: Vec<Arc<Class>>,
    /// Short names by head, when all kernels were met.
    shorts: Vec<Text>,
    /// Grids and blocks by their number in the profile, when all kernels were met.
    shapes: Vec<Arc<Shape>>,
    /// Likely work of the kernels of each head, unless counters disagree.
    natures: Vec<Nature<f64>>,
    /// Of the spellings of each head, the one with the least number.
    spelled: Vec<NameId>,
    /// Classes of operators, for kernels whose names are not recognized.
    operators: HashMap<NameId, Arc<Class>>,
    index: HashMap<Key, u32>,
    pub(super) keys: Vec<Key>,
    last: Option<(Key, usize)>,
}

/// Marks a name whose head is not known yet.
const NO_HEAD: u32 = u32::MAX;

impl Groups {
    pub(super) fn new(taxonomy: Option<Arc<Taxonomy>>) -> Self {
        Self { taxonomy, ..Self::default() }
    }

    /// Returns empty groups with the same rules for names.
    pub(super) fn again(&self) -> Self {
        Self::new(self.taxonomy.clone())
    }

    /// Returns the group of a launch. Groups are numbered in order of appearance.
    pub(super) fn of(&mut self, profile: &Profile, row: usize, device: usize) -> usize {
        let (name, operator, shape, _) = profile.launches.kernel_key(row);
        let head = match self.head_of_name.get(name.0 as usize) {
            Some(head) if *head != NO_HEAD => *head,
            _ => self.head(profile, name),
        };
        let key = (head, operator, shape, device as u32);
        if let Some((last, group)) = self.last
            && last == key
        {
            return group;
        }
        let group = *self.index.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.keys.len() as u32 - 1
        });
        self.last = Some((key, group as usize));
        group as usize
    }

    /// Returns the likely work of each group's kernels, when all launches were met.
    pub(super) fn take_natures(&mut self, profile: &Profile) -> Vec<Nature<f64>> {
        let natures = (0..self.keys.len()).map(|group| self.nature(profile, group)).collect();
        self.natures = Vec::new();
        natures
    }

    /// Returns the likely work of a group's kernels.
    pub(super) fn nature(&mut self, profile: &Profile, group: usize) -> Nature<f64> {
        let (head, operator, ..) = self.keys[group];
        let own = self.natures[head as usize];
        match self.by_operator(profile, head, operator) {
            Some(class) if class.category == Category::DotProduct => launched_by_product(own),
            Some(class) if class.category != Category::Unknown => nature(class, ""),
            _ => own,
        }
    }

    /// Returns the short name of a group's kernels, when all were met.
    pub(super) fn short(&self, group: usize) -> Text {
        self.shorts[self.keys[group].0 as usize].clone()
    }

    /// Returns grid and block of a group's kernels, when all were met; kernels of one shape share it.
    pub(super) fn shape(&self, group: usize) -> Arc<Shape> {
        Arc::clone(&self.shapes[self.keys[group].2 as usize])
    }

    /// Returns `true` unless it is communication or a copy, which links limit.
    pub(super) fn computes(&self, group: usize) -> bool {
        !self.class(group).crosses_link()
    }

    /// Returns the facts from the name of a group's kernels, or from their operator if the name is
    /// not recognized.
    pub(super) fn class(&self, group: usize) -> Arc<Class> {
        let (head, operator, ..) = self.keys[group];
        let class = &self.classes[head as usize];
        let by_operator = self.operators.get(&operator);
        let by_operator = by_operator.filter(|_| class.category == Category::Unknown);
        Arc::clone(by_operator.unwrap_or(class))
    }

    /// Returns the class of the operator, for a kernel whose name is not recognized.
    fn by_operator(&mut self, profile: &Profile, head: u32, operator: NameId) -> Option<&Class> {
        let class = &self.classes[head as usize];
        if operator == NameId::default() || class.category != Category::Unknown {
            return None;
        }
        let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
        let classified = || Arc::new(taxonomy.classify_operator(profile.names.get(operator)));
        Some(self.operators.entry(operator).or_insert_with(classified))
    }

    /// Returns for each head whether one kernel alone has it.
    pub(super) fn alone(&self) -> Vec<bool> {
        let mut counts = vec![0_u8; self.classes.len()];
        for (head, ..) in &self.keys {
            counts[*head as usize] = counts[*head as usize].saturating_add(1);
        }
        counts.into_iter().map(|count| count == 1).collect()
    }

    /// Makes short names of different kernels unique, when all kernels were met.
    pub(super) fn finish(&mut self, profile: &Profile) {
        self.heads = HashMap::new();
        self.head_of_name = Vec::new();
        self.index = HashMap::new();
        // Many names are short as they are; the others share blocks of their own.
        let mut own = Texts::default();
        let shorts = self.spelled.iter().map(|name| {
            let text = profile.names.get(*name);
            let short = KernelName::short(&KernelName::head(text));
            if short == text {
                return Some(profile.names.shared(*name));
            }
            own.push(&short);
            None
        });
        let shorts: Vec<Option<Text>> = shorts.collect();
        let mut next = 0..own.len();
        let short = |short: Option<Text>| short.or_else(|| Some(own.shared(next.next()?)));
        self.shorts = shorts.into_iter().filter_map(short).collect();
        make_unique(&mut self.shorts, |at| KernelName::parts(profile.names.get(self.spelled[at])));
        self.shapes = profile.launches.shapes().map(Arc::new).collect();
        self.classes.shrink_to_fit();
        self.keys.shrink_to_fit();
        self.spelled = Vec::new();
    }

    /// Returns the head of each group.
    pub(super) fn into_heads(self) -> Vec<u32> {
        self.keys.into_iter().map(|(head, ..)| head).collect()
    }

    fn head(&mut self, profile: &Profile, name: NameId) -> u32 {
        let text = profile.names.get(name);
        let identity = KernelName::identity(text);
        let mut hash = self.state.hash_one(&identity);
        let found = loop {
            match self.heads.get(&hash).copied() {
                None => break self.add(profile, &identity.0, name, hash),
                Some(head) => {
                    let known = profile.names.get(self.spelled[head as usize]);
                    if KernelName::identity(known) == identity {
                        break head;
                    }
                }
            }
            hash = hash.wrapping_add(1);
        };
        let spelled = &mut self.spelled[found as usize];
        *spelled = name.min(*spelled);
        let at = name.0 as usize;
        if self.head_of_name.len() <= at {
            self.head_of_name.resize(at + 1, NO_HEAD);
        }
        self.head_of_name[at] = found;
        found
    }

    fn add(&mut self, profile: &Profile, head: &str, name: NameId, hash: u64) -> u32 {
        let text = profile.names.get(name);
        let taxonomy = self.taxonomy.as_deref().unwrap_or(Taxonomy::builtin());
        let class = taxonomy.shared(text);
        let at = self.classes.len() as u32;
        self.natures.push(nature(&class, head));
        self.classes.push(class);
        self.spelled.push(name);
        self.heads.insert(hash, at);
        at
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
        mut visit: impl FnMut(usize, &Launch<'p>, Nature<f64>),
    ) {
        let mut places = vec![None; self.natures.len()];
        for (position, kernel) in self.kernels.iter().enumerate() {
            places[self.of_row[kernel.longest] as usize] = Some(position as u32);
        }
        for (launch, group) in profile.iter().zip(&self.of_row) {
            let group = *group as usize;
            if let Some(position) = places[group] {
                visit(position as usize, &launch, self.natures[group]);
            }
        }
    }
}
