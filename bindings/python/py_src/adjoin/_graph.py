"""A learned graph as NumPy arrays."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import numpy.typing as npt


class Graph:
    """A weighted directed graph: ``edge_weight[e]`` is how much ``edge_index[1, e]`` receives from ``edge_index[0, e]``.

    Args:
        edge_index: sources and targets, ``[2, E]``.
        edge_weight: weights, ``[E]``; 1 if not given.
        num_nodes: number of nodes N.
        degree: learned neighbourhood sizes, ``[N]``, where there are any.

    >>> g = Graph(np.array([[1, 2], [0, 0]]), np.array([0.5, 1.0]), 3)
    >>> g.num_edges, g.neighbors(0)
    (2, array([1, 2]))
    """

    def __init__(
        self,
        edge_index: npt.ArrayLike,
        edge_weight: npt.ArrayLike | None,
        num_nodes: int,
        degree: npt.ArrayLike | None = None,
    ) -> None:
        self.edge_index: npt.NDArray[np.int64] = np.asarray(edge_index, dtype=np.int64)
        if self.edge_index.ndim != 2 or len(self.edge_index) != 2:
            raise ValueError(f"edge_index must have shape [2, E], found {self.edge_index.shape}")
        count = self.edge_index.shape[1]
        weight = np.ones(count, np.float32) if edge_weight is None else np.asarray(edge_weight)
        if weight.shape != (count,):
            raise ValueError(f"edge_weight must have shape [{count}], found {weight.shape}")
        self.edge_weight: npt.NDArray[np.floating[Any]] = weight
        self.num_nodes = int(num_nodes)
        if count and not 0 <= self.edge_index.min() <= self.edge_index.max() < self.num_nodes:
            raise ValueError(f"edge_index names a node that is not between 0 and {self.num_nodes - 1}")
        self.degree: npt.NDArray[np.floating[Any]] | None = None if degree is None else np.asarray(degree)
        if self.degree is not None and self.degree.shape != (self.num_nodes,):
            raise ValueError(f"degree must have shape [{self.num_nodes}], found {self.degree.shape}")

    @property
    def num_edges(self) -> int:
        """Number of edges."""
        return self.edge_index.shape[1]

    def neighbors(self, node: int) -> npt.NDArray[np.int64]:
        """The nodes that a node receives from."""
        return self.edge_index[0, self.edge_index[1] == node]

    def to_scipy(self) -> Any:
        """A ``scipy.sparse.csr_array`` ``[N, N]``: row i holds what node i receives."""
        from scipy.sparse import csr_array

        rows, columns = self.edge_index[1], self.edge_index[0]
        return csr_array((self.edge_weight, (rows, columns)), shape=(self.num_nodes, self.num_nodes))

    def to_networkx(self) -> Any:
        """A ``networkx.DiGraph`` with the attribute ``weight``, and ``k`` at nodes with a learned size."""
        import networkx

        graph = networkx.DiGraph()
        graph.add_nodes_from(range(self.num_nodes))
        graph.add_weighted_edges_from(zip(*self.edge_index.tolist(), self.edge_weight.tolist()))
        if self.degree is not None:
            networkx.set_node_attributes(graph, dict(enumerate(self.degree.tolist())), "k")
        return graph

    def to_pyg(self, **attributes: Any) -> Any:
        """A ``torch_geometric.data.Data`` with ``edge_index``, ``edge_weight`` and the given attributes."""
        import torch
        from torch_geometric.data import Data

        index, weight = torch.tensor(self.edge_index), torch.tensor(self.edge_weight)
        return Data(edge_index=index, edge_weight=weight, num_nodes=self.num_nodes, **attributes)

    def __repr__(self) -> str:
        mean = float(self.edge_weight.mean()) if self.num_edges else 0.0
        return f"Graph(nodes={self.num_nodes}, edges={self.num_edges}, mean weight={mean:.3g})"

    def _repr_html_(self) -> str:
        received = np.bincount(self.edge_index[1], minlength=self.num_nodes)
        rows = [
            ("nodes", f"{self.num_nodes}"),
            ("edges", f"{self.num_edges}"),
            ("neighbours of a node", f"{received.min()} to {received.max()}" if self.num_nodes else "none"),
        ]
        if self.num_edges:
            rows.append(("weights", f"{self.edge_weight.min():.3g} to {self.edge_weight.max():.3g}"))
        if self.degree is not None and self.num_nodes:
            rows.append(("learned size k", f"{self.degree.min():.3g} to {self.degree.max():.3g}"))
        cells = "".join(f"<tr><th>{html.escape(a)}</th><td>{html.escape(b)}</td></tr>" for a, b in rows)
        return f"<table><caption>adjoin.Graph</caption>{cells}</table>"
