"""Messages between the edges of complete graphs: every pair written out, neighbours from the adjoint graph."""

import torch

from .book import leaky, log_sigmoid, topic

SLOPE = 0.01


def adjoint_of(pairs, nodes):
    """L^T L - 2I over the pairs of different nodes; a node with itself has no neighbours."""
    edges = [(n, i, j) for n, (i, j) in enumerate(pairs) if i != j]
    incidence = torch.zeros(nodes, len(edges), dtype=torch.float64)
    for at, (_, i, j) in enumerate(edges):
        incidence[i, at] = 1
        incidence[j, at] = 1
    among = incidence.T @ incidence - 2 * torch.eye(len(edges), dtype=torch.float64)
    kept = torch.tensor([n for n, _, _ in edges])
    adjoint = torch.zeros(len(pairs), len(pairs), dtype=torch.float64)
    adjoint[kept[:, None], kept[None, :]] = among
    return adjoint


def draw(book, nodes, width):
    return {
        "a": book.random(nodes, width),
        "b": book.random(nodes, width),
        "weights": book.random(2, width, width),
        "biases": book.random(2, width),
        "own": book.random(width, width),
        "other": book.random(width, width),
        "bias": book.random(width),
        "w": book.random(width),
        "w0": book.random(1),
    }


def log_mass(x, nodes, itself, summed):
    """log sum_j p_ij of every node i."""
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if itself or i != j]
    rows, columns = torch.tensor(pairs).T
    adjoint = adjoint_of(pairs, nodes)
    counts = adjoint.sum(1, keepdim=True).clamp(min=1)
    c = leaky(x["a"][rows] + x["b"][columns], SLOPE)
    c = leaky(c @ x["weights"][0] + x["biases"][0], SLOPE)
    y = c @ x["own"] + (c - adjoint @ c / counts) @ x["other"] + x["bias"]
    y = leaky(y * counts if summed else y, SLOPE)
    y = leaky(y @ x["weights"][1] + x["biases"][1], SLOPE)
    p = torch.exp(log_sigmoid(y @ x["w"] + x["w0"]))
    return torch.zeros(nodes, dtype=torch.float64).index_add(0, rows, p).log()


CASES = {"mean.outside": (False, False), "mean.itself": (True, False), "sum.itself": (True, True)}


@topic
def complete_messages(book):
    """The mass of every row of six nodes, p from pair embeddings of two layers and messages in both readings.

    `outside` leaves a node out of its own candidates, `itself` has it among them.
    """
    nodes, width = 6, 3
    while True:
        inputs = draw(book, nodes, width)
        try:
            for case in CASES.values():
                log_mass(inputs, nodes, *case)
            break
        except AssertionError:  # a kink nearby: other numbers
            continue
    leaves = {name: book.input(name, value) for name, value in inputs.items()}
    for name, case in CASES.items():
        book.result(f"{name}.", log_mass(leaves, nodes, *case), leaves)
