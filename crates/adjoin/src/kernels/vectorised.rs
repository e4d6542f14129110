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
