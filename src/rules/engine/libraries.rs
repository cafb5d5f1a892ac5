//! Kernels of libraries: whoever profiles a program calls them, and seldom writes them.

use super::subject::Subject;

/// A library whose kernels are called and not written.
struct Library {
    /// As the class of a kernel names it.
    key: &'static str,
    name: &'static str,
    /// Whether its source is not public.
    is_closed: bool,
    /// What a caller can do about a slow kernel of it.
    next: &'static str,
}

const LIBRARIES: [Library; 7] = [
    Library {
        key: "cublas",
        name: "cuBLAS",
        is_closed: true,
        next: "try other sizes or leading dimensions, another algorithm (the heuristics of cublasLt), or another version",
    },
    Library {
        key: "cudnn",
        name: "cuDNN",
        is_closed: true,
        next: "try another algorithm (cudnn.benchmark in PyTorch), channels-last data, other sizes, or another version",
    },
    Library {
        key: "cusolver",
        name: "cuSOLVER",
        is_closed: true,
        next: "try other sizes, batches, or another algorithm or version",
    },
    Library {
        key: "cusparse",
        name: "cuSPARSE",
        is_closed: true,
        next: "try another format, algorithm or version",
    },
    Library {
        key: "rocblas",
        name: "rocBLAS",
        is_closed: false,
        next: "try other sizes or leading dimensions, a tuned solution (TunableOp in PyTorch), or another version",
    },
    Library {
        key: "miopen",
        name: "MIOpen",
        is_closed: false,
        next: "let it search (MIOPEN_FIND_ENFORCE=search), or try channels-last data or another version",
    },
    Library {
        key: "pytorch",
        name: "PyTorch",
        is_closed: false,
        next: "fuse it with its neighbors (torch.compile), or change shapes and layouts of its operands",
    },
];

impl Subject<'_> {
    /// The next step of a finding that asks for a change of the kernel: `next`, or what a caller can do where a library
    /// wrote it.
    pub(in crate::rules) fn rewrite(&self, next: impl Into<String>) -> String {
        match self.library() {
            Some(library) => format!("it is a kernel of {}: {}", library.name, library.next),
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
