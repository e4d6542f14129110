"""Scores of pairs, and messages between edges."""

import torch

from .book import Csr, close, leaky, log_sigmoid, random_pairs, softplus, topic


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
