"""T-cell-receptor recombination paths: how many ways lead to a given CDR3.

Names are imported at their first use: nothing is compiled before something is counted.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.count import count_paths
    from gangsaw.tasks.tcr.model import Model

_HOMES = {
    "Model": "gangsaw.tasks.tcr.model",
    "count_paths": "gangsaw.tasks.tcr.count",
}
__all__ = ["Model", "count_paths"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
