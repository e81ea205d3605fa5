"""Formatting of numbers, the same in a terminal and on the page."""

from __future__ import annotations

UNITS = ("B", "kB", "MB", "GB", "TB")


def size(n_bytes: float) -> str:
    """Format a number of bytes in a readable unit: 12.60 MB."""
    unit, factor = scale(n_bytes)
    return f"{n_bytes:.0f} B" if unit == "B" else f"{n_bytes / factor:.2f} {unit}"


def scale(n_bytes: float) -> tuple[str, float]:
    """Return the unit in which to show this number of bytes, and the bytes per unit."""
    place = next((i for i in range(len(UNITS)) if n_bytes < 1000 ** (i + 1)), len(UNITS) - 1)
    return UNITS[place], 1000.0**place


def rate(bytes_per_second: float) -> str:
    """Format a throughput in a readable unit: 310.00 MB/s."""
    return f"{size(bytes_per_second)}/s"


def clock(seconds: float) -> str:
    """Format a duration as h:mm:ss, or as m:ss below one hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
