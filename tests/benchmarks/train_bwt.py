"""Weights that lanes of `gangsaw.bwt` begin with: means of those that they end with.

    python tests/benchmarks/train_bwt.py FILE...

They are part of the format: codecs/bwt/dense/weights.py has those of the six files of the texts.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.bwt.dense.encode import begun, record_decisions
from gangsaw.codecs.bwt.dense.model import LANES
from gangsaw.codecs.bwt.dense.segments import most_steps
from gangsaw.codecs.bwt.dense.tables import NODES
from gangsaw.codecs.bwt.dense.weights import INPUTS, weights
from gangsaw.codecs.bwt.lanes.cut import RunLanes, divide_into_lanes
from gangsaw.codecs.bwt.transform.forward import transform

BLOCK, ROUNDS = 1 << 22, 6
Weights = npt.NDArray[np.int64]


def final_weights(lanes: RunLanes, first: Weights) -> Weights:
    """Return (lanes, NODES, INPUTS) of the lanes that have any decisions."""
    work, alive = begun(lanes), np.flatnonzero(lanes.sizes > 1)
    four = work.model.weights.view(np.int16).reshape(LANES, NODES, -1)
    four[:, :, :INPUTS] = first
    records = np.empty(LANES * most_steps(lanes.bounds), np.uint16)
    while work.lane_states.alive[0]:
        record_decisions(*work, records)
    return four[alive, :, :INPUTS].astype(np.int64)


def main() -> None:
    """Train with the files named, each cut into blocks, and print the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    files = [np.fromfile(path, np.uint8) for path in parser.parse_args().files]
    blocks = [data[at : at + BLOCK] for data in files for at in range(0, data.size, BLOCK)]
    lanes = [divide_into_lanes(transform(block).bwt, by_decisions=True) for block in blocks]
    now = weights().astype(np.int64)
    for _ in range(ROUNDS):
        now = mean_weights(lanes, now)
    for at in range(0, NODES, 4):
        line = "  ".join(" ".join(map(str, node)) for node in now[at : at + 4])
        sys.stdout.write(f"{line}\n")


def mean_weights(lanes: list[RunLanes], first: Weights) -> Weights:
    """Return (NODES, INPUTS): of each node the mean over blocks that have such decisions."""
    total, blocks = np.zeros(first.shape), np.zeros((NODES, 1))
    for block in lanes:
        ends = final_weights(block, first)
        moved = (ends != first).any(axis=2, keepdims=True)
        each = moved.sum(axis=0)
        total += np.where(each, (ends * moved).sum(axis=0) / np.maximum(1, each), 0)
        blocks += each > 0
    return np.where(blocks, np.rint(total / np.maximum(1, blocks)), first).astype(np.int64)


if __name__ == "__main__":
    main()
