"""A graph from arrays, without a network of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _rust
from ._arrays import edge_list, features, is_sparse
from ._graph import Graph
from ._settings import generator_settings, needs_graph, parse_candidates, to_json


def learn_graph(
    x: Any,
    edges: Any = None,
    y: npt.ArrayLike | None = None,
    *,
    candidates: str | None = None,
    score: str | None = None,
    degree: float | str = "learned",
    symmetric: bool = False,
    hidden: int = 64,
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Graph:
    """The graph that a generator gives for some nodes.

    With labels the scores are evidence: how likely a candidate is a good neighbour, fitted to the labels given. Without
    them nothing is trained: candidates are compared by a random projection of their features. To train the generator
    with a network, see :class:`adjoin.torch.NeighborhoodLearner` and :class:`adjoin.NodeClassifier`.

    Args:
        x: features, ``[N, F]``, dense or a SciPy sparse matrix.
        edges: the given graph: ``[2, E]`` sources and targets, or a SciPy matrix; ``None`` for no graph.
        y: classes, ``[N]``, integers from 0; -1 for nodes whose label must not be used.
        candidates: as of ``NeighborhoodLearner``; given edges, or 20 nearest nodes where there are none.
        score: as of ``NeighborhoodLearner``; ``"evidence"`` with labels, else ``"distance"``.
        degree: a number, or ``"learned"``.
        symmetric, hidden, settings, seed: as of ``NeighborhoodLearner``.

    >>> x = np.array([[0., 0.], [0., 1.], [5., 5.], [5., 6.]])
    >>> learn_graph(x, candidates="knn:3", degree=1).num_nodes
    4
    """
    if score is None:
        score = "distance" if y is None else "evidence"
    if candidates is None:
        candidates = "edges+knn:20+ppr:16" if score == "evidence" else "knn:20" if edges is None else "edges"
    single = is_sparse(x) or getattr(x, "dtype", None) == np.float32
    dtype = np.dtype(np.float32 if single else np.float64)
    values, shape, sparse = features("x", x, dtype)
    index = None if edges is None else edge_list("edges", edges, shape[0]).reshape(-1)
    if index is None and score != "evidence" and needs_graph(parse_candidates(candidates)):
        raise ValueError(f"candidates = {candidates!r} need edges, and none were given")
    config = generator_settings(
        candidates,
        score,
        degree,
        hidden=hidden,
        symmetric=symmetric,
        noise=0.0,
        dropout=0.0,
        settings=settings,
    )
    labels = None if y is None else _labels(y, shape[0])
    count = int(labels.max()) + 1 if labels is not None and labels.size else 0
    learner = _rust.Learner(to_json(config), shape[1], max(count, 2), seed)
    inputs = _rust.Inputs(values, shape, sparse, index)
    parameters = [values.astype(dtype) for _, _, _, values in learner.parameters()]
    if labels is not None and score == "evidence":
        nodes = np.flatnonzero(labels >= 0).astype(np.int64)
        fitted = learner.fit(inputs, parameters, (nodes, labels[nodes], max(count, 2)), seed)
        parameters = [values.astype(dtype) for values in fitted]
    tape = learner.forward(inputs, parameters, seed, None, (False, False, False))
    return Graph(tape.edge_index().reshape(2, -1), tape.edge_weight(), shape[0], tape.degree())


def _labels(y: npt.ArrayLike, nodes: int) -> npt.NDArray[np.int64]:
    found = np.asarray(y)
    if found.shape != (nodes,):
        raise ValueError(f"y must have shape [{nodes}], found {found.shape}")
    if found.dtype.kind not in "iu":
        raise TypeError(f"y must hold integers, found {found.dtype}")
    return np.ascontiguousarray(found, np.int64)
