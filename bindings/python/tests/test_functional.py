"""Kernels against plain PyTorch, and their gradients against central differences."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import adjoin  # noqa: E402
from adjoin.torch import functional as F  # noqa: E402

TYPES = [(torch.float32, 1e-5), (torch.float64, 1e-12)]


def random_edges(nodes: int, count: int, seed: int = 0):
    return torch.randint(nodes, (2, count), generator=torch.Generator().manual_seed(seed))


def normal(*shape: int, seed: int = 0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def dense(edge_index, weight, targets, sources):
    full = torch.zeros(targets, sources, dtype=weight.dtype)
    return full.index_put((edge_index[1], edge_index[0]), weight, accumulate=True)


@pytest.mark.parametrize("dtype, tolerance", TYPES)
def test_spmm_is_the_dense_product_with_repeated_and_unsorted_edges(dtype, tolerance):
    edges, weight, x = random_edges(7, 60), normal(60, dtype=dtype), normal(7, 5, seed=1, dtype=dtype)
    expected = dense(edges, weight, 7, 7) @ x
    torch.testing.assert_close(F.spmm(edges, weight, x), expected, atol=tolerance, rtol=tolerance)
    ones = dense(edges, torch.ones_like(weight), 7, 7) @ x
    torch.testing.assert_close(F.spmm(edges, None, x), ones, atol=tolerance, rtol=tolerance)


def test_spmm_of_sorted_edges_is_that_of_shuffled_ones_and_serves_other_targets():
    edges = random_edges(9, 40).unique(dim=1)
    edges = edges[:, torch.argsort(edges[1] * 9 + edges[0])]
    weight, x = normal(edges.shape[1]), normal(9, 3)
    order = torch.randperm(edges.shape[1], generator=torch.Generator().manual_seed(1))
    assert torch.equal(F.spmm(edges, weight, x), F.spmm(edges[:, order], weight[order], x))
    assert F.spmm(edges, weight, x, num_targets=20).shape == (20, 3)


def test_spmm_gradients():
    edges = random_edges(6, 25)
    weight, x = normal(25).requires_grad_(), normal(6, 4, seed=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda w, x: F.spmm(edges, w, x), (weight, x))
    assert torch.autograd.gradcheck(lambda w: F.spmm(edges, w, x.detach()), (weight,))
    assert torch.autograd.gradcheck(lambda x: F.spmm(edges, None, x), (x,))


def test_results_that_are_not_contiguous_and_inputs_that_are_not():
    edges, weight, x = random_edges(6, 25), normal(25), normal(4, 6).t()
    assert not x.is_contiguous()
    torch.testing.assert_close(F.spmm(edges, weight, x), F.spmm(edges, weight, x.contiguous()))
    x = x.clone().requires_grad_()
    F.spmm(edges.t().contiguous().t(), weight, x).t().sum().backward()
    assert x.grad is not None and x.grad.abs().sum() > 0


@pytest.mark.parametrize("dtype, tolerance", TYPES)
def test_segment_softmax(dtype, tolerance):
    index = torch.tensor([3, 0, 3, 0, 1, 3])
    src = normal(6, 2, dtype=dtype)
    expected = torch.empty_like(src)
    for row in range(4):
        expected[index == row] = src[index == row].softmax(0)
    torch.testing.assert_close(F.segment_softmax(src, index), expected, atol=tolerance, rtol=tolerance)
    torch.testing.assert_close(F.segment_softmax(src[:, 0], index, 9), expected[:, 0], atol=tolerance, rtol=tolerance)


def test_segment_softmax_gradients():
    index = torch.tensor([2, 0, 2, 0, 1, 2])
    assert torch.autograd.gradcheck(lambda s: F.segment_softmax(s, index), (normal(6).requires_grad_(),))
    assert torch.autograd.gradcheck(lambda s: F.segment_softmax(s, index), (normal(6, 3).requires_grad_(),))


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "dot"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_knn_is_the_sorted_distance_matrix(metric, dtype):
    x = normal(30, 4, dtype=dtype)
    unit = torch.nn.functional.normalize(x, dim=1)
    all_pairs = {"euclidean": torch.cdist(x, x), "cosine": 1 - unit @ unit.t(), "dot": -(x @ x.t())}[metric]
    all_pairs.fill_diagonal_(float("inf"))
    found, distance = F.knn(x, 3, metric=metric, return_distance=True)
    expected, order = all_pairs.sort(1)
    assert torch.equal(found[0].view(30, 3), order[:, :3])
    assert torch.equal(found[1], torch.arange(30).repeat_interleave(3))
    torch.testing.assert_close(distance.view(30, 3), expected[:, :3], atol=1e-5, rtol=1e-4)


def test_knn_stays_within_graphs_and_gives_all_there_are():
    batch = torch.tensor([0, 0, 0, 1, 1, 2])
    found = F.knn(normal(6, 2), 4, batch)
    assert torch.equal(batch[found[0]], batch[found[1]])
    assert found.shape[1] == 3 * 2 + 2 * 1
    assert F.knn(normal(6, 2), 1, batch, loop=True)[0].tolist() == list(range(6))


@pytest.mark.parametrize("kind", ["distance", "dot", "cosine"])
def test_edge_similarity_gradients(kind):
    edges = random_edges(6, 12)
    edges = edges[:, edges[0] != edges[1]]
    assert torch.autograd.gradcheck(lambda x: F.edge_similarity(x, edges, kind), (normal(6, 3).requires_grad_(),))


def test_knn_distances_have_gradients():
    x = normal(8, 3).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: F.knn(x, 2, return_distance=True)[1], (x,))


def plain_topk(score, index, k, lam, shift):
    """Equation by equation, with ranks by sorting."""
    weight = torch.zeros_like(score)
    for row in range(len(k)):
        at = (index == row).nonzero().view(-1)
        order = at[score[at].argsort(descending=True, stable=True)]
        ranks = torch.arange(1, len(at) + 1, dtype=score.dtype)
        weight[order] = score[order] * torch.sigmoid(2 * (k[row] + shift - ranks) / lam)
    return weight


@pytest.mark.parametrize("dtype, tolerance", TYPES)
def test_soft_topk(dtype, tolerance):
    index = torch.randint(4, (40,), generator=torch.Generator().manual_seed(3))
    score, k = normal(40, dtype=dtype).exp(), torch.tensor([1.0, 2.5, 4.0, 0.5], dtype=dtype)
    weight, kept = F.soft_topk(score, index, k, lam=1.5, shift=0.25)
    expected = plain_topk(score, index, k, 1.5, 0.25)
    full = torch.zeros_like(score).index_put((kept,), weight)
    torch.testing.assert_close(full, expected, atol=max(tolerance, 1e-6), rtol=tolerance)
    assert torch.equal(index[kept], index[kept].sort().values)
    assert len(kept.unique()) == len(kept)


def test_soft_topk_gradients_and_hard_step():
    index = torch.tensor([0, 0, 1, 0, 1, 1, 0])
    score, k = normal(7).exp().requires_grad_(), torch.tensor([1.7, 2.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s, k: F.soft_topk(s, index, k)[0], (score, k))
    weight, kept = F.soft_topk(score, index, 2.0, hard=True)
    assert torch.allclose(weight[weight > 0], score[kept][weight > 0])
    assert torch.equal(torch.bincount(index[kept][weight > 0]), torch.tensor([2, 2]))
    _, kept = F.soft_topk(score, index, k.detach())
    assert not kept.requires_grad


def test_same_bits_for_any_number_of_threads():
    edges, weight, x = random_edges(3000, 60000), normal(60000, dtype=torch.float32), normal(3000, 16, dtype=torch.float32)
    before = adjoin.get_threads()
    try:
        results = []
        for threads in (1, 2, 4):
            adjoin.set_threads(threads)
            assert adjoin.get_threads() == threads
            results.append((F.spmm(edges, weight, x), F.segment_softmax(weight, edges[1]), F.knn(x, 5)))
    finally:
        adjoin.set_threads(before)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other))
