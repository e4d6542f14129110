"""For PyTorch Geometric: a transform beside ``KNNGraph`` and ``GDC``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

try:
    from torch_geometric.data import Data
    from torch_geometric.transforms import BaseTransform
except ImportError as error:  # pragma: no cover - depends on the environment
    raise ImportError("adjoin.pyg needs PyTorch Geometric: pip install 'adjoin[pyg]'") from error

import torch

from ._learn import learn_graph

__all__ = ["AddLearnedEdges"]


class AddLearnedEdges(BaseTransform):
    """Replaces the edges of a graph by learned ones, with weights.

    With ``data.y`` and ``data.train_mask`` the graph is fitted to the labels of training nodes, and to no other; see
    :func:`adjoin.learn_graph`.

    Args:
        candidates, score, degree, symmetric, settings, seed: as of :func:`adjoin.learn_graph`.

    >>> from torch_geometric.data import Data
    >>> data = Data(x=torch.tensor([[0., 0.], [0., 1.], [4., 4.]]))
    >>> AddLearnedEdges(candidates="knn:1", degree=1)(data).edge_index.shape[0]
    2
    """

    def __init__(
        self,
        candidates: str | None = None,
        score: str | None = None,
        degree: float | str = "learned",
        *,
        symmetric: bool = False,
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.candidates, self.score, self.degree = candidates, score, degree
        self.symmetric, self.settings, self.seed = symmetric, settings, seed

    def forward(self, data: Data) -> Data:
        """The same nodes with other edges."""
        if data.x is None:
            raise ValueError("data.x is missing: the transform compares features")
        labels, mask = data.y, data.get("train_mask")
        y = None
        if labels is not None and mask is not None and self.score in (None, "evidence"):
            y = torch.where(mask, labels, torch.full_like(labels, -1)).numpy()
        graph = learn_graph(
            data.x.detach().numpy(),
            None if data.edge_index is None else data.edge_index.numpy(),
            y,
            candidates=self.candidates,
            score=self.score,
            degree=self.degree,
            symmetric=self.symmetric,
            settings=self.settings,
            seed=self.seed,
        )
        data.edge_index = torch.from_numpy(graph.edge_index)
        data.edge_weight = torch.from_numpy(graph.edge_weight)
        if "edge_attr" in data:
            del data.edge_attr
        return data
