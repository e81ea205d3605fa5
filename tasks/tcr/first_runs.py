"""Warm-up runs of repertoire commands, which compile the kernels of a user's first command."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

JUNCTIONS = (
    *("TGTGCCAGCAGCTTGGCGGGAACTGAAGCTTTCTTT", "TGTGCCAGCAGCTTAGACAGGGGGCACTGAAGCTTTCTTT"),
    *("TGTGCCAGCAGCTTGGGACTAGCGGAACTGAAGCTTTCTTT", "TGTGCCAGCAGCTTCGGGACAGGGAACTGAAGCTTTCTTT"),
)
OF = ("--species", "human", "--locus", "TRB")
SIMULATE = ("tcr", "simulate", "truth.tsv", "-n", "50", *OF, "--reads", "made")
COUNT = ("tcr", "count", "donor.tsv", "paths.zarr", *OF, "--workers", "0")
ANY_LENGTH = ("--max-p", "all", "--max-n", "all")
READS = ("made_1.fastq.gz", "made_2.fastq.gz")
ANNOTATE = ("tcr", "annotate", *READS, "receptors.tsv", *OF, "--workers", "0")


def _runs() -> tuple[FirstRun, ...]:
    """Return the warm-up runs: a count of a small table, an annotation of simulated reads."""
    return (
        FirstRun(
            "repertoire",
            _write,
            (COUNT, (*COUNT[:3], "wide.zarr", *COUNT[4:], *ANY_LENGTH)),
            needs=("olga",),
        ),
        FirstRun("receptors", lambda _: None, (SIMULATE, ANNOTATE), needs=("olga",)),
    )


def _write(folder: Path) -> None:
    """Write a small AIRR table."""
    columns = ("sequence_id", "junction", "v_call", "j_call", "productive", "duplicate_count")
    rows = [
        (str(n), junction, "TRBV5-1*01", "TRBJ1-1*01", "T", str(n + 1))
        for n, junction in enumerate(JUNCTIONS * 5)
    ]
    lines = ("\t".join(row) for row in (columns, *rows))
    (folder / "donor.tsv").write_text("\n".join(lines) + "\n", encoding="ascii")


FIRST_RUNS = FirstRuns(_runs())
