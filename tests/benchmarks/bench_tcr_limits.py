"""Path counting with palindromes and junctions of any length, beside the usual limits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from gangsaw.codecs.core.memory.threads import set_thread_limit
from gangsaw.tasks.bench.table import Row, cpu_seconds, say
from gangsaw.tasks.tcr import Model
from gangsaw.tasks.tcr.counting.kernels.batch import Batch
from gangsaw.tasks.tcr.counting.paths.count import count_batch
from gangsaw.tasks.tcr.counting.paths.synthetic import random_batch
from gangsaw.tasks.tcr.germline import open_germline

REFERENCES = 1_000
OF_THESIS = 101_822  # nucleotypes of its two mice
CASES = {
    "DP-2, one strand, all n and all palindromes": Model.of("dp2", max_p="all", max_n="all"),
    "DP-2, two strands, all n and all palindromes": Model.of(
        "dp2", strands=2, max_p="all", max_n="all"
    ),
    "DP-1, all n and all palindromes": Model.of("dp1", max_p="all", max_n="all"),
    "DP-2, each palindrome up to 36, each n up to 60": Model.of("dp2", max_p=36, max_n=60),
}


def rows() -> Iterator[Row]:
    """Yield speeds of one core, then the seconds of as many references as the source counted."""
    batch = _mouse(REFERENCES)
    set_thread_limit(1)
    for what, model in CASES.items():
        say(what)
        seconds = cpu_seconds(partial(count_batch, batch, model), rounds=3)
        cells = len(model.nus) * len(model.pis) if model.dp2 else model.max_n + 1
        note = f"{cells} counts of each kind; mouse-like, 2 D genes, one thread"
        yield Row(what, REFERENCES / seconds, "references/s", "", note)
    many = _mouse(OF_THESIS)
    for name, model in (
        ("all n and all palindromes", CASES[next(iter(CASES))]),
        ("usual", Model()),
    ):
        what = f"{OF_THESIS:,} references, DP-2, one strand, {name}"
        say(what)
        seconds = cpu_seconds(partial(count_batch, many, model), rounds=1)
        note = "of a core; the thesis, on its GPU: 988 ms against 728 ms"
        yield Row(what, seconds, "s", "", note)
    set_thread_limit(None)


def _mouse(n: int) -> Batch:
    germline = open_germline("olga", locus="TRB", species="mouse")
    parts = (germline.v, germline.d, germline.j)
    return random_batch(*([part.sequence for part in some] for some in parts), n)
