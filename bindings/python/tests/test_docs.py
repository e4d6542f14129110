"""The Python that the documentation shows runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_what_is_shown_runs(page):
    pytest.importorskip("torch_geometric")
    pytest.importorskip("sklearn")
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert names.get("accuracy", 1.0) > 0.5
