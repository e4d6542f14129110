"""What can be chosen by name."""

from __future__ import annotations

from . import _rust


def learners() -> dict[str, str]:
    """Names of all graph learners, with a line on each.

    >>> learners()["dgg"]
    'the differentiable graph generator'
    """
    return dict(_rust.learners())


def backbones() -> dict[str, str]:
    """Names of all networks of :class:`NodeClassifier`, with a line on each.

    >>> sorted(backbones())
    ['gat', 'gcn', 'gcnii', 'mlp', 'sage']
    """
    return dict(_rust.backbones())
