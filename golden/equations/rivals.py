"""Published structure learners, each with the network that it drives."""

import math

import torch

from .book import Csr, clear, random_pairs, topic


def leaves(book, shapes):
    return {name: book.input(name, book.random(*shape)) for name, shape in shapes.items()}


def symmetric_scale(a):
    """D^-1/2 A D^-1/2 with D the row sums."""
    scale = a.sum(1).rsqrt()
    return scale[:, None] * a * scale[None, :]


@topic
def ptdnet(book):
    """PTDNet in evaluation under two layers of GCN: z = clip(1.2 sigmoid(alpha) - 0.1, 0, 1) at the given edges.

    alpha = w . relu(P_i U + Q_j V + c) + b with P = relu(h W_1 + b_1), Q = relu(h W_2 + b_2) of what a layer gets;
    parameters of layer l end in `_l`, those of the convolution are `W_l`, `bias_l`. `additive.` has no hidden layer
    over both nodes: alpha = P_i u + Q_j v + b, of the first layer alone, with `out` the gates. `share` is the mean of
    sigmoid(alpha - 0.7 log(0.1 / 1.1)) in the first layer.
    """
    n, d, h, g, p, classes = 9, 4, 5, 3, 4, 3
    c = Csr(n, n, random_pairs(book, n - 1, n, 30))
    c.save(book)
    shapes = {"x": (n, d)}
    for layer, (inputs, outputs) in enumerate([(d, h), (h, classes)]):
        gate = {"W_1": (inputs, g), "b_1": (g,), "W_2": (inputs, g), "b_2": (g,), "U": (g, p), "c": (p,), "V": (g, p), "w": (p,), "b": (1,)}
        shapes |= {f"{name}_{layer}": shape for name, shape in gate.items()}
        shapes |= {f"W_{layer}_conv": (inputs, outputs), f"bias_{layer}": (outputs,)}
    inputs = leaves(book, shapes)
    x = inputs["x"]

    def nodes(state, layer):
        of = lambda name: inputs[f"{name}_{layer}"]
        first = torch.relu(clear(state @ of("W_1") + of("b_1"), 1e-4))
        return first, torch.relu(clear(state @ of("W_2") + of("b_2"), 1e-4))

    def scores(state, layer):
        of = lambda name: inputs[f"{name}_{layer}"]
        receiver, sender = nodes(state, layer)
        hidden = (receiver @ of("U") + of("c"))[c.i] + (sender @ of("V"))[c.j]
        return torch.relu(clear(hidden, 1e-4)) @ of("w") + of("b")

    def gates(alpha):
        stretched = torch.sigmoid(alpha) * 1.2 - 0.1
        clear(stretched, 1e-4), clear(stretched - 1, 1e-4)
        return stretched.clamp(0, 1)

    state = x
    for layer in range(2):
        alpha = scores(state, layer)
        if layer == 0:
            book.put("share", torch.sigmoid(alpha - 0.7 * math.log(0.1 / 1.1)).mean().reshape(1))
        a = c.dense(gates(alpha)) + torch.eye(n).double()
        state = symmetric_scale(a) @ (state @ inputs[f"W_{layer}_conv"]) + inputs[f"bias_{layer}"]
        if layer == 0:
            state = torch.relu(clear(state, 1e-4))
    book.result("", state, inputs)
    more = leaves(book, {"u": (g, 1), "v": (g, 1)})
    receiver, sender = nodes(x, 0)
    alpha = (receiver @ more["u"])[c.i, 0] + (sender @ more["v"])[c.j, 0] + inputs["b_0"]
    own = {name: inputs[name] for name in ("x", "W_1_0", "b_1_0", "W_2_0", "b_2_0", "b_0")}
    book.result("additive.", gates(alpha), own | more)


def half(a):
    return (a + a.T) / 2


@topic
def slaps(book):
    """SLAPS without dropout. `scaled.` and `mlp.`: P = max(cos(e_i, e_j), 0) at the 3 others of largest positive cosine
    and at i itself; E = relu(x * w_1) * w_2, or relu(x W_1 + b_1) W_2 + b_2; x is binary. `free.`: 40 nodes, P = elu(m) +
    1 at `free.` pairs, e^-6 elsewhere. `out` = A (x W) + b with A = D^-1/2 (P + P^T) / 2 D^-1/2 in all of them.
    `dae.`: the loss of restoring x at the `hidden.` entries, `masked` being 0 there, over a graph with weights `weights`.
    """
    n, d, classes, k = 9, 10, 3, 3
    x = (book.random(n, d, low=0.0) > 0.5).double()
    x[:, 0] = (x.sum(1) == 0).double()
    book.put("x", x)
    head = leaves(book, {"W": (d, classes), "bias": (classes,)})

    def network(p, features):
        return symmetric_scale(half(p)) @ (features @ head["W"]) + head["bias"]

    def nearest(e):
        unit = e / e.norm(dim=1, keepdim=True)
        cosines = unit @ unit.T
        others = (cosines - 4 * torch.eye(n)).detach()
        kept = torch.eye(n).double()
        for i in range(n):
            order = others[i].sort(descending=True)
            if order.values[k - 1] > 0:
                clear(order.values[k - 1] - order.values[k], 1e-6)
            kept[i, order.indices[:k]] = 1.0
        return torch.relu(cosines) * kept

    scaled = {name: book.input(f"scaled.{name}", book.random(d, low=0.3, high=1.5)) for name in ("w_1", "w_2")}
    e = torch.relu(x * scaled["w_1"]) * scaled["w_2"]
    book.result("scaled.", network(nearest(e), x), head | {f"{name}": leaf for name, leaf in scaled.items()})
    mlp = {name: book.input(f"mlp.{name}", book.random(*shape) + 1 / 512) for name, shape in (("W_1", (d, d)), ("b_1", (d,)), ("W_2", (d, d)), ("b_2", (d,)))}
    hidden = torch.relu(clear(x @ mlp["W_1"] + mlp["b_1"], 1e-5))
    book.result("mlp.", network(nearest(hidden @ mlp["W_2"] + mlp["b_2"]), x), head | mlp)

    m = 40
    c = Csr(m, m, random_pairs(book, m, m, 160) + [(i, i) for i in range(m)])
    c.save(book, "free.")
    y = book.random(m, d)
    book.put("free.x", y)
    values = book.input("free.m", book.random(c.entries, low=-2.0, high=2.0))
    background = math.exp(-6.0)
    inside = torch.zeros(m, m).double()
    inside[c.i, c.j] = 1.0
    p = c.dense(torch.nn.functional.elu(clear(values)) + 1) + background * (1 - inside)
    book.result("free.", network(p, y), head | {"m": values})

    g = Csr(n, n, random_pairs(book, n, n, 30))
    g.save(book, "dae.")
    asked = Csr(n, d, random_pairs(book, n, d, 17, loops=True))
    asked.save(book, "hidden.")
    masked = x.clone()
    masked[asked.i, asked.j] = 0.0
    book.put("masked", masked)
    book.put("targets", x[asked.i, asked.j])
    h = 5
    dae = {name: book.input(f"dae.{name}", book.random(*shape)) for name, shape in (("W_1", (d, h)), ("b_1", (h,)), ("W_2", (d, h)), ("b_2", (d,)), ("weights", (30,)))}
    a = g.dense(dae["weights"])
    state = a @ torch.relu(clear(a @ (masked @ dae["W_1"]) + dae["b_1"], 1e-5))
    output = (state @ dae["W_2"].T + dae["b_2"])[asked.i, asked.j]
    loss = torch.nn.functional.binary_cross_entropy_with_logits(output, x[asked.i, asked.j])
    book.result("dae.", loss.reshape(1), dae)


@topic
def nodeformer(book):
    """NodeFormer: one layer of two heads between the maps in and out, for a given `projection` and, in `train.`, Gumbel
    noise `gumbel` [heads * draws, nodes]. Parameters of heads lie side by side. `term` is the mean over heads and edges of
    the pattern of order 1 of -log(pi_ij) / d_i. Orders 1 and 2, temperature 0.25, 5 random features, 3 draws.
    """
    n, d, width, heads, m, draws, classes, tau = 9, 4, 3, 2, 5, 3, 3, 0.25
    pairs = random_pairs(book, n - 1, n - 1, 9)
    c = Csr(n, n, pairs + [(j, i) for i, j in pairs])
    c.save(book)
    shapes = {
        "x": (n, d), "W_in": (d, width), "b_in": (width,), "s_in": (width,), "t_in": (width,),
        "W_q": (width, heads * width), "b_q": (heads * width,), "W_k": (width, heads * width), "b_k": (heads * width,),
        "W_v": (width, heads * width), "b_v": (heads * width,), "W_o": (heads * width, width), "b_o": (width,),
        "r": (2, heads), "s": (width,), "t": (width,), "W_out": (width, classes), "b_out": (classes,),
    }
    inputs = leaves(book, shapes)
    p = inputs
    projection = book.normal(m, width)
    book.put("projection", projection)
    gumbel = book.gumbel(heads * draws, n)
    book.put("gumbel", gumbel)
    pattern = ((c.dense(torch.ones(c.entries)) + torch.eye(n)) > 0).double()
    patterns = [pattern, (pattern @ pattern > 0).double()]
    edges = pattern.nonzero(as_tuple=True)

    def norm(z, scale, shift):
        centred = z - z.mean(1, keepdim=True)
        return centred / (centred.square().mean(1, keepdim=True) + 1e-5).sqrt() * scale + shift

    def features(z, shared):
        z = z / (tau**0.5 * width**0.25)
        exponent = z @ projection.T - z.square().sum(1, keepdim=True) / 2
        largest = exponent.max() if shared else exponent.max(1, keepdim=True).values
        return (torch.exp(exponent - largest) + 1e-6) / m**0.5

    def run(noise):
        z = torch.nn.functional.elu(clear(norm(p["x"] @ p["W_in"] + p["b_in"], p["s_in"], p["t_in"]), 1e-5))
        q, key, v = (z @ p[f"W_{name}"] + p[f"b_{name}"] for name in "qkv")
        outputs, term = [], 0.0
        for head in range(heads):
            own = slice(head * width, (head + 1) * width)
            phi, psi = features(q[:, own], False), features(key[:, own], True)
            scores = phi @ psi.T
            attended = 0.0
            for draw in range(draws if noise else 1):
                weights = scores * torch.exp(gumbel[head * draws + draw] / tau) if noise else scores
                attended = attended + weights / weights.sum(1, keepdim=True) @ v[:, own]
            attended = attended / (draws if noise else 1)
            for order, a in enumerate(patterns):
                attended = attended + torch.sigmoid(p["r"][order, head]) * symmetric_scale(a) @ v[:, own]
            outputs.append(attended)
            attention = scores / scores.sum(1, keepdim=True)
            term = term - (torch.log(attention[edges]) / pattern.sum(1)[edges[0]]).mean() / heads
        z = norm(torch.cat(outputs, 1) @ p["W_o"] + p["b_o"] + z, p["s"], p["t"])
        return z @ p["W_out"] + p["b_out"], term

    for case, noise in (("", False), ("train.", True)):
        logits, term = run(noise)
        book.result(case, torch.cat([logits.flatten(), term.reshape(1)]), inputs)
