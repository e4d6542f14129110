"""Golden vectors of small DGCNN and ResGCN networks, and the networks themselves in PyTorch from their description.

    python golden/points.py            write points.safetensors beside this script
    python golden/points.py --check    recompute and compare, write nothing

float64. Two clouds of 12 points. For each CASE of dgcnn, dgcnn_scaled, dgcnn_shifted and resgcn the file holds
  * `points` [24, 3] (multiples of 1/256), `classes` [2];
  * `CASE.weight.NAME`: weights, norms and running statistics, under the names of the modules of this project;
  * `CASE.train`: logits of the training mode (batch statistics, no dropout); `CASE.loss`, cross-entropy with label
    smoothing 0.2; `CASE.grad.NAME` of it;
  * `CASE.eval`: logits with the running statistics.
In the scaled and shifted cases the weight of the edge from j to i is exp(-|x_i - x_j|^2), of the features that the layer
is given; it multiplies the normalised message, or its logarithm is added to it, before the rectifier and the maximum.
`bench/dgcnn.py` times the network.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import one_file


def nearest(x, k, dilation=1):
    """Indices [clouds, points, k]: of the k * dilation nearest, itself first, every dilation-th. x [clouds, C, points]."""
    square = x.square().sum(1)
    distances = square[:, :, None] + square[:, None] - 2 * x.transpose(1, 2) @ x
    return distances.topk(k * dilation, largest=False).indices[:, :, ::dilation]


def edge_features(x, neighbours):
    """cat(x_j - x_i, x_i) as [clouds, 2 C, points, k]."""
    clouds, channels, points = x.shape
    k = neighbours.shape[2]
    others = x.gather(2, neighbours.reshape(clouds, 1, -1).expand(-1, channels, -1)).reshape(clouds, channels, points, k)
    own = x[..., None].expand(-1, -1, -1, k)
    return torch.cat([others - own, own], 1)


class EdgeConv(nn.Module):
    def __init__(self, inputs, outputs, slope, weighting=None):
        super().__init__()
        self.conv = nn.Conv2d(2 * inputs, outputs, 1, bias=False)
        self.norm = nn.BatchNorm2d(outputs)
        self.inputs, self.slope, self.weighting = inputs, slope, weighting

    def forward(self, x, neighbours):
        edges = edge_features(x, neighbours)
        z = self.norm(self.conv(edges))
        if self.weighting:
            weights = (-edges[:, : self.inputs].square().sum(1, keepdim=True)).exp()
            z = z * weights if self.weighting == "scaled" else z + weights.log()
        return F.leaky_relu(z, self.slope).amax(-1)


class PointNetwork(nn.Module):
    """EdgeConv layers, concatenated, one linear layer, largest and mean value over the points, a perceptron."""

    def __init__(self, widths, k, embedding, hidden, classes, residual=False, slope=0.2, weighting=None, dropout=0.5):
        super().__init__()
        inputs = [3] + widths[:-1]
        self.convolutions = nn.ModuleList(EdgeConv(i, o, slope, weighting) for i, o in zip(inputs, widths))
        self.embedding = nn.Conv1d(sum(widths), embedding, 1, bias=False)
        self.embedding_norm = nn.BatchNorm1d(embedding)
        sizes = [2 * embedding] + hidden
        self.hidden = nn.ModuleList(nn.Linear(i, o, bias=False) for i, o in zip(sizes, hidden))
        self.norms = nn.ModuleList(nn.BatchNorm1d(o) for o in hidden)
        self.output = nn.Linear(sizes[-1], classes)
        self.k, self.residual, self.slope, self.dropout = k, residual, slope, dropout

    def forward(self, x):
        layers = []
        for at, layer in enumerate(self.convolutions):
            neighbours = nearest(x, self.k, max(at, 1) if self.residual else 1)
            y = layer(x, neighbours)
            x = y + x if self.residual and at else y
            layers.append(x)
        x = F.leaky_relu(self.embedding_norm(self.embedding(torch.cat(layers, 1))), self.slope)
        x = torch.cat([x.amax(-1), x.mean(-1)], 1)
        for linear, norm in zip(self.hidden, self.norms):
            x = F.dropout(F.leaky_relu(norm(linear(x)), self.slope), self.dropout, self.training)
        return self.output(x)


def smoothed_cross_entropy(logits, classes, smoothing=0.2):
    """1 - smoothing for the true class, the rest for the others in equal parts."""
    count = logits.shape[1]
    target = torch.full_like(logits, smoothing / (count - 1))
    target.scatter_(1, classes[:, None], 1 - smoothing)
    return -(target * F.log_softmax(logits, 1)).sum(1).mean()


def named(network, value):
    """Tensors under our names; `value` gives what is wanted of a tensor: itself, or its gradient."""
    found = {}

    def linear(name, weight):
        found[f"{name}.weight"] = value(weight).flatten(1).T

    def norm(name, module):
        found[f"{name}scale"], found[f"{name}shift"] = value(module.weight), value(module.bias)
        found[f"{name}running_mean"] = value(module.running_mean)
        found[f"{name}running_variance"] = value(module.running_var)

    for at, layer in enumerate(network.convolutions):
        whole = value(layer.conv.weight).flatten(1).T
        found[f"convolutions.{at}.difference.weight"] = whole[: layer.inputs]
        found[f"convolutions.{at}.centre.weight"] = whole[layer.inputs :]
        norm(f"convolutions.{at}.", layer.norm)
    linear("embedding", network.embedding.weight)
    norm("embedding_norm.", network.embedding_norm)
    for at, (layer, after) in enumerate(zip(network.hidden, network.norms)):
        linear(f"hidden.{at}", layer.weight)
        norm(f"norms.{at}.", after)
    linear("output", network.output.weight)
    found["output.bias"] = value(network.output.bias)
    return found


def compute():
    rng = np.random.Generator(np.random.PCG64(4040))
    grid = lambda *shape, high=1.0: torch.from_numpy(np.round(high * (2 * rng.random(shape) - 1) * 256) / 256)
    points = grid(2, 12, 3)
    classes = torch.tensor([2, 0])
    tensors = {"points": points.reshape(24, 3), "classes": classes}
    small = dict(widths=[5, 6, 9], k=4, embedding=10, hidden=[8, 6], classes=4, dropout=0.0)
    cases = {
        "dgcnn": PointNetwork(**small),
        "dgcnn_scaled": PointNetwork(**small, weighting="scaled"),
        "dgcnn_shifted": PointNetwork(**small, weighting="shifted"),
        "resgcn": PointNetwork(**{**small, "widths": [6] * 4, "k": 3}, residual=True, slope=0.0),
    }
    for case, network in cases.items():
        network = network.double()
        with torch.no_grad():
            for name, value in network.state_dict().items():
                if value.is_floating_point():
                    value.copy_(grid(*value.shape) + (1.5 if name.endswith("running_var") else 0.0))
        x = points.transpose(1, 2).contiguous()
        network.eval()
        tensors[f"{case}.eval"] = network(x)
        for name, value in named(network, lambda tensor: tensor.detach().clone()).items():
            tensors[f"{case}.weight.{name}"] = value
        network.train()
        logits = network(x)
        loss = smoothed_cross_entropy(logits, classes)
        loss.backward()
        tensors[f"{case}.train"], tensors[f"{case}.loss"] = logits, loss.reshape(1)
        none = torch.zeros(1, dtype=torch.float64)
        for name, value in named(network, lambda tensor: none if tensor.grad is None else tensor.grad).items():
            if "running" not in name:
                tensors[f"{case}.grad.{name}"] = value
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


if __name__ == "__main__":
    one_file.main(__file__, __doc__, compute)
