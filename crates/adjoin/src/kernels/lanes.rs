//! Vector registers of either element type, for loops that must keep tiles of sums in them.
//!
//! Simple loops over slices vectorise by themselves; tiles of sums do not, the compiler keeps them
//! in memory and works one by one. These few operations, safe wrappers of pulp's, say it outright.

use pulp::Simd;

/// An element type with vectors of it on every instruction set.
pub trait Lanes: Copy {
    /// A vector.
    type Vector<S: Simd>: Copy;

    /// The slice as vectors; what is left over must not matter.
    fn vectors<S: Simd>(values: &[Self]) -> &[Self::Vector<S>];
    /// The slice as vectors, to change.
    fn vectors_mut<S: Simd>(values: &mut [Self]) -> &mut [Self::Vector<S>];
    /// All lanes the same.
    fn splat<S: Simd>(simd: S, value: Self) -> Self::Vector<S>;
    /// `a + b`.
    fn plus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a - b`.
    fn minus<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `a b + c`, rounded once.
    fn fma<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        c: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The larger, lane by lane.
    fn larger<S: Simd>(simd: S, a: Self::Vector<S>, b: Self::Vector<S>) -> Self::Vector<S>;
    /// `value` where `a > b`, zero elsewhere.
    fn where_greater<S: Simd>(
        simd: S,
        a: Self::Vector<S>,
        b: Self::Vector<S>,
        value: Self::Vector<S>,
    ) -> Self::Vector<S>;
    /// The sum of the lanes.
    fn total<S: Simd>(simd: S, a: Self::Vector<S>) -> Self;

    /// A value and a column as one integer.
    type Ranked: Copy + Ord + Send;
    /// Smaller for larger values and, among equal ones, for lower columns.
    fn ranked(self, column: u32) -> Self::Ranked;
    /// The value of it.
    fn of_rank(ranked: Self::Ranked) -> Self;
    /// The column of it.
    fn column_of_rank(ranked: Self::Ranked) -> u32;
}

macro_rules! lanes {
    ($t:ty, $bits:ty, $ranked:ty, $vector:ident, $slice:ident, $slice_mut:ident, $splat:ident, $add:ident, $sub:ident,
     $fma:ident, $max:ident, $greater:ident, $select:ident, $sum:ident) => {
        impl Lanes for $t {
            type Vector<S: Simd> = S::$vector;

            #[inline(always)]
            fn vectors<S: Simd>(values: &[Self]) -> &[S::$vector] {
                S::$slice(values).0
            }
            #[inline(always)]
            fn vectors_mut<S: Simd>(values: &mut [Self]) -> &mut [S::$vector] {
                S::$slice_mut(values).0
            }
            #[inline(always)]
            fn splat<S: Simd>(simd: S, value: Self) -> S::$vector {
                simd.$splat(value)
            }
            #[inline(always)]
            fn plus<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$add(a, b)
            }
            #[inline(always)]
            fn minus<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$sub(a, b)
            }
            #[inline(always)]
            fn fma<S: Simd>(simd: S, a: S::$vector, b: S::$vector, c: S::$vector) -> S::$vector {
                simd.$fma(a, b, c)
            }
            #[inline(always)]
            fn larger<S: Simd>(simd: S, a: S::$vector, b: S::$vector) -> S::$vector {
                simd.$max(a, b)
            }
            #[inline(always)]
            fn where_greater<S: Simd>(
                simd: S,
                a: S::$vector,
                b: S::$vector,
                value: S::$vector,
            ) -> S::$vector {
                simd.$select(simd.$greater(a, b), value, simd.$splat(0.0))
            }
            #[inline(always)]
            fn total<S: Simd>(simd: S, a: S::$vector) -> Self {
                simd.$sum(a)
            }

            type Ranked = $ranked;

            #[inline(always)]
            fn ranked(self, column: u32) -> $ranked {
                // Floats order like integers of sign and magnitude. Adding zero makes -0 and 0 one.
                let bits = (self + 0.0).to_bits();
                let negative = bits >> (<$bits>::BITS - 1);
                let descending = if negative == 0 { !bits & (<$bits>::MAX >> 1) } else { bits };
                ((descending as $ranked) << 32) | column as $ranked
            }
            #[inline(always)]
            fn of_rank(ranked: $ranked) -> Self {
                let bits = (ranked >> 32) as $bits;
                let positive = bits >> (<$bits>::BITS - 1) == 0;
                Self::from_bits(if positive { !bits & (<$bits>::MAX >> 1) } else { bits })
            }
            #[inline(always)]
            fn column_of_rank(ranked: $ranked) -> u32 {
                ranked as u32
            }
        }
    };
}

lanes!(
    f32,
    u32,
    u64,
    f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_add_f32s,
    max_f32s,
    greater_than_f32s,
    select_f32s,
    reduce_sum_f32s
);
lanes!(
    f64,
    u64,
    u128,
    f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_add_f64s,
    max_f64s,
    greater_than_f64s,
    select_f64s,
    reduce_sum_f64s
);
