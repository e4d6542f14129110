"""What PyTorch takes: the reference side of the benchmarks.

    ADJOIN_DATA=DIR python bench/reference.py [CASE ...] [--list] [--seconds S]

Each case runs in a fresh process with 2 threads and prints one JSON line
{"case", "seconds", "best", "peak_bytes", "steps"}: the median and the least time of a step, and the peak of resident memory above
what the process held after its imports and the creation of the inputs. A training step is forward, backward
and Adam. Cora is read from DIR/planetoid_plain/cora.npz. All of it is written from the equations; the
settings that the other side must share are in bench/README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

CASES = {}
THREADS = 2
SLOW = {"authors_dgg", "dense_mlp", "dense_mlp_cat", "gcnii64_pyg", "knn_8192_3", "knn_8192_64"}


def case(function):
    """A case creates its inputs when called and returns `build`, which makes the model and returns a step."""
    CASES[function.__name__] = function
    return function


# ------------------------------------------------------------------------------------------------ data


def cora():
    import numpy as np
    import torch

    folder = Path(os.environ.get("ADJOIN_DATA", "data"))
    path = folder / "planetoid_plain" / "cora.npz"
    if not path.is_file():
        sys.exit(f"Cora is not at {path}: set ADJOIN_DATA to the folder that holds planetoid_plain/cora.npz")
    with np.load(path) as f:
        n, d = (int(v) for v in f["feat_shape"])
        pointers = torch.from_numpy(f["feat_indptr"].astype("int64"))
        columns = torch.from_numpy(f["feat_indices"].astype("int64"))
        edges = torch.from_numpy(f["edges"].astype("int64"))
        labels = torch.from_numpy(f["labels"].astype("int64"))
        train = torch.from_numpy(f["train_idx"].astype("int64"))
    count = pointers.diff()
    rows = torch.repeat_interleave(torch.arange(n), count)
    values = (1.0 / count.clamp(min=1).float())[rows]  # rows sum to 1
    edge_index = torch.cat([edges.T, edges.T.flip(0)], 1)
    return {"n": n, "d": d, "classes": int(labels.max()) + 1, "rows": rows, "columns": columns, "values": values,
            "edge_index": edge_index, "labels": labels, "train": train}


def dense_features(data):
    import torch

    x = torch.zeros(data["n"], data["d"])
    x[data["rows"], data["columns"]] = data["values"]
    return x


class Sparse:
    """A CSR matrix together with its transpose, and the permutation that takes values to the transpose."""

    def __init__(self, rows, columns, values, shape):
        import torch

        self.shape = shape
        order = torch.argsort(rows * shape[1] + columns)
        self.rows, self.columns, self.values = rows[order], columns[order], values[order]
        self.flip = torch.argsort(self.columns * shape[0] + self.rows)
        self.pointers = self._pointers(self.rows, shape[0])
        self.pointers_t = self._pointers(self.columns, shape[1])
        self.columns_t = self.rows[self.flip]
        index = [t.to(torch.int32) for t in (self.pointers, self.columns, self.pointers_t, self.columns_t)]
        self._index = index  # 32-bit: what MKL takes without a conversion
        self.fixed = self.pair(self.values)

    @staticmethod
    def _pointers(rows, n):
        import torch

        return torch.cat([torch.zeros(1, dtype=torch.int64), torch.bincount(rows, minlength=n).cumsum(0)])

    def pair(self, values):
        """(A, A^T) as CSR tensors with these values."""
        import torch

        p, c, pt, ct = self._index
        a = torch.sparse_csr_tensor(p, c, values, self.shape, check_invariants=False)
        at = torch.sparse_csr_tensor(pt, ct, values[self.flip], self.shape[::-1], check_invariants=False)
        return a, at


def product():
    """y = A x with A^T at hand for the way back."""
    import torch

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, at, x):
            ctx.at = at
            return a @ x

        @staticmethod
        def backward(ctx, g):
            return None, None, ctx.at @ g.contiguous()

    return Product.apply


def train_step(model, parameters, data, **adam):
    """forward, cross entropy on the training nodes, backward, Adam."""
    import torch
    import torch.nn.functional as F

    optimiser = torch.optim.Adam(parameters, **({"lr": 0.01, "weight_decay": 5e-4} | adam))
    train, target = data["train"], data["labels"][data["train"]]

    def step():
        optimiser.zero_grad()
        F.cross_entropy(model()[train], target).backward()
        optimiser.step()

    return step


def glorot(*shape):
    import torch

    return torch.nn.Parameter(torch.nn.init.xavier_uniform_(torch.empty(*shape)))


def zeros(*shape):
    import torch

    return torch.nn.Parameter(torch.zeros(*shape))


# ------------------------------------------------------------------------------ citation networks, PyG


def two_layer_pyg(make, dropout, activation, lr=0.01):
    import torch
    import torch_geometric.nn  # noqa: F401  (an import, not work)

    data = cora()
    x, edge_index = dense_features(data), data["edge_index"]

    def build():
        import torch.nn.functional as F

        net = torch.nn.ModuleList(make(data["d"], data["classes"]))

        def model():
            h = F.dropout(x, dropout, training=True)
            h = activation(net[0](h, edge_index))
            return net[1](F.dropout(h, dropout, training=True), edge_index)

        return train_step(model, net.parameters(), data, lr=lr)

    return build


@case
def gcn_pyg():
    import torch
    from torch_geometric.nn import GCNConv

    return two_layer_pyg(lambda d, c: [GCNConv(d, 16, cached=True), GCNConv(16, c, cached=True)], 0.5, torch.relu)


@case
def sage_pyg():
    import torch
    from torch_geometric.nn import SAGEConv

    return two_layer_pyg(lambda d, c: [SAGEConv(d, 16), SAGEConv(16, c)], 0.5, torch.relu)


@case
def gat_pyg():
    import torch
    from torch_geometric.nn import GATConv

    def make(d, c):
        return [GATConv(d, 8, heads=8, dropout=0.6), GATConv(64, c, heads=1, concat=False, dropout=0.6)]

    return two_layer_pyg(make, 0.6, torch.nn.functional.elu, lr=0.005)


@case
def gcnii64_pyg():
    import torch
    import torch.nn.functional as F
    from torch_geometric.nn import GCN2Conv
    from torch_geometric.nn.conv.gcn_conv import gcn_norm

    data = cora()
    x = dense_features(data)
    edge_index, edge_weight = gcn_norm(data["edge_index"], None, data["n"], add_self_loops=True)

    def build():
        first, last = torch.nn.Linear(data["d"], 64), torch.nn.Linear(64, data["classes"])
        convs = torch.nn.ModuleList(
            GCN2Conv(64, 0.1, 0.5, layer + 1, shared_weights=True, normalize=False) for layer in range(64)
        )

        def model():
            h = h0 = first(F.dropout(x, 0.6)).relu()
            for conv in convs:
                h = conv(F.dropout(h, 0.6), h0, edge_index, edge_weight).relu()
            return last(F.dropout(h, 0.6))

        groups = [
            {"params": convs.parameters(), "weight_decay": 0.01},
            {"params": [*first.parameters(), *last.parameters()], "weight_decay": 5e-4},
        ]
        return train_step(model, groups, data)

    return build


# ---------------------------------------------------------------------- citation networks, hand-written


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


# ---------------------------------------------------------------- the generator as the released code has it


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


# --------------------------------------------------------- the paper's equations over all pairs, densely


def dense_generator(scorer, n=2708, d=64):
    """x -> encoder -> scores of all pairs -> Gumbel noise -> softmax sample -> k -> sort, select -> A @ x^."""
    import torch
    import torch.nn.functional as F

    torch.manual_seed(0)
    x = torch.randn(n, d)

    def build():
        nn = torch.nn
        encode = nn.Linear(d, d)
        t = nn.Parameter(torch.tensor(-2.0))
        to_i, to_j, last = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, 1)
        both = nn.Linear(2 * d, d)
        to_mu, to_logvar, to_k = nn.Linear(d, 8), nn.Linear(d, 8), nn.Linear(8, 1)
        rank = torch.arange(1, n + 1).float()
        parts = [encode, to_i, to_j, both, last, to_mu, to_logvar, to_k]
        parameters = [t] + [p for part in parts for p in part.parameters()]

        def log_p(u):
            if scorer == "distance":
                square = u.pow(2).sum(1)
                gap = torch.addmm(square[None], u, u.T, alpha=-2).add(square[:, None])
                return -F.softplus(t) * gap.clamp(min=1e-12).sqrt()
            if scorer == "mlp_cat":
                c = both(torch.cat([u[:, None].expand(n, n, d), u[None].expand(n, n, d)], 2))
            else:
                c = to_i(u)[:, None] + to_j(u)[None]
            c = F.leaky_relu(c, 0.01)
            return F.logsigmoid(last(c).squeeze(2))

        def step():
            for p in parameters:
                p.grad = None
            u = F.leaky_relu(encode(x), 0.01)
            noise = -torch.log(torch.empty(n, n).exponential_())
            e = torch.softmax(log_p(u) + noise, 1)
            logvar = to_logvar(u)
            z = to_mu(u) + torch.randn(n, 8) * torch.exp(logvar / 2)
            k = 1 + F.softplus(to_k(z).squeeze(1) + e.sum(1) - 1)
            ordered, index = torch.sort(e, dim=1, descending=True)
            chosen = ordered * torch.sigmoid(2 * (k[:, None] + 0.5 - rank))
            a = torch.zeros(n, n).scatter(1, index, chosen)
            (a @ u).pow(2).mean().backward()

        return step

    return build


@case
def dense_distance():
    return dense_generator("distance")


@case
def dense_mlp():
    """The pair MLP with its first layer split into two node-level products, then added by broadcasting."""
    return dense_generator("mlp")


@case
def dense_mlp_cat():
    """The pair MLP on the concatenation [x^_i, x^_j], as the paper writes it."""
    return dense_generator("mlp_cat")


# ---------------------------------------------------------------------------------------- point clouds


@case
def edgeconv():
    """gather, cat(x_j - x_i, x_i), 1x1 convolution, batch norm, LeakyReLU(.2), max: 8 x 1024 points, k = 20."""
    import torch

    torch.manual_seed(0)
    clouds, points, k, c = 8, 1024, 20, 64
    x = torch.randn(clouds, c, points)
    position = torch.randn(clouds, points, 3)
    near = torch.cdist(position, position).topk(k, largest=False).indices
    near = (near + torch.arange(clouds)[:, None, None] * points).reshape(-1)

    def build():
        nn = torch.nn
        net = nn.Sequential(nn.Conv2d(2 * c, c, 1, bias=False), nn.BatchNorm2d(c), nn.LeakyReLU(0.2))
        with torch.no_grad():
            net[1].weight.copy_(torch.randn(c))
        x.requires_grad_()
        probe = torch.randn(clouds, c, points)

        def step():
            x.grad = None
            net.zero_grad()
            nodes = x.transpose(1, 2).reshape(clouds * points, c)
            other = nodes[near].view(clouds, points, k, c)
            own = nodes.view(clouds, points, 1, c).expand(-1, -1, k, -1)
            message = torch.cat([other - own, own], 3).permute(0, 3, 1, 2).contiguous()
            out = net(message).max(3).values
            (out * probe).sum().backward()

        return step

    return build


def knn_case(n, d):
    def run():
        import torch

        torch.manual_seed(0)
        x = torch.randn(n, d)

        def build():
            def step():
                with torch.no_grad():
                    torch.cdist(x, x).topk(20, largest=False)

            return step

        return build

    run.__name__ = f"knn_{n}_{d}"
    run.__doc__ = f"torch.cdist + topk, k = 20, {n} points in {d} dimensions."
    return case(run)


for _n in (1024, 8192):
    for _d in (3, 64):
        knn_case(_n, _d)


# ------------------------------------------------------------------------------------------ measurement


def memory(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    raise RuntimeError(field)


def run_here(name, seconds):
    """Measure a case in this process, which should be fresh."""
    import torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    build = CASES[name]()
    # let the library set itself up (thread pools, autograd's thread, what Adam imports) before the baseline
    warm = torch.randn(256, 256, requires_grad=True)
    (warm @ warm).sum().backward()
    torch.optim.Adam([warm]).step()
    torch.randn(64, 64).relu().to_sparse_csr() @ torch.randn(64, 8)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    except OSError:
        pass
    before = memory("VmRSS")
    step = build()
    first = time.perf_counter()
    step()
    first = time.perf_counter() - first
    for _ in range(0 if first > 2 else 2 if first > 0.2 else 5):
        step()
    times, start = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < seconds and len(times) < 200):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    peak = memory("VmHWM") - before
    return {"case": name, "seconds": statistics.median(times), "best": min(times), "peak_bytes": max(peak, 0), "steps": len(times)}


def measure(name, seconds=3.0):
    """Measure a case in a fresh process: {"case", "seconds", "best", "peak_bytes", "steps"}."""
    threads = str(THREADS)
    environment = os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(Path(__file__).resolve()), name, "--here", "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"reference case {name} failed with code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="all if none is named")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--seconds", type=float, default=3.0, help="time spent on a case (at least 3 steps)")
    parser.add_argument("--skip-slow", action="store_true", help="leave out the cases that take long")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {', '.join(CASES)}")
    for name in options.cases or [n for n in CASES if not (options.skip_slow and n in SLOW)]:
        result = run_here(name, options.seconds) if options.here else measure(name, options.seconds)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
