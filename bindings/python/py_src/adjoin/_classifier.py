"""A classifier of nodes with the manners of scikit-learn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # pragma: no cover - depends on the environment
    raise ImportError("adjoin.NodeClassifier needs scikit-learn 1.6: pip install 'adjoin[sklearn]'") from error

from . import _rust
from ._arrays import edge_list, features, is_sparse
from ._graph import Graph


class NodeClassifier(ClassifierMixin, BaseEstimator):
    """Classifies nodes with a network on a graph that is learned with it.

    All nodes, labelled or not, are given to :meth:`fit`; labels outside ``train_mask`` are never looked at. A part of the
    labelled nodes is held out to choose the epoch, and the graph where the learner has alternatives. Without ``edges`` the
    learner starts from the features alone.

    Args:
        learner: name of the learner, see :func:`adjoin.learners`.
        backbone: name of the network, see :func:`adjoin.backbones`.
        validation_fraction: the part of the labelled nodes that is held out.
        settings: settings of the lab by dotted key, such as ``{"train.epochs": 100}``.
        random_state: where splits, weights and noise come from.

    Attributes:
        classes_: the classes.
        graph_: the learned :class:`adjoin.Graph` of the nodes given to ``fit``.
        chosen_graph_: ``"learned"``, ``"given"`` or ``"none"``, where validation chose; else ``None``.
        curve_: epoch, training loss, validation accuracy, validation loss; one row per epoch.
        n_iter_: epochs that were trained.

    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.normal(0, 1, (20, 2)), rng.normal(4, 1, (20, 2))]
    >>> y = np.repeat(["a", "b"], 20)
    >>> model = NodeClassifier("none", "mlp", settings={"train.epochs": 50}, random_state=0)
    >>> float(model.fit(X, y).score(X, y)) > 0.9
    True
    """

    def __init__(
        self,
        learner: str = "dgg",
        backbone: str = "gcn",
        *,
        validation_fraction: float = 0.2,
        settings: Mapping[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.backbone = backbone
        self.validation_fraction = validation_fraction
        self.settings = settings
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, edges: Any = None, train_mask: npt.ArrayLike | None = None) -> NodeClassifier:
        """Trains.

        Args:
            X: features of all nodes, ``[N, F]``, dense or sparse.
            y: classes of all nodes, ``[N]``.
            edges: the given graph, ``[2, E]`` or a SciPy matrix ``[N, N]``; both directions count.
            train_mask: which labels may be used, bool ``[N]``; all if not given.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2)
        known = np.ones(len(y), bool) if train_mask is None else np.asarray(train_mask)
        if known.dtype != bool or known.shape != (len(y),):
            raise ValueError(f"train_mask must be bool of shape [{len(y)}], found {known.dtype} {known.shape}")
        if not known.any():
            raise ValueError("train_mask names no node")
        check_classification_targets(y[known])
        self.classes_, numbers = np.unique(y[known], return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("y holds only one class: at least 2 classes are needed")
        if not 0 < self.validation_fraction < 1:
            raise ValueError(f"validation_fraction = {self.validation_fraction}: must be between 0 and 1")
        labels = np.full(len(y), -1, np.int64)
        labels[known] = numbers
        random = check_random_state(self.random_state)
        parts = _split(labels, self.validation_fraction, random)
        if not is_sparse(X):
            self._shift = X.mean(0)
            spread = X.std(0)
            self._scale = 1 / np.where(spread > 0, spread, 1)
        index = edge_list("edges", edges, len(y))
        values, shape, sparse = self._features(X)
        settings = {} if is_sparse(X) else {"features.row_normalise": False}
        settings.update(self.settings or {})
        self._model = _rust.Classifier.train(
            values,
            shape,
            sparse,
            index.reshape(-1),
            labels,
            len(self.classes_),
            parts,
            (self.backbone, self.learner),
            [f"{key}={json.dumps(value)}" for key, value in settings.items()],
            int(random.randint(2**31 - 1)),
        )
        self._fitted = (_digest(values, sparse), index)
        self.chosen_graph_ = self._model.chosen
        self.curve_ = np.array(self._model.curve)
        self.n_iter_ = len(self.curve_)
        _, self.graph_ = self._classify(values, shape, sparse, index)
        return self

    def _features(self, X: Any) -> Any:
        if is_sparse(X):
            return features("X", X, np.float32)
        scale = getattr(self, "_scale", None)
        return features("X", X if scale is None else (X - self._shift) * scale, np.float32)

    def _classify(self, values: Any, shape: Any, sparse: Any, index: Any) -> tuple[npt.NDArray[np.float64], Graph]:
        logs, found, weight, degree = self._model.classify(values, shape, sparse, index.reshape(-1))
        graph = Graph(found.reshape(2, -1), weight, shape[0], degree)
        return logs.reshape(shape[0], -1), graph

    def predict_log_proba(self, X: Any, edges: Any = None) -> npt.NDArray[np.float64]:
        """Log-probabilities of the classes, ``[N, C]``.

        For the features given to ``fit`` the graph given there is used; other nodes are a graph of their own, with
        ``edges`` where they have some.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if not is_sparse(X) and not hasattr(self, "_scale"):
            raise TypeError("X must be sparse, as it was in fit")
        values, shape, sparse = self._features(X)
        digest, given = self._fitted
        if edges is None and digest == _digest(values, sparse):
            index = given
        else:
            index = edge_list("edges", edges, shape[0])
        return self._classify(values, shape, sparse, index)[0]

    def predict_proba(self, X: Any, edges: Any = None) -> npt.NDArray[np.float64]:
        """Probabilities of the classes, ``[N, C]``; see :meth:`predict_log_proba`."""
        return np.exp(self.predict_log_proba(X, edges))

    def predict(self, X: Any, edges: Any = None) -> npt.NDArray[Any]:
        """The most likely class of every node; see :meth:`predict_log_proba`."""
        best = self.predict_log_proba(X, edges).argmax(1)
        return self.classes_[best]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "_model" in state:
            model = state["_model"]
            state["_model"] = (model.state(), model.chosen, model.curve, model.best_epoch)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_model" in state:
            state = {**state, "_model": _rust.Classifier.restore(*state["_model"])}
        super().__setstate__(state)


def _digest(values: npt.NDArray[Any], sparse: Any) -> bytes:
    """Tells features apart."""
    state = hashlib.blake2b(values.tobytes(), digest_size=16)
    for part in sparse or ():
        state.update(part.tobytes())
    return state.digest()


def _split(labels: npt.NDArray[np.int64], fraction: float, random: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Training and validation nodes, class by class; every class keeps a training node."""
    train, valid = [], []
    for label in range(labels.max() + 1):
        nodes = random.permutation(np.flatnonzero(labels == label))
        held = min(max(round(fraction * len(nodes)), 1), len(nodes) - 1)
        valid.append(nodes[:held])
        train.append(nodes[held:])
    training, validation = (np.sort(np.concatenate(part)).astype(np.int64) for part in (train, valid))
    # Classes of one node each leave none to hold out.
    return training, validation if len(validation) else training
