//! The gates of a gated recurrent unit, all in one pass:
//! `r, u = sigmoid(a + b)`, `c = tanh(a_c + r b_c)`, `h' = c + u (h - c)`.

use super::{
    Real,
    parts::{Rows, for_blocks},
    rows::zeros,
    vectorise,
};

/// Operations per element, about.
const COST: usize = 60;

/// `h'` `[nodes, width]` and the gates `r`, `u`, `c` `[nodes, 3 width]`, from the shares of the input
/// and of the state in the gates, `[nodes, 3 width]` each, and the state `[nodes, width]`.
pub fn forward<T: Real>(input: &[T], state: &[T], h: &[T], width: usize) -> (Vec<T>, Vec<T>) {
    let (mut out, mut gates) = (zeros(h.len()), zeros(input.len()));
    let parts = (Rows(&mut out, width), Rows(&mut gates, 3 * width));
    for_blocks(
        h.len() / width.max(1),
        COST * width,
        parts,
        |rows, (Rows(out, _), Rows(gates, _))| {
            for (at, row) in rows.enumerate() {
                let three = 3 * row * width..3 * (row + 1) * width;
                let inputs = (&input[three.clone()], &state[three], &h[row * width..][..width]);
                let out = &mut out[at * width..][..width];
                vectorise!(step, (inputs, &mut gates[3 * at * width..][..3 * width], out));
            }
        },
    );
    (out, gates)
}

/// Gradients of the input's share, the state's share and the state.
pub fn backward<T: Real>(
    state: &[T],
    h: &[T],
    gates: &[T],
    grad: &[T],
    width: usize,
) -> [Vec<T>; 3] {
    let (mut d_input, mut d_state) = (zeros(gates.len()), zeros(gates.len()));
    let mut d_h = zeros(h.len());
    let parts =
        (Rows(&mut d_input, 3 * width), Rows(&mut d_state, 3 * width), Rows(&mut d_h, width));
    for_blocks(
        h.len() / width.max(1),
        COST * width,
        parts,
        |rows, (Rows(a, _), Rows(b, _), Rows(c, _))| {
            for (at, row) in rows.enumerate() {
                let (one, three) =
                    (row * width..(row + 1) * width, 3 * row * width..3 * (row + 1) * width);
                let saved = (&state[three.clone()], &gates[three], &h[one.clone()], &grad[one]);
                let here = 3 * at * width..3 * (at + 1) * width;
                let slots = (&mut a[here.clone()], &mut b[here], &mut c[at * width..][..width]);
                vectorise!(slopes, (saved, slots));
            }
        },
    );
    [d_input, d_state, d_h]
}

type Inputs<'a, T> = (&'a [T], &'a [T], &'a [T]);

#[inline(always)]
fn step<T: Real>(((input, state, h), gates, out): (Inputs<T>, &mut [T], &mut [T])) {
    let width = h.len();
    let (both, candidate) = gates.split_at_mut(2 * width);
    for ((gate, &a), &b) in both.iter_mut().zip(input).zip(state) {
        *gate = (a + b).sigmoid();
    }
    let (reset, update) = both.split_at(width);
    let (input, state) = (&input[2 * width..], &state[2 * width..]);
    for n in 0..width {
        let c = reset[n].mul_add(state[n], input[n]).tanh();
        candidate[n] = c;
        out[n] = update[n].mul_add(h[n] - c, c);
    }
}

type Saved<'a, T> = (&'a [T], &'a [T], &'a [T], &'a [T]);
type Slots<'a, T> = (&'a mut [T], &'a mut [T], &'a mut [T]);

#[inline(always)]
fn slopes<T: Real>(((state, gates, h, grad), (d_input, d_state, d_h)): (Saved<T>, Slots<T>)) {
    let width = h.len();
    let (reset, update) = (&gates[..width], &gates[width..2 * width]);
    let (candidate, state) = (&gates[2 * width..], &state[2 * width..]);
    for n in 0..width {
        let (r, u, c, g) = (reset[n], update[n], candidate[n], grad[n]);
        let of_candidate = g * (T::ONE - u) * (T::ONE - c * c);
        let of_reset = of_candidate * state[n] * r * (T::ONE - r);
        let of_update = g * (h[n] - c) * u * (T::ONE - u);
        (d_input[n], d_state[n]) = (of_reset, of_reset);
        (d_input[width + n], d_state[width + n]) = (of_update, of_update);
        (d_input[2 * width + n], d_state[2 * width + n]) = (of_candidate, of_candidate * r);
        d_h[n] = g * u;
    }
}
