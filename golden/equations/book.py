"""The tensors of a golden file, sparse matrices, and small functions that several topics share."""

import numpy as np
import torch

TOPICS = {}


def topic(function):
    """Registers what fills a file; the order of registration gives each its seed."""
    TOPICS[function.__name__] = function
    return function


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
