"""How domains write parts of their stores: a table that `gangsaw extract` looks into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

# by the name of an attribute that a store's group has
GROUP = "gangsaw.extractors"
Given = TypeVar("Given")  # of options


@dataclass(frozen=True)
class Extractor(Generic[Given]):
    """How a domain writes parts of its stores.

    Attributes
    ----------
    holds : what such a store holds, for messages
    options : a `Panel`, of which all fields have defaults and names that no other domain's have
    run : is given path of the store, what is wanted, and options
    """

    holds: str
    options: type[Given]
    run: Callable[[str, tuple[str, ...], Given], None]
