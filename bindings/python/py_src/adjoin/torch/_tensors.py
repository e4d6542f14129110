"""Checks of tensors by the name of the argument, and NumPy views of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

FLOATS = (torch.float32, torch.float64)


def on_cpu(name: str, value: Any) -> Tensor:
    """The tensor itself, if it is one and on the CPU."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be a torch.Tensor, found {type(value).__name__}")
    if value.device.type != "cpu":
        raise ValueError(
            f"{name} is on {value.device}: adjoin works on the CPU, pass {name}.cpu() and move the result back"
        )
    return value


def floats(name: str, value: Any, dims: int, dtype: torch.dtype | None = None) -> Tensor:
    """A float tensor with so many dimensions."""
    value = on_cpu(name, value)
    if value.dtype not in FLOATS:
        raise TypeError(f"{name} must be float32 or float64, found {value.dtype}")
    if dtype is not None and value.dtype != dtype:
        raise TypeError(f"{name} is {value.dtype}, but {dtype} is expected, as of the other arguments")
    if value.dim() != dims:
        raise ValueError(f"{name} must have {dims} dimensions, found shape {tuple(value.shape)}")
    return value


def indices(name: str, value: Any, shape: tuple[int | None, ...]) -> Tensor:
    """An int64 tensor; ``None`` in ``shape`` stands for any size."""
    value = on_cpu(name, value)
    if value.dtype != torch.int64:
        raise TypeError(f"{name} must be int64, found {value.dtype}")
    fits = value.dim() == len(shape) and all(s in (None, n) for s, n in zip(shape, value.shape))
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape [{wanted}], found {list(value.shape)}")
    return value


def view(value: Tensor) -> np.ndarray:
    """The values, row after row, without a copy where the tensor is contiguous."""
    return value.detach().contiguous().view(-1).numpy()


def tensor(values: np.ndarray, *shape: int) -> Tensor:
    """A tensor that owns the values that Rust gave."""
    result = torch.from_numpy(values)
    return result.view(*shape) if shape else result
