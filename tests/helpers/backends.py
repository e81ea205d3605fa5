"""What a backend encodes, without a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gangsaw.codecs.core.container.output import Output
from gangsaw.codecs.core.container.runs import Runs


def encoded(backend: Any, sources: Sequence[Any], params: Any) -> Runs:
    """Return what the module of a backend puts into an output."""
    output = Output(len(sources))
    backend.BACKEND.encode(sources, params, output)
    return output.runs()
