"""Runs the same commands with an old and a new build and compares every result bit for bit.

    python3 scripts/same_bits.py                      build the old commit in a temporary worktree first
    python3 scripts/same_bits.py --old PATH --new PATH    compare two built commands
    python3 scripts/same_bits.py --quick              the embedded data only

The old build is 30b7e5b, the last commit before records, settings and names changed. Times and memory are left out.
With ADJOIN_DATA set, cells of `reproduce` on Cora, Hotel, SDD and basketball are compared too, and a resumed run.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BASE = "30b7e5b"


def build(folder):
    subprocess.run(["cargo", "build", "--release", "-p", "adjoin-cli"], cwd=folder, check=True)
    return folder / "target/release/adjoin"


def run(command, words, folder):
    done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command} {' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def node_seed(seed):
    return seed["valid"]["accuracy"], seed["test"]["accuracy"]


def trajectory_seed(seed):
    test = seed["test"]
    return (seed["valid"]["per_agent"]["ade"], *(test[way] for way in ["per_agent", "per_scene", "likely"]))


def old_trajectory_seed(seed):
    return (seed["valid"], *(seed[way] for way in ["per_agent", "per_scene", "likely"]))


def results(text, task, old):
    """What a run says of each learner and seed, in one form for both builds."""
    json_ = json.loads(text)
    runs = json_ if isinstance(json_, list) else json_.get("differences") is not None and json_["runs"] or [json_]
    found = {}
    for one in runs:
        for seed in one["runs"] if old else one["seeds"]:
            if old:
                numbers = old_trajectory_seed(seed) if task == "trajectory" else (seed["valid"], seed["test"])
            else:
                numbers = trajectory_seed(seed) if task == "trajectory" else node_seed(seed)
            key = one["learner"], seed["seed"]
            found[key] = (one["dataset"], one["backbone"], numbers, seed["best_epoch"], seed["epochs"])
    return found


def markdown(text):
    """Cells of a reproduced table without what is only written differently."""
    rows = [line for line in text.splitlines() if line.startswith("| ") and "dataset" not in line]
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def compare(name, old, new):
    same = old == new
    print(f"{'same   ' if same else 'DIFFERS'} {name}", flush=True)
    if not same:
        print("  old:", old, "\n  new:", new)
    return same


def resumed(command, folder, task):
    """A run that is interrupted after a while and resumed, and the same run in one go."""
    words = ["train", "--task", task, "--seeds", "1", "--json", "--quiet"]
    out = folder / f"resumed-{task}"
    child = subprocess.Popen([command, *words, "--out", out], cwd=folder, stdout=subprocess.DEVNULL)
    time.sleep(2.5)
    child.send_signal(signal.SIGINT)
    child.wait()
    partial = out.with_name(out.name + ".partial")
    if partial.exists():
        return run(command, ["train", "--resume", out, "--json", "--quiet"], folder)
    return run(command, [*words, "--out", folder / "whole"], folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--old", type=Path)
    parser.add_argument("--new", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        old = options.old
        if old is None:
            tree = folder / "old"
            subprocess.run(["git", "worktree", "add", "--detach", tree, BASE], cwd=ROOT, check=True)
            old = build(tree)
        new = options.new or build(ROOT)
        old, new = old.resolve(), new.resolve()
        same = []
        for task in ["node", "trajectory", "points"]:
            words = ["train", "--task", task, "--json", "--quiet", "--out"]
            before = results(run(old, [*words, f"old-{task}"], folder), task, True)
            after = results(run(new, [*words, f"new-{task}"], folder), task, False)
            same.append(compare(f"train --task {task} --json", before, after))
            again = results(resumed(new, folder, task), task, False)
            first = {key: value for key, value in after.items() if key[1] == 0}
            same.append(compare(f"resumed --task {task}", first, again))
        if not options.quick and "ADJOIN_DATA" in os.environ:
            for table, words in [
                ("node", "--datasets cora --backbones gcn --learners none,dropedge,dgg --seeds 2"),
                ("node", "--datasets citeseer --backbones sage --learners none,dgg --seeds 1"),
                ("node", "--datasets pubmed --backbones gcn --learners none,dgg --seeds 1"),
                ("trajectory", "--datasets hotel --epochs 2 --seeds 1"),
                ("trajectory", "--datasets nba-atk-40 --reduced --epochs 1 --seeds 1 --learners kernel,dgg"),
                ("points", "--reduced --backbones dgcnn --seeds 1 --set train.epochs=2"),
            ]:
                line = ["reproduce", table, *words.split(), "--quiet"]
                before, after = (markdown(run(command, line, folder)) for command in (old, new))
                same.append(compare(f"reproduce {table} {words}", before, after))
        if options.old is None:
            subprocess.run(["git", "worktree", "remove", "--force", folder / "old"], cwd=ROOT, check=True)
    sys.exit(0 if all(same) else 1)


if __name__ == "__main__":
    main()
