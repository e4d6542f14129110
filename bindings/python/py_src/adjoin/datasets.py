"""Data that comes with the package."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import _rust

__all__ = ["NodeDataset", "cora"]


@dataclass(frozen=True)
class NodeDataset:
    """Nodes of one graph, with a split."""

    x: npt.NDArray[np.float32]
    """Features, ``[N, F]``."""
    edges: npt.NDArray[np.int64]
    """Edges in both directions, ``[2, E]``."""
    y: npt.NDArray[np.int64]
    """Classes, ``[N]``."""
    class_names: list[str]
    """Names of the classes."""
    train_mask: npt.NDArray[np.bool_]
    """Training nodes."""
    valid_mask: npt.NDArray[np.bool_]
    """Validation nodes."""
    test_mask: npt.NDArray[np.bool_]
    """Test nodes."""


def cora() -> NodeDataset:
    """The citation graph Cora with its public split: 2708 papers, 1433 words, 7 classes. Rows sum to 1.

    >>> data = cora()
    >>> data.x.shape, data.edges.shape, int(data.train_mask.sum())
    ((2708, 1433), (2, 10556), 140)
    """
    (pointers, columns, values, width), edges, y, names, parts = _rust.cora()
    nodes = len(y)
    x = np.zeros((nodes, width), np.float32)
    rows = np.repeat(np.arange(nodes), np.diff(pointers))
    x[rows, columns] = values
    x /= np.maximum(x.sum(1, keepdims=True), 1e-12)
    masks = []
    for part in parts:
        masks.append(np.zeros(nodes, bool))
        masks[-1][part] = True
    return NodeDataset(x, edges.reshape(2, -1), y, names, *masks)
