"""One training step of DGCNN on 8 clouds of 1024 points, k = 20: ours beside PyTorch on the same cores.

    python bench/dgcnn.py [--rounds 3] [--threads 2] [--steps 3]

PyTorch's side is the network of golden/points.py, built from its description as its public code is: features of all
edges, convolved, normalised, rectified, and the maximum over them. A step is forward, label-smoothed loss, backward and
SGD with momentum. Our side is `adjoin bench --points` (build it first). Both run in processes of their own, turn by turn;
prints the medians of the times, the peak resident memory of each process beyond what it holds before the first step, and
the ratios. The search for neighbours alone is timed against `torch.cdist` and `topk`.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CLOUDS, POINTS, K, CLASSES = 8, 1024, 20, 40
WIDTHS = (3, 64, 128)


def milliseconds(run, times):
    run()
    found = []
    for _ in range(times):
        started = time.perf_counter()
        run()
        found.append(1e3 * (time.perf_counter() - started))
    return statistics.median(found)


def theirs(threads, steps):
    import torch

    sys.path.insert(0, str(ROOT / "golden"))
    import points as reference

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    network = reference.PointNetwork([64, 64, 128, 256], K, 1024, [512, 256], CLASSES)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    x = torch.randn(CLOUDS, 3, POINTS)
    classes = torch.arange(CLOUDS) % CLASSES

    def step():
        optimiser.zero_grad()
        reference.smoothed_cross_entropy(network(x), classes).backward()
        optimiser.step()

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = {"ms_per_step": milliseconds(step, steps)}
    found["peak_rss_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found["before_bytes"] = before
    found["nearest_ms"] = {}
    for width in WIDTHS:
        features = torch.randn(CLOUDS, POINTS, width)
        search = lambda: torch.cdist(features, features).topk(K, largest=False)
        found["nearest_ms"][str(width)] = milliseconds(search, 5)
    print(json.dumps(found))


def in_process(words):
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3, help="steps of PyTorch in a round")
    parser.add_argument("--theirs", action="store_true", help="PyTorch's side alone, as JSON")
    options = parser.parse_args()
    if options.theirs:
        return theirs(options.threads, options.steps)
    common = ["--threads", str(options.threads)]
    both = {"PyTorch": [], "ours": []}
    for _ in range(options.rounds):
        words = [sys.executable, __file__, "--theirs", "--steps", str(options.steps)]
        both["PyTorch"].append(in_process(words + common))
        words = [str(ROOT / "target/release/adjoin"), "bench", "--points", "--seconds", "3"]
        both["ours"].append(in_process(words + common))
        print(", ".join(f"{name} {runs[-1]['ms_per_step']:.0f} ms" for name, runs in both.items()), flush=True)
    middle = lambda name, pick: statistics.median(pick(run) for run in both[name])
    mebibytes = lambda name: middle(name, lambda run: run["peak_rss_bytes"] - run.get("before_bytes", 0)) / 2**20
    times = [middle(name, lambda run: run["ms_per_step"]) for name in both]
    memory = [mebibytes(name) for name in both]
    print(f"training step: PyTorch {times[0]:.0f} ms, ours {times[1]:.0f} ms, {times[0] / times[1]:.1f} times faster")
    print(f"peak memory: PyTorch {memory[0]:.0f} MiB beyond its start, ours {memory[1]:.0f} MiB in all, {memory[0] / memory[1]:.1f} times less")
    for width in WIDTHS:
        search = [middle(name, lambda run: run["nearest_ms"][str(width)]) for name in both]
        print(f"{K} nearest, {width} features: cdist + topk {search[0]:.1f} ms, ours {search[1]:.1f} ms, {search[0] / search[1]:.1f} times faster")


if __name__ == "__main__":
    main()
