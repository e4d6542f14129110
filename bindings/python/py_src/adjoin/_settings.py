"""From the words of a user to the settings of the library."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Chance that a random walk returns to its start, for candidates "ppr:K".
_RESTART = 0.1
# Where learned degrees start when nothing says how many neighbours there might be.
_AROUND = 10.0

SCORES = ("distance", "cosine", "dot", "mlp", "evidence")


def _count(rule: str, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"candidates: {rule}:{text} must be a number of at least 1")
    return int(text)


def parse_candidates(candidates: str) -> list[tuple[str, int]]:
    """``"edges+knn:20"`` as ``[("edges", 0), ("knn", 20)]``."""
    if not isinstance(candidates, str):
        raise TypeError(f"candidates must be a str, found {type(candidates).__name__}")
    rules = []
    for part in candidates.split("+"):
        name, colon, text = part.strip().partition(":")
        if name in ("edges", "all") and not colon:
            rules.append((name, 0))
        elif name in ("knn", "ppr", "hops") and colon:
            rules.append((name, _count(name, text)))
        else:
            raise ValueError(
                f"candidates: {part.strip()!r} is none of edges, knn:K, ppr:K, hops:R, all, joined with +"
            )
    return rules


def needs_graph(rules: list[tuple[str, int]]) -> bool:
    """Whether some candidates come from a given graph."""
    return any(name in ("edges", "ppr", "hops") for name, _ in rules)


def _rule(name: str, number: int) -> Any:
    return {
        "edges": "input_edges",
        "all": "complete",
        "knn": {"nearest": {"k": number, "metric": "euclidean"}},
        "ppr": {"pagerank": {"alpha": _RESTART, "k": number}},
        "hops": {"hops": {"r": number}},
    }[name]


def _degree(degree: float | str, rules: list[tuple[str, int]], score: str) -> dict[str, Any]:
    if degree == "learned":
        if score == "evidence":
            return {"rule": "evidence", "stochastic": False}
        if needs_graph(rules):
            return {"rule": "relative"}
        nearest = [number for name, number in rules if name == "knn"]
        start = max(nearest) / 2 if nearest else _AROUND
        return {"rule": {"around": max(start, 1.5)}}
    if isinstance(degree, bool) or not isinstance(degree, (int, float)):
        raise ValueError(f'degree = {degree!r}: must be a number or "learned"')
    if not 0 < degree < float("inf"):
        raise ValueError(f"degree = {degree}: must be above 0")
    return {"rule": {"fixed": float(degree)}}


def _merged(base: dict[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def generator_settings(
    candidates: str,
    score: str,
    degree: float | str,
    *,
    hidden: int,
    symmetric: bool,
    noise: float,
    dropout: float,
    settings: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Settings of the generator; ``settings`` come on top."""
    rules = parse_candidates(candidates)
    if score not in SCORES:
        raise ValueError(f"score = {score!r}: must be one of {', '.join(SCORES)}")
    names = dict(rules)
    config: dict[str, Any] = {
        "encoder": {"width": hidden, "dropout": dropout},
        "sample": {"noise": noise},
        "degree": _degree(degree, rules, score),
        "symmetric": symmetric,
    }
    if score == "evidence":
        if "all" in names or "hops" in names:
            raise ValueError('candidates: score="evidence" takes edges, knn:K and ppr:K')
        evidence = {"walks": names.get("ppr", 0)}
        if "knn" in names:
            evidence["neighbours"] = names["knn"]
        config["informed"] = {"evidence": evidence, "choose": False}
        config["selector"] = {"lambda": 8.0}
    else:
        parts = [_rule(name, number) for name, number in rules]
        config["candidates"] = parts[0] if len(parts) == 1 else {"union": parts}
        config["scorer"] = {"kind": score}
    return {"dgg": _merged(config, settings or {})}


def to_json(settings: Mapping[str, Any]) -> str:
    """Settings as the native module reads them."""
    return json.dumps(settings)
