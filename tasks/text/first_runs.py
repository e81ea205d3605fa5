"""Warm-up run of text."""

from __future__ import annotations

from pathlib import Path

from gangsaw.tasks.precompile.first_runs import FirstRun, FirstRuns

LINES = 3000


def _runs() -> tuple[FirstRun, ...]:
    """Return a warm-up run that compresses and decompresses a text."""
    return (
        FirstRun(
            "text",
            lambda folder: write_text(folder / "lines.txt"),
            (
                ("compress", "lines.txt", "lines.zarr", "--workers", "0"),
                ("decompress", "lines.zarr", "out.txt", "--workers", "0"),
            ),
        ),
    )


def write_text(path: Path) -> None:
    """Write lines of a log."""
    lines = (
        f"2026-01-{n % 28 + 1:02d} host{n % 7} connection {n * 37 % 991}" for n in range(LINES)
    )
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


FIRST_RUNS = FirstRuns(_runs())
