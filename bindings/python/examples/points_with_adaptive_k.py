"""A network on point clouds in the manner of DGCNN, whose neighbourhoods are as large as they should be.

    pip install "adjoin[pyg]" && python points_with_adaptive_k.py

Every layer asks for a graph in its own feature space: the usual k nearest points, or k learned for every point.
"""

import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch_geometric.nn import GraphConv, global_max_pool

from adjoin.torch import NeighborhoodLearner

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--clouds", type=int, default=40, help="of each shape")
options = parser.parse_args()
POINTS, CANDIDATES = 64, 16


def cloud(shape: int, rng: np.random.Generator) -> np.ndarray:
    """Points on a sphere, a cube, a cylinder or a torus, turned and jittered."""
    a, b = rng.uniform(0, 2 * np.pi, (2, POINTS))
    u = rng.uniform(-1, 1, POINTS)
    side = np.sqrt(np.maximum(1 - u**2, 0))
    if shape == 0:
        points = np.stack([side * np.cos(a), side * np.sin(a), u], 1)
    elif shape == 1:
        points = rng.uniform(-1, 1, (POINTS, 3))
        points[np.arange(POINTS), rng.integers(0, 3, POINTS)] = rng.choice([-1.0, 1.0], POINTS)
    elif shape == 2:
        points = np.stack([np.cos(a), np.sin(a), u], 1)
    else:
        ring = 0.7 + 0.3 * np.cos(b)
        points = np.stack([ring * np.cos(a), ring * np.sin(a), 0.3 * np.sin(b)], 1)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return points @ turn + rng.normal(0, 0.03, (POINTS, 3))


def clouds(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    y = np.arange(4 * count) % 4
    x = np.stack([cloud(shape, rng) for shape in y])
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


class Network(torch.nn.Module):
    def __init__(self, degree: float | str) -> None:
        super().__init__()
        widths = [3, 32, 32]
        candidates = f"knn:{CANDIDATES}"
        self.learn = torch.nn.ModuleList(
            NeighborhoodLearner(width, candidates, degree=degree, dropout=0.0, seed=layer, hidden=16)
            for layer, width in enumerate(widths[:-1])
        )
        self.conv = torch.nn.ModuleList(GraphConv(a, b, aggr="add") for a, b in zip(widths, widths[1:]))
        self.out = torch.nn.Linear(32, 4)
        self.sizes: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        self.sizes = []
        for learn, conv in zip(self.learn, self.conv):
            graph = learn(x, batch=batch, return_graph=True)
            self.sizes.append(graph.degree.detach())
            x = conv(x, graph.edge_index, graph.edge_weight).relu()
        return self.out(global_max_pool(x, batch))


train_x, train_y = clouds(options.clouds, 0)
test_x, test_y = clouds(options.clouds, 1)
for degree in (CANDIDATES // 2, "learned"):
    torch.manual_seed(0)
    net = Network(degree)
    optimiser = torch.optim.Adam(net.parameters(), lr=0.005)
    for epoch in range(options.epochs):
        net.train()
        for at in torch.randperm(len(train_y)).split(16):
            batch = torch.arange(len(at)).repeat_interleave(POINTS)
            loss = F.cross_entropy(net(train_x[at].reshape(-1, 3), batch), train_y[at])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    net.eval()
    with torch.no_grad():
        batch = torch.arange(len(test_y)).repeat_interleave(POINTS)
        right = net(test_x.reshape(-1, 3), batch).argmax(1) == test_y
    sizes = ", ".join(f"{k.min():.1f} to {k.max():.1f}" for k in net.sizes)
    print(f"k {degree}: {100 * right.float().mean():.1f} % of test clouds; sizes layer by layer {sizes}")
