"""Writes the tensors of a script to the file beside it, or compares them with it."""

import argparse
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save


def main(script, description, compute):
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the file on disk, write nothing")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = Path(script).resolve().with_suffix(".safetensors")
    tensors = compute()
    if not options.check:
        path.write_bytes(save(tensors))
        print(f"{len(tensors)} tensors, {path.stat().st_size} bytes")
        return
    old = load_file(path)
    same = old.keys() == tensors.keys() and all(
        old[k].shape == v.shape and torch.allclose(old[k], v, rtol=1e-9, atol=1e-9) for k, v in tensors.items()
    )
    print("equal to 1e-9" if same else "DIFFERENT")
    sys.exit(not same)
