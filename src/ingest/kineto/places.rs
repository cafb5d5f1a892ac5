//! Where in the program a kernel was launched: the modules around the call, the lines of its operator's stack, or the
//! function around the call.

use super::gathered::{Call, Frame, Kernel, LIBRARIES};
use super::links::Links;
use super::nested::Nested;

/// Lines of a stack that are shown, from the innermost outwards.
const LINES: usize = 3;

/// Places in the program by what leads to them.
pub(super) struct Places<'a> {
    calls: &'a [Call],
    /// Modules and functions, with those around each.
    frames: [(&'a [Frame], Nested<'a, Frame>); 2],
    names: Vec<Vec<u8>>,
}

impl<'a> Places<'a> {
    /// Places by position, as [`super::gathered`] kept them: operators, modules and functions.
    pub(super) fn new(calls: &'a [Call], frames: [&'a Vec<Frame>; 2], names: Vec<Vec<u8>>) -> Self {
        let frames = frames.map(|frames| (frames.as_slice(), Nested::new(frames)));
        Self { calls, frames, names }
    }

    /// The place of a kernel: modules, outermost first; or else lines, innermost first; or else the innermost function.
    pub(super) fn of(
        &self,
        kernel: &Kernel,
        operator: Option<u32>,
        links: &Links<'_>,
    ) -> Option<String> {
        let called = links.launch(kernel.correlation).map(|launch| (launch.thread, launch.start));
        let around = |which: usize| {
            let (thread, time) = called?;
            Some(self.around(which, thread, time)).filter(|names| !names.is_empty())
        };
        let modules = around(0).map(|mut names| {
            names.reverse();
            names.join(" > ")
        });
        let stack = || {
            let calls = std::iter::successors(operator, |call| links.parent(*call));
            let mut places = calls.map(|call| self.calls[call as usize].place);
            let place = places.find(|place| *place > 0)?;
            Some(lines(&String::from_utf8_lossy(&self.names[place as usize])))
        };
        modules.or_else(stack).or_else(|| around(1)?.into_iter().next())
    }

    /// The modules or functions that are being called on a thread, innermost first.
    fn around(&self, which: usize, thread: u32, time: i64) -> Vec<String> {
        let (frames, nested) = &self.frames[which];
        let name = |at: u32| &self.names[frames[at as usize].name as usize];
        let around = nested.around(thread, time);
        around.map(|at| String::from_utf8_lossy(name(at)).into_owned()).collect()
    }
}

/// The lines of a stack that are the program's and not a library's; all of them where it has none.
fn lines(stack: &str) -> String {
    let all: Vec<&str> = stack.split(';').map(str::trim).filter(|line| !line.is_empty()).collect();
    let is_own = |line: &&str| !LIBRARIES.iter().any(|part| line.contains(part));
    let own: Vec<&str> = all.iter().copied().filter(is_own).take(LINES).collect();
    let shown = if own.is_empty() { all.into_iter().take(LINES).collect() } else { own };
    shown.join(" < ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::kineto::nested::Span;

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
    fn modules_around_a_call_are_named_from_the_innermost() {
        let module = |thread, start, end, name| Frame { span: Span { thread, start, end }, name };
        let names = ["", "Net_0", "Linear_0", "Linear_1"].map(|name| name.as_bytes().to_vec());
        let modules = vec![
            module(0, 10, 20, 2),
            module(0, 0, 50, 1),
            module(0, 30, 40, 3),
            module(1, 0, 50, 3),
        ];
        let none = Vec::new();
        let places = Places::new(&[], [&modules, &none], names.to_vec());
        assert_eq!(places.around(0, 0, 15), ["Linear_0", "Net_0"]);
        assert_eq!(places.around(0, 0, 35), ["Linear_1", "Net_0"]);
        assert_eq!(places.around(0, 0, 25), ["Net_0"]);
        for (which, thread, time) in [(0, 0, 60), (0, 2, 15), (1, 0, 15)] {
            assert!(places.around(which, thread, time).is_empty());
        }
    }
}
