"""Learns which neighbours every node of a graph should have, and how many.

``adjoin`` itself needs NumPy only. PyTorch modules are in :mod:`adjoin.torch`, the transform for PyTorch Geometric in
:mod:`adjoin.pyg`.

>>> import numpy as np, adjoin
>>> x = np.random.default_rng(0).normal(size=(20, 3))
>>> adjoin.learn_graph(x, degree=3)
Graph(nodes=20, edges=..., mean weight=...)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import datasets
from ._graph import Graph
from ._learn import learn_graph
from ._runs import Run, load_run
from ._rust import __version__, get_threads, set_threads
from ._tables import backbones, learners

__all__ = [
    "Graph",
    "NodeClassifier",
    "Run",
    "__version__",
    "backbones",
    "datasets",
    "get_threads",
    "learn_graph",
    "learners",
    "load_run",
    "set_threads",
]

if TYPE_CHECKING:
    from ._classifier import NodeClassifier


def __getattr__(name: str) -> Any:
    # scikit-learn is an extra, and takes a second to import.
    if name == "NodeClassifier":
        from ._classifier import NodeClassifier

        return NodeClassifier
    raise AttributeError(f"module 'adjoin' has no attribute {name!r}")
