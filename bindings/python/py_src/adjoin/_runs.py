"""Runs that the command ``adjoin train`` left behind."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from ._graph import Graph


class Run:
    """One run: its record, curves, and the graph of its first seed."""

    def __init__(self, record: dict[str, Any], path: Path) -> None:
        self.record = record
        """Everything in ``record.json``."""
        self.path = path
        """The folder."""

    def __repr__(self) -> str:
        return f"Run({self.dataset!r}, learner={self.learner!r}, backbone={self.backbone!r}, seeds={len(self.seeds)})"

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return str(self.record["dataset"])

    @property
    def learner(self) -> str:
        """Name of the learner."""
        return str(self.record["learner"])

    @property
    def backbone(self) -> str:
        """Name of the network."""
        return str(self.record["backbone"])

    @property
    def seeds(self) -> list[dict[str, Any]]:
        """What each seed gave: validation, test, best epoch, seconds."""
        return [{key: seed[key] for key in seed if key != "curve"} for seed in self.record["seeds"]]

    def curves(self) -> Any:
        """Every epoch of every seed as a ``pandas.DataFrame``."""
        import pandas

        rows = [{"seed": seed["seed"], **epoch} for seed in self.record["seeds"] for epoch in seed.get("curve", [])]
        return pandas.json_normalize(rows)

    def _graph(self, kind: str, degree: Any) -> Graph | None:
        exhibit = self.record.get("exhibit")
        if not isinstance(exhibit, dict) or f"{kind}_pointers" not in exhibit:
            return None
        pointers = np.asarray(exhibit[f"{kind}_pointers"], np.int64)
        sources = np.asarray(exhibit[f"{kind}_indices"], np.int64)
        targets = np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))
        weights = exhibit.get(f"{kind}_weights") or None
        weights = None if weights is None else np.asarray(weights, np.float32)
        return Graph(np.stack([sources, targets]), weights, len(pointers) - 1, degree)

    @property
    def graph(self) -> Graph | None:
        """The learned graph of the first seed, of runs on nodes."""
        exhibit = self.record.get("exhibit") or {}
        return self._graph("learned", exhibit.get("degrees") or None) if isinstance(exhibit, dict) else None

    @property
    def input_graph(self) -> Graph | None:
        """The given graph, of runs on nodes."""
        return self._graph("input", None)


def load_run(path: str | os.PathLike[str]) -> Run:
    """Opens the folder of a run, or a ``record.json``.

    Raises:
        FileNotFoundError: if there is no record.
        ValueError: if the file is no record.
    """
    place = Path(path)
    file = place / "record.json" if place.is_dir() else place
    with file.open(encoding="utf-8") as stream:
        try:
            record = json.load(stream)
        except json.JSONDecodeError as error:
            raise ValueError(f"path: {file} is no record of a run: {error}") from error
    if not isinstance(record, dict) or not {"dataset", "learner", "backbone", "seeds"} <= record.keys():
        raise ValueError(f"path: {file} is no record of a run")
    return Run(record, file.parent)
