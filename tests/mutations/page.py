"""Results of mutations as a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mutations.mutate import GROUPS

HEAD = """# Mutations

Written by `python -m mutations` in `tests` (its `--help` says how). Each mutation plants one fault
in one function of the product. The tests of the quick tier that run the function are tried first,
cheapest first and until they take 150 s of processor time; if all pass, so are other tests of the
full suite, until they take 600 s. A run of more than ten minutes ends as one that hangs, and counts
as caught, as a crash does. Mutations that survive both
change nothing that anybody sees, or nothing that is tested: they are listed, too.
"""


def page(rows: Sequence[dict[str, Any]], seed: int) -> str:
    """Return Markdown: counts of each group, then every mutation that the quick tier missed."""
    lines = [HEAD, f"Seed {seed}, {len(rows)} mutations.", ""]
    lines += ["| group | mutations | caught by quick tests | only by others | survived both |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for group in GROUPS:
        lines.append(_counts(group, [row for row in rows if row["group"] == group]))
    lines += [_counts("all", rows), "", "## Missed by the quick tier", ""]
    lines += [
        "| function | change | quick tests | all tests | caught by |",
        "|---|---|---:|---:|---|",
    ]
    for row in rows:
        if not row["quick"]:
            change = f"`{_short(row['before'])}` -> `{_short(row['after'])}`"
            where = f"{row['file']}:{row['line']} `{row['function']}`"
            caught = f"`{row['full']}`" if row["full"] else "none"
            counts = f"{row['quick_tests']} | {row['tests']}"
            lines.append(f"| {where} | {change} | {counts} | {caught} |")
    return "\n".join(lines) + "\n"


def _counts(name: str, rows: Sequence[dict[str, Any]]) -> str:
    quick = sum(bool(row["quick"]) for row in rows)
    full = sum(bool(row["full"]) for row in rows)
    return f"| {name} | {len(rows)} | {quick} | {full} | {len(rows) - quick - full} |"


def _short(text: str) -> str:
    one = " ".join(text.split()).replace("|", "\\|")
    return one if len(one) <= 60 else f"{one[:57]}..."
