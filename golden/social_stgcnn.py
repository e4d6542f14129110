"""Golden vectors of Social-STGCNN, and the network itself in PyTorch, scene by scene, from its description.

    python golden/social_stgcnn.py            write social_stgcnn.safetensors beside this script
    python golden/social_stgcnn.py --check    recompute and compare, write nothing

float64. Three scenes of 3, 1 and 4 agents, 8 + 12 steps. The file holds
  * `sizes`, `positions` [agents, 20, 2] (multiples of 1/256), the weights under PyTorch's names;
  * `kernel.*`: the published graph, training mode (statistics of each scene): `out` [agents, 60], parameter by
    parameter; `loss`, the mean over scenes of the mean likelihood; `grad.NAME` of it by every weight;
  * `given.*`: the same with `weights`, one per ordered pair of agents of a frame, row by row, in place of the kernel, and its
    gradient;
  * `eval.out`: the published graph with running statistics.
`bench/social_stgcnn.py` times the network.
"""

import math

import numpy as np
import torch
from torch import nn

import one_file

OBSERVED, PREDICTED, CHANNELS, LAYERS = 8, 12, 5, 5


class Block(nn.Module):
    """Steps to channels, spread over the graph of each frame, then convolved over time."""

    def __init__(self):
        super().__init__()
        self.gcn = nn.ModuleDict({"conv": nn.Conv2d(2, CHANNELS, 1)})
        self.tcn = nn.Sequential(
            nn.BatchNorm2d(CHANNELS),
            nn.PReLU(),
            nn.Conv2d(CHANNELS, CHANNELS, (3, 1), padding=(1, 0)),
            nn.BatchNorm2d(CHANNELS),
        )
        self.residual = nn.Sequential(nn.Conv2d(2, CHANNELS, 1), nn.BatchNorm2d(CHANNELS))
        self.prelu = nn.PReLU()

    def forward(self, x, graph):
        spread = torch.einsum("nctj,tij->ncti", self.gcn["conv"](x), graph)
        return self.prelu(self.tcn(spread) + self.residual(x))


class SocialStgcnn(nn.Module):
    """x [1, 2, 8, agents], graph [8, agents, agents] -> [1, 5, 12, agents]. Names as in the public checkpoints."""

    def __init__(self):
        super().__init__()
        self.st_gcns = nn.ModuleList([Block()])
        widths = [OBSERVED] + [PREDICTED] * (LAYERS - 1)
        self.tpcnns = nn.ModuleList(nn.Conv2d(width, PREDICTED, 3, padding=1) for width in widths)
        self.tpcnn_ouput = nn.Conv2d(PREDICTED, PREDICTED, 3, padding=1)
        self.prelus = nn.ModuleList(nn.PReLU() for _ in range(LAYERS))

    def forward(self, x, graph):
        x = self.st_gcns[0](x, graph)
        agents = x.shape[3]
        # Memory is read anew here, not transposed; and the fifth layer is never used.
        x = x.reshape(1, OBSERVED, CHANNELS, agents)
        x = self.prelus[0](self.tpcnns[0](x))
        for layer, prelu in list(zip(self.tpcnns, self.prelus))[1 : LAYERS - 1]:
            x = x + prelu(layer(x))
        return self.tpcnn_ouput(x).reshape(1, CHANNELS, PREDICTED, agents)


def laplacian(weights):
    """I - D^-1/2 (A + I) D^-1/2 of [.., agents, agents] weights without loops."""
    eye = torch.eye(weights.shape[-1], dtype=weights.dtype)
    looped = weights + eye
    scale = looped.sum(-1).rsqrt()
    return eye - scale[..., :, None] * looped * scale[..., None, :]


def kernel(steps):
    """1 / |v_i - v_j| of steps [frames, agents, 2], 0 where they are equal."""
    distances = (steps[:, :, None] - steps[:, None]).square().sum(-1).sqrt()
    return torch.where(distances > 0, 1 / distances, torch.zeros_like(distances))


def likelihood(out, target):
    """Mean over steps and agents of -log N; out [1, 5, 12, agents], target [agents, 12, 2]."""
    mx, my, log_sx, log_sy, c = (part.T for part in out[0])
    nx, ny = (target[..., 0] - mx) / log_sx.exp(), (target[..., 1] - my) / log_sy.exp()
    rho = c.tanh()
    left = 1 - rho**2
    quadratic = (nx**2 + ny**2 - 2 * rho * nx * ny) / (2 * left)
    return (quadratic + log_sx + log_sy + left.log() / 2 + math.log(2 * math.pi)).mean()


def steps_of(positions):
    """Steps [agents, time, 2]; the first is 0."""
    return torch.cat([torch.zeros_like(positions[:, :1]), positions.diff(dim=1)], 1)


def scene_inputs(positions):
    """x [1, 2, 8, agents], steps by frame [8, agents, 2], targets [agents, 12, 2]."""
    steps = steps_of(positions)
    seen = steps[:, :OBSERVED]
    return seen.permute(2, 1, 0)[None].contiguous(), seen.transpose(0, 1), steps[:, OBSERVED:]


def compute():
    rng = np.random.Generator(np.random.PCG64(2024))
    grid = lambda *shape, high=1.0: torch.from_numpy(np.round(high * (2 * rng.random(shape) - 1) * 256) / 256)
    network = SocialStgcnn().double()
    tensors = {}
    with torch.no_grad():
        for name, value in network.state_dict().items():
            if not value.is_floating_point():
                continue
            # Small, so that the deviations that come out are of the size of steps.
            high = 0.125 if name.startswith("tpcnn") else 0.5
            value.copy_(grid(*value.shape, high=high) + (1.0 if name.endswith("running_var") else 0.0))
            tensors[name] = value.clone()
    sizes = [3, 1, 4]
    scenes = [grid(size, OBSERVED + PREDICTED, 2, high=2.0) for size in sizes]
    tensors["sizes"] = torch.tensor(sizes)
    tensors["positions"] = torch.cat(scenes)
    inputs = [scene_inputs(scene) for scene in scenes]
    kernels = [kernel(steps) for _, steps, _ in inputs]
    flat = lambda out: out[0].permute(2, 0, 1).reshape(out.shape[3], -1)
    running = {name: value.clone() for name, value in network.state_dict().items()}

    def case(name, graphs, leaves):
        network.train()
        outs = [network(x, laplacian(graph)) for (x, _, _), graph in zip(inputs, graphs)]
        loss = sum(likelihood(out, target) for out, (_, _, target) in zip(outs, inputs)) / len(outs)
        tensors[f"{name}.out"] = torch.cat([flat(out) for out in outs])
        tensors[f"{name}.loss"] = loss.reshape(1)
        for key, grad in zip(leaves, torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)):
            if grad is not None:
                tensors[f"{name}.grad.{key}"] = grad
        network.load_state_dict(running)

    weights = dict(network.named_parameters())
    case("kernel", kernels, weights)
    pairs = sum(OBSERVED * size * (size - 1) for size in sizes)
    given = (grid(pairs).abs() + 1 / 256).requires_grad_()
    tensors["given.weights"] = given
    graphs, used = [], 0
    for size in sizes:
        off = ~torch.eye(size, dtype=torch.bool).expand(OBSERVED, size, size)
        count = int(off.sum())
        graphs.append(torch.zeros(off.shape, dtype=torch.float64).masked_scatter(off, given[used : used + count]))
        used += count
    case("given", graphs, {"weights": given, **weights})
    network.eval()
    outs = [network(x, laplacian(graph)) for (x, _, _), graph in zip(inputs, kernels)]
    tensors["eval.out"] = torch.cat([flat(out) for out in outs])
    return {name: value.detach().clone().contiguous() for name, value in tensors.items()}


if __name__ == "__main__":
    one_file.main(__file__, __doc__, compute)
