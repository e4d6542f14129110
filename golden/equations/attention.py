"""Reductions over the edges of a node, and GAT."""

import torch

from .book import Csr, clear, leaky, random_pairs, topic


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
