//! The product of two packed matrices, with its sums held in vector registers.
//!
//! Written with explicit vectors: left to itself the compiler unrolls the block of sums into single
//! numbers before it looks for vectors, and then finds none.

use crate::kernels::Real;
use pulp::{Arch, Simd, WithSimd};

/// Columns of a panel: a multiple of `VECTORS` of the widest vectors there are.
pub(crate) const PANEL: usize = 32;
/// Rows of the block of sums, and its vectors per row: 12 sums, which together with what they are
/// made of fit the 16 registers of AVX2, and are enough to hide the latency of AVX-512.
pub(crate) const HEIGHT: usize = 6;
const VECTORS: usize = 2;

/// `keys[r, j] = <left_r, right_j>`, or that added to what is there with `onto`; both sides packed in the
/// order in which they are read: `left` `[rows / HEIGHT, depth, HEIGHT]`, `panels`
/// `[columns / PANEL, depth, PANEL]`; `keys` is `[rows, columns]`.
pub(crate) fn product<T: Real>(left: &[T], panels: &[T], depth: usize, keys: &mut [T], onto: bool) {
    // `Real` is f32 or f64; the casts only give the compiler the name of what it already has.
    if size_of::<T>() == size_of::<f32>() {
        let (left, panels) = (bytemuck::cast_slice(left), bytemuck::cast_slice(panels));
        let keys = bytemuck::cast_slice_mut(keys);
        Arch::new().dispatch(Single { left, panels, depth, keys, onto });
    } else {
        let (left, panels) = (bytemuck::cast_slice(left), bytemuck::cast_slice(panels));
        let keys = bytemuck::cast_slice_mut(keys);
        Arch::new().dispatch(Double { left, panels, depth, keys, onto });
    }
}

/// The same product for both element types, whose vectors go by different names.
macro_rules! product {
    ($name:ident, $real:ty, $lanes:ident, $as_simd:ident, $as_mut:ident, $splat:ident, $fma:ident) => {
        struct $name<'a> {
            left: &'a [$real],
            panels: &'a [$real],
            depth: usize,
            keys: &'a mut [$real],
            onto: bool,
        }

        impl WithSimd for $name<'_> {
            type Output = ();

            #[inline(always)]
            fn with_simd<S: Simd>(self, simd: S) {
                let Self { left, panels, depth, keys, onto } = self;
                let columns = panels.len() / depth;
                let width = PANEL / S::$lanes;
                for (at, panel) in panels.chunks_exact(depth * PANEL).enumerate() {
                    let (panel, _) = S::$as_simd(panel);
                    for (group, left) in left.chunks_exact(HEIGHT * depth).enumerate() {
                        for part in (0..width).step_by(VECTORS) {
                            let mut sums = [[simd.$splat(0.0); VECTORS]; HEIGHT];
                            if onto {
                                for (r, sums) in sums.iter_mut().enumerate() {
                                    let start = (group * HEIGHT + r) * columns + at * PANEL;
                                    let (row, _) = S::$as_simd(&keys[start..start + PANEL]);
                                    sums.copy_from_slice(&row[part..part + VECTORS]);
                                }
                            }
                            let steps = left.chunks_exact(HEIGHT).zip(panel.chunks_exact(width));
                            for (left, right) in steps {
                                let right = &right[part..part + VECTORS];
                                for r in 0..HEIGHT {
                                    let factor = simd.$splat(left[r]);
                                    for v in 0..VECTORS {
                                        sums[r][v] = simd.$fma(factor, right[v], sums[r][v]);
                                    }
                                }
                            }
                            for (r, sums) in sums.iter().enumerate() {
                                let start = (group * HEIGHT + r) * columns + at * PANEL;
                                let (row, _) = S::$as_mut(&mut keys[start..start + PANEL]);
                                row[part..part + VECTORS].copy_from_slice(sums);
                            }
                        }
                    }
                }
            }
        }
    };
}

product!(Single, f32, F32_LANES, as_simd_f32s, as_mut_simd_f32s, splat_f32s, mul_add_f32s);
product!(Double, f64, F64_LANES, as_simd_f64s, as_mut_simd_f64s, splat_f64s, mul_add_f64s);
