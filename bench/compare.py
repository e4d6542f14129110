"""adjoin against PyTorch, both in one run: prints a Markdown table.

    ADJOIN_DATA=DIR python bench/compare.py [--only CASE ...] [--rounds R] [--skip-slow] [--json FILE]

Each round runs ours, then each reference, every one in a fresh process with 2 threads; the table has the medians over the
rounds. Ours is the example `bench` of crates/adjoin, built first and called as `bench CASE [--n N]`, which prints one JSON line
{"case", "seconds", "peak_bytes"}; the references are in bench/cases, run by bench/reference.py.
"""

import argparse
import datetime
import importlib.metadata
import json
import math
import os
import platform
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import reference

OURS = "target/release/examples/bench"
GIB = 1 << 30


def entry(work, ours=None, n=None, slow=False, against=(), limit=None):
    return {"work": work, "ours": ours, "n": n, "slow": slow, "against": against, "limit": limit}


# against: (reference case, times faster, times less memory); None where there is no bar
CASES = {
    "gcn": entry("GCN, 2 layers, Cora", against=[("gcn_pyg", 25, None), ("gcn_tuned", 1.5, None)]),
    "sage": entry("GraphSAGE, Cora", against=[("sage_pyg", 20, None), ("sage_tuned", 2, None)]),
    "gat": entry("GAT, 8x8 heads, Cora", against=[("gat_pyg", 10, None), ("gat_tuned", 2.5, None)]),
    "gcnii64": entry("GCNII, 64 layers, Cora", against=[("gcnii64_pyg", 4, None)], slow=True),
    "gcn_dgg": entry("GCN + generator on input edges, Cora",
                     against=[("authors_dgg", 300, None), ("dense_dgg", None, None)], slow=True),
    "dense_distance": entry("generator, complete candidates, N = 2708, distance", against=[("dense_distance", 10, 20)]),
    "dense_mlp": entry("generator, complete candidates, N = 2708, pair MLP",
                       against=[("dense_mlp", 25, 100), ("dense_mlp_cat", None, None)], slow=True),
    "stream20k_distance": entry("the same, N = 20 000, distance", "dense_distance", 20000, True, limit=GIB),
    "stream20k_mlp": entry("the same, N = 20 000, pair MLP", "dense_mlp", 20000, True, limit=GIB),
    "edgeconv": entry("EdgeConv, 8 x 1024 points, k = 20, 64 to 64", against=[("edgeconv", 8, None)]),
}
for _n in (1024, 8192):
    for _d in (3, 64):
        _name = f"knn_{_n}_{_d}"
        CASES[_name] = entry(f"exact 20 nearest, {_n} points, {_d} dimensions", against=[(_name, 3, None)])


def ours(command, name, case):
    """One run of our side; the last line of its output that is a JSON object counts."""
    call = shlex.split(command) + [case["ours"] or name]
    if case["n"]:
        call += ["--n", str(case["n"])]
    threads = str(reference.THREADS)
    done = subprocess.run(call, env=os.environ | {"RAYON_NUM_THREADS": threads}, stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or not lines:
        raise RuntimeError(f"`{shlex.join(call)}` failed with code {done.returncode}")
    return json.loads(lines[-1])


def time_text(seconds):
    if seconds is None:
        return "-"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def memory_text(size):
    if size is None:
        return "-"
    return f"{size / GIB:.2f} GiB" if size >= GIB else f"{size / (1 << 20):.1f} MiB"


def middle(runs, key):
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else None


def ratio(theirs, mine):
    return theirs / mine if theirs is not None and mine else None


def times(value):
    return "-" if value is None else f"{value:.0f}x" if value >= 20 else f"{value:.2g}x" if value >= 10 else f"{value:.1f}x"


def machine():
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def rows_of(name, case, results):
    """The table's rows for a case: one for each reference, or one for the memory limit."""
    mine = {key: middle(results["ours"], key) for key in ("seconds", "peak_bytes")}
    if case["limit"]:
        met = mine["peak_bytes"] <= case["limit"]
        yield {"work": case["work"], "case": name, "reference": None, "ours": mine, "theirs": None, "faster": None, "less": None,
               "bar": f"runs in {memory_text(case['limit'])}", "met": met}
    for other, faster_bar, less_bar in case["against"]:
        theirs = {key: middle(results[other], key) for key in ("seconds", "peak_bytes")}
        faster, less = (ratio(theirs[key], mine[key]) for key in ("seconds", "peak_bytes"))
        bars, met = [], []
        if faster_bar:
            bars.append(f"{faster_bar}x faster")
            met.append(faster >= faster_bar)
        if less_bar:
            bars.append(f"{less_bar}x less memory")
            met.append(less is None or less >= less_bar)
        yield {"work": case["work"], "case": name, "reference": other, "ours": mine, "theirs": theirs, "faster": faster, "less": less,
               "bar": ", ".join(bars) or None, "met": all(met) if met else None}


def table(rows):
    out = ["| work | ours | reference | time | memory | bar | met |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        mine = f"{time_text(row['ours']['seconds'])}, {memory_text(row['ours']['peak_bytes'])}"
        theirs = "-"
        if row["theirs"]:
            theirs = f"`{row['reference']}` {time_text(row['theirs']['seconds'])}, {memory_text(row['theirs']['peak_bytes'])}"
        met = {True: "yes", False: "**no**", None: "-"}[row["met"]]
        out.append(f"| {row['work']} | {mine} | {theirs} | {times(row['faster'])} | {times(row['less'])} | {row['bar'] or '-'} | {met} |")
    return "\n".join(out)


def growth(results):
    """How time and memory grow from N = 2708 to N = 20 000, as exponents of N."""
    for scorer in ("distance", "mlp"):
        small, large = results.get(f"dense_{scorer}"), results.get(f"stream20k_{scorer}")
        if small and large:
            step = math.log(20000 / 2708)
            exponent = []
            for key in ("seconds", "peak_bytes"):
                change = ratio(middle(large["ours"], key), middle(small["ours"], key))
                exponent.append("?" if not change else f"{math.log(change) / step:.2f}")
            yield f"{scorer}: from N = 2708 to 20 000 time grows as N^{exponent[0]}, memory as N^{exponent[1]}."


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="CASE", help=f"of: {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--seconds", type=float, default=3.0, help="time for a reference in a round (at least 3 steps)")
    parser.add_argument("--skip-slow", action="store_true", help="leave out the cases that take long")
    parser.add_argument("--json", metavar="FILE", help="also write every run and the rows to a file")
    parser.add_argument("--ours", default=OURS, metavar="COMMAND", help="how to run our side; the case is appended")
    options = parser.parse_args()
    unknown = [name for name in options.only or [] if name not in CASES]
    if unknown:
        parser.error(f"no case {', '.join(unknown)}; there are: {', '.join(CASES)}")
    chosen = options.only or [name for name, case in CASES.items() if not (options.skip_slow and case["slow"])]

    load = os.getloadavg()[0]
    if load > 0.5:
        print(f"the machine is busy (load {load:.1f}): the numbers will be noisy", file=sys.stderr)
    if options.ours == OURS:  # so that compiling is not part of the first run
        subprocess.run(["cargo", "build", "--release", "-q", "--workspace", "--example", "bench"], check=True)

    results, rows, failed = {}, [], []
    for name in chosen:
        case = CASES[name]
        got = {"ours": []} | {other: [] for other, _, _ in case["against"]}
        try:
            for turn in range(options.rounds):
                print(f"{name}: round {turn + 1} of {options.rounds}", file=sys.stderr)
                for side in got:
                    run = ours(options.ours, name, case) if side == "ours" else reference.measure(side, options.seconds)
                    got[side].append(run)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed.append(name)
            continue
        results[name] = got
        rows += rows_of(name, case, got)

    versions = {package: importlib.metadata.version(package) for package in ("torch", "torch_geometric")}
    header = {
        "machine": machine(),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": versions,
        "command": shlex.join(["python", "bench/compare.py", *sys.argv[1:]]),
        "threads": reference.THREADS,
        "rounds": options.rounds,
        "load": load,
    }
    print(f"{header['machine']}; {header['date']}; 2 threads; load before {load:.1f}; "
          f"torch {versions['torch']}, PyG {versions['torch_geometric']}; medians of {options.rounds} interleaved rounds; "
          f"`{header['command']}`\n")
    print(table(rows))
    for line in growth(results):
        print(f"\n{line}")
    if failed:
        print(f"\nFailed: {', '.join(failed)}.")
    if options.json:
        Path(options.json).write_text(json.dumps(header | {"rows": rows, "runs": results, "failed": failed}, indent=1) + "\n")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
