"""Golden vectors of DAG-Net: the network in PyTorch, step by step and scene by scene, from its equations.

    python golden/dagnet.py            write dagnet.safetensors beside this script
    python golden/dagnet.py --check    recompute and compare, write nothing

float64. Two scenes of 3 and 2 agents, 5 moments, so 4 steps of 5 agents: rows of everything that belongs to steps are
all agents at the first step, then all at the second, ... The file holds
  * sizes: `width`, `latent`, `heads`, `head_width`, `cells`, `most_agents`, `agents`, `moments`;
  * `steps`, `places`, `goals_before`, `goals`, `noise`: what the network is told of the steps;
  * `pointers`, `indices`, `weights`: one block-diagonal graph on all agents at all moments. Goals of a step are exchanged
    over the graph of the moment before it, states over that of the moment after it;
  * `model.PATH`: the parameters, matrices as [inputs, outputs];
  * `posterior`, `prior`, `step`, `log_goals`: the distributions of every step; `state.0`, `state.1`: the state at the end;
  * `likelihood`, `divergence`, `cross_entropy`, `total` = likelihood + 0.7 divergence + 1.3 cross_entropy, and its gradient
    `grad.PATH` by every parameter and `grad.weights` by the weights of the graph;
  * `faithful.cross_entropy`, `faithful.total`: with the public code's `-sum p`.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

import one_file

WIDTH, LATENT, HEADS, HEAD_WIDTH, CELLS, MOST_AGENTS = 6, 3, 2, 2, 5, 3
SIZES, MOMENTS = [3, 2], 5
AGENTS, STEPS = sum(SIZES), MOMENTS - 1


class Numbers:
    def __init__(self, seed):
        self.rng = np.random.Generator(np.random.PCG64(seed))

    def uniform(self, *shape, low=-1.0, high=1.0):
        values = low + (high - low) * self.rng.random(shape)
        return torch.from_numpy(np.round(values * 256) / 256)


def parameters(numbers):
    """All parameters by path, matrices as [inputs, outputs]."""
    places = 2 * MOST_AGENTS
    model = {}

    def linear(path, inputs, outputs, bias=True):
        model[f"{path}.weight"] = numbers.uniform(inputs, outputs, low=-0.7, high=0.7)
        if bias:
            model[f"{path}.bias"] = numbers.uniform(outputs, low=-0.3, high=0.3)

    def gat(path, inputs, outputs, heads):
        linear(f"{path}.linear", inputs, heads * outputs, bias=False)
        for part in ["source", "target", "bias"]:
            model[f"{path}.{part}"] = numbers.uniform(heads * outputs)

    def attention(path, width):
        gat(f"{path}.first", width, HEAD_WIDTH, HEADS)
        gat(f"{path}.second", HEADS * HEAD_WIDTH, width, 1)

    def mlp(path, inputs, outputs):
        linear(f"{path}.first", inputs, WIDTH)
        linear(f"{path}.second", WIDTH, WIDTH)
        linear(f"{path}.last", WIDTH, outputs)

    linear("goal", places + CELLS + WIDTH, WIDTH)
    linear("goal_out", WIDTH, CELLS)
    attention("goal_graph", CELLS)
    linear("goal_blend", 2 * CELLS, CELLS)
    attention("state_graph", WIDTH)
    linear("state_blend", 2 * WIDTH, WIDTH)
    for path, inputs in [("phi_x", 2), ("phi_z", LATENT)]:
        linear(f"{path}.first", inputs, WIDTH)
        linear(f"{path}.second", WIDTH, WIDTH)
    mlp("encoder", 2 * WIDTH + CELLS, 2 * LATENT)
    mlp("prior", CELLS + WIDTH, 2 * LATENT)
    mlp("decoder", places + CELLS + 2 * WIDTH, 4)
    for layer, inputs in enumerate([2 * WIDTH, WIDTH]):
        linear(f"rnn.{layer}.input", inputs, 3 * WIDTH)
        linear(f"rnn.{layer}.state", WIDTH, 3 * WIDTH)
    return model


class Network:
    def __init__(self, model):
        self.model = model
        self.rnn = torch.nn.GRU(2 * WIDTH, WIDTH, 2, dtype=torch.float64)

    def linear(self, path, x):
        return x @ self.model[f"{path}.weight"] + self.model[f"{path}.bias"]

    def two(self, path, x):
        x = F.leaky_relu(self.linear(f"{path}.first", x), 0.01)
        return F.leaky_relu(self.linear(f"{path}.second", x), 0.01)

    def mlp(self, path, *inputs):
        return self.linear(f"{path}.last", self.two(path, torch.cat(inputs, 1)))

    def gat(self, path, x, graph, heads):
        """One layer on the dense weighted graph of a scene, whose diagonal is 1; 0 is no edge."""
        h = x @ self.model[f"{path}.linear.weight"]
        source, target = self.model[f"{path}.source"], self.model[f"{path}.target"]
        out = []
        for part in range(heads):
            chunk = slice(part * h.shape[1] // heads, (part + 1) * h.shape[1] // heads)
            here = h[:, chunk]
            logits = (here @ target[chunk])[:, None] + (here @ source[chunk])[None, :]
            logits = F.leaky_relu(logits, 0.2)
            edge = graph > 0
            logits = torch.where(edge, logits + torch.where(edge, graph, 1.0).log(), -math.inf)
            out.append(torch.softmax(logits, 1) @ here)
        return torch.cat(out, 1) + self.model[f"{path}.bias"]

    def attention(self, path, x, graphs):
        """Scene by scene."""
        out, first = [], 0
        for size, graph in zip(SIZES, graphs):
            here = x[first : first + size]
            here = F.elu(self.gat(f"{path}.first", here, graph, HEADS))
            out.append(F.elu(self.gat(f"{path}.second", here, graph, 1)))
            first += size
        return torch.cat(out)

    def gru(self, x, h):
        """torch's own unit, with our matrices in its places."""
        names, values = [], []
        for layer in range(2):
            for ours, theirs in [("input", "ih"), ("state", "hh")]:
                names += [f"weight_{theirs}_l{layer}", f"bias_{theirs}_l{layer}"]
                values += [self.model[f"rnn.{layer}.{ours}.weight"].T, self.model[f"rnn.{layer}.{ours}.bias"]]
        found, h = torch.func.functional_call(self.rnn, dict(zip(names, values)), (x[None], h))
        return h

    def run(self, data, graphs):
        one_hot = lambda cells: F.one_hot(cells, CELLS).to(torch.float64)
        h = torch.zeros(2, AGENTS, WIDTH, dtype=torch.float64)
        found = {name: [] for name in ["posterior", "prior", "step", "log_goals"]}
        for t in range(STEPS):
            rows = slice(t * AGENTS, (t + 1) * AGENTS)
            x, d, noise = data["steps"][rows], data["places"][rows], data["noise"][rows]
            before, goal = one_hot(data["goals_before"][rows]), one_hot(data["goals"][rows])
            own = F.relu(self.linear("goal", torch.cat([d, before, h[1]], 1)))
            own = torch.softmax(self.linear("goal_out", own), 1)
            attended = self.attention("goal_graph", own, graphs[t])
            found["log_goals"].append(torch.log_softmax(self.linear("goal_blend", torch.cat([own, attended], 1)), 1))
            phi_x = self.two("phi_x", x)
            posterior = self.mlp("encoder", phi_x, goal, h[1])
            z = posterior[:, :LATENT] + (posterior[:, LATENT:] / 2).exp() * noise
            phi_z = self.two("phi_z", z)
            found["posterior"].append(posterior)
            found["prior"].append(self.mlp("prior", goal, h[1]))
            found["step"].append(self.mlp("decoder", d, goal, phi_z, h[1]))
            first, k = self.gru(torch.cat([phi_x, phi_z], 1), h)
            attended = self.attention("state_graph", k, graphs[t + 1])
            h = torch.stack([first, self.linear("state_blend", torch.cat([attended, k], 1))])
        return {name: torch.cat(values) for name, values in found.items()}, h


def losses(found, data):
    """Torch's own densities and divergences."""
    normal = lambda p: torch.distributions.Normal(p[:, : p.shape[1] // 2], (p[:, p.shape[1] // 2 :] / 2).exp())
    likelihood = -normal(found["step"]).log_prob(data["steps"]).sum() / AGENTS
    kl = torch.distributions.kl_divergence(normal(found["posterior"]), normal(found["prior"]))
    divergence = kl.sum() / AGENTS
    chosen = found["log_goals"].gather(1, data["goals"][:, None])
    return likelihood, divergence, -chosen.sum() / AGENTS, -chosen.exp().sum()


def build():
    numbers = Numbers(20)
    model = {path: value.requires_grad_() for path, value in parameters(numbers).items()}
    rows = STEPS * AGENTS
    data = {
        "steps": numbers.uniform(rows, 2),
        "places": numbers.uniform(rows, 2 * MOST_AGENTS),
        "noise": numbers.uniform(rows, LATENT),
        "goals": torch.from_numpy(numbers.rng.integers(0, CELLS, rows)),
        "goals_before": torch.from_numpy(numbers.rng.integers(0, CELLS, rows)),
    }
    pointers, indices = [0], []
    for moment in range(MOMENTS):
        first = moment * AGENTS
        for size in SIZES:
            for i in range(size):
                chosen = [j for j in range(size) if j != i and numbers.rng.random() < 0.7]
                indices += [first + j for j in chosen]
                pointers.append(len(indices))
            first += size
    weights = numbers.uniform(len(indices), low=0.1, high=1.0).requires_grad_()
    everyone = MOMENTS * AGENTS
    row_of = torch.repeat_interleave(torch.arange(everyone), torch.tensor(pointers).diff())
    whole = torch.eye(everyone, dtype=torch.float64).index_put((row_of, torch.tensor(indices)), weights)
    graphs = []
    for moment in range(MOMENTS):
        first, of_scenes = moment * AGENTS, []
        for size in SIZES:
            of_scenes.append(whole[first : first + size, first : first + size])
            first += size
        graphs.append(of_scenes)
    found, state = Network(model).run(data, graphs)
    likelihood, divergence, goals, faithful = losses(found, data)
    total = likelihood + 0.7 * divergence + 1.3 * goals
    leaves = {**model, "weights": weights}
    grads = torch.autograd.grad(total, list(leaves.values()))
    book = {**data, **found, "weights": weights, "state.0": state[0], "state.1": state[1]}
    book |= {"pointers": torch.tensor(pointers), "indices": torch.tensor(indices)}
    book |= {"likelihood": likelihood, "divergence": divergence, "cross_entropy": goals, "total": total}
    book |= {"faithful.cross_entropy": faithful}
    book |= {"faithful.total": likelihood + 0.7 * divergence + 1.3 * faithful}
    book |= {f"model.{path}": value for path, value in model.items()}
    book |= {f"grad.{path}": grad for path, grad in zip(leaves, grads)}
    sizes = dict(width=WIDTH, latent=LATENT, heads=HEADS, head_width=HEAD_WIDTH, cells=CELLS)
    sizes |= dict(most_agents=MOST_AGENTS, agents=AGENTS, moments=MOMENTS)
    book |= {name: torch.tensor([value]) for name, value in sizes.items()}
    return {name: value.detach().reshape(value.shape or (1,)).contiguous() for name, value in book.items()}


if __name__ == "__main__":
    one_file.main(__file__, __doc__, build)
