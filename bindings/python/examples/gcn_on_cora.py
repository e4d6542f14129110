"""A two-layer GCN of PyTorch Geometric on Cora, before and after it learns its own neighbourhoods.

    pip install "adjoin[pyg]" && python gcn_on_cora.py

Both networks are trained alike; the epoch is chosen on validation nodes. Lines marked ADDED are all that changes.
"""

import argparse

import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

import adjoin
from adjoin.torch import NeighborhoodLearner

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=200)
parser.add_argument("--seeds", type=int, default=3)
options = parser.parse_args()

cora = adjoin.datasets.cora()
x, edges, y = (torch.from_numpy(array) for array in (cora.x, cora.edges, cora.y))
train, valid, test = (torch.from_numpy(mask) for mask in (cora.train_mask, cora.valid_mask, cora.test_mask))


class Network(torch.nn.Module):
    def __init__(self, learn: NeighborhoodLearner | None) -> None:
        super().__init__()
        self.first = GCNConv(x.shape[1], 64)
        self.second = GCNConv(64, 7)
        self.learn = learn

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        edge_weight = None
        if self.learn is not None:
            edge_index, edge_weight = self.learn(x, edge_index)  # ADDED
        h = F.dropout(x, 0.6, self.training)
        h = F.dropout(self.first(h, edge_index, edge_weight).relu(), 0.6, self.training)
        return self.second(h, edge_index, edge_weight)


def run(learned: bool, seed: int) -> float:
    torch.manual_seed(seed)
    learn = None
    if learned:
        learn = NeighborhoodLearner(x.shape[1], "edges+knn:20+ppr:16", "evidence", symmetric=True, noise=0.0, seed=seed)
        learn.fit_evidence(x, edges, y, train)  # ADDED: training labels only
    net = Network(learn)
    slow = [] if learn is None else list(learn.parameters())
    fast = [*net.first.parameters(), *net.second.parameters()]
    groups = [{"params": fast, "lr": 0.01}, {"params": slow, "lr": 0.001}]
    optimiser = torch.optim.Adam([group for group in groups if group["params"]], weight_decay=1e-3)
    best = (0.0, 0.0)
    for _ in range(options.epochs):
        net.train()
        loss = F.cross_entropy(net(x, edges)[train], y[train])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        net.eval()
        with torch.no_grad():
            right = net(x, edges).argmax(1) == y
        best = max(best, (float(right[valid].float().mean()), float(right[test].float().mean())), key=lambda b: b[0])
    return best[1]


for learned in (False, True):
    accuracies = torch.tensor([run(learned, seed) for seed in range(options.seeds)])
    print(f"{'learned' if learned else 'given'} graph: {100 * accuracies.mean():.1f} % of test nodes")
