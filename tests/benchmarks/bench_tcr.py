"""Path counting on one core: references in memory to counts and calls.

CPU seconds of the one thread that works, so that other programs on the machine count little.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from two_cores import two_cores

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.codecs.core.ragged import RaggedArray
from gangsaw.tasks.bench.table import Row, cpu_seconds, say, seconds_in_turn
from gangsaw.tasks.tcr import Model, count_paths
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.kernels.cpu import count
from gangsaw.tasks.tcr.counting.paths.count import make_batch
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.germline import Germline, open_germline
from gangsaw.tasks.tcr.model.nucleotides import NUCLEOTIDES, decoded
from gangsaw.tasks.tcr.store.setup import CHUNK_ROWS

REFERENCES = 40_000
WILD = 2_000  # of them with a wildcard each: 64-bit rows
PAIRED = 2_000
MANY_D = 8_000  # counts of 40 D alleles take 39 kB a reference
PAIRED_D = 10
COMPARED = 300  # references that OLGA computes
UNIT = "references/s"


@dataclass(frozen=True)
class Case:
    """One row: references, the model, and what is asked in references a second."""

    name: str
    batch: Batch
    model: Model
    target: str = ""


def rows() -> Iterator[Row]:
    """Yield speeds of one core, then of two threads, of strings, and of OLGA."""
    mouse = open_germline("olga", locus="TRB", species="mouse")
    batch = _random(mouse, REFERENCES)
    set_thread_limit(1)
    for case in [*_mouse_cases(batch), *_human_cases(), *_many_d_cases()]:
        yield _measured(case)
    yield _of_strings(batch)
    yield _two_threads(_first(batch, CHUNK_ROWS), "a chunk of a job's store", ">= 1.7")
    yield _two_threads(batch, "many at once, whose counts lie in fresh pages each time")
    yield two_cores()
    yield from _olga(batch, mouse)
    set_thread_limit(None)


def _random(germline: Germline, n: int) -> Batch:
    return random_batch(*(_texts(parts) for parts in (germline.v, germline.d, germline.j)), n)


def _texts(parts: Sequence[Any]) -> list[str]:
    return [part.sequence for part in parts]


def _mouse_cases(batch: Batch) -> Iterator[Case]:
    yield Case("DP-2, one strand, mouse-like, 2 D genes", batch, Model(), ">= 150000")
    yield Case("DP-2, two strands, mouse-like, 2 D genes", batch, Model(strands=2))
    yield Case("DP-1, mouse-like, 2 D genes", batch, Model("dp1"), ">= 400000")
    no_d = replace(batch, d=RaggedArray(batch.d.data[:0], batch.d.offsets[:1]))
    yield Case("DP-2, V-J, mouse-like without D", no_d, Model())
    few = _first(batch, PAIRED)
    yield Case("DP-2, V-D-D-J, mouse-like, 2 D genes", few, Model(d_segments=2))
    codes = _first(batch, WILD).references.data.copy()
    codes[batch.references.offsets[:WILD]] = 15
    wild = replace(
        _first(batch, WILD), references=RaggedArray(codes, batch.references.offsets[: WILD + 1])
    )
    yield Case("DP-2, one strand, mouse-like with an N each", wild, Model())


def _first(batch: Batch, n: int) -> Batch:
    starts = batch.references.offsets[: n + 1]
    references = RaggedArray(batch.references.data[: starts[-1]], starts)
    return replace(batch, references=references, v_of=batch.v_of[:n], j_of=batch.j_of[:n])


def _human_cases() -> Iterator[Case]:
    folder = Path(os.environ.get("GANGSAW_SHARED", "../shared")) / "data/tcr/human_TRB"
    if not folder.is_dir():
        return
    germline = open_germline("olga", locus="TRB", species="human")
    cdr3, v, j = _read_vdjtools(sorted(folder.glob("A*.txt.gz")), germline)
    d = {part.name: part.sequence for part in germline.d}
    batch = make_batch(cdr3, v, j, d, Model())
    yield Case(f"DP-2, one strand, human blood, {len(d)} D genes", batch, Model(), ">= 80000")
    yield Case(f"DP-1, human blood, {len(d)} D genes", batch, Model("dp1"))


def _many_d_cases() -> Iterator[Case]:
    germline = open_germline("olga", locus="IGH", species="human")
    batch = _random(germline, MANY_D)
    n_d = len(batch.d)
    yield Case(f"DP-1 and DP-2, human IGH, {n_d} D alleles", batch, Model("both"), ">= 60000")
    ten = replace(germline, d=germline.d[:PAIRED_D])
    few = _first(_random(ten, MANY_D), PAIRED)
    pairs = PAIRED_D * (PAIRED_D - 1) // 2
    name = f"DP-2, V-D-D-J, human IGH, {PAIRED_D} D alleles: {pairs} pairs"
    yield Case(name, few, Model(d_segments=2), ">= 10000")


def _read_vdjtools(
    paths: Sequence[Path], germline: Germline
) -> tuple[list[str], list[str], list[str]]:
    """CDR3, V part and J part of each row that has all of them, REFERENCES at most."""
    find = {region: germline.resolver(region).find for region in ("V", "J")}
    kept: list[tuple[str, str, str]] = []
    for path in paths:
        with gzip.open(path, "rt") as text:
            for row in csv.DictReader(text, delimiter="\t"):
                v, j = find["V"](row["v"]), find["J"](row["j"])
                cdr3 = row["cdr3nt"][3:-3]
                if v >= 0 and j >= 0 and cdr3 and not set(cdr3) - set(NUCLEOTIDES):
                    kept.append((cdr3, germline.v[v].sequence, germline.j[j].sequence))
    columns = list(zip(*kept[:REFERENCES], strict=True))
    return list(columns[0]), list(columns[1]), list(columns[2])


def _measured(case: Case) -> Row:
    say(case.name)
    n = len(case.batch.references)
    seconds = cpu_seconds(partial(count, case.batch, case.model), rounds=9)
    length = case.batch.references.offsets[-1] / n
    note = f"{n} references of {length:.0f} nucleotides"
    return Row(case.name, n / seconds, UNIT, case.target, note)


def _strings(sequences: RaggedArray) -> list[str]:
    return [decoded(part) for part in sequences]


def _of_strings(batch: Batch) -> Row:
    what = "count_paths, DP-2, one strand, mouse-like, from strings to a dataset"
    say(what)
    v, j = _strings(batch.v), _strings(batch.j)
    d = dict(zip("12", _strings(batch.d), strict=True))
    cdr3 = _strings(batch.references)
    columns = ([v[i] for i in batch.v_of], [j[i] for i in batch.j_of])
    seconds = cpu_seconds(partial(count_paths, cdr3, *columns, d), rounds=5)
    return Row(what, len(cdr3) / seconds, UNIT, "", "one thread")


def _two_threads(batch: Batch, which: str, target: str = "") -> Row:
    n = len(batch.references)
    what = f"two threads against one, DP-2, mouse-like, {n} references: {which}"
    say(what)

    def with_limit(n: int) -> None:
        set_thread_limit(n)
        count(batch, Model())
        set_thread_limit(1)

    one, two = seconds_in_turn([partial(with_limit, 1), partial(with_limit, 2)], rounds=15)
    times = float(np.median(np.array(one) / np.array(two)))
    note = f"{n / float(np.median(two)):.3g} {UNIT}, wall clock"
    return Row(what, times, "times", target, note)


def _olga(batch: Batch, germline: Germline) -> Iterator[Row]:
    """OLGA's generation probability of the same references, by nucleotides, V and J given."""
    few = _first(batch, COMPARED)
    work = [
        (f"TGT{text}TTT", germline.v[v].name, germline.j[j].name)
        for text, v, j in zip(_strings(few.references), few.v_of, few.j_of, strict=True)
    ]
    for name, model in _olga_models():
        say(name)
        seconds = cpu_seconds(partial(_probabilities, model, work), rounds=3)
        note = "another quantity: the probability of a CDR3 under a trained model, not its paths"
        yield Row(f"{name} of the same references", COMPARED / seconds, UNIT, "", note)


def _olga_models() -> Iterator[tuple[str, Any]]:
    """OLGA's mouse TRB model in plain Python, then its FastPgen, which replaces parts of it."""
    import olga.generation_probability as generation
    from olga import load_model
    from olga.performance.fast_pgen import FastPgen

    folder = Path(load_model.__file__).parent / "default_models/mouse_T_beta"
    genes, model = load_model.GenomicDataVDJ(), load_model.GenerativeModelVDJ()
    anchors = [str(folder / f"{x}_gene_CDR3_anchors.csv") for x in "VJ"]
    genes.load_igor_genomic_data(str(folder / "model_params.txt"), *anchors)
    model.load_and_process_igor_model(str(folder / "model_marginals.txt"))
    pgen = generation.GenerationProbabilityVDJ(model, genes)
    yield "OLGA's nucleotide Pgen", pgen
    yield "OLGA's FastPgen", FastPgen(pgen)


def _probabilities(model: Any, work: Sequence[tuple[str, str, str]]) -> None:
    for text, v, j in work:
        model.compute_nt_CDR3_pgen(text, v, j, print_warnings=False)
