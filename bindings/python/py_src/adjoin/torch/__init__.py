"""Graphs that are learned inside a PyTorch model.

>>> import torch
>>> from adjoin.torch import NeighborhoodLearner
>>> learn = NeighborhoodLearner(in_channels=3, candidates="knn:4", degree=2, seed=0).eval()
>>> edge_index, edge_weight = learn(torch.arange(18.).reshape(6, 3))
>>> tuple(edge_index.shape) == (2, len(edge_weight))
True
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:  # pragma: no cover - depends on the environment
    raise ImportError("adjoin.torch needs PyTorch: pip install 'adjoin[torch]'") from error

from . import functional
from ._module import GraphLearner, LearnedGraph, NeighborhoodLearner

__all__ = ["GraphLearner", "LearnedGraph", "NeighborhoodLearner", "functional"]
