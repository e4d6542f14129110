"""Golden vectors: every operation of adjoin, re-written from its equation in float64 PyTorch.

    python golden/make.py            write the .safetensors files beside this script
    python golden/make.py --check    recompute, compare with the files on disk, write nothing
    python golden/make.py --list     print name, type and shape of every tensor on disk

Needs numpy, torch and safetensors. Deterministic: one thread, inputs from numpy's PCG64 with a fixed
seed a topic, so a second run on the same machine gives the same bytes. Random inputs are multiples of
1/256, hence exact in float32 too: a float32 implementation starts from the same numbers.

Conventions (all files):
  * float64 and int64 only; a scalar is a tensor of shape [1].
  * a sparse matrix is `pointers` [rows + 1] and `indices` [entries], columns sorted within a row; row i
    lists the columns j that node i receives from; entry values are in the same order.
  * inputs carry their plain name; `out` is the result; the loss is sum(out * probe); `grad.NAME` is its
    gradient by the input NAME. Where a file holds several cases they come as `CASE.out`, `CASE.grad.x`, ...
  * every input keeps clear of kinks (ties in ranks and maxima, zeros of relu) unless a case says so.
"""

import argparse
import sys
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import save

from equations import TOPICS, Book

HERE = Path(__file__).resolve().parent


def compute(name, seed):
    book = Book(seed)
    TOPICS[name](book)
    return book.tensors


def read(path):
    with safe_open(str(path), framework="pt") as file:
        return {key: file.get_tensor(key) for key in file.keys()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the files on disk, write nothing")
    parser.add_argument("--list", action="store_true", help="print every tensor on disk")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    total, wrong = 0, 0
    for seed, name in enumerate(TOPICS):
        path = HERE / f"{name}.safetensors"
        if options.list:
            print(f"{name}:")
            for key, value in sorted(read(path).items()):
                print(f"  {key} {'i64' if value.dtype == torch.int64 else 'f64'} {list(value.shape)}")
            continue
        tensors = compute(name, 1000 + seed)
        data = save(tensors)
        total += len(data)
        if options.check:
            old = read(path)
            same = old.keys() == tensors.keys() and all(
                old[k].shape == v.shape and torch.allclose(old[k], v, rtol=1e-9, atol=1e-9)
                for k, v in tensors.items()
            )
            exact = same and path.read_bytes() == data
            print(f"{name}: {'identical' if exact else 'equal to 1e-9' if same else 'DIFFERENT'}")
            wrong += not same
        else:
            path.write_bytes(data)
            print(f"{name}: {len(tensors)} tensors, {len(data)} bytes")
    if not options.list:
        print(f"total {total} bytes")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
