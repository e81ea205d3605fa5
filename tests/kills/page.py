"""Counts of kills as a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple

from kills.killing import Counts


def page(counts: Mapping[str, Counts]) -> str:
    """Return Markdown: a line for each command."""
    head = [
        "# Killed jobs",
        "",
        "`python -m kills --page benchmarks/RESULTS-KILLS.md` in `tests` adds to these counts.",
        "A command on two workers is killed by SIGKILL at a random instant: its client, its",
        "whole session, or one worker. It is begun again, with `--resume` where it takes that,",
        "and killed again, until it ends. Each result had the bytes of an undisturbed run, and",
        "no partial file was left but by a killed worker: else the count would have ended.",
        "",
        "| command | kills | runs | whole results |",
        "|---|---:|---:|---:|",
    ]
    rows = [f"| {n} | {one.kills:,} | {one.runs:,} | {one.whole:,} |" for n, one in counts.items()]
    kills, runs, whole = (sum(each) for each in zip(*map(astuple, counts.values()), strict=True))
    return "\n".join([*head, *rows, f"| all | {kills:,} | {runs:,} | {whole:,} |"]) + "\n"
