"""The module: gradients, modes, state, batches, evidence, PyG."""

from __future__ import annotations

import copy
import io

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import adjoin  # noqa: E402
from adjoin.torch import GraphLearner, NeighborhoodLearner  # noqa: E402
from conftest import clusters  # noqa: E402

SCORES = ["distance", "cosine", "dot", "mlp"]
CANDIDATES = ["edges", "knn:4", "edges+knn:3", "ppr:5", "hops:2", "all"]


def small(dtype=torch.float64, nodes=12):
    x, edges, y = clusters(nodes, 4)
    return torch.tensor(x, dtype=dtype), torch.tensor(edges), torch.tensor(y)


def learner(candidates="edges", dtype=torch.float64, **more):
    return NeighborhoodLearner(4, candidates, hidden=5, seed=3, dtype=dtype, **more)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("candidates", CANDIDATES)
def test_gradcheck_of_features_and_parameters(candidates, score):
    x, edges, _ = small()
    learn = learner(candidates, score=score, dropout=0.0)
    check_gradients(learn, x, edges, training=True)


@pytest.mark.parametrize("degree", ["learned", 3])
def test_gradcheck_in_evaluation(degree):
    x, edges, _ = small()
    check_gradients(learner(degree=degree, symmetric=True), x, edges, training=False)


def check_gradients(learn, x, edges, training):
    learn.train(training)
    names, values = zip(*learn.named_parameters())
    # Biases that start at 0 put nodes exactly on the kink of an activation.
    generator = torch.Generator().manual_seed(7)
    shifted = [v.detach() + 0.05 * torch.randn(v.shape, generator=generator, dtype=v.dtype) for v in values]
    inputs = [x.clone().requires_grad_(), *[v.requires_grad_() for v in shifted]]

    def run(x, *values):
        with torch.no_grad():
            learn.step.zero_()  # the same noise every time
        graph = torch.func.functional_call(learn, dict(zip(names, values)), (x, edges), {"return_graph": True})
        results = (graph.edge_weight, graph.degree, graph.latent, graph.score)
        return tuple(result for result in results if result.requires_grad)

    assert torch.autograd.gradcheck(run, inputs, eps=1e-6, atol=1e-6)
    grads = torch.autograd.grad(run(*inputs)[0].sum(), inputs, allow_unused=True)
    assert grads[0] is not None and grads[0].abs().sum() > 0


def test_backward_twice_and_unused_results():
    x, edges, _ = small()
    learn = learner().eval()
    x.requires_grad_()
    _, weight = learn(x, edges)
    first = torch.autograd.grad(weight.sum(), x, retain_graph=True)[0]
    second = torch.autograd.grad(weight.sum(), x)[0]
    assert torch.equal(first, second)


def test_gradients_of_given_weights():
    x, edges, _ = small()
    weight = torch.rand(edges.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.5
    learn = learner(settings={"keep_weights": True}).eval()
    order = torch.randperm(edges.shape[1], generator=torch.Generator().manual_seed(1))
    check = lambda w: learn(x, edges[:, order], w)[1]  # noqa: E731
    assert torch.autograd.gradcheck(check, (weight[order].requires_grad_(),))


@pytest.mark.parametrize("candidates", CANDIDATES)
def test_f32_is_f64_up_to_rounding(candidates):
    x, edges, _ = small()
    graphs = []
    for dtype in (torch.float64, torch.float32):
        learn = learner(candidates, dtype).eval()
        graph = learn(x.to(dtype), edges, return_graph=True)
        assert graph.edge_weight.dtype == dtype and graph.degree.dtype == dtype
        full = torch.zeros(12, 12, dtype=torch.float64)
        full[graph.edge_index[1], graph.edge_index[0]] = graph.edge_weight.detach().double()
        graphs.append(full)
    torch.testing.assert_close(graphs[1], graphs[0], atol=1e-5, rtol=1e-4)


def test_the_form_of_a_graph():
    x, edges, _ = small()
    graph = learner("edges", degree=2).eval()(x, edges, return_graph=True)
    assert graph.edge_index.dtype == torch.int64 and not graph.edge_index.requires_grad
    given = {(a, b) for a, b in edges.t().tolist()}
    assert all((a, b) in given for a, b in graph.edge_index.t().tolist())
    assert torch.equal(graph.degree, torch.full((12,), 2.0, dtype=torch.float64))
    assert graph.score.shape[0] == graph.score_index.shape[1] == len(given)
    assert graph.latent.shape == (12, 5)
    plain = graph.detach()
    assert isinstance(plain, adjoin.Graph) and plain.num_edges == graph.edge_index.shape[1]


def test_training_draws_noise_and_evaluation_does_not():
    x, edges, _ = small()
    learn = learner()
    first, second = learn(x, edges)[1], learn(x, edges)[1]
    assert first.shape != second.shape or not torch.equal(first, second)
    learn.eval()
    assert torch.equal(learn(x, edges)[1], learn(x, edges)[1])
    again = learner()
    assert torch.equal(again(x, edges)[1], first)


def test_without_a_seed_torch_decides():
    x, edges, _ = small(torch.float32)
    results = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        learn = NeighborhoodLearner(4)
        results.append((learn.encoder.first.weight.detach().clone(), learn(x, edges)[1]))
    assert torch.equal(results[0][0], results[1][0]) and torch.equal(results[0][1], results[1][1])
    assert not torch.equal(results[0][0], results[2][0])


def test_state_copies_and_pickles():
    x, edges, _ = small()
    learn = learner()
    learn(x, edges)
    other = NeighborhoodLearner(4, "edges", hidden=5, seed=9, dtype=torch.float64)
    assert not torch.equal(other.eval()(x, edges)[1], learn.eval()(x, edges)[1])
    other.load_state_dict(learn.state_dict())
    stored = io.BytesIO()
    torch.save(learn, stored)
    stored.seek(0)
    for twin in (other, copy.deepcopy(learn), torch.load(stored, weights_only=False)):
        assert torch.equal(twin.eval()(x, edges)[1], learn.eval()(x, edges)[1])
        assert int(twin.step) == 1
    other.reset_parameters()
    assert int(other.step) == 0 and "candidates='edges'" in repr(other)
    fresh = NeighborhoodLearner(4, "edges", hidden=5, seed=9, dtype=torch.float64)
    assert torch.equal(other.encoder.first.weight, fresh.encoder.first.weight)


def test_what_is_kept_between_calls_is_dropped_when_tensors_change():
    x, edges, _ = small()
    learn = learner("edges+knn:3").eval()
    before = learn(x, edges)[1]
    with torch.no_grad():
        x[0] += 1.0
    after = learn(x, edges)[1]
    assert before.shape != after.shape or not torch.equal(before, after)
    fresh = learner("edges+knn:3").eval()
    assert torch.equal(fresh(x, edges)[1], after)


def test_a_batch_gives_what_its_graphs_give():
    parts = [clusters(nodes, 4, seed) for nodes, seed in ((9, 1), (14, 2))]
    for candidates in ("edges", "knn:3", "all"):
        learn = learner(candidates).eval()
        alone = [learn(torch.tensor(x), torch.tensor(e)) for x, e, _ in parts]
        x = torch.tensor(np.concatenate([part[0] for part in parts]))
        edges = torch.tensor(np.concatenate([parts[0][1], parts[1][1] + 9], 1))
        batch = torch.tensor([0] * 9 + [1] * 14)
        index, weight = learn(x, edges, batch=batch)
        expected = torch.cat([alone[0][0], alone[1][0] + 9], 1)
        assert torch.equal(index, expected)
        torch.testing.assert_close(weight, torch.cat([alone[0][1], alone[1][1]]))


def test_sparse_features_are_dense_ones():
    x, edges, _ = small(torch.float32)
    x = x * (x > 0.5)
    learn = learner("edges+knn:3", torch.float32).eval()
    dense, sparse = learn(x, edges), learn(x.to_sparse_csr(), edges)
    assert torch.equal(dense[0], sparse[0])
    torch.testing.assert_close(dense[1], sparse[1])
    sparse[1].sum().backward()
    assert learn.encoder.first.weight.grad.abs().sum() > 0


def test_evidence_prefers_edges_within_a_class_and_is_part_of_the_state():
    x, edges, y = clusters(150, 6)
    wrong = np.random.default_rng(5).integers(0, 150, (2, 300))
    edges = np.unique(np.concatenate([edges, wrong, wrong[::-1]], 1), axis=1)
    x, edges, y = torch.tensor(x), torch.tensor(edges), torch.tensor(y)
    mask = torch.arange(150) < 60
    hidden_labels = torch.where(mask, y, torch.tensor(-1))
    learn = NeighborhoodLearner(6, "edges+knn:5+ppr:4", "evidence", seed=0, dtype=torch.float64).eval()
    with pytest.raises(ValueError, match="never fitted"):
        learn(x, edges)
    assert learn.fit_evidence(x, edges, hidden_labels, mask) is learn
    index, weight = learn(x, edges)
    same = y[index[0]] == y[index[1]]
    by_weight = float((weight * same).sum() / weight.sum())
    given = float((y[edges[0]] == y[edges[1]]).double().mean())
    assert by_weight > given + 0.1, (by_weight, given)
    # Labels outside the mask change nothing; a state without classes takes those of the other.
    again = NeighborhoodLearner(6, "edges+knn:5+ppr:4", "evidence", seed=0, dtype=torch.float64).eval()
    again.fit_evidence(x, edges, torch.where(mask, y, (y + 1) % 3), mask.nonzero().view(-1))
    assert torch.equal(again(x, edges)[1], weight)
    fresh = NeighborhoodLearner(6, "edges+knn:5+ppr:4", "evidence", seed=1, dtype=torch.float64).eval()
    fresh.load_state_dict(learn.state_dict())
    assert fresh.informed.model.compatibility.shape == (3, 3)
    assert torch.equal(fresh(x, edges)[1], weight) and torch.equal(copy.deepcopy(learn)(x, edges)[1], weight)
    x = x.requires_grad_()
    learn(x, edges)[1].sum().backward()
    assert learn.informed.sharpness.grad.abs().sum() > 0


def test_evidence_without_edges():
    x, _, y = clusters(90, 6)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    learn = NeighborhoodLearner(6, "knn:5", "evidence", num_classes=3, seed=0).eval()
    index, weight = learn.fit_evidence(x, None, y, torch.arange(90) < 30)(x)
    assert float((weight * (y[index[0]] == y[index[1]])).sum() / weight.sum()) > 0.6


@pytest.mark.parametrize("name", ["none", "knn", "pagerank", "dropedge", "neural-sparse", "jaccard", "dgm", "dgg-paper", "dgg-ref"])
def test_learners_by_name(name):
    x, edges, _ = small(torch.float32, 20)
    x = x.abs()
    learn = GraphLearner(name, 4, seed=0)
    index, weight = learn(x, edges)
    assert index.shape == (2, len(weight)) and torch.isfinite(weight).all()
    # Hard choices have no gradient, and say so.
    assert weight.requires_grad == (name in ("neural-sparse", "dgg-paper", "dgg-ref"))
    if weight.requires_grad:
        weight.square().sum().backward()
        assert any(value.grad is not None and value.grad.abs().sum() > 0 for value in learn.parameters())


def test_the_same_bits_for_any_number_of_threads():
    x, edges, _ = clusters(600, 8)
    x, edges = torch.tensor(x, dtype=torch.float32), torch.tensor(edges)
    before = adjoin.get_threads()
    try:
        found = []
        for threads in (1, 2, 4):
            adjoin.set_threads(threads)
            learn = NeighborhoodLearner(8, "edges+knn:8", "mlp", seed=1)
            index, weight = learn(x, edges)
            weight.square().sum().backward()
            found.append([index, weight.detach(), *[p.grad for p in learn.parameters() if p.grad is not None]])
    finally:
        adjoin.set_threads(before)
    for other in found[1:]:
        assert len(other) == len(found[0]) and all(torch.equal(a, b) for a, b in zip(found[0], other))


def test_training_with_a_network_lowers_the_loss():
    from adjoin.torch.functional import spmm

    x, edges, y = clusters(120, 6)
    x, edges, y = torch.tensor(x, dtype=torch.float32), torch.tensor(edges), torch.tensor(y)
    torch.manual_seed(0)
    learn, layer = NeighborhoodLearner(6, "edges+knn:6", seed=0), torch.nn.Linear(6, 3)
    before = {name: value.detach().clone() for name, value in learn.named_parameters()}
    optimiser = torch.optim.Adam([*learn.parameters(), *layer.parameters()], lr=0.01)
    losses = []
    for _ in range(60):
        index, weight = learn(x, edges)
        loss = torch.nn.functional.cross_entropy(layer(x + spmm(index, weight, x)), y)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss))
    assert losses[-1] < 0.6 * losses[0]
    assert any(not torch.equal(before[name], value) for name, value in learn.named_parameters())


def test_no_leak():
    import resource

    x, edges, _ = small(torch.float32, 30)
    learn = NeighborhoodLearner(4, "edges", seed=0)

    def steps(count):
        for _ in range(count):
            learn(x, edges)[1].sum().backward()
            learn(x, edges)  # a graph that nobody asks for gradients of
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    first = steps(300)
    assert steps(1500) < first + 8 * 1024


@pytest.mark.parametrize("conv", ["GCNConv", "GraphConv", "GATv2Conv", "TransformerConv", "TAGConv"])
def test_layers_of_pyg_take_the_weights(conv):
    nn = pytest.importorskip("torch_geometric.nn")
    x, edges, _ = small(torch.float32)
    learn = NeighborhoodLearner(4, seed=0)
    index, weight = learn(x, edges)
    if conv in ("GATv2Conv", "TransformerConv"):
        out = getattr(nn, conv)(4, 2, edge_dim=1)(x, index, weight.unsqueeze(-1))
    else:
        out = getattr(nn, conv)(4, 2)(x, index, weight)
    out.square().sum().backward()
    assert learn.encoder.first.weight.grad.abs().sum() > 0
