"""Learners that other methods are compared with."""

import numpy as np
import torch

from .book import Csr, clear, close, random_pairs, topic


def largest(c, values, k):
    """The positions of the k largest values of each row, increasing; values of a row keep clear of ties."""
    kept, first = [], 0
    for row in c.by_row(values.detach()):
        order = row.sort(descending=True)
        if len(row) > 1:
            clear(order.values[:-1] - order.values[1:])
        kept += sorted(first + at for at in order.indices[:k].tolist())
        first += len(row)
    return torch.tensor(kept)


@topic
def neural_sparse(book):
    """NeuralSparse in evaluation: z = a . relu(x_i W_receiver + x_j W_sender + w v + b), k = 2.

    `soft.`: softmax of z over each row. `khot.`: the sum of 2 relaxed draws (1 in a row of one edge), a' = a +
    log(1 - softmax(a)). `out` are the weights of the 2 largest z of each row, whose edges are `kept.`.
    """
    n, d, h, k = 9, 4, 6, 2
    c = Csr(n, n, random_pairs(book, n - 1, n, 26, once=[(3, 5)]))
    c.save(book)
    book.put("k", k)
    leaves = {
        "weights": book.random(c.entries, low=0.1, high=1.5),
        "x": book.random(n, d),
        "W_receiver": book.random(d, h),
        "b": book.random(h),
        "W_sender": book.random(d, h),
        "v": book.random(h),
        "a": book.random(h),
    }
    inputs = {name: book.input(name, value) for name, value in leaves.items()}
    weights, x, receiver, b, sender, v, a = inputs.values()
    hidden = (x @ receiver + b)[c.i] + (x @ sender)[c.j] + weights[:, None] * v
    z = torch.relu(clear(hidden)) @ a
    book.put("z", z)
    kept = largest(c, z, k)
    Csr(n, n, [c.pairs[at] for at in kept]).save(book, "kept.")
    soft, khot = [], []
    for row in c.by_row(z):
        if len(row) == 0:
            continue
        soft.append(torch.softmax(row, 0))
        total, keys = torch.zeros_like(row), row
        for _ in range(min(k, len(row))):
            draw = torch.softmax(keys, 0)
            total, keys = total + draw, keys + torch.log(torch.clamp(1 - draw, min=1e-12))
        close(total.sum(), torch.tensor(float(min(k, len(row)))).double())
        khot.append(total)
    for name, values in (("soft.", soft), ("khot.", khot)):
        book.result(name, torch.cat(values)[kept], inputs)


@topic
def svd(book):
    """GCN-SVD: `approximation` is the nearest matrix of rank 3 to A, by numpy; out = P x, with P = D^-1/2 (A_3 + I)
    D^-1/2 and D the row sums of A_3 + I. `shown` is A_3 at the edges of A.
    """
    n, rank = 12, 3
    pairs = random_pairs(book, n, n, 24)
    c = Csr(n, n, pairs + [(j, i) for i, j in pairs])
    c.save(book)
    book.put("rank", rank)
    weights = book.input("weights", book.random(c.entries, low=0.1, high=1.5), differentiable=False)
    u, s, vt = np.linalg.svd(c.dense(weights).numpy())
    assert s[rank - 1] - s[rank] > 0.05, s
    near = torch.from_numpy((u[:, :rank] * s[:rank]) @ vt[:rank])
    book.put("approximation", near)
    book.put("shown", near[c.i, c.j].clamp(min=0))
    a = near + torch.eye(n).double()
    degrees = clear(a.sum(1))
    scale = torch.where(degrees > 0, degrees.abs().rsqrt(), 0.0)
    x = book.input("x", book.random(n, 4))
    book.result("", (scale[:, None] * a * scale) @ x, {"x": x})


@topic
def gnnguard(book):
    """GNNGuard in evaluation, threshold 0.1, memory 0.3, under two layers of GCN with ReLU between.

    `first` and `second` are the weights of the layers as dense matrices, rows summing to 1. They are constants;
    GCN scales them by their row sums, which changes nothing.
    """
    n, d, h, classes, threshold, memory = 9, 4, 5, 3, 0.1, 0.3
    c = Csr(n, n, random_pairs(book, n - 1, n - 1, 30))  # the last node is isolated
    c.save(book)
    book.put("threshold", threshold)
    book.put("memory", memory)
    shapes = {"x": (n, d), "W_0": (d, h), "b_0": (h,), "W_1": (h, classes), "b_1": (classes,)}
    inputs = {name: book.input(name, book.random(*shape)) for name, shape in shapes.items()}
    x, w0, b0, w1, b1 = inputs.values()

    def attention(state):
        state = state.detach()
        unit = state / state.norm(dim=1, keepdim=True).clamp(min=1e-30)
        cosines = c.dense((unit[c.i] * unit[c.j]).sum(1))
        clear(cosines[c.i, c.j] - threshold)
        kept = torch.where(cosines >= threshold, cosines, 0.0)
        count = (kept > 0).sum(1, keepdim=True).double()
        shares = kept / kept.sum(1, keepdim=True).clamp(min=1e-30)
        weights = shares * count / (count + 1) + torch.diag(1 / (count[:, 0] + 1))
        close(weights.sum(1), torch.ones(n).double())
        return weights

    first = attention(x)
    hidden = torch.relu(clear(first @ x @ w0 + b0))
    second = memory * first + (1 - memory) * attention(hidden)
    book.put("first", first)
    book.put("second", second)
    book.result("", second @ hidden @ w1 + b1, inputs)
