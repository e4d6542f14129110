"""What PyTorch takes: the reference side of the benchmarks.

    ADJOIN_DATA=DIR python bench/reference.py [CASE ...] [--list] [--seconds S]

Each case runs in a fresh process with 2 threads and prints one JSON line
{"case", "seconds", "best", "peak_bytes", "steps"}: the median and the least time of a step, and the peak of resident memory above
what the process held after its imports and the creation of the inputs. A training step is forward, backward
and Adam. Cora is read from DIR/planetoid_plain/cora.npz. All of it is written from the equations; the
settings that the other side must share are in bench/README.md.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cases import CASES

THREADS = 2
SLOW = {"authors_dgg", "dense_mlp", "dense_mlp_cat", "gcnii64_pyg", "knn_8192_3", "knn_8192_64"}


def memory(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    raise RuntimeError(field)


def run_here(name, seconds):
    """Measure a case in this process, which should be fresh."""
    import torch

    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    build = CASES[name]()
    # let the library set itself up (thread pools, autograd's thread, what Adam imports) before the baseline
    warm = torch.randn(256, 256, requires_grad=True)
    (warm @ warm).sum().backward()
    torch.optim.Adam([warm]).step()
    torch.randn(64, 64).relu().to_sparse_csr() @ torch.randn(64, 8)
    try:
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    except OSError:
        pass
    before = memory("VmRSS")
    step = build()
    first = time.perf_counter()
    step()
    first = time.perf_counter() - first
    for _ in range(0 if first > 2 else 2 if first > 0.2 else 5):
        step()
    times, start = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - start < seconds and len(times) < 200):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    peak = memory("VmHWM") - before
    return {"case": name, "seconds": statistics.median(times), "best": min(times), "peak_bytes": max(peak, 0), "steps": len(times)}


def measure(name, seconds=3.0):
    """Measure a case in a fresh process: {"case", "seconds", "best", "peak_bytes", "steps"}."""
    threads = str(THREADS)
    environment = os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, str(Path(__file__).resolve()), name, "--here", "--seconds", str(seconds)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"reference case {name} failed with code {done.returncode}")
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help="all if none is named")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("--seconds", type=float, default=3.0, help="time spent on a case (at least 3 steps)")
    parser.add_argument("--skip-slow", action="store_true", help="leave out the cases that take long")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    unknown = [name for name in options.cases if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {', '.join(CASES)}")
    for name in options.cases or [n for n in CASES if not (options.skip_slow and n in SLOW)]:
        result = run_here(name, options.seconds) if options.here else measure(name, options.seconds)
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
