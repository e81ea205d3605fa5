"""Extractors of domains: the plugin table of `gangsaw extract`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

# entries are named after an attribute of the store's group
GROUP = "gangsaw.extractors"
OptionsT = TypeVar("OptionsT")


@dataclass(frozen=True)
class Extractor(Generic[OptionsT]):
    """Implementation of the command `extract` for the stores of one domain, such as reads.

    Attributes
    ----------
    holds : content of such a store, for messages
    options : a `Panel` whose fields have defaults, and names that are unique among domains
    run : function of the store's path, the requested parts and the options
    """

    holds: str
    options: type[OptionsT]
    run: Callable[[str, tuple[str, ...], OptionsT], None]
