"""Checks of NumPy and SciPy arguments by their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def is_sparse(value: Any) -> bool:
    """Whether something is a SciPy sparse matrix or array."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def edge_list(name: str, edges: Any, nodes: int) -> npt.NDArray[np.int64]:
    """Edges as ``[2, E]``: from ``[2, E]``, a SciPy matrix ``[N, N]`` whose row i holds what i receives, or a ``Graph``."""
    if edges is None:
        return np.zeros((2, 0), np.int64)
    if hasattr(edges, "edge_index"):
        edges = edges.edge_index
    if is_sparse(edges):
        if edges.shape != (nodes, nodes):
            raise ValueError(f"{name} must be {nodes} x {nodes}, found {edges.shape}")
        matrix = edges.tocoo()
        return np.ascontiguousarray(np.stack([matrix.col, matrix.row]).astype(np.int64))
    found = np.asarray(edges)
    if found.ndim != 2 or found.shape[0] != 2:
        raise ValueError(f"{name} must have shape [2, E], found {found.shape}")
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, found {found.dtype}")
    found = np.ascontiguousarray(found.astype(np.int64))
    if found.size and not 0 <= found.min() <= found.max() < nodes:
        raise ValueError(f"{name} names a node that is not between 0 and {nodes - 1}")
    return found


def features(name: str, x: Any, dtype: Any) -> tuple[npt.NDArray[Any], tuple[int, int], Any]:
    """Values, shape, and pointers and columns of sparse ones."""
    if is_sparse(x):
        matrix = x.tocsr().astype(dtype)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        parts = tuple(np.ascontiguousarray(part, np.int64) for part in (matrix.indptr, matrix.indices))
        return np.ascontiguousarray(matrix.data), matrix.shape, parts
    found = np.asarray(x)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"{name} must hold numbers, found {found.dtype}")
    if found.ndim != 2:
        raise ValueError(f"{name} must have 2 dimensions, found shape {found.shape}")
    return np.ascontiguousarray(found, dtype).reshape(-1), (found.shape[0], found.shape[1]), None
