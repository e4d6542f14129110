"""The cases, by name in CASES."""

from . import clouds, dense, pyg, released, tuned
from .common import CASES

__all__ = ["CASES", "clouds", "dense", "pyg", "released", "tuned"]
