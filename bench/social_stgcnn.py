"""One training epoch of Social-STGCNN: ours beside PyTorch, scene by scene as its public code trains.

    ADJOIN_DATA=... python bench/social_stgcnn.py [--split eth] [--rounds 3] [--threads 2]

PyTorch's side is our own writing of the public loop: one scene a forward, the losses of 128 scenes are added up, then
one backward and one SGD step. Graphs and tensors are made before the clock starts, as there. Our side is
`adjoin train --task trajectory` (build it first), whose time includes making batches and graphs. Turn by turn, on
the same threads; prints the medians and their ratio.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "golden"))
import social_stgcnn as reference  # noqa: E402

# Scenes in a step, on both sides.
BATCH = 128
LENGTH = reference.OBSERVED + reference.PREDICTED


def scenes_of(path):
    """Positions [agents, 20, 2] of every window of 20 frames in which two people or more are always seen."""
    rows = np.loadtxt(path)
    frames = [rows[rows[:, 0] == frame] for frame in np.unique(rows[:, 0])]
    for start in range(len(frames) - LENGTH + 1):
        window = frames[start : start + LENGTH]
        present = set.intersection(*(set(frame[:, 1]) for frame in window))
        paths = [[frame[frame[:, 1] == person][0, 2:4] for frame in window] for person in sorted(present)]
        if len(paths) > 1:
            yield torch.tensor(np.round(np.array(paths), 4), dtype=torch.float32)


def training_scenes(folder, split):
    lines = [line.split("\t") for line in (folder / "splits.tsv").read_text().splitlines()[1:]]
    files = [source for name, part, _, source, _ in lines if (name, part) == (split, "train")]
    return [scene for source in sorted(files) for scene in scenes_of(folder / source)]


class Loop:
    def __init__(self, scenes):
        torch.manual_seed(1)
        self.network = reference.SocialStgcnn()
        self.optimiser = torch.optim.SGD(self.network.parameters(), lr=0.01)
        self.inputs = []
        for scene in scenes:
            x, steps, target = reference.scene_inputs(scene)
            self.inputs.append((x, reference.laplacian(reference.kernel(steps)), target))

    def epoch(self, scenes_a_step=128):
        started = time.perf_counter()
        self.network.train()
        order = torch.randperm(len(self.inputs)).tolist()
        for first in range(0, len(order), scenes_a_step):
            self.optimiser.zero_grad()
            losses = 0.0
            for at in order[first : first + scenes_a_step]:
                x, graph, target = self.inputs[at]
                losses = losses + reference.likelihood(self.network(x, graph), target)
            (losses / scenes_a_step).backward()
            self.optimiser.step()
        return time.perf_counter() - started


def ours(split, threads, scenes):
    """Mean seconds of the training steps of an epoch, from the record of a run."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        words = [ROOT / "target/release/adjoin", "train", "--task", "trajectory", "--dataset", split]
        words += ["--recipe", "pedestrians-social-stgcnn-kernel"]
        words += ["--seeds", "1", "--set", "train.epochs=4", "--threads", str(threads), "--quiet", "--out", out]
        subprocess.run(words, check=True, capture_output=True)
        record = json.loads((out / "record.json").read_text())
    return 1e-3 * record["ms_per_step"] * -(-scenes // BATCH)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", default="eth")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    scenes = training_scenes(Path(os.environ["ADJOIN_DATA"]) / "eth_ucy", options.split)
    print(f"{options.split}: {len(scenes)} training scenes, {sum(len(scene) for scene in scenes)} agents")
    loop = Loop(scenes)
    theirs, mine = [], []
    for _ in range(options.rounds):
        theirs.append(loop.epoch())
        mine.append(ours(options.split, options.threads, len(scenes)))
        print(f"PyTorch {theirs[-1]:.2f} s, ours {statistics.median(mine):.3f} s", flush=True)
    theirs, mine = statistics.median(theirs), statistics.median(mine)
    print(f"one epoch of {options.split}: PyTorch {theirs:.2f} s, ours {mine:.3f} s, {theirs / mine:.1f} times faster")


if __name__ == "__main__":
    main()
