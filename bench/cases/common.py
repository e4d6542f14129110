"""What the cases share: their list, Cora, sparse products and a training step.

torch is imported where it is used, so that listing cases does not need it.
"""

import os
import sys
from pathlib import Path

CASES = {}


def case(function):
    """A case creates its inputs when called and returns `build`, which makes the model and returns a step."""
    CASES[function.__name__] = function
    return function


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
