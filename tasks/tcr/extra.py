"""The extra `tcr`: the error where it is absent."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gangsaw.codecs.core.errors import BadParams

PACKAGES = {"olga", "pyarrow", "scipy", "sklearn", "threadpoolctl"}


@contextmanager
def extra_needed() -> Iterator[None]:
    """Raise BadParams in place of the ImportError where the extra is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in PACKAGES:
            raise
        raise BadParams(f'{missing} is missing: pip install "gangsaw[tcr]"') from None
