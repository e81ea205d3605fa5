"""Compilation of a command's kernels on other cores while it starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "GANGSAW_COMPILE_AHEAD"  # read by `codecs.core.numba.kept.ahead`; "" disables helpers


@contextmanager
def compiled_ahead(command: str) -> Iterator[None]:
    """Set the variable by which processes start helpers that compile the kernels of a command.

    It applies to this process and its workers within the context. A value that is set already is
    kept. Numba is not imported for this.

    Parameters
    ----------
    command : first word of the command
    """
    if VARIABLE in os.environ:
        yield
        return
    os.environ[VARIABLE] = command
    try:
        yield
    finally:
        del os.environ[VARIABLE]
