//! Runs a kernel compiled for the widest vector unit the machine has.

use pulp::{Arch, Simd, WithSimd};

/// A function and its one argument, to be called inside vector-enabled code.
struct Call<F, A>(F, A);

impl<F: FnOnce(A) -> R, A, R> WithSimd for Call<F, A> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> R {
        (self.0)(self.1)
    }
}

/// Calls `kernel(arguments)` in a context where the compiler may use AVX2, AVX-512, NEON, ...
///
/// The kernel must be an `#[inline(always)]` function item taking one tuple: it is then compiled
/// once per instruction set and the loops in it vectorise. The choice is made at run time, so one
/// binary serves every machine, and needs no unsafe code here.
#[inline]
pub(crate) fn vectorised<F: FnOnce(A) -> R, A, R>(kernel: F, arguments: A) -> R {
    Arch::new().dispatch(Call(kernel, arguments))
}

/// A kernel too large for [`vectorised`], as a struct that holds its arguments.
///
/// The call of a function item goes through a shim that the compiler does not inline when the
/// function is large, and what is not inlined is compiled without vector instructions; `run`, marked
/// `#[inline(always)]`, is inlined whatever its size.
pub(crate) trait Kernel {
    /// What it computes.
    type Output;

    /// Computes it with the instructions of `simd`; implementations must be `#[inline(always)]`.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

struct Run<K>(K);

impl<K: Kernel> WithSimd for Run<K> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> K::Output {
        self.0.run(simd)
    }
}

/// [`vectorised`] for a [`Kernel`].
pub(crate) fn vectorised_kernel<K: Kernel>(kernel: K) -> K::Output {
    Arch::new().dispatch(Run(kernel))
}
