"""The generator on input edges as the released code has it, and without its avoidable work."""

from .common import case, cora, dense_features, glorot, train_step


def input_edge_generator(lean):
    """GCN + generator on input edges and self-loops, dense throughout; no noise, all widths 64."""
    import torch
    import torch.nn.functional as F

    data = cora()
    x, n = dense_features(data), data["n"]
    rows = torch.cat([data["edge_index"][0], torch.arange(n)])
    columns = torch.cat([data["edge_index"][1], torch.arange(n)])
    degree = torch.bincount(rows, minlength=n).float()
    mean, deviation = degree.mean(), degree.std()
    standard = ((degree - mean) / deviation)[:, None]
    t = torch.arange(n).float()

    def build():
        nn = torch.nn
        encode = nn.Sequential(nn.Linear(data["d"], 64), nn.LeakyReLU())
        encode_k = nn.Sequential(nn.Linear(data["d"], 64), nn.LeakyReLU())
        score = nn.Sequential(nn.Linear(2 * 64 + 2, 64), nn.LeakyReLU(), nn.Linear(64, 1))
        size = nn.Sequential(nn.Linear(64 + 1, 32), nn.LeakyReLU(), nn.Linear(32, 16), nn.Linear(16, 1))
        w0, w1 = glorot(data["d"], 64), glorot(64, data["classes"])

        def normalise(a):
            scale = a.sum(1).pow(-0.5)
            if lean:
                return scale[:, None] * a * scale[None]
            diagonal = torch.diag(scale)
            return diagonal @ a @ diagonal

        def model():
            u = encode(x)
            pair = torch.cat([u[rows], u[columns], standard[rows], standard[columns]], 1)
            p = torch.sigmoid(score(pair)).squeeze(1)
            dense = torch.zeros(n, n).index_put((rows, columns), p)
            k = F.relu(size(torch.cat([encode_k(x), standard], 1)) * deviation + mean) + 1
            ordered, index = torch.sort(dense, dim=1, descending=True)
            step = 1 - 0.5 * (1 + torch.tanh(t[None] - k))
            a = torch.zeros(n, n).scatter(1, index, ordered * step)
            if lean:
                a = normalise(a)
                h = F.dropout(F.relu(a @ (F.dropout(x, 0.5) @ w0)), 0.5)
                return a @ (h @ w1)
            a = normalise(a.to_sparse().to_dense())
            h = F.dropout(F.relu((a @ F.dropout(x, 0.5)) @ w0), 0.5)
            return (a @ h) @ w1

        generator = [p for part in (encode, encode_k, score, size) for p in part.parameters()]
        groups = [{"params": [*generator, w1], "weight_decay": 0.0}, {"params": [w0], "weight_decay": 5e-4}]
        return train_step(model, groups, data)

    return build


@case
def authors_dgg():
    """As the released code goes about it: scores in an N x N matrix; every row sorted, multiplied by
    1 - (1 + tanh(t - k))/2 with t = 0..N-1 and scattered back; to sparse and to dense again; D^-1/2 A D^-1/2
    by two products with a dense diagonal matrix; A x before the narrow product with W."""
    return input_edge_generator(lean=False)


@case
def dense_dgg():
    """The same model, still dense, without the avoidable work: scaling by broadcasting, A (x W)."""
    return input_edge_generator(lean=True)
