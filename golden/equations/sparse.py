"""Sparse products and normalisations."""

import torch

from .book import Csr, close, random_pairs, topic


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
