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

/// `vectorise!(kernel, arguments)`: [`vectorised`] with the kernel certain to be
/// inlined.
///
/// A function item passed as a value is called through a shim that the compiler generates. Large
/// kernels are inlined into that shim but the shim is not inlined into the vector-enabled code, so
/// they silently run without vectors (and every `mul_add` becomes a library call). A closure can
/// carry `#[inline(always)]`; a shim cannot.
macro_rules! vectorise {
    ($kernel:expr, $arguments:expr $(,)?) => {
        $crate::kernels::vectorised(
            #[inline(always)]
            |arguments| $kernel(arguments),
            $arguments,
        )
    };
}
pub(crate) use vectorise;

/// Calls `kernel(arguments)` in a context where the compiler may use AVX2, AVX-512, NEON, ...
///
/// The kernel must be an `#[inline(always)]` function item taking one tuple: it is then compiled
/// once per instruction set and the loops in it vectorise. The choice is made at run time, so one
/// binary serves every machine, and needs no unsafe code here. Prefer the macro `vectorise!`.
#[inline]
pub(crate) fn vectorised<F: FnOnce(A) -> R, A, R>(kernel: F, arguments: A) -> R {
    Arch::new().dispatch(Call(kernel, arguments))
}
