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
