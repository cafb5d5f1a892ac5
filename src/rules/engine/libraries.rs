//! Kernels of libraries: whoever profiles a program calls them, and seldom writes them.

use super::subject::Subject;

/// A library whose kernels are called and not written.
struct Library {
    /// As the class of a kernel names it.
    key: &'static str,
    /// Whether its source is not public.
    is_closed: bool,
    /// What a caller can do about a slow kernel of it.
    next: &'static str,
}

const LIBRARIES: [Library; 7] = [
    Library {
        key: "cublas",
        is_closed: true,
        next: "call cuBLAS with other sizes or leading dimensions, or try another algorithm or version of it",
    },
    Library {
        key: "cudnn",
        is_closed: true,
        next: "let cuDNN try another algorithm (cudnn.benchmark in PyTorch), channels-last data or other sizes, or another version",
    },
    Library {
        key: "cusolver",
        is_closed: true,
        next: "call cuSOLVER with other sizes or batches, or try another algorithm or version of it",
    },
    Library {
        key: "cusparse",
        is_closed: true,
        next: "try another format, algorithm or version of cuSPARSE",
    },
    Library {
        key: "rocblas",
        is_closed: false,
        next: "call rocBLAS with other sizes, or try a tuned solution (TunableOp in PyTorch) or another version of it",
    },
    Library {
        key: "miopen",
        is_closed: false,
        next: "let MIOpen search for another algorithm (MIOPEN_FIND_ENFORCE=search), or try channels-last data",
    },
    Library {
        key: "pytorch",
        is_closed: false,
        next: "fuse this PyTorch kernel with its neighbors (torch.compile), or change shapes and layouts of its operands",
    },
];

impl Subject<'_> {
    /// The next step of a finding that asks for a change of the kernel: `next`, or what a caller can do where a library
    /// wrote it.
    pub(in crate::rules) fn rewrite(&self, next: impl Into<String>) -> String {
        match self.library() {
            Some(library) => library.next.to_owned(),
            None => next.into(),
        }
    }

    /// Whether the source of the kernel is not public.
    pub(in crate::rules) fn is_closed(&self) -> bool {
        self.library().is_some_and(|library| library.is_closed)
    }

    fn library(&self) -> Option<&'static Library> {
        let key = self.class().library.as_deref()?;
        LIBRARIES.iter().find(|library| library.key == key)
    }
}
