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

/// Kernels of PyTorch where the profiler shows no namespaces.
const OF_PYTORCH: [&str; 7] = [
    "elementwise_kernel",
    "vectorized_elementwise_kernel",
    "unrolled_elementwise_kernel",
    "distribution_elementwise_grid_stride_kernel",
    "reduce_kernel",
    "multi_tensor_apply_kernel",
    "vectorized_layer_norm_kernel",
];

impl Library {
    /// Whether a kernel of this name is of the library itself. Types of PyTorch are arguments of the kernels of many
    /// extensions (`my_kernel<c10::Half>`), and Winograd's method is not cuDNN's alone.
    fn wrote(&self, name: &str) -> bool {
        match self.key {
            "pytorch" => {
                let function = name.trim_start_matches("void ");
                let function = function.split(['<', '(']).next().unwrap_or_default();
                // Some versions of Nsight Compute leave the first namespace out.
                let begins = ["at::", "native::", "cunn_"];
                begins.iter().any(|begin| function.starts_with(begin))
                    || OF_PYTORCH.contains(&function)
            }
            "cudnn" => {
                let name = name.to_ascii_lowercase();
                name.contains("cudnn") || !name.contains("winograd")
            }
            _ => true,
        }
    }
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
        let library = LIBRARIES.iter().find(|library| library.key == key)?;
        library.wrote(&self.kernel.full_name).then_some(library)
    }
}

#[cfg(test)]
mod tests {
    use super::LIBRARIES;

    #[test]
    fn kernels_of_extensions_are_not_those_of_the_library() {
        let wrote = |key: &str, name: &str| {
            LIBRARIES.iter().find(|library| library.key == key).unwrap().wrote(name)
        };
        assert!(wrote("pytorch", "void at::native::elementwise_kernel<128, 4, c10::Half>(int)"));
        assert!(wrote("pytorch", "void cunn_SoftMaxForward<4, float>(float*)"));
        assert!(wrote("pytorch", "reduce_kernel<512, 1, c10::Half>"));
        assert!(wrote("pytorch", "void native::vectorized_elementwise_kernel<4, c10::Half>(int)"));
        assert!(!wrote("pytorch", "void my_layernorm<c10::Half>(c10::Half const*)"));
        assert!(wrote("cudnn", "ampere_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v0"));
        assert!(wrote("cudnn", "void cudnn::winograd::generateWinogradTilesKernel<0, float>(int)"));
        assert!(wrote("cudnn", "dgrad_engine<float, 128>"));
        assert!(!wrote("cudnn", "winograd_naive(float const*, float*)"));
    }
}
