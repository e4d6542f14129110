"""Bad input ends in a Python exception that names the argument."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import adjoin  # noqa: E402
from adjoin import _rust  # noqa: E402
from adjoin.torch import GraphLearner, NeighborhoodLearner  # noqa: E402
from adjoin.torch import functional as F  # noqa: E402

X = torch.arange(12.0).reshape(4, 3)
EDGES = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])


def learn(*args, **more):
    return NeighborhoodLearner(3, seed=0)(*args, **more)


NAN = X.clone()
NAN[1, 2] = float("nan")

CASES = [
    (lambda: learn(X.double(), EDGES), TypeError, "x is torch.float64"),
    (lambda: learn(X.int(), EDGES), TypeError, "x must be float32 or float64"),
    (lambda: learn(X.numpy(), EDGES), TypeError, "x must be a torch.Tensor"),
    (lambda: learn(X.to("meta"), EDGES), ValueError, "x is on meta"),
    (lambda: learn(X[:, :2], EDGES), ValueError, "x must have shape"),
    (lambda: learn(X[0], EDGES), ValueError, "x must have 2 dimensions"),
    (lambda: learn(X.to_sparse(), EDGES), TypeError, "x must be dense or torch.sparse_csr"),
    (lambda: learn(NAN, EDGES), ValueError, "NaN at row 1, column 2"),
    (lambda: learn(X, EDGES.int()), TypeError, "edge_index must be int64"),
    (lambda: learn(X, EDGES[0]), ValueError, "edge_index must have shape"),
    (lambda: learn(X, EDGES + 1), ValueError, "edge_index: edge 1 goes from 2 to 3|edge_index: edge 2 goes"),
    (lambda: learn(X, EDGES - 1), ValueError, "edge_index: edge 0 goes from -1"),
    (lambda: learn(X), ValueError, "needs an input graph"),
    (lambda: learn(X, EDGES, torch.ones(3)), ValueError, "edge_weight has 3 values for 4 edges"),
    (lambda: learn(X, EDGES, torch.full((4,), float("inf"))), ValueError, "edge_weight holds inf at edge 0"),
    (lambda: learn(X, EDGES, torch.ones(4).double()), TypeError, "edge_weight is torch.float64"),
    (lambda: learn(X, None, torch.ones(4)), ValueError, "edge_weight needs edge_index"),
    (lambda: learn(X, EDGES, batch=torch.tensor([0, 0, 1])), ValueError, "batch must have shape"),
    (lambda: learn(X, EDGES, batch=torch.tensor([0, 1, 0, 1])), ValueError, "batch must not decrease"),
    (lambda: learn(X, EDGES, batch=torch.tensor([-1, 0, 0, 0])), ValueError, "batch: graphs are numbered"),
    (lambda: learn(X, EDGES, batch=torch.tensor([0, 0, 1, 1])), ValueError, "joins two different graphs"),
    (lambda: NeighborhoodLearner(0), ValueError, "in_channels = 0"),
    (lambda: NeighborhoodLearner(3.5), TypeError, "in_channels must be an int"),
    (lambda: NeighborhoodLearner(3, "edge"), ValueError, "candidates: 'edge' is none of"),
    (lambda: NeighborhoodLearner(3, "knn:0"), ValueError, "candidates: knn:0"),
    (lambda: NeighborhoodLearner(3, "knn"), ValueError, "candidates: 'knn'"),
    (lambda: NeighborhoodLearner(3, "all", "evidence"), ValueError, "candidates: score"),
    (lambda: NeighborhoodLearner(3, score="dist"), ValueError, "score = 'dist'"),
    (lambda: NeighborhoodLearner(3, degree=-1), ValueError, "degree = -1"),
    (lambda: NeighborhoodLearner(3, degree="many"), ValueError, "degree = 'many'"),
    (lambda: NeighborhoodLearner(3, hidden=0), ValueError, "encoder.width = 0"),
    (lambda: NeighborhoodLearner(3, seed=-1), ValueError, "seed = -1"),
    (lambda: NeighborhoodLearner(3, dtype=torch.float16), TypeError, "dtype must be"),
    (lambda: NeighborhoodLearner(3, settings={"nonsense": 1}), ValueError, "settings: unknown field `nonsense`"),
    (lambda: GraphLearner("dgc", 3), ValueError, "did you mean"),
    (lambda: GraphLearner("none", 3, settings={"k": 1}), ValueError, "settings"),
    (lambda: F.spmm(EDGES, torch.ones(3), X), ValueError, "edge_weight has 3 values"),
    (lambda: F.spmm(EDGES, torch.ones(4).double(), X), TypeError, "edge_weight"),
    (lambda: F.spmm(EDGES + 2, None, X), ValueError, "edge_index: edge"),
    (lambda: F.spmm(EDGES, None, X, num_targets=-1), ValueError, "num_targets"),
    (lambda: F.segment_softmax(torch.ones(3), torch.tensor([0, 1])), ValueError, "index"),
    (lambda: F.segment_softmax(torch.ones(2), torch.tensor([0, -1])), ValueError, "index: entry 1 is -1"),
    (lambda: F.knn(X, 0), ValueError, "k = 0"),
    (lambda: F.knn(NAN, 1), ValueError, "NaN"),
    (lambda: F.knn(X, 1, metric="manhattan"), ValueError, "metric = "),
    (lambda: F.knn(X, 1, torch.tensor([1, 0, 0, 0])), ValueError, "batch must not decrease"),
    (lambda: F.edge_similarity(X, EDGES, "angle"), ValueError, "kind = "),
    (lambda: F.soft_topk(torch.ones(2), torch.tensor([0, 0]), 1.0, lam=0.0), ValueError, "lam = 0"),
    (lambda: F.soft_topk(torch.tensor([1.0, float("nan")]), torch.tensor([0, 0]), 1.0), ValueError, "score holds NaN"),
    (lambda: F.soft_topk(torch.ones(2), torch.tensor([0, 0]), torch.ones(3), num_nodes=1), ValueError, "k has 3"),
    (lambda: adjoin.set_threads(0), ValueError, "count = 0"),
    (lambda: adjoin.learn_graph(np.ones((3, 2)), np.array([[0], [7]])), ValueError, "edges names a node"),
    (lambda: adjoin.learn_graph(np.ones((3, 2)), np.array([[0.5], [1]])), TypeError, "edges must hold integers"),
    (lambda: adjoin.learn_graph(np.ones((3, 2)), candidates="edges"), ValueError, "need edges"),
    (lambda: adjoin.learn_graph(np.ones(3)), ValueError, "x must have 2 dimensions"),
    (lambda: adjoin.learn_graph(np.array([["a"]])), TypeError, "x must hold numbers"),
    (lambda: adjoin.learn_graph(np.ones((3, 2)), y=[0, 1]), ValueError, "y must have shape"),
    (lambda: adjoin.learn_graph(np.eye(3), y=[0, 1, 0]), ValueError, "at least 4 training labels"),
    (lambda: adjoin.load_run("/nonexistent"), FileNotFoundError, "nonexistent"),
    (lambda: _rust.Inputs(np.ones(6, np.float32)[::2], (3, 1)), ValueError, "x must be contiguous"),
    (lambda: _rust.Inputs(np.ones(5, np.float32), (3, 2)), ValueError, "x: expected shape"),
    (lambda: _rust.Learner("{", 3, 2, 0), ValueError, "settings"),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_wrong_argument_is_named(number):
    call, kind, words = CASES[number]
    with pytest.raises(kind, match=words):
        call()


def test_evidence_arguments():
    module = NeighborhoodLearner(3, score="evidence", seed=0)
    y, mask = torch.tensor([0, 1, 0, 1]), torch.ones(4, dtype=torch.bool)
    for wrong, kind, words in [
        (lambda: module.fit_evidence(X, EDGES, y.float(), mask), TypeError, "y must be int64"),
        (lambda: module.fit_evidence(X, EDGES, y[:2], mask), ValueError, "y must have shape"),
        (lambda: module.fit_evidence(X, EDGES, y, mask[:2]), ValueError, "train_mask must have shape"),
        (lambda: module.fit_evidence(X, EDGES, y, torch.tensor([9])), ValueError, "train_mask: positions"),
        (lambda: module.fit_evidence(X, EDGES, y - 1, mask), ValueError, "y: classes"),
        (lambda: module.fit_evidence(X, EDGES, y, torch.tensor([0, 1])), ValueError, "at least 4 training labels"),
    ]:
        with pytest.raises(kind, match=words):
            wrong()


def test_an_empty_graph_and_no_nodes():
    none = torch.zeros(2, 0, dtype=torch.int64)
    index, weight = learn(X, none)
    assert index.shape == (2, 0) and weight.shape == (0,)
    weight.sum().backward()
    index, weight = learn(X[:0], none)
    assert index.shape == (2, 0)
    assert F.spmm(none, torch.zeros(0), X).abs().sum() == 0
    assert F.segment_softmax(torch.zeros(0), torch.zeros(0, dtype=torch.int64)).shape == (0,)
    assert F.knn(X[:1], 3).shape == (2, 0)


def test_not_contiguous_is_accepted():
    wide = torch.arange(24.0).reshape(3, 8).t()[::2]
    assert not wide.is_contiguous()
    module = NeighborhoodLearner(3, seed=0).eval()
    assert torch.equal(module(wide, EDGES.t().contiguous().t())[1], module(wide.contiguous(), EDGES)[1])


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_comes_in_the_answer_is_a_graph_or_an_exception(data):
    nodes, width = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 3))
    edges = data.draw(st.lists(st.tuples(st.integers(-1, nodes), st.integers(-1, nodes)), max_size=12))
    values = data.draw(st.lists(st.floats(width=32), min_size=nodes * width, max_size=nodes * width))
    rule = data.draw(st.sampled_from(["edges", "knn:2", "ppr:3", "hops:2", "all", "edges+knn:1"]))
    score = data.draw(st.sampled_from(["distance", "cosine", "dot", "mlp"]))
    degree = data.draw(st.sampled_from(["learned", 1, 2.5, 100]))
    batch = data.draw(st.none() | st.lists(st.integers(0, 2), min_size=nodes, max_size=nodes))
    x = torch.tensor(values, dtype=torch.float32).reshape(nodes, width).requires_grad_(data.draw(st.booleans()))
    index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).t()
    module = NeighborhoodLearner(width, rule, score, degree, hidden=3, seed=0)
    try:
        found, weight = module(x, index, batch=None if batch is None else torch.tensor(batch, dtype=torch.int64))
    except (ValueError, TypeError):
        return
    assert found.shape == (2, len(weight))
    if len(weight):
        assert 0 <= int(found.min()) and int(found.max()) < nodes
        assert torch.isfinite(weight).all()
        weight.sum().backward()


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_functionals_with_anything(data):
    numbers = st.floats(width=32, allow_nan=True)
    index = torch.tensor(data.draw(st.lists(st.integers(-1, 4), max_size=8)), dtype=torch.int64)
    src = torch.tensor(data.draw(st.lists(numbers, max_size=8)), dtype=torch.float32)
    k = data.draw(st.floats(-5, 1e6, width=32))
    for call in (
        lambda: F.segment_softmax(src, index),
        lambda: F.soft_topk(src, index, k),
        lambda: F.spmm(torch.stack([index, index]), src, src[:, None]),
    ):
        try:
            call()
        except (ValueError, TypeError):
            pass


def test_the_interpreter_lock_is_released():
    x = torch.randn(4000, 64, generator=torch.Generator().manual_seed(0))
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    for _ in range(3):
        F.knn(x, 10)
    end = time.perf_counter()
    done.set()
    thread.join()
    within = [tick for tick in ticks if start < tick < end]
    assert len(within) > 5 or end - start < 0.02


def test_ctrl_c_ends_a_long_call():
    script = """
import numpy as np, adjoin, sys
rng = np.random.default_rng(0)
x = rng.normal(size=(60000, 256)).astype(np.float32)
print("ready", flush=True)
adjoin.learn_graph(x, candidates="all", degree=8, score="mlp")
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    assert process.poll() is None, "the call must be long enough to be interrupted"
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert time.perf_counter() - start < 20


def test_threads_from_the_environment():
    script = "import adjoin; print(adjoin.get_threads())"
    run = lambda value: subprocess.run(  # noqa: E731
        [sys.executable, "-c", script], env={**os.environ, "ADJOIN_THREADS": value}, capture_output=True, text=True
    )
    assert run("3").stdout == "3\n"
    assert "ADJOIN_THREADS" in run("many").stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    F.knn(X, 1)
    script = """
import os, torch
from adjoin.torch import functional as F
x = torch.randn(500, 8)
F.knn(x, 2)
child = os.fork()
if child == 0:
    F.knn(x, 2)
    os._exit(7)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout == "7\n", done.stderr
