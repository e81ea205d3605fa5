"""placeholder."""

from __future__ import annotations


def add_page(scheduler, jobs, prefix):  # type: ignore
    """Placeholder."""
