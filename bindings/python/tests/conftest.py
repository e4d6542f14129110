"""Small graphs that the tests share."""

from __future__ import annotations

import numpy as np
import pytest


def clusters(nodes: int = 60, width: int = 6, seed: int = 0):
    """Three groups of nodes: features, edges mostly within a group, classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(nodes) % 3
    x = rng.normal(size=(nodes, width)) + 2.0 * np.eye(3, width)[y]
    pairs = rng.integers(0, nodes, (2, 12 * nodes))
    keep = (y[pairs[0]] == y[pairs[1]]) | (rng.random(pairs.shape[1]) < 0.1)
    keep &= pairs[0] != pairs[1]
    edges = np.unique(np.concatenate([pairs[:, keep], pairs[::-1, keep]], 1), axis=1)
    return x, edges, y


@pytest.fixture
def graph():
    return clusters()
