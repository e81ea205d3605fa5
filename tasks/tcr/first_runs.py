"""A short run of repertoires, which compiles what a user's first needs."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.kernels.first_runs import FirstRun, FirstRuns

JUNCTIONS = (
    *("TGTGCCAGCAGCTTGGCGGGAACTGAAGCTTTCTTT", "TGTGCCAGCAGCTTAGACAGGGGGCACTGAAGCTTTCTTT"),
    *("TGTGCCAGCAGCTTGGGACTAGCGGAACTGAAGCTTTCTTT", "TGTGCCAGCAGCTTCGGGACAGGGAACTGAAGCTTTCTTT"),
)


def _runs() -> tuple[FirstRun, ...]:
    """Return the counts of a small table."""
    return (
        FirstRun(
            "repertoire",
            _write,
            (("tcr", "count", "donor.tsv", "paths.zarr", "--species", "human", "--workers", "0"),),
            needs=("olga",),
        ),
    )


def _write(folder: Path) -> None:
    """Write a table as AIRR has it."""
    columns = ("sequence_id", "junction", "v_call", "j_call", "productive", "duplicate_count")
    rows = [
        (str(n), junction, "TRBV5-1*01", "TRBJ1-1*01", "T", str(n + 1))
        for n, junction in enumerate(JUNCTIONS * 5)
    ]
    lines = ("\t".join(row) for row in (columns, *rows))
    (folder / "donor.tsv").write_text("\n".join(lines) + "\n", encoding="ascii")


FIRST_RUNS = FirstRuns(_runs())
