"""The selector, and the generator as a whole."""

import torch

from .attention import by_row_softmax
from .book import Csr, clear, close, leaky, softplus, topic


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
