"""Citation networks, hand-written with sparse products."""

from .common import Sparse, case, cora, glorot, product, train_step, zeros


def normalised(data):
    """D^-1/2 (A + I) D^-1/2."""
    import torch

    loop = torch.arange(data["n"])
    rows = torch.cat([data["edge_index"][0], loop])
    columns = torch.cat([data["edge_index"][1], loop])
    scale = torch.bincount(rows, minlength=data["n"]).float().rsqrt()
    return Sparse(rows, columns, scale[rows] * scale[columns], (data["n"], data["n"]))


def sparse_features(data):
    return Sparse(data["rows"], data["columns"], data["values"], (data["n"], data["d"]))


@case
def gcn_tuned():
    import torch
    import torch.nn.functional as F

    data = cora()
    x, graph, mm = sparse_features(data), normalised(data), product()

    def build():
        w0, b0 = glorot(data["d"], 16), zeros(16)
        w1, b1 = glorot(16, data["classes"]), zeros(data["classes"])

        def model():
            h = mm(*x.pair(F.dropout(x.values, 0.5)), w0)
            h = F.dropout(torch.relu(mm(*graph.fixed, h) + b0), 0.5)
            return mm(*graph.fixed, h @ w1) + b1

        return train_step(model, [w0, b0, w1, b1], data)

    return build


@case
def sage_tuned():
    """x W_self + mean(x) W_neigh with the mean taken after the product, where it is narrow."""
    import torch
    import torch.nn.functional as F

    data = cora()
    rows, columns = data["edge_index"]
    share = 1.0 / torch.bincount(rows, minlength=data["n"]).clamp(min=1).float()
    graph = Sparse(rows, columns, share[rows], (data["n"], data["n"]))
    x, mm = sparse_features(data), product()

    def build():
        c = data["classes"]
        w0, b0, w1, b1 = glorot(data["d"], 32), zeros(16), glorot(16, 2 * c), zeros(c)

        def model():
            own, near = mm(*x.pair(F.dropout(x.values, 0.5)), w0).split(16, 1)
            h = F.dropout(torch.relu(own + mm(*graph.fixed, near.contiguous()) + b0), 0.5)
            own, near = (h @ w1).split(c, 1)
            return own + mm(*graph.fixed, near.contiguous()) + b1

        return train_step(model, [w0, b0, w1, b1], data)

    return build


@case
def gat_tuned():
    """Attention on the sorted entries; the heads go through one product with a matrix of all heads' weights."""
    import torch
    import torch.nn.functional as F

    data = cora()
    n = data["n"]
    x, graph, mm = sparse_features(data), normalised(data), product()
    rows, columns = graph.rows, graph.columns

    def weighted_sum(heads):
        """out[i, h] = sum_j alpha[(i, j), h] value[j, h], as one sparse product over (node, head)."""
        head = torch.arange(heads)
        every = Sparse((rows[:, None] * heads + head).flatten(), (columns[:, None] * heads + head).flatten(),
                       torch.arange(rows.numel() * heads).float(), (n * heads, n * heads))
        entry = every.values.long()  # from the wide matrix's order to [entry, head]

        class Sum(torch.autograd.Function):
            @staticmethod
            def forward(ctx, alpha, value):
                a, at = every.pair(alpha.flatten()[entry])
                ctx.save_for_backward(value)
                ctx.at = at
                return (a @ value.reshape(n * heads, -1)).reshape(value.shape)

            @staticmethod
            def backward(ctx, g):
                (value,) = ctx.saved_tensors
                flat = g.reshape(n * heads, -1).contiguous()
                by_alpha = (g.index_select(0, rows) * value.index_select(0, columns)).sum(2)
                return by_alpha, (ctx.at @ flat).reshape(value.shape)

        return Sum.apply

    sums = {1: weighted_sum(1), 8: weighted_sum(8)}

    def attention(h, source, target, bias, heads):
        h = h.view(n, heads, -1)
        logit = F.leaky_relu((h * source).sum(2).index_select(0, columns) + (h * target).sum(2).index_select(0, rows), 0.2)
        # the largest logit of each row leaves the softmax as it is, and needs no gradient
        with torch.no_grad():
            top = torch.full((n, heads), -torch.inf).scatter_reduce(0, rows[:, None].expand_as(logit), logit, "amax")
        power = torch.exp(logit - top.index_select(0, rows))
        total = torch.zeros(n, heads).index_add(0, rows, power)
        alpha = F.dropout(power / total.index_select(0, rows), 0.6)
        return sums[heads](alpha, h).reshape(n, -1) + bias

    def build():
        c = data["classes"]
        p = [glorot(data["d"], 64), glorot(8, 8), glorot(8, 8), zeros(64), glorot(64, c), glorot(1, c), glorot(1, c), zeros(c)]

        def model():
            h = mm(*x.pair(F.dropout(x.values, 0.6)), p[0])
            h = F.dropout(F.elu(attention(h, p[1], p[2], p[3], 8)), 0.6)
            return attention(h @ p[4], p[5], p[6], p[7], 1)

        return train_step(model, p, data, lr=0.005)

    return build
