"""Names of a package that are imported at their first use, by its `__getattr__`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` of a package (PEP 562).

    Parameters
    ----------
    package : `__name__` of the package
    homes : module that defines each public name, relative to the package

    Examples
    --------
    >>> get, names = lazy_names("gangsaw.codecs.core", {"BadParams": "errors"})
    >>> get("BadParams").__name__, names()
    ('BadParams', ['BadParams'])
    """

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return get, lambda: sorted(homes)
