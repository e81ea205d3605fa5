"""Counts and findings of a run as a page."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from datetime import UTC, datetime

from fuzz.runs import Outcome


def page(outcomes: Mapping[str, Outcome], seed: int) -> str:
    """Return Markdown: a line for each target, then what was found."""
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    head = [
        "# Damaged input",
        "",
        f"`python -m fuzz --seed {seed}` in `tests`, {date}, Python {platform.python_version()}, "
        f"{platform.machine()}. An attempt decodes or opens input with seeded damage; checksums",
        "are right again in most of them, memory lies between pages without access. Accepted: what",
        "came out was wrong or right samples, which no checksum told apart. The rest is findings.",
        "",
        "| target | attempts | refused | accepted | seconds | findings |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    rows = [
        f"| {name} | {one.attempts:,} | {one.refused:,} | {one.accepted:,} | {one.seconds:,.0f} "
        f"| {len(one.findings)} |"
        for name, one in outcomes.items()
    ]
    found = [f"- {name}, {line}" for name, one in outcomes.items() for line in one.findings]
    return "\n".join([*head, *rows, "", *found]).rstrip() + "\n"
