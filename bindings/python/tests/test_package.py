"""Graphs, the classifier, runs, the transform, and what the package looks like from outside."""

from __future__ import annotations

import doctest
import importlib
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import adjoin
from conftest import clusters

QUICK = {"train.epochs": 40}


def test_importing_needs_neither_torch_nor_scikit_learn():
    script = "import sys, adjoin; print(sorted({'torch', 'sklearn', 'scipy', 'torch_geometric'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize(
    "name, needs",
    [
        ("adjoin", None),
        ("adjoin._graph", None),
        ("adjoin._learn", None),
        ("adjoin._tables", None),
        ("adjoin.datasets", None),
        ("adjoin._classifier", "sklearn"),
        ("adjoin.torch", "torch"),
        ("adjoin.torch._module", "torch"),
        ("adjoin.torch.functional", "torch"),
        ("adjoin.pyg", "torch_geometric"),
    ],
)
def test_examples_in_docstrings(name, needs):
    if needs:
        pytest.importorskip(needs)
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0 and result.attempted > 0


def test_a_graph_in_other_forms():
    graph = adjoin.Graph([[1, 2, 2], [0, 0, 1]], np.array([0.5, 1.0, 2.0], np.float32), 4, np.arange(4.0))
    assert repr(graph) == "Graph(nodes=4, edges=3, mean weight=1.17)"
    assert "learned size k" in graph._repr_html_() and "<table>" in graph._repr_html_()
    scipy = pytest.importorskip("scipy.sparse")
    matrix = graph.to_scipy()
    assert scipy.issparse(matrix) and matrix.toarray()[0].tolist() == [0, 0.5, 1.0, 0]
    networkx = pytest.importorskip("networkx")
    other = graph.to_networkx()
    assert isinstance(other, networkx.DiGraph) and other.edges[2, 1]["weight"] == 2.0 and other.nodes[3]["k"] == 3.0
    pytest.importorskip("torch_geometric")
    data = graph.to_pyg(y=None)
    assert data.num_nodes == 4 and data.edge_weight.tolist() == [0.5, 1.0, 2.0]


def test_graphs_that_do_not_fit():
    for wrong, words in [
        (lambda: adjoin.Graph([[0]], None, 1), "edge_index must have shape"),
        (lambda: adjoin.Graph([[0], [1]], None, 1), "edge_index names a node"),
        (lambda: adjoin.Graph([[0], [0]], [1, 2], 1), "edge_weight must have shape"),
        (lambda: adjoin.Graph([[0], [0]], None, 1, [1, 2]), "degree must have shape"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()


def test_learn_graph(graph):
    x, edges, y = graph
    for arguments in [
        {"edges": edges},
        {"candidates": "knn:4", "degree": 2},
        {"candidates": "all", "score": "cosine", "degree": 3},
        {"edges": edges, "y": np.where(np.arange(60) < 30, y, -1)},
    ]:
        first, second = adjoin.learn_graph(x, **arguments), adjoin.learn_graph(x, **arguments)
        assert first.num_nodes == 60 and first.num_edges > 0
        assert np.array_equal(first.edge_index, second.edge_index)
        assert np.array_equal(first.edge_weight, second.edge_weight)
        assert first.degree is not None and first.edge_weight.dtype == np.float64
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.coo_array((np.ones(edges.shape[1]), (edges[1], edges[0])), shape=(60, 60))
    words = sparse.csr_array(np.maximum(x, 0))
    assert np.array_equal(
        adjoin.learn_graph(words, matrix).edge_index, adjoin.learn_graph(np.maximum(x, 0), edges).edge_index
    )


def test_the_classifier_uses_the_graph_and_no_hidden_label():
    sklearn = pytest.importorskip("sklearn.base")
    x, edges, y = clusters(150, 6, seed=2)
    x = x + np.random.default_rng(1).normal(0, 1.5, x.shape)
    names = np.array(["red", "green", "blue"])[y]
    mask = np.arange(150) < 60
    model = adjoin.NodeClassifier(settings={"train.epochs": 80}, random_state=0)
    assert sklearn.clone(model).get_params() == model.get_params()
    model.fit(x, names, edges=edges, train_mask=mask)
    with_graph = (model.predict(x) == names)[~mask].mean()
    alone = adjoin.NodeClassifier("none", "mlp", random_state=0).fit(x[mask], names[mask])
    assert with_graph > (alone.predict(x) == names)[~mask].mean()
    probabilities = model.predict_proba(x)
    assert probabilities.shape == (150, 3) and np.allclose(probabilities.sum(1), 1)
    assert isinstance(model.graph_, adjoin.Graph) and model.graph_.num_nodes == 150
    assert model.chosen_graph_ in ("learned", "given", "none")
    other = adjoin.NodeClassifier(settings={"train.epochs": 80}, random_state=0)
    other.fit(x, np.where(mask, names, "green"), edges=edges, train_mask=mask)
    assert np.array_equal(other.predict_proba(x), probabilities)
    twin = pickle.loads(pickle.dumps(model))
    assert np.allclose(twin.predict_proba(x), probabilities, atol=1e-5)


@pytest.mark.parametrize("learner", sorted(adjoin.learners()))
def test_the_classifier_with_every_learner(learner, graph):
    pytest.importorskip("sklearn")
    x, edges, y = graph
    settings = {"train.epochs": 4}
    model = adjoin.NodeClassifier(learner, settings=settings, random_state=1)
    assert model.fit(np.abs(x), y, edges=edges).predict(np.abs(x)).shape == (60,)


def test_cross_validation_without_a_graph():
    selection = pytest.importorskip("sklearn.model_selection")
    x, _, y = clusters(90, 6)
    model = adjoin.NodeClassifier("none", "mlp", settings=QUICK, random_state=0)
    assert selection.cross_val_score(model, x, y, cv=3).mean() > 0.6


def test_the_checks_of_scikit_learn():
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    model = adjoin.NodeClassifier("none", "mlp", settings={"train.epochs": 60, "train.rate": 0.05})
    checks.check_estimator(model)
    # Nodes of one call are candidates of each other, so a prediction depends on what else is predicted.
    among = dict.fromkeys(
        ("check_methods_sample_order_invariance", "check_methods_subset_invariance"),
        "nodes are classified by the nodes around them",
    )
    model = adjoin.NodeClassifier(settings={"train.epochs": 20})
    checks.check_estimator(model, expected_failed_checks=among)


def test_classifier_arguments():
    pytest.importorskip("sklearn")
    x, edges, y = clusters(30, 4)
    make = adjoin.NodeClassifier
    for wrong, words in [
        (lambda: make("dgc").fit(x, y), "did you mean"),
        (lambda: make(backbone="cgn").fit(x, y), "did you mean"),
        (lambda: make(settings={"train.epoch": 3}).fit(x, y), "epoch"),
        (lambda: make(validation_fraction=2).fit(x, y), "validation_fraction"),
        (lambda: make().fit(x, y, edges=edges + 30), "edges names a node"),
        (lambda: make().fit(x, y, train_mask=np.zeros(30, bool)), "train_mask names no node"),
        (lambda: make().fit(x, y, train_mask=y), "train_mask must be bool"),
        (lambda: make().fit(x, np.zeros(30, int)), "one class"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()


def test_runs_are_read(tmp_path):
    record = {
        "dataset": "tiny",
        "learner": "dgg",
        "backbone": "gcn",
        "seeds": [{"seed": 3, "best_epoch": 1, "curve": [{"epoch": 1, "loss": 0.5, "valid": {"accuracy": 0.7}}]}],
        "exhibit": {
            "input_pointers": [0, 1, 2],
            "input_indices": [1, 0],
            "learned_pointers": [0, 1, 1],
            "learned_indices": [1],
            "learned_weights": [0.25],
            "degrees": [1.0, 0.0],
        },
    }
    (tmp_path / "record.json").write_text(json.dumps(record))
    run = adjoin.load_run(tmp_path)
    assert repr(run) == "Run('tiny', learner='dgg', backbone='gcn', seeds=1)"
    assert run.graph.edge_index.tolist() == [[1], [0]] and run.graph.edge_weight.tolist() == [0.25]
    assert run.input_graph.num_edges == 2 and "curve" not in run.seeds[0]
    pytest.importorskip("pandas")
    assert run.curves()["valid.accuracy"].tolist() == [0.7]
    (tmp_path / "record.json").write_text("{}")
    with pytest.raises(ValueError, match="no record"):
        adjoin.load_run(tmp_path)


def test_the_transform(graph):
    pytest.importorskip("torch_geometric")
    import torch
    from torch_geometric.data import Data

    from adjoin.pyg import AddLearnedEdges

    x, edges, y = graph
    data = Data(
        x=torch.tensor(x, dtype=torch.float32),
        edge_index=torch.tensor(edges),
        y=torch.tensor(y),
        train_mask=torch.arange(60) < 30,
    )
    found = AddLearnedEdges(symmetric=True)(data.clone())
    assert found.edge_weight.shape[0] == found.edge_index.shape[1] > 0
    hidden = data.clone()
    hidden.y = torch.where(data.train_mask, data.y, torch.zeros_like(data.y))
    assert torch.equal(AddLearnedEdges(symmetric=True)(hidden).edge_weight, found.edge_weight)
