"""Learners of graphs as ``torch.nn.Module``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from .. import _rust
from .._settings import _merged, generator_settings, to_json
from ._tensors import FLOATS, floats, indices, on_cpu, tensor, view

if TYPE_CHECKING:
    from .._graph import Graph

# What the native module needs to know before the number of classes is known.
_UNKNOWN_CLASSES = 2
_LARGEST_SEED = 2**63 - 1
_CLASSES_IN = "informed.model.compatibility"


@dataclass(frozen=True)
class LearnedGraph:
    """A learned graph with what else is known of it. Gradients flow through all float tensors."""

    edge_index: Tensor
    """Sources and targets, ``[2, E]``, sorted by target."""
    edge_weight: Tensor
    """One weight per edge, ``[E]``."""
    num_nodes: int
    """Number of nodes N."""
    degree: Tensor | None = None
    """Learned neighbourhood sizes, ``[N]``."""
    score_index: Tensor | None = None
    """The candidates that were ranked, ``[2, P]``."""
    score: Tensor | None = None
    """Log-scores of the candidates without noise, ``[P]``."""
    latent: Tensor | None = None
    """Latent features, ``[N, hidden]``."""

    def detach(self) -> Graph:
        """The graph as NumPy arrays, see :class:`adjoin.Graph`."""
        from .._graph import Graph

        degree = None if self.degree is None else self.degree.detach().numpy()
        return Graph(self.edge_index.numpy(), self.edge_weight.detach().numpy(), self.num_nodes, degree)


@dataclass(frozen=True)
class _Call:
    """What a pass needs beside tensors."""

    core: _rust.Learner
    inputs: _rust.Inputs
    prepared: _rust.Prepared | None
    seed: int
    step: int | None
    tracked: bool
    everything: bool


class _Learn(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, call: _Call, x: Tensor | None, edge_weight: Tensor | None, *values: Tensor) -> Any:
        ctx.set_materialize_grads(False)
        wanted = ctx.needs_input_grad
        tracked = (call.tracked, call.tracked and wanted[1], call.tracked and wanted[2])
        arrays = [view(value) for value in values]
        tape = call.core.forward(call.inputs, arrays, call.seed, call.step, tracked, call.prepared)
        index, weight = tensor(tape.edge_index()).view(2, -1), tensor(tape.edge_weight())
        degree = pairs = score = latent = None
        if call.everything:
            if (found := tape.degree()) is not None:
                degree = tensor(found)
            if (scores := tape.scores()) is not None:
                pairs, score = tensor(scores[0]).view(2, -1), tensor(scores[1])
            if (hidden := tape.latent()) is not None:
                latent = tensor(hidden[0], -1, hidden[1])
        # What does not depend on any parameter says so: gradients that are missing are easily overlooked.
        flows = zip((weight, degree, score, latent), tape.tracked())
        constant = [index, pairs, *[result for result, tracked in flows if not tracked]]
        ctx.mark_non_differentiable(*[result for result in constant if result is not None])
        if call.tracked:
            ctx.tape, ctx.shapes = tape, [value.shape for value in values]
            ctx.x_shape = None if x is None else x.shape
        return index, weight, degree, pairs, score, latent

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _index: Any, *grads: Tensor | None) -> Any:
        weight, degree, _pairs, score, latent = grads
        upstream = [None if grad is None else view(grad) for grad in (weight, degree, score, latent)]
        of_values, of_x, of_weight = ctx.tape.backward(upstream)
        shaped = [None if g is None else tensor(g, *shape) for g, shape in zip(of_values, ctx.shapes)]
        return (
            None,
            None if of_x is None else tensor(of_x, *ctx.x_shape),
            None if of_weight is None else tensor(of_weight),
            *shaped,
        )


class GraphLearner(nn.Module):
    r"""Any learner of the library by its name, as a module: from features, and perhaps a graph, to a graph.

    Parameters live in PyTorch: optimisers, ``state_dict``, ``deepcopy`` and ``torch.distributed`` work as with any
    module. In training mode noise and dropout are on; in evaluation mode the result is deterministic. It has the same
    bits for any number of threads. :func:`adjoin.learners` lists the names.

    Args:
        learner: the name, such as ``"neural-sparse"`` or ``"dgm"``.
        in_channels: width of the features.
        settings: settings of the learner that differ from its defaults.
        num_classes: number of classes, for learners that are fitted to labels; taken from the labels if not given.
        seed: where weights and noise come from; ``None`` follows ``torch.manual_seed``.
        dtype: ``torch.float32`` or ``torch.float64``; PyTorch's default if not given.

    >>> learn = GraphLearner("knn", in_channels=2, settings={"k": 1, "add_input": False}).eval()
    >>> learn(torch.tensor([[0., 1.], [0., 2.], [5., 0.]]))[0].shape[0]
    2
    """

    def __init__(
        self,
        learner: str,
        in_channels: int,
        *,
        settings: Mapping[str, Any] | None = None,
        num_classes: int | None = None,
        seed: int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        known = json.loads(_rust.settings_of(learner))
        if isinstance(known, dict):
            known = {kind: _merged(values, settings or {}) for kind, values in known.items()}
        elif settings:
            raise ValueError(f"settings: the learner {learner!r} has none")
        self._start(learner, known, in_channels, num_classes, seed, dtype)

    def _start(
        self,
        name: str,
        settings: Any,
        in_channels: int,
        num_classes: int | None,
        seed: int | None,
        dtype: torch.dtype | None,
    ) -> None:
        for what, value in (("in_channels", in_channels), ("num_classes", num_classes), ("seed", seed)):
            if value is None and what != "in_channels":
                continue
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{what} must be an int, found {type(value).__name__}")
            if not (0 if what == "seed" else 1) <= value <= _LARGEST_SEED:
                raise ValueError(f"{what} = {value}: out of range")
        if dtype is None:
            dtype = torch.get_default_dtype()
        if dtype not in FLOATS:
            raise TypeError(f"dtype must be float32 or float64, found {dtype}")
        self.learner, self.in_channels, self.num_classes, self.seed = name, in_channels, num_classes, seed
        self._settings = settings
        self._core = self._new_core()
        self._names: list[str] = []
        self._kept: Any = None
        self.register_buffer("step", torch.zeros((), dtype=torch.int64))
        for path, shape, trained, values in self._core.parameters():
            self._names.append(path)
            self._put(path, tensor(values).to(dtype).reshape(shape), trained)

    def _new_core(self) -> _rust.Learner:
        classes = self.num_classes or _UNKNOWN_CLASSES
        return _rust.Learner(to_json(self._settings), self.in_channels, classes, self._draw_seed())

    def _draw_seed(self) -> int:
        return self.seed if self.seed is not None else int(torch.randint(_LARGEST_SEED, ()))

    def _put(self, path: str, value: Tensor, trained: bool) -> None:
        """Hangs a parameter or a constant into a tree of modules, so that it has the name it has in Rust."""
        *parents, name = path.split(".")
        module: nn.Module = self
        for parent in parents:
            if not hasattr(module, parent):
                module.add_module(parent, nn.Module())
            module = getattr(module, parent)
        if trained:
            module.register_parameter(name, nn.Parameter(value))
        else:
            module.register_buffer(name, value)

    def _get(self, path: str) -> Tensor:
        value: Any = self
        for part in path.split("."):
            value = getattr(value, part)
        return value

    def _values(self) -> list[Tensor]:
        return [self._get(path) for path in self._names]

    @property
    def dtype(self) -> torch.dtype:
        """The type of parameters, features and weights."""
        return next((value.dtype for value in self._values()), torch.get_default_dtype())

    def reset_parameters(self) -> None:
        """Draws the weights anew; those of a module with a seed are the same again. What was fitted is forgotten."""
        self._core = self._new_core()
        self._kept = None
        with torch.no_grad():
            self.step.zero_()
            for path, shape, _, values in self._core.parameters():
                self._get(path).copy_(tensor(values).reshape(shape))

    def _rebuild(self, num_classes: int) -> None:
        """Makes room for the constants of another number of classes."""
        dtype = self.dtype
        self.num_classes = num_classes
        self._core = self._new_core()
        for path, shape, trained, values in self._core.parameters():
            if not trained:
                self._put(path, tensor(values).to(dtype).reshape(shape), trained)
        self._kept = None

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in ("_core", "_kept")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Values are in the state; the seed of those that a core would start from does not matter.
        classes = self.num_classes or _UNKNOWN_CLASSES
        self._core = _rust.Learner(to_json(self._settings), self.in_channels, classes, 0)
        self._kept = None

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        fitted = state_dict.get(prefix + _CLASSES_IN)
        if fitted is not None and _CLASSES_IN in self._names and len(fitted) != len(self._get(_CLASSES_IN)):
            self._rebuild(len(fitted))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        classes = f", num_classes={self.num_classes}" if self.num_classes else ""
        return f"{self.learner!r}, in_channels={self.in_channels}{classes}, seed={self.seed}"

    # A tree of bare modules holds the parameters; it would only clutter the text.
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"

    def _inputs(
        self, x: Tensor, edge_index: Tensor | None, edge_weight: Tensor | None, batch: Tensor | None
    ) -> tuple[_rust.Inputs, _rust.Prepared | None]:
        """What Rust is given, and what it worked out of it: kept while the very same tensors come again."""
        given = [x, edge_index, edge_weight, batch]
        tensors = [value for value in given if isinstance(value, Tensor)]
        if any(value.requires_grad or value.is_inference() for value in tensors):
            return self._new_inputs(x, edge_index, edge_weight, batch), None
        values = self._values()
        given += [value for value in values if not value.requires_grad]
        key = [(value, value._version if isinstance(value, Tensor) else None) for value in given]
        if self._kept is not None and len(self._kept[0]) == len(key):
            if all(old[0] is new[0] and old[1] == new[1] for old, new in zip(self._kept[0], key)):
                return self._kept[1], self._kept[2]
        inputs = self._new_inputs(x, edge_index, edge_weight, batch)
        prepared = self._core.prepare(inputs, [view(value) for value in values])
        self._kept = (key, inputs, prepared)
        return inputs, prepared

    def _new_inputs(
        self, x: Tensor, edge_index: Tensor | None, edge_weight: Tensor | None, batch: Tensor | None
    ) -> _rust.Inputs:
        sparse = None
        if isinstance(x, Tensor) and x.layout == torch.sparse_csr:
            on_cpu("x", x)
            sparse = tuple(view(part.to(torch.int64)) for part in (x.crow_indices(), x.col_indices()))
            values = floats("x", x.values(), 1, self.dtype)
        elif isinstance(x, Tensor) and x.layout != torch.strided:
            raise TypeError(f"x must be dense or torch.sparse_csr, found {x.layout}")
        else:
            values = floats("x", x, 2)
            if values.dtype != self.dtype:
                raise TypeError(f"x is {x.dtype}, but the module is {self.dtype}: call .to({x.dtype}) on it")
        if x.dim() != 2 or x.shape[1] != self.in_channels:
            raise ValueError(f"x must have shape [N, {self.in_channels}], found {list(x.shape)}")
        index = None if edge_index is None else view(indices("edge_index", edge_index, (2, None)))
        weight = None
        if edge_weight is not None:
            weight = view(floats("edge_weight", edge_weight, 1, self.dtype))
        graphs = None if batch is None else view(indices("batch", batch, (x.shape[0],)))
        return _rust.Inputs(view(values), (x.shape[0], x.shape[1]), sparse, index, weight, graphs)

    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | None = ...,
        edge_weight: Tensor | None = ...,
        batch: Tensor | None = ...,
        return_graph: Literal[False] = ...,
    ) -> tuple[Tensor, Tensor]: ...
    @overload
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | None = ...,
        edge_weight: Tensor | None = ...,
        batch: Tensor | None = ...,
        *,
        return_graph: Literal[True],
    ) -> LearnedGraph: ...
    def forward(
        self,
        x: Tensor,
        edge_index: Tensor | None = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        return_graph: bool = False,
    ) -> tuple[Tensor, Tensor] | LearnedGraph:
        """Learns a graph.

        What does not change between calls is worked out once: pass the same tensors, not new copies of them.

        Args:
            x: features, ``[N, in_channels]``, dense or ``torch.sparse_csr``; gradients flow to dense ones.
            edge_index: the given graph, ``[2, E]``, sources and targets; ``None`` for no graph.
            edge_weight: its weights, ``[E]``; 1 if not given.
            batch: the graph of every node, ``[N]``, not decreasing; edges are sought within a graph.
            return_graph: give a :class:`LearnedGraph` and not ``(edge_index, edge_weight)``.
        """
        inputs, prepared = self._inputs(x, edge_index, edge_weight, batch)
        seed, step = 0, None
        if self.training:
            seed, step = self._draw_seed(), int(self.step)
            self.step += 1
        tracked = torch.is_grad_enabled()
        call = _Call(self._core, inputs, prepared, seed, step, tracked, return_graph)
        dense = x if x.layout == torch.strided else None
        index, weight, degree, pairs, score, latent = _Learn.apply(call, dense, edge_weight, *self._values())
        if not return_graph:
            return index, weight
        return LearnedGraph(index, weight, x.shape[0], degree, pairs, score, latent)

    def fit_evidence(
        self, x: Tensor, edge_index: Tensor | None, y: Tensor, train_mask: Tensor, batch: Tensor | None = None
    ) -> GraphLearner:
        """Fits what can be fitted to labels before training: how likely candidates are good neighbours.

        Only labels of training nodes are looked at. The result is in buffers, so ``state_dict`` has it.

        Args:
            x: features, as in :meth:`forward`.
            edge_index: the given graph, or ``None``.
            y: classes, ``[N]``, int64; entries outside ``train_mask`` are ignored.
            train_mask: the training nodes, bool ``[N]`` or int64 positions.
        """
        y = indices("y", y, (x.shape[0] if isinstance(x, Tensor) and x.dim() else None,))
        mask = on_cpu("train_mask", train_mask)
        if mask.dtype == torch.bool:
            if mask.shape != y.shape:
                raise ValueError(f"train_mask must have shape {list(y.shape)}, found {list(mask.shape)}")
            nodes = mask.nonzero().view(-1)
        else:
            nodes = indices("train_mask", mask, (None,))
            if nodes.numel() and not 0 <= int(nodes.min()) <= int(nodes.max()) < len(y):
                raise ValueError(f"train_mask: positions must be between 0 and {len(y) - 1}")
        classes = y[nodes]
        if classes.numel() and int(classes.min()) < 0:
            raise ValueError("y: classes of training nodes are numbered from 0")
        found = int(classes.max()) + 1 if classes.numel() else 0
        if self.num_classes is None and found > 0:
            self._rebuild(found)
        count = self.num_classes or found
        if found > count:
            raise ValueError(f"y: class {found - 1} is used, but num_classes is {count}")
        inputs = self._new_inputs(x, edge_index, None, batch)
        arrays = [view(value) for value in self._values()]
        fitted = self._core.fit(inputs, arrays, (view(nodes), view(classes), count), self._draw_seed())
        with torch.no_grad():
            for value, new in zip(self._values(), fitted):
                if not value.requires_grad:
                    value.copy_(tensor(new).view(value.shape))
        self._kept = None
        return self


class NeighborhoodLearner(GraphLearner):
    r"""The differentiable graph generator: which neighbours every node should have, and how many.

    For every node i and its candidates j, with :math:`\hat x` latent features:

    .. math:: a_{ij} = e_{ij} \, \sigma\bigl(2 (k_i + 1/2 - r_{ij}) / \lambda\bigr), \quad
              e_{ij} = p(\hat x_i, \hat x_j)

    p is the score, with Gumbel noise in training; :math:`r_{ij}` the rank of j among the candidates of i; :math:`k_i` the
    learned degree. Nothing of size ``[N, N]`` is built. Gradients flow from the weights to all parameters, to dense
    features and to ``edge_weight``.

    Args:
        in_channels: width of the features.
        candidates: ``"edges"`` (the given ones), ``"knn:K"`` (nearest in latent space), ``"ppr:K"`` (highest personalised
            PageRank), ``"hops:R"`` (within R steps), ``"all"``, or some of them joined with ``+``.
        score: ``"distance"``, ``"cosine"``, ``"dot"``, ``"mlp"`` or ``"evidence"``. Evidence is fitted to labels by
            :meth:`fit_evidence`; it ranks the given edges, the ``knn:K`` nearest features (20 if not named) and the
            ``ppr:K`` nodes that walks over good edges visit (none if not named).
        degree: a number for all nodes, or ``"learned"``: a degree for every node, around that of the given graph, or
            around half of K with ``knn:K`` alone.
        symmetric: give :math:`(A + A^\top) / 2`.
        hidden: width of the latent features.
        noise: scale of the Gumbel noise in training.
        dropout: dropout of the features in training.
        settings: settings of the generator in Rust, on top of all of these.
        num_classes, seed, dtype: as of :class:`GraphLearner`.

    Shapes: features ``[N, in_channels]``, ``edge_index`` ``[2, E]``, ``edge_weight`` ``[E]``.

    >>> x = torch.randn(10, 4, generator=torch.Generator().manual_seed(0))
    >>> learn = NeighborhoodLearner(4, candidates="knn:5", degree="learned", seed=0)
    >>> g = learn(x, return_graph=True)
    >>> g.edge_weight.sum().backward()
    >>> g.degree.shape, learn.encoder.first.weight.grad.shape
    (torch.Size([10]), torch.Size([4, 64]))
    """

    def __init__(
        self,
        in_channels: int,
        candidates: str = "edges",
        score: str = "distance",
        degree: float | str = "learned",
        *,
        symmetric: bool = False,
        hidden: int = 64,
        noise: float = 0.3,
        dropout: float = 0.5,
        settings: Mapping[str, Any] | None = None,
        num_classes: int | None = None,
        seed: int | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        nn.Module.__init__(self)
        self.candidates, self.score, self.degree_rule = candidates, score, degree
        config = generator_settings(
            candidates,
            score,
            degree,
            hidden=hidden,
            symmetric=symmetric,
            noise=noise,
            dropout=dropout,
            settings=settings,
        )
        self._start("dgg", config, in_channels, num_classes, seed, dtype)

    def extra_repr(self) -> str:
        classes = f", num_classes={self.num_classes}" if self.num_classes else ""
        return (
            f"in_channels={self.in_channels}, candidates={self.candidates!r}, score={self.score!r}, "
            f"degree={self.degree_rule!r}{classes}, seed={self.seed}"
        )
