//! Where in the program a kernel was launched: the modules around the call, or the lines of its operator's stack.

use super::gathered::{Call, Kernel, ModuleCall};
use super::links::Links;

/// Lines of a stack that are shown, from the innermost outwards.
const LINES: usize = 3;

/// Places in the program by what leads to them.
pub(super) struct Places<'a> {
    calls: &'a [Call],
    /// In order of thread and start.
    modules: Vec<ModuleCall>,
    /// Of each module the one that encloses it.
    outer: Vec<Option<usize>>,
    names: Vec<Vec<u8>>,
}

impl<'a> Places<'a> {
    /// Places by position, as [`super::gathered`] kept them.
    pub(super) fn new(
        calls: &'a [Call],
        mut modules: Vec<ModuleCall>,
        names: Vec<Vec<u8>>,
    ) -> Self {
        modules.sort_by_key(|one| (one.thread, one.start, std::cmp::Reverse(one.end)));
        Self { calls, outer: outer(&modules), modules, names }
    }

    /// The place of a kernel: modules, outermost first, or else lines, innermost first.
    pub(super) fn of(
        &self,
        kernel: &Kernel,
        operator: Option<u32>,
        links: &Links<'_>,
    ) -> Option<String> {
        let called = links.launch(kernel).map(|launch| (launch.thread, launch.start));
        called.and_then(|(thread, time)| self.modules_at(thread, time)).or_else(|| {
            let mut at = operator;
            while let Some(call) = at {
                let place = self.calls[call as usize].place;
                if place > 0 {
                    return Some(lines(&String::from_utf8_lossy(&self.names[place as usize])));
                }
                at = links.parent(call);
            }
            None
        })
    }

    /// The modules that are being called on a thread, outermost first.
    fn modules_at(&self, thread: u32, time: i64) -> Option<String> {
        let later = self.modules.partition_point(|one| (one.thread, one.start) <= (thread, time));
        let mut at = later.checked_sub(1);
        let mut names = Vec::new();
        while let Some(module) = at.map(|at| self.modules[at]) {
            if module.thread != thread {
                break;
            }
            if module.end >= time {
                names.push(String::from_utf8_lossy(&self.names[module.name as usize]));
            }
            at = at.and_then(|at| self.outer[at]);
        }
        names.reverse();
        (!names.is_empty()).then(|| names.join(" > "))
    }
}

/// Of each module the one that encloses it; they are in order of thread and start.
fn outer(modules: &[ModuleCall]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut outer = Vec::with_capacity(modules.len());
    for (at, module) in modules.iter().enumerate() {
        let is_over = |at: &usize| {
            let one = &modules[*at];
            one.thread != module.thread || one.end < module.start
        };
        while open.last().is_some_and(is_over) {
            open.pop();
        }
        outer.push(open.last().copied());
        open.push(at);
    }
    outer
}

/// The lines of a stack that are the program's and not a library's; all of them where it has none.
fn lines(stack: &str) -> String {
    let all: Vec<&str> = stack.split(';').map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_own = |line: &&str| {
        !["site-packages", "dist-packages", "<built-in"].iter().any(|part| line.contains(part))
    };
    let own: Vec<&str> = all.iter().copied().filter(is_own).take(LINES).collect();
    let shown = if own.is_empty() { all.into_iter().take(LINES).collect() } else { own };
    shown.join(" < ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_libraries_are_left_out_where_there_are_others() {
        let torch = "/opt/python/site-packages/torch/nn/functional.py(12): linear";
        for (stack, shown) in [
            (
                format!("{torch};train.py(7): step;main.py(54): <module>"),
                "train.py(7): step < main.py(54): <module>",
            ),
            (torch.to_owned(), torch),
            ("Net(ResNet).layer1(Sequential)".to_owned(), "Net(ResNet).layer1(Sequential)"),
        ] {
            assert_eq!(lines(&stack), shown);
        }
    }

    #[test]
    fn modules_around_a_call_are_named_from_the_outermost() {
        let module = |thread, start, end, name| ModuleCall { thread, start, end, name };
        let names = ["", "Net_0", "Linear_0", "Linear_1"].map(|name| name.as_bytes().to_vec());
        let modules = vec![
            module(0, 10, 20, 2),
            module(0, 0, 50, 1),
            module(0, 30, 40, 3),
            module(1, 0, 50, 3),
        ];
        let places = Places::new(&[], modules, names.to_vec());
        assert_eq!(places.modules_at(0, 15).unwrap(), "Net_0 > Linear_0");
        assert_eq!(places.modules_at(0, 35).unwrap(), "Net_0 > Linear_1");
        assert_eq!(places.modules_at(0, 25).unwrap(), "Net_0");
        assert_eq!((places.modules_at(0, 60), places.modules_at(2, 15)), (None, None));
    }
}
