"""GCN, GraphSAGE, GCNII and EdgeConv."""

import torch

from .attention import by_row_max
from .book import Csr, clear, close, random_pairs, topic
from .sparse import row_norm, symmetric_norm


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
