"""Kernels on sparse graphs with gradients, in float32 and float64, on the CPU.

Graphs are in the form of PyTorch Geometric: ``edge_index`` ``[2, E]``, row 0 sources, row 1 targets. Results have the
same bits for any number of threads. Gradients are of first order.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from .. import _rust
from ._tensors import floats, indices, tensor, view

__all__ = ["edge_similarity", "knn", "segment_softmax", "soft_topk", "spmm"]


def _rows(name: str, value: int | None, found: Tensor) -> int:
    if value is None:
        return int(found.max()) + 1 if found.numel() else 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} = {value!r}: must be a number of at least 0")
    return value


class _Spmm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Any, rows: int, weight: Tensor, x: Tensor) -> Tensor:
        ctx.edges = edges
        ctx.save_for_backward(weight, x)
        width = x.shape[1]
        return tensor(edges.spmm(view(weight), view(x), width), rows, width)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        weight, x = ctx.saved_tensors
        wanted = (ctx.needs_input_grad[2], ctx.needs_input_grad[3])
        of_weight, of_x = ctx.edges.spmm_backward(view(weight), view(x), view(grad), x.shape[1], wanted)
        return (
            None,
            None,
            None if of_weight is None else tensor(of_weight),
            None if of_x is None else tensor(of_x, *x.shape),
        )


def spmm(edge_index: Tensor, edge_weight: Tensor | None, x: Tensor, num_targets: int | None = None) -> Tensor:
    r"""Sparse times dense: what every target receives from its sources.

    .. math:: y_i = \sum_{j : (j, i) \in E} w_{ji} \, x_j

    Gradients flow to weights and features. Repeated edges count repeatedly.

    Args:
        edge_index: sources and targets, ``[2, E]``.
        edge_weight: one weight per edge, ``[E]``; ``None`` for 1.
        x: features of the sources, ``[N, F]``.
        num_targets: number of targets; ``N`` if not given.

    Shapes: the result is ``[num_targets, F]``.

    >>> edge_index = torch.tensor([[0, 1, 2], [1, 1, 0]])
    >>> spmm(edge_index, torch.tensor([1., 2., 3.]), torch.tensor([[1.], [10.], [100.]]))
    tensor([[300.],
            [ 21.],
            [  0.]])
    """
    x = floats("x", x, 2)
    edge_index = indices("edge_index", edge_index, (2, None))
    if edge_weight is None:
        edge_weight = x.new_ones(edge_index.shape[1])
    edge_weight = floats("edge_weight", edge_weight, 1, x.dtype)
    if len(edge_weight) != edge_index.shape[1]:
        raise ValueError(f"edge_weight has {len(edge_weight)} values for {edge_index.shape[1]} edges")
    rows = x.shape[0] if num_targets is None else _rows("num_targets", num_targets, edge_index)
    edges = _rust.Edges(view(edge_index), rows, x.shape[0])
    return _Spmm.apply(edges, rows, edge_weight, x)


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, segments: Any, src: Tensor) -> Tensor:
        result = tensor(segments.softmax(view(src)))
        ctx.segments = segments
        ctx.save_for_backward(result)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (result,) = ctx.saved_tensors
        return None, tensor(ctx.segments.softmax_backward(view(result), view(grad)))


def segment_softmax(src: Tensor, index: Tensor, num_nodes: int | None = None) -> Tensor:
    r"""Softmax over the entries of every row.

    .. math:: s_e = \exp(v_e) / \sum_{e' : i(e') = i(e)} \exp(v_{e'})

    Args:
        src: values, ``[E]`` or ``[E, H]`` (columns apart).
        index: the row of every entry, ``[E]``, in any order.
        num_nodes: number of rows; one more than the largest index if not given.

    >>> segment_softmax(torch.tensor([0., 0., 7.]), torch.tensor([1, 1, 0]))
    tensor([0.5000, 0.5000, 1.0000])
    """
    index = indices("index", index, (None,))
    dims = src.dim() if isinstance(src, Tensor) else 1
    src = floats("src", src, 2 if dims == 2 else 1)
    if len(src) != len(index):
        raise ValueError(f"src has {len(src)} rows, but index has {len(index)}")
    segments = _rust.Segments(view(index), _rows("num_nodes", num_nodes, index))
    if dims == 1:
        return _Softmax.apply(segments, src)
    return torch.stack([_Softmax.apply(segments, column) for column in src.unbind(1)], 1) if src.shape[1] else src


class _Similarity(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, edges: Any, kind: str, x: Tensor) -> Tensor:
        ctx.edges, ctx.kind = edges, kind
        ctx.save_for_backward(x)
        return tensor(edges.similarity(kind, view(x), x.shape[1]))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (x,) = ctx.saved_tensors
        of_x = ctx.edges.similarity_backward(ctx.kind, view(x), x.shape[1], view(grad))
        return None, None, tensor(of_x, *x.shape)


def edge_similarity(
    x: Tensor, edge_index: Tensor, kind: Literal["distance", "dot", "cosine"] = "distance"
) -> Tensor:
    r"""How alike the two ends of every edge are: :math:`|x_i - x_j|`, :math:`\langle x_i, x_j \rangle` or the cosine.

    No ``[E, F]`` array is built. Gradients flow to ``x``; that of a distance of 0 is 0.

    Args:
        x: features, ``[N, F]``.
        edge_index: pairs, ``[2, E]``.
        kind: ``"distance"``, ``"dot"`` or ``"cosine"``.

    >>> edge_similarity(torch.tensor([[0., 0.], [3., 4.]]), torch.tensor([[0], [1]]))
    tensor([5.])
    """
    x = floats("x", x, 2)
    edge_index = indices("edge_index", edge_index, (2, None))
    return _Similarity.apply(_rust.Edges(view(edge_index), x.shape[0], x.shape[0]), kind, x)


_KINDS = {"euclidean": "distance", "cosine": "cosine", "dot": "dot"}


@overload
def knn(
    x: Tensor, k: int, batch: Tensor | None = ..., *, metric: str = ..., loop: bool = ..., return_distance: Literal[False] = ...
) -> Tensor: ...
@overload
def knn(
    x: Tensor, k: int, batch: Tensor | None = ..., *, metric: str = ..., loop: bool = ..., return_distance: Literal[True]
) -> tuple[Tensor, Tensor]: ...
def knn(
    x: Tensor,
    k: int,
    batch: Tensor | None = None,
    *,
    metric: str = "euclidean",
    loop: bool = False,
    return_distance: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:
    """The exact ``k`` nearest neighbours of every point, nearest first, ties by lower index.

    Args:
        x: points, ``[N, F]``.
        k: how many; all others where a graph has too few.
        batch: the graph of every point, ``[N]``, not decreasing; neighbours are sought within a graph.
        metric: ``"euclidean"``, ``"cosine"`` or ``"dot"`` (a larger product is nearer).
        loop: whether a point is its own neighbour.
        return_distance: also give Euclidean distances, ``1 - cosine`` or negative products, with gradients to ``x``.

    Shapes: ``[2, E]``, row 0 neighbours, row 1 points; distances ``[E]``.

    >>> knn(torch.tensor([[0.], [1.], [5.]]), 1)
    tensor([[1, 0, 1],
            [0, 1, 2]])
    """
    x = floats("x", x, 2)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(f"k = {k!r}: must be a number of at least 1")
    graphs = None if batch is None else view(indices("batch", batch, (x.shape[0],)))
    index = tensor(_rust.knn_index(view(x), x.shape[1], k, metric, loop, graphs)).view(2, -1)
    if not return_distance:
        return index
    alike = edge_similarity(x, index, _KINDS[metric])  # type: ignore[arg-type]
    return index, {"euclidean": alike, "cosine": 1 - alike, "dot": -alike}[metric]


class _SoftTopK(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, segments: Any, step: tuple[float, float, bool], score: Tensor, k: Tensor) -> Any:
        positions, weights, kept = segments.soft_topk(view(score), view(k), step)
        ctx.kept = kept
        ctx.save_for_backward(score)
        positions = tensor(positions)
        ctx.mark_non_differentiable(positions)
        return tensor(weights), positions

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, _positions: Any) -> Any:
        (score,) = ctx.saved_tensors
        of_score, of_k = ctx.kept.backward(view(score), view(grad))
        return None, None, tensor(of_score), tensor(of_k)


def soft_topk(
    score: Tensor,
    index: Tensor,
    k: Tensor | float,
    *,
    lam: float = 1.0,
    shift: float = 0.5,
    hard: bool = False,
    num_nodes: int | None = None,
) -> tuple[Tensor, Tensor]:
    r"""The differentiable top-k: keeps the best entries of every row, ``k`` of them softly, with ``k`` of each row its own.

    .. math:: a_e = v_e \, \sigma\bigl(2 (k_i + shift - r_e) / \lambda\bigr)

    :math:`r_e` is the rank of entry e in its row, from 1, ties by position. Gradients flow to the scores and to ``k``;
    ranks are constants. Entries whose factor is below 1e-7 are left out.

    Args:
        score: values, ``[E]``.
        index: the row of every entry, ``[E]``, in any order.
        k: how many to keep, ``[num_nodes]`` or one number.
        lam: width of the step; towards 0 it becomes the hard top-k.
        shift: added to k; 1/2 makes the factors of a long row sum to k.
        hard: factors 0 and 1 forward, the smooth gradient backward.
        num_nodes: number of rows; one more than the largest index if not given.

    Returns:
        Weights of the kept entries and their positions in ``score``, row after row.

    >>> weight, kept = soft_topk(torch.tensor([3., 1., 2.]), torch.tensor([0, 0, 0]), 2., lam=0.05)
    >>> kept.tolist(), weight.round(decimals=2).tolist()
    ([0, 2], [3.0, 2.0])
    """
    score = floats("score", score, 1)
    index = indices("index", index, (None,))
    if len(score) != len(index):
        raise ValueError(f"score has {len(score)} values, but index has {len(index)}")
    if isinstance(k, Tensor) and k.dim() == 1 and num_nodes is None:
        num_nodes = len(k)
    rows = _rows("num_nodes", num_nodes, index)
    if not isinstance(k, Tensor):
        k = score.new_full((rows,), float(k))
    k = floats("k", k.expand(rows) if isinstance(k, Tensor) and k.dim() == 0 else k, 1, score.dtype)
    if len(k) != rows:
        raise ValueError(f"k has {len(k)} values for {rows} rows")
    segments = _rust.Segments(view(index), rows)
    weight, kept = _SoftTopK.apply(segments, (float(lam), float(shift), bool(hard)), score, k)
    return weight, kept
