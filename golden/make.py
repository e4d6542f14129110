"""Golden vectors: every operation of adjoin, re-written from its equation in float64 PyTorch.

    python golden/make.py            write the .safetensors files beside this script
    python golden/make.py --check    recompute, compare with the files on disk, write nothing
    python golden/make.py --list     print name, type and shape of every tensor on disk

Needs numpy, torch and safetensors. Deterministic: one thread, inputs from numpy's PCG64 with a fixed
seed a topic, so a second run on the same machine gives the same bytes. Random inputs are multiples of
1/256, hence exact in float32 too: a float32 implementation starts from the same numbers.

Conventions (all files):
  * float64 and int64 only; a scalar is a tensor of shape [1].
  * a sparse matrix is `pointers` [rows + 1] and `indices` [entries], columns sorted within a row; row i
    lists the columns j that node i receives from; entry values are in the same order.
  * inputs carry their plain name; `out` is the result; the loss is sum(out * probe); `grad.NAME` is its
    gradient by the input NAME. Where a file holds several cases they come as `CASE.out`, `CASE.grad.x`, ...
  * every input keeps clear of kinks (ties in ranks and maxima, zeros of relu) unless a case says so.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save

HERE = Path(__file__).resolve().parent
TOPICS = {}


def topic(function):
    TOPICS[function.__name__] = function
    return function


# ---------------------------------------------------------------------------------------- tools


class Book:
    """The tensors of one file, and the random numbers that fill it."""

    def __init__(self, seed):
        self.tensors = {}
        self.rng = np.random.Generator(np.random.PCG64(seed))

    def put(self, name, value):
        if isinstance(value, (int, float)):
            value = torch.tensor([value], dtype=torch.float64 if isinstance(value, float) else torch.int64)
        value = torch.as_tensor(value).detach()
        value = value.to(torch.float64 if value.is_floating_point() else torch.int64)
        assert name not in self.tensors, name
        self.tensors[name] = value.clone().contiguous()

    def random(self, *shape, low=-1.0, high=1.0):
        values = low + (high - low) * self.rng.random(shape)
        return torch.from_numpy(np.round(values * 256) / 256)

    def gumbel(self, *shape):
        u = np.clip(self.rng.random(shape), 1e-9, 1 - 1e-9)
        return torch.from_numpy(np.round(-np.log(-np.log(u)) * 256) / 256)

    def normal(self, *shape):
        """Box-Muller, so that nothing but uniform draws depends on the numpy version."""
        u, v = np.clip(self.rng.random(shape), 1e-9, 1), self.rng.random(shape)
        return torch.from_numpy(np.round(np.sqrt(-2 * np.log(u)) * np.cos(2 * np.pi * v) * 256) / 256)

    def input(self, name, value, differentiable=True):
        """Save an input and return it as a leaf."""
        self.put(name, value)
        value = value.clone()
        return value.requires_grad_() if differentiable else value

    def probe(self, name, *shape):
        value = self.random(*shape)
        self.put(name, value)
        return value

    def grads(self, prefix, loss, inputs):
        values = torch.autograd.grad(loss, list(inputs.values()), retain_graph=True, allow_unused=True)
        for (name, leaf), value in zip(inputs.items(), values):
            self.put(f"{prefix}grad.{name}", torch.zeros_like(leaf) if value is None else value)

    def result(self, prefix, out, inputs):
        """out, a fresh probe, and the gradients of sum(out * probe)."""
        self.put(f"{prefix}out", out)
        probe = self.probe(f"{prefix}probe", *out.shape)
        self.grads(prefix, (out * probe).sum(), inputs)


class Csr:
    """A topology as (row, column) pairs sorted by row, then column."""

    def __init__(self, rows, columns, pairs):
        pairs = sorted(set(pairs))
        self.rows, self.columns = rows, columns
        self.i = torch.tensor([i for i, _ in pairs], dtype=torch.int64)
        self.j = torch.tensor([j for _, j in pairs], dtype=torch.int64)
        self.pairs = pairs
        self.entries = len(pairs)

    def count(self):
        return torch.bincount(self.i, minlength=self.rows)

    def save(self, book, prefix=""):
        pointers = torch.cat([torch.zeros(1, dtype=torch.int64), self.count().cumsum(0)])
        book.put(f"{prefix}pointers", pointers)
        book.put(f"{prefix}indices", self.j)

    def dense(self, values):
        return torch.zeros(self.rows, self.columns, dtype=values.dtype).index_put((self.i, self.j), values)

    def row_sum(self, values):
        zero = torch.zeros(self.rows, *values.shape[1:], dtype=values.dtype)
        return zero.index_add(0, self.i, values)

    def multiply(self, values, x):
        return self.row_sum(values[:, None] * x[self.j])

    def by_row(self, values):
        """The values of each row, as a list with one tensor a row."""
        return torch.split(values, self.count().tolist())

    def with_loops(self, values, loop=1.0):
        """The topology with the diagonal added, and the values on it."""
        pairs = self.pairs + [(i, i) for i in range(self.rows)]
        assert len(set(pairs)) == len(pairs), "self-loops are added once"
        order = sorted(range(len(pairs)), key=pairs.__getitem__)
        ones = torch.full((self.rows,), loop, dtype=values.dtype)
        return Csr(self.rows, self.columns, pairs), torch.cat([values, ones])[order]

    def symmetrised(self, values):
        """(A + A^T)/2 on the union of both patterns."""
        union = Csr(self.rows, self.columns, self.pairs + [(j, i) for i, j in self.pairs])
        a = self.dense(values)
        return union, ((a + a.T) / 2)[union.i, union.j]


def random_pairs(book, rows, columns, entries, empty=(), loops=False, once=()):
    """Random pairs; no row in `empty` has an entry; each pair in `once` is there."""
    pairs = set(once)
    while len(pairs) < entries:
        i, j = int(book.rng.integers(rows)), int(book.rng.integers(columns))
        if i not in empty and (loops or i != j):
            pairs.add((i, j))
    return sorted(pairs)


def clear(values, margin=1e-3):
    """Assert that no value is within the margin of zero: no kink nearby."""
    assert values.detach().abs().min() > margin, values.detach().abs().min()
    return values


def leaky(x, slope):
    return torch.where(clear(x) > 0, x, slope * x)


def softplus(x):
    return torch.logaddexp(x, torch.zeros_like(x))


def log_sigmoid(x):
    return -softplus(-x)


def close(a, b, tolerance=1e-12):
    assert torch.allclose(a, b, rtol=tolerance, atol=tolerance), (a - b).abs().max()


# ---------------------------------------------------------------------------------- sparse products


@topic
def spmm(book):
    """y = A x; A is 6 x 7, row 3 empty, column 5 empty, weights of both signs."""
    pairs = [p for p in random_pairs(book, 6, 7, 17, empty=(3,), loops=True) if p[1] != 5]
    a = Csr(6, 7, pairs)
    a.save(book)
    weights = book.input("weights", book.random(a.entries))
    x = book.input("x", book.random(7, 3))
    out = a.multiply(weights, x)
    close(out, a.dense(weights) @ x)
    book.result("", out, {"weights": weights, "x": x})


def symmetric_norm(a, weights):
    """D^-1/2 A D^-1/2, D the row sums of A; 0 where a degree is 0."""
    degree = a.row_sum(weights)
    some = degree > 0
    factor = torch.where(some, degree, 1.0).pow(-0.5) * some
    return factor[a.i] * weights * factor[a.j]


def row_norm(a, weights):
    """D^-1 A."""
    degree = a.row_sum(weights)
    return weights / degree[a.i]


@topic
def normalise(book):
    """Symmetric and row normalisation, with self-loops of weight 1 added before (`loops_...`) and without.

    Node 5 has an empty row but is somebody's neighbour; node 6 is isolated.
    """
    pairs = random_pairs(book, 6, 6, 15, empty=(5,), once=((0, 5), (3, 5)))
    a = Csr(7, 7, pairs)
    a.save(book)
    weights = book.input("weights", book.random(a.entries, low=0.1, high=2.0))
    looped, with_loops = a.with_loops(weights)
    looped.save(book, "loops.")
    book.put("loops.weights", with_loops)
    inputs = {"weights": weights}
    book.result("symmetric.", symmetric_norm(a, weights), inputs)
    book.result("row.", row_norm(a, weights), inputs)
    book.result("loops_symmetric.", symmetric_norm(looped, with_loops), inputs)
    book.result("loops_row.", row_norm(looped, with_loops), inputs)
    for name in ("symmetric", "row", "loops_symmetric", "loops_row"):
        assert torch.isfinite(book.tensors[f"{name}.grad.weights"]).all()


@topic
def sparse_linear(book):
    """out = X W + b with X sparse, 6 x 10, row 2 empty."""
    x = Csr(6, 10, random_pairs(book, 6, 10, 19, empty=(2,), loops=True))
    x.save(book)
    values = book.input("values", book.random(x.entries))
    w = book.input("W", book.random(10, 4))
    b = book.input("b", book.random(4))
    out = x.multiply(values, w) + b
    close(out, x.dense(values) @ w + b)
    book.result("", out, {"values": values, "W": w, "b": b})


# -------------------------------------------------------------------------------------- pair scores


def mlp_embed(u, U, V, b, c):
    return leaky((u @ U)[c.i] + (u @ V)[c.j] + b, 0.01)


@topic
def pair_scores(book):
    """log p on candidates for the four scorers.

    Two unusual entries are on purpose: (0, 0), a pair of a node with itself (distance 0: its gradient is
    0), and (1, 2) with u_2 = -2 u_1 (cosine -1: at the clamp, where the gradient is 0).
    """
    n, d, hidden = 7, 5, 4
    c = Csr(n, n, random_pairs(book, n, n, 20, empty=(6,), once=((0, 0), (1, 2), (2, 1), (3, 4), (0, 6))))
    c.save(book)
    u = book.random(n, d)
    u[2] = -2 * u[1]
    u = book.input("u", u)

    t = book.input("t", torch.tensor([-0.5]).double())
    gap = u[c.i] - u[c.j]
    same = c.i == c.j
    length = torch.where(same, 0.0, torch.where(same[:, None], 1.0, gap).pow(2).sum(1).sqrt())
    book.result("distance.", -softplus(t) * length, {"u": u, "t": t})

    product = (u[c.i] * u[c.j]).sum(1)
    book.result("dot.", log_sigmoid(product / d**0.5), {"u": u})

    norm = u.pow(2).sum(1).sqrt()
    cosine = product / (norm[c.i] * norm[c.j])
    half = (1 + cosine) / 2
    assert (half[c.pairs.index((1, 2))] < 1e-7) and (half < 1e-3).sum() == 2
    book.result("cosine.", torch.log(torch.clamp(half, min=1e-6)), {"u": u})

    U, V = book.input("U", book.random(d, hidden)), book.input("V", book.random(d, hidden))
    b, w = book.input("b", book.random(hidden)), book.input("w", book.random(hidden))
    w0 = book.input("w0", book.random(1))
    embedding = mlp_embed(u, U, V, b, c)
    book.put("mlp.c", embedding)
    logit = embedding @ w + w0
    book.put("mlp.logit", logit)
    parameters = {"u": u, "U": U, "V": V, "b": b, "w": w, "w0": w0}
    book.result("mlp.", log_sigmoid(logit), parameters)
    # the embeddings themselves as an output
    probe = book.probe("embed.probe", *embedding.shape)
    book.grads("embed.", (embedding * probe).sum(), {"u": u, "U": U, "V": V, "b": b})


def edge_mean(c, embedding):
    """m_ij = (S_i + S_j - 2 c_ij)/(n_i + n_j - 2), 0 where the denominator is 0."""
    zero = torch.zeros(c.rows, embedding.shape[1], dtype=embedding.dtype)
    total = zero.index_add(0, c.i, embedding).index_add(0, c.j, embedding)
    count = torch.bincount(c.i, minlength=c.rows) + torch.bincount(c.j, minlength=c.rows)
    below = count[c.i] + count[c.j] - 2
    above = total[c.i] + total[c.j] - 2 * embedding
    return torch.where((below > 0)[:, None], above / below.clamp(min=1)[:, None], 0.0)


@topic
def edge_messages(book):
    """Mean over the edges that share a node: closed form, checked against L^T L - 2I.

    Nodes 0..5 carry a random graph; 6 -> 7 is an edge on its own (no neighbours: 0); 8 and 9 are joined
    both ways and to nobody else (each entry is the other's only neighbour, counted twice); 10 is alone.
    """
    c = Csr(11, 11, random_pairs(book, 6, 6, 13, once=((0, 1), (1, 0), (2, 0))) + [(6, 7), (8, 9), (9, 8)])
    c.save(book)
    embedding = book.input("c", book.random(c.entries, 3))
    out = edge_mean(c, embedding)

    incidence = torch.zeros(c.rows, c.entries, dtype=torch.float64)
    incidence[c.i, torch.arange(c.entries)] = 1
    incidence[c.j, torch.arange(c.entries)] = 1
    adjoint = incidence.T @ incidence - 2 * torch.eye(c.entries, dtype=torch.float64)
    assert adjoint.diagonal().abs().max() == 0 and adjoint.max() == 2
    weight = adjoint.sum(1, keepdim=True)
    close(out, torch.where(weight > 0, adjoint @ embedding / weight.clamp(min=1), 0.0))
    book.put("adjoint", adjoint)
    book.result("", out, {"c": embedding})
    close(out[c.pairs.index((8, 9))], embedding[c.pairs.index((9, 8))])


# ----------------------------------------------------------------------------------- segments and GAT


def by_row_max(c, values):
    rows = []
    for row in c.by_row(values):
        if len(row) > 1:
            two = row.topk(2, 0).values
            clear(two[0] - two[1])
        rows.append(row.amax(0) if len(row) else torch.zeros(values.shape[1:], dtype=values.dtype))
    return torch.stack(rows)


def by_row_softmax(c, values):
    return torch.cat([torch.softmax(row, 0) for row in c.by_row(values)])


@topic
def segment(book):
    """Per-row reductions of one value an entry (`one.`) and of three (`three.`). Row 2 is empty.

    An empty row gives sum 0, mean 0, max 0; its logsumexp is -infinity (with probe 0, so no gradient).
    """
    c = Csr(6, 8, random_pairs(book, 6, 8, 20, empty=(2,), loops=True))
    c.save(book)
    for name, shape in (("one", (c.entries,)), ("three", (c.entries, 3))):
        values = book.input(f"{name}.values", book.random(*shape, low=-3, high=3))
        inputs = {"values": values}
        total = c.row_sum(values)
        count = c.count().clamp(min=1).reshape(-1, *[1] * (len(shape) - 1))
        book.result(f"{name}.sum.", total, inputs)
        book.result(f"{name}.mean.", total / count, inputs)
        book.result(f"{name}.max.", by_row_max(c, values), inputs)
        book.result(f"{name}.softmax.", by_row_softmax(c, values), inputs)
        full = [i for i in range(c.rows) if c.count()[i] > 0]
        some = torch.stack([torch.logsumexp(row, 0) for row in c.by_row(values) if len(row)])
        out = torch.full(total.shape, -torch.inf, dtype=torch.float64).index_copy(0, torch.tensor(full), some)
        probe = torch.zeros_like(total)
        probe[full] = book.random(*some.shape)
        book.put(f"{name}.logsumexp.out", out)
        book.put(f"{name}.logsumexp.probe", probe)
        book.grads(f"{name}.logsumexp.", (some * probe[full]).sum(), inputs)


@topic
def gat(book):
    """Attention: softmax over row i of leaky_relu(a_src.h_j + a_dst.h_i, 0.2) + log a_ij.

    Row 5 is empty (its output is 0; with the bias, the bias). `layer.` is the convolution: h = x W, heads
    concatenated, plus bias. `even.` is the same attention without the log a_ij term. `loops_layer.` has a
    self-loop of weight 1 at every node without one; `loops_average.` also averages the heads and has the
    bias `b_mean`, the first entries of b.
    """
    n, features, heads, size = 7, 5, 2, 3
    c = Csr(n, n, random_pairs(book, n, n, 21, empty=(5,), loops=True, once=((0, 0), (1, 5))))
    c.save(book)
    x = book.input("x", book.random(n, features))
    w = book.input("W", book.random(features, heads * size))
    b = book.input("b", book.random(heads * size))
    source = book.input("a_src", book.random(heads, size))
    target = book.input("a_dst", book.random(heads, size))
    weights = book.input("weights", book.random(c.entries, low=0.05, high=1.5))

    def attend(h, log_weights):
        to_j, to_i = (h * source).sum(2), (h * target).sum(2)
        logit = leaky(to_j[c.j] + to_i[c.i], 0.2) + log_weights
        alpha = by_row_softmax(c, logit)
        return alpha, c.row_sum(alpha[:, :, None] * h[c.j]).reshape(n, heads * size)

    transformed = x @ w
    h = book.input("h", transformed.detach().reshape(n, heads, size))
    inputs = {"h": h, "a_src": source, "a_dst": target, "weights": weights}
    alpha, out = attend(h, torch.log(weights)[:, None])
    book.put("alpha", alpha)
    book.result("", out, inputs)
    alpha, out = attend(h, 0.0)
    book.put("even.alpha", alpha)
    book.result("even.", out, {"h": h, "a_src": source, "a_dst": target})
    _, out = attend(transformed.reshape(n, heads, size), torch.log(weights)[:, None])
    inputs = {"x": x, "W": w, "b": b, "a_src": source, "a_dst": target, "weights": weights}
    book.result("layer.", out + b, inputs)

    # what a layer makes of a graph: a loop of weight 1 at every node that has none
    missing = [(i, i) for i in range(n) if (i, i) not in c.pairs]
    order = sorted(range(c.entries + len(missing)), key=(c.pairs + missing).__getitem__)
    log_weights = torch.cat([torch.log(weights), torch.zeros(len(missing)).double()])[order]
    c = Csr(n, n, c.pairs + missing)
    _, out = attend(transformed.reshape(n, heads, size), log_weights[:, None])
    book.result("loops_layer.", out + b, inputs)
    mean = out.reshape(n, heads, size).mean(1)
    book.put("b_mean", b[:size])
    book.result("loops_average.", mean + b[:size], inputs)


# ------------------------------------------------------------------------------------------- selector


def ranks(c, e):
    """1-based rank within the row by value, largest first, ties by column."""
    parts = []
    for row in c.by_row(e.detach()):
        place = torch.empty(len(row), dtype=torch.int64)
        place[torch.argsort(row, descending=True, stable=True)] = torch.arange(1, len(row) + 1)
        parts.append(place)
    return torch.cat(parts)


def soft_step(c, rank, k, width, shift):
    return torch.sigmoid(2 * (k[c.i] + shift - rank) / width)


@topic
def selector(book):
    """a = e h, h = sigmoid(2 (k + shift - r)/lambda); shift 1/2 (`shifted_...`) or 0 (`literal_...`).

    Suffix: `1` for lambda = 1, `03` for lambda = 0.3. `hard_...` is the step of the same soft h (h >= 1/2)
    going forward, with the gradients of the smooth form. Row 1 is empty; row 2 has four equal entries and
    a k at which a position sits exactly on the step (h = 1/2 counts as selected); row 3 has k beyond its
    length; row 4 has k = 1. Nothing is dropped here: entries with tiny h are all in `out`.
    """
    n = 6
    width_of = [9, 0, 6, 4, 7, 12]
    pairs = []
    for i, width in enumerate(width_of):
        pairs += [(i, int(j)) for j in book.rng.permutation(14)[:width]]
    c = Csr(n, 14, pairs)
    c.save(book)
    e = book.random(c.entries, low=0.01, high=1.0)
    first = int(c.count()[:2].sum())
    e[first + 1] = e[first + 3] = e[first + 4] = e[first + 2]
    assert all(len(set(row.tolist())) == len(row) for i, row in enumerate(c.by_row(e)) if i != 2)
    e = book.input("e", e)
    k = book.input("k", torch.tensor([3.25, 2.0, 2.5, 6.75, 1.0, 4.625], dtype=torch.float64))
    rank = ranks(c, e)
    book.put("rank", rank)
    for form, shift in (("shifted", 0.5), ("literal", 0.0)):
        for tag, width in (("1", 1.0), ("03", 0.3)):
            name = f"{form}_{tag}."
            h = soft_step(c, rank, k, width, shift)
            book.put(name + "h", h)
            book.put(name + "degree", c.row_sum(h))
            book.result(name, e * h, {"e": e, "k": k})
            smooth = torch.autograd.grad((e * h).sum(), k, retain_graph=True)[0]
            close(smooth, c.row_sum(e * h * (1 - h) * 2 / width))
            step = (k[c.i] + shift - rank >= 0).double()
            assert torch.equal(step, (h >= 0.5).double())
            name = "hard_" + name
            soft = e * h
            out = soft + (e * step - soft).detach()
            book.put(name + "h", step)
            book.result(name, out, {"e": e, "k": k})
            book.tensors[name + "out"] = (e * step).detach()


# ------------------------------------------------------------------------------------------ generator


def generator_cases(book, noisy):
    """The generator, stage by stage, for both samples and three degree modes.

    x^ = leaky(x W + b, .01); log p = -softplus(t)|x^_i - x^_j|; l = log p + s g;
    e = exp(l) or softmax(l/tau); mu = x^ M + bm; logvar = x^ S + bs; z = mu + eps exp(logvar/2);
    D = z.d + d0; k by mode; rank; h (shifted, lambda 1); ranked = e h; then two outputs:
    adjacency = A + I on candidates and diagonal, symmetric = (A + A^T)/2 + I on the union and diagonal.
    """
    n, features, latent, size = 9, 6, 5, 8
    both = [(0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 2), (1, 4), (2, 5), (3, 5), (3, 6), (4, 6), (5, 7)]
    one_way = [(1, 6), (6, 2), (7, 3), (7, 0)]
    pairs = both + [(j, i) for i, j in both] + one_way  # node 8 has no candidates
    c = Csr(n, n, pairs)
    c.save(book)
    union = c.symmetrised(torch.ones(c.entries).double())[0]
    union.with_loops(torch.ones(union.entries).double())[0].save(book, "symmetric.")
    c.with_loops(torch.ones(c.entries).double())[0].save(book, "adjacency.")

    p = {"x": book.random(n, features)}
    p["W"], p["b"] = book.random(features, latent), book.random(latent)
    p["t"] = torch.tensor([-0.75], dtype=torch.float64)
    p["M"], p["bm"] = book.random(latent, size) / 2, book.random(size) / 2
    p["S"], p["bs"] = book.random(latent, size) / 2, book.random(size) / 2 - 2
    p["d"], p["d0"] = book.random(size), book.random(1) - 1
    p = {name: book.input(name, value) for name, value in p.items()}
    scale, tau, fixed = 0.3, 0.5, 2.25
    g, eps = book.gumbel(c.entries), book.normal(n, size)
    if not noisy:
        g, eps = torch.zeros_like(g), torch.zeros_like(eps)
    book.put("gumbel", g)
    book.put("eps", eps)
    book.put("noise_scale", scale)
    book.put("tau", tau)
    book.put("fixed_k", fixed)
    book.put("lambda", 1.0)
    degree = c.count().double()
    deviation = degree.std(unbiased=False)
    book.put("degree", degree)
    book.put("degree_std", deviation.reshape(1))

    u = leaky(p["x"] @ p["W"] + p["b"], 0.01)
    logp = -softplus(p["t"]) * (u[c.i] - u[c.j]).pow(2).sum(1).sqrt()
    logit = logp + scale * g
    mu, logvar = u @ p["M"] + p["bm"], u @ p["S"] + p["bs"]
    z = mu + eps * torch.exp(logvar / 2)
    estimate = z @ p["d"] + p["d0"]
    for name, value in (("latent", u), ("logp", logp), ("logit", logit), ("mu", mu), ("logvar", logvar), ("z", z)):
        book.put(name, value)
    book.put("D", estimate)

    probe = {"adjacency": book.probe("adjacency.probe", c.entries + n)}
    probe["symmetric"] = book.probe("symmetric.probe", union.entries + n)
    samples = {"exp": torch.exp(logit), "softmax": by_row_softmax(c, logit / tau)}
    for sample, e in samples.items():
        rank = ranks(c, e)
        norm = c.row_sum(e)
        book.put(f"{sample}.e", e)
        book.put(f"{sample}.norm", norm)
        book.put(f"{sample}.rank", rank)
        for row in c.by_row(e.detach()):
            if len(row) > 1:
                clear(row.sort().values.diff(), 1e-4)
        inner = clear(estimate * deviation + degree, 1e-2)
        assert (inner < 0).any() and (inner > 0).sum() > n / 2, inner
        modes = {
            "literal": 1 + softplus(estimate + norm - 1),
            "relative": 1 + torch.relu(inner),
            "fixed": torch.full((n,), fixed, dtype=torch.float64),
        }
        for mode, k in modes.items():
            name = f"{sample}.{mode}."
            h = soft_step(c, rank, k, 1.0, 0.5)
            ranked = e * h
            _, adjacency = c.with_loops(ranked)
            merged, values = c.symmetrised(ranked)
            _, symmetric = merged.with_loops(values)
            dense = c.dense(ranked)
            close(merged.dense(values), (dense + dense.T) / 2)
            for key, value in (("k", k), ("h", h), ("ranked", ranked)):
                book.put(name + key, value)
            for key, value in (("adjacency", adjacency), ("symmetric", symmetric)):
                book.put(f"{name}{key}.out", value)
                book.grads(f"{name}{key}.", (value * probe[key]).sum(), p)


@topic
def generator(book):
    """With noise given as arrays."""
    generator_cases(book, True)


@topic
def generator_eval(book):
    """The same without noise (gumbel and eps are zero): what evaluation computes."""
    generator_cases(book, False)


# ---------------------------------------------------------------------------------------- convolutions


def conv_graph(book, n=8, entries=22):
    c = Csr(n, n, random_pairs(book, n - 1, n - 1, entries))  # the last node is isolated
    c.save(book)
    return c, book.input("weights", book.random(c.entries, low=0.1, high=1.5))


@topic
def gcn(book):
    """out = P (x W) + b, P = D^-1/2 (A + I) D^-1/2; gradients reach the raw weights through the degrees.

    `row.`: the same with P = D^-1 (A + I).
    """
    c, weights = conv_graph(book)
    looped, with_loops = c.with_loops(weights)
    looped.save(book, "loops.")
    x, w, b = (book.input(k, v) for k, v in (("x", book.random(8, 5)), ("W", book.random(5, 3)), ("b", book.random(3))))
    inputs = {"x": x, "W": w, "b": b, "weights": weights}
    for name, norm in (("", symmetric_norm), ("row.", row_norm)):
        values = norm(looped, with_loops)
        book.put(name + "norm", values)
        out = looped.multiply(values, x @ w) + b
        close(out, looped.dense(values) @ x @ w + b)
        book.result(name, out, inputs)


@topic
def sage(book):
    """out = x W_self + mean_j(x_j) W_neigh + b; `mean.` the plain mean, `weighted.` sum a_ij x_j / sum a_ij.

    Node 7 is isolated: its mean is 0.
    """
    c, weights = conv_graph(book)
    x, b = book.input("x", book.random(8, 5)), book.input("b", book.random(3))
    own, near = book.input("W_self", book.random(5, 3)), book.input("W_neigh", book.random(5, 3))
    for name, a in (("mean.", torch.ones(c.entries).double()), ("weighted.", weights)):
        total = c.row_sum(a)
        mean = c.multiply(a, x) / torch.where(total > 0, total, 1.0)[:, None]
        book.put(name + "neighbours", mean)
        inputs = {"x": x, "W_self": own, "W_neigh": near, "b": b}
        if name == "weighted.":
            inputs["weights"] = weights
        book.result(name, x @ own + mean @ near + b, inputs)


@topic
def gcnii(book):
    """`plain.`   relu(((1-a) P H + a H0) ((1-b) I + b W))
    `variant.` relu((1-a) P H ((1-b) I + b W1) + a H0 ((1-b) I + b W2))

    P is given by its entries (`weights`, no normalisation here); `pre` is the value before relu.
    `layer_plain.` and `layer_variant.`: before relu, with P = D^-1/2 (A + I) D^-1/2 of the same weights.
    """
    c, weights = conv_graph(book)
    size, alpha, beta = 5, 0.125, 0.375
    book.put("alpha", alpha)
    book.put("beta", beta)
    h, h0 = book.input("H", book.random(8, size)), book.input("H0", book.random(8, size))
    w, w1, w2 = (book.input(name, book.random(size, size)) for name in ("W", "W1", "W2"))
    eye = torch.eye(size, dtype=torch.float64)
    moved = (1 - alpha) * c.multiply(weights, h)
    plain = (moved + alpha * h0) @ ((1 - beta) * eye + beta * w)
    variant = moved @ ((1 - beta) * eye + beta * w1) + alpha * h0 @ ((1 - beta) * eye + beta * w2)
    common = {"H": h, "H0": h0, "weights": weights}
    for name, pre, extra in (("plain.", plain, {"W": w}), ("variant.", variant, {"W1": w1, "W2": w2})):
        book.put(name + "pre", clear(pre, 1e-4))
        book.result(name, torch.relu(pre), common | extra)

    looped, with_loops = c.with_loops(weights)
    moved = (1 - alpha) * looped.multiply(symmetric_norm(looped, with_loops), h)
    plain = (moved + alpha * h0) @ ((1 - beta) * eye + beta * w)
    variant = moved @ ((1 - beta) * eye + beta * w1) + alpha * h0 @ ((1 - beta) * eye + beta * w2)
    book.result("layer_plain.", plain, common | {"W": w})
    book.result("layer_variant.", variant, common | {"W1": w1, "W2": w2})


@topic
def edgeconv(book):
    """max_j leaky_relu(bn(cat(x_j - x_i, x_i) W), 0.2), W [2 d, c]: rows 0..d act on x_j - x_i.

    Batch norm over all messages, biased variance, eps 1e-5, scales of both signs. `regular.`: every node
    has 4 neighbours, itself among them; `ragged.`: rows of different lengths, one empty (output 0).
    `eval.`: the regular graph with given mean and variance.
    """
    n, d, channels = 10, 4, 6
    regular = [(i, i) for i in range(n)]
    regular += [(i, (i + 1 + int(j)) % n) for i in range(n) for j in book.rng.permutation(n - 1)[:3]]
    graphs = {"regular": Csr(n, n, regular), "ragged": Csr(n, n, random_pairs(book, n, n, 31, empty=(4,)))}
    x, w = book.input("x", book.random(n, d)), book.input("W", book.random(2 * d, channels))
    scale = book.random(channels, low=0.3, high=1.5)
    scale[1::2] *= -1
    scale, shift = book.input("scale", scale), book.input("shift", book.random(channels))
    book.put("eps", 1e-5)
    mean = book.input("eval.mean", book.random(channels), False)
    var = book.input("eval.var", book.random(channels, low=0.25, high=2.0), False)
    inputs = {"x": x, "W": w, "scale": scale, "shift": shift}
    for name, c in graphs.items():
        c.save(book, name + ".")
        y = torch.cat([x[c.j] - x[c.i], x[c.i]], 1) @ w
        for case in (name, "eval") if name == "regular" else (name,):
            if case != "eval":
                mean_, var_ = y.mean(0), y.var(0, unbiased=False)
                book.put(f"{case}.mean", mean_)
                book.put(f"{case}.var", var_)
            else:
                mean_, var_ = mean, var
            norm = (y - mean_) / torch.sqrt(var_ + 1e-5) * scale + shift
            out = by_row_max(c, torch.where(clear(norm, 1e-4) > 0, norm, 0.2 * norm))
            book.result(f"{case}.", out, inputs)


# ---------------------------------------------------------------------------------------------- losses


@topic
def losses(book):
    """Scalars; the gradients are of the loss itself (no probe).

    intermediate: candidate entries whose two ends are training nodes, target 1 if the classes agree;
      mean of -log p over the positives / 2 + mean of -log(1 - p) over the negatives / 2.
    low_rank: sum of the r largest singular values of A (r = 1, 2, 3): `low_rank.1.` ...; the gradient
      at a stored entry is sum_s u_si v_sj.
    consistency: p_s = softmax(logits_s); target = mean_s(p)^(1/T) made to sum to 1, without gradient;
      mean over samples and nodes of the squared distance summed over classes.
    """
    n = 9
    c = Csr(n, n, random_pairs(book, n, n, 34))
    c.save(book, "intermediate.")
    classes = torch.tensor([0, 1, 2, 0, 1, 0, 2, 1, 0])
    train = torch.tensor([1, 1, 0, 1, 1, 1, 0, 1, 0])
    book.put("intermediate.classes", classes)
    book.put("intermediate.train", train)
    logp = book.input("intermediate.logp", book.random(c.entries, low=-3.0, high=-0.05))
    use = (train[c.i] == 1) & (train[c.j] == 1)
    same = classes[c.i] == classes[c.j]
    count = (use & same).sum(), (use & ~same).sum()
    assert min(count) > 1 and count[0] != count[1], count
    positive, negative = -logp[use & same], -torch.log(-torch.expm1(logp[use & ~same]))
    loss = positive.mean() / 2 + negative.mean() / 2
    # the same through weights that sum to one half in each class
    p = torch.exp(logp[use]).detach()
    target = same[use].double()
    weight = target / target.sum() / 2 + (1 - target) / (1 - target).sum() / 2
    bce = torch.nn.functional.binary_cross_entropy(p, target, weight=weight, reduction="sum")
    close(loss.detach(), bce)
    book.put("intermediate.out", loss.reshape(1))
    book.grads("intermediate.", loss, {"logp": logp})

    a = Csr(8, 8, random_pairs(book, 8, 8, 26, loops=True))
    a.save(book, "low_rank.")
    weights = book.input("low_rank.weights", book.random(a.entries, low=0.05, high=1.0))
    dense = a.dense(weights)
    u, s, vt = torch.linalg.svd(dense.detach())
    book.put("low_rank.singular", s)
    for r in (1, 2, 3):
        clear(s[r - 1] - s[r], 1e-2)
        loss = torch.linalg.svdvals(dense)[:r].sum()
        book.put(f"low_rank.{r}.out", loss.reshape(1))
        book.grads(f"low_rank.{r}.", loss, {"weights": weights})
        close(book.tensors[f"low_rank.{r}.grad.weights"], (u[:, :r] @ vt[:r])[a.i, a.j], 1e-10)

    samples, temperature = 3, 0.5
    logits = book.input("consistency.logits", book.random(samples, 6, 4, low=-2, high=2))
    book.put("consistency.temperature", temperature)
    p = torch.softmax(logits, 2)
    target = p.mean(0).pow(1 / temperature)
    target = (target / target.sum(1, keepdim=True)).detach()
    loss = (p - target).pow(2).sum(2).mean()
    book.put("consistency.probabilities", p)
    book.put("consistency.target", target)
    book.put("consistency.out", loss.reshape(1))
    book.grads("consistency.", loss, {"logits": logits, "probabilities": p})


# ------------------------------------------------------------------------------------------------ main


def compute(name, seed):
    book = Book(seed)
    TOPICS[name](book)
    return book.tensors


def read(path):
    with safe_open(str(path), framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files on disk, write nothing")
    parser.add_argument("--list", action="store_true", help="print every tensor on disk")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    total, wrong = 0, 0
    for seed, name in enumerate(TOPICS):
        path = HERE / f"{name}.safetensors"
        if options.list:
            print(f"{name}:")
            for key, value in sorted(read(path).items()):
                print(f"  {key} {'i64' if value.dtype == torch.int64 else 'f64'} {list(value.shape)}")
            continue
        tensors = compute(name, 1000 + seed)
        data = save(tensors)
        total += len(data)
        if options.check:
            old = read(path)
            same = old.keys() == tensors.keys() and all(
                old[k].shape == v.shape and torch.allclose(old[k], v, rtol=1e-9, atol=1e-9)
                for k, v in tensors.items()
            )
            exact = same and path.read_bytes() == data
            print(f"{name}: {'identical' if exact else 'equal to 1e-9' if same else 'DIFFERENT'}")
            wrong += not same
        else:
            path.write_bytes(data)
            print(f"{name}: {len(tensors)} tensors, {len(data)} bytes")
    if not options.list:
        print(f"total {total} bytes")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
