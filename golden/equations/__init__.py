"""The equations of every topic. The order of these imports gives each topic its seed."""

from . import sparse, scores, attention, generator, convolutions, losses, learners, complete, rivals
from .book import TOPICS, Book

__all__ = ["TOPICS", "Book", "attention", "complete", "convolutions", "generator", "learners", "losses", "rivals", "scores", "sparse"]
