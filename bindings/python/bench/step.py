"""One training step of GCN + generator on Cora from Python: the generator alone, PyG alone, both, and the dense form.

    python bench/step.py [--repeats 20]

The dense form is the same equations on N x N matrices in PyTorch: distances, exp, sort, smooth step.
"""

import argparse
import resource
import statistics
import time

import torch
import torch.nn.functional as F
from torch_geometric.nn import GCNConv

import adjoin
from adjoin.torch import NeighborhoodLearner

parser = argparse.ArgumentParser()
parser.add_argument("--repeats", type=int, default=20)
parser.add_argument("--leak", type=int, default=0, help="steps to look for a leak in")
options = parser.parse_args()
torch.set_num_threads(adjoin.get_threads())

cora = adjoin.datasets.cora()
x, edges, y = (torch.from_numpy(array) for array in (cora.x, cora.edges, cora.y))
train = torch.from_numpy(cora.train_mask)
torch.manual_seed(0)
first, second = GCNConv(x.shape[1], 64), GCNConv(64, 7)


def network(index, weight):
    return F.cross_entropy(second(first(x, index, weight).relu(), index, weight)[train], y[train])


def milliseconds(step, repeats):
    times = []
    for _ in range(repeats + 2):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times[2:])


def dense_step(encoder, temperature, decoder):
    """All pairs as matrices; ranks by sorting every row."""
    latent = F.leaky_relu(encoder(x))
    e = torch.exp(-F.softplus(temperature) * torch.cdist(latent, latent))
    k = 1 + 2 * 9 * torch.sigmoid(decoder(latent))
    ranks = e.argsort(1, descending=True).argsort(1) + 1
    weights = e * torch.sigmoid(2 * (k + 0.5 - ranks))
    normal = weights.sum(1).rsqrt()
    adjacency = normal[:, None] * weights * normal
    h = (adjacency @ first.lin(x)).relu()
    F.cross_entropy((adjacency @ second.lin(h))[train], y[train]).backward()


print(f"{adjoin.get_threads()} threads, {options.repeats} steps, median")
for candidates in ("edges", "edges+ppr:32", "knn:20", "all"):
    learn = NeighborhoodLearner(x.shape[1], candidates, seed=0)
    index, weight = (value.detach() for value in learn(x, edges))
    alone = milliseconds(lambda: learn(x, edges)[1].sum().backward(), options.repeats)
    pyg = milliseconds(lambda: network(index, weight).backward(), options.repeats)
    both = milliseconds(lambda: network(*learn(x, edges)).backward(), options.repeats)
    print(f"{candidates:>14}: generator {alone:7.1f} ms, PyG {pyg:7.1f} ms, both {both:7.1f} ms")

encoder, decoder = torch.nn.Linear(x.shape[1], 64), torch.nn.Linear(64, 1)
temperature = torch.zeros((), requires_grad=True)
dense = milliseconds(lambda: dense_step(encoder, temperature, decoder), max(options.repeats // 7, 1))
print(f"{'dense form':>14}: both {dense:7.1f} ms")

if options.leak:
    small = x[:200, :32].clone()
    index = edges[:, (edges < 200).all(0)]
    learn = NeighborhoodLearner(32, seed=0)
    for step in range(options.leak + 1):
        if step % (options.leak // 4) == 0:
            print(f"after {step} steps: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB at most")
        learn(small, index)[1].sum().backward()
