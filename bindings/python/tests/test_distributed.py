"""Two processes over Gloo give the gradients of one."""

from __future__ import annotations

import socket

import pytest

torch = pytest.importorskip("torch")

from adjoin.torch import NeighborhoodLearner  # noqa: E402
from conftest import clusters  # noqa: E402


def part(number: int):
    x, edges, _ = clusters(20, 4, seed=number)
    return torch.tensor(x), torch.tensor(edges)


def loss(learn, number: int):
    return learn(*part(number))[1].square().sum()


def worker(rank: int, port: int, path: str) -> None:
    torch.distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    learn = NeighborhoodLearner(4, hidden=5, seed=rank, dtype=torch.float64).eval()
    wrapped = torch.nn.parallel.DistributedDataParallel(learn, find_unused_parameters=True)
    loss(wrapped, rank).backward()
    if rank == 0:
        torch.save([value.grad for value in learn.parameters()], path)
    torch.distributed.destroy_process_group()


def test_two_processes_give_the_gradients_of_one(tmp_path):
    if not torch.distributed.is_available():
        pytest.skip("PyTorch was built without torch.distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = str(tmp_path / "gradients.pt")
    torch.multiprocessing.spawn(worker, (port, path), nprocs=2)
    alone = NeighborhoodLearner(4, hidden=5, seed=0, dtype=torch.float64).eval()
    ((loss(alone, 0) + loss(alone, 1)) / 2).backward()
    for value, found in zip(alone.parameters(), torch.load(path)):
        expected = torch.zeros_like(value) if value.grad is None else value.grad
        torch.testing.assert_close(torch.zeros_like(value) if found is None else found, expected, atol=1e-12, rtol=1e-10)
