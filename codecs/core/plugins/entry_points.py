"""Tables of plugins, which distributions register under a group of entry points."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable
from functools import lru_cache, partial
from importlib.metadata import Distribution, EntryPoint, entry_points
from typing import TypeVar

Loaded = TypeVar("Loaded")
Made = TypeVar("Made")
Candidates = tuple[EntryPoint, ...]  # for one name, never empty
OWN = "gangsaw"  # the distribution whose entries nobody replaces


class PluginWarning(UserWarning):
    """Warning about a plugin that was left out; the text names its distribution."""


def find_entries(group: str, prefix: str = "") -> dict[str, Candidates]:
    """Return the entry points of a group by name, those with a name prefix, without importing them.

    If several have one name, Gangsaw's own is used, and a `PluginWarning` names the others. Without
    an own one, all are candidates, in the order of their distributions' names; see `settle`.
    """
    named: dict[str, dict[str, EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=_rank):
        if entry.name.startswith(prefix):
            named.setdefault(entry.name, {}).setdefault(entry.value, entry)
    return {name: _ours_alone(tuple(several.values())) for name, several in named.items()}


def settle(several: Candidates, usable: Callable[[EntryPoint], object]) -> EntryPoint:
    """Return the first entry point for which `usable` does not fail, or the last of all.

    A `PluginWarning` names each of the others. A single one is returned unchecked.
    """
    first = next((one for one in several[:-1] if passes(one, usable)), several[-1])
    for other in several[several.index(first) + 1 :]:
        _warn(other, f"{distribution(first)} has one of this name")
    return first


def passes(entry: EntryPoint, check: Callable[[EntryPoint], object]) -> bool:
    """Return True if a check of an entry point passes; a `PluginWarning` reports a failure."""
    return attempt(entry, lambda: (check(entry),)) is not None


def contested_names(group: str, prefix: str = "") -> set[str]:
    """Return the names that several entry points of a group give to different objects."""
    values: dict[str, set[str]] = {}
    for entry in entry_points(group=group):
        if entry.name.startswith(prefix):
            values.setdefault(entry.name, set()).add(entry.value)
    return {name for name, several in values.items() if len(several) > 1}


def load_first(several: Candidates, made: Callable[[Loaded], Made]) -> Made | None:
    """Import the first entry point that works, and return `made` of the object.

    If all fail, return None after warnings (`PluginWarning`).
    """
    entry = settle(several, lambda one: made(one.load()))
    return attempt(entry, lambda: made(entry.load()))


def attempt(entry: EntryPoint, work: Callable[[], Made]) -> Made | None:
    """Call `work` on behalf of an entry point; return None after a `PluginWarning` if it fails."""
    try:
        return work()
    except (Exception, SystemExit) as error:  # after any error of a plugin, the rest works
        _warn(entry, f"{type(error).__name__}: {error}")
        return None


def query_plugin(
    entry: EntryPoint | None, question: Callable[[], Made], passed: tuple[type[Exception], ...] = ()
) -> Made | None:
    """Call `question` on a loaded plugin; return None after a `PluginWarning` if it fails.

    Errors of Gangsaw's own plugins, and of objects without an entry, are raised. So are errors of
    the types `passed`, which are about the data.
    """
    if entry is None or distribution(entry) == OWN:
        return question()
    try:
        return question()
    except passed:
        raise
    except (Exception, SystemExit) as error:
        _warn(entry, f"{type(error).__name__}: {error}")
        return None


def load_table(group: str, kind: type[Made]) -> dict[str, Made]:
    """Import all entry points of a group; return the objects of the right type by name."""
    found = {
        name: load_first(several, partial(checked, kind))
        for name, several in find_entries(group).items()
    }
    return {name: value for name, value in found.items() if value is not None}


def distribution(entry: EntryPoint) -> str:
    """Return the name of the distribution package that an entry point belongs to."""
    return "an unknown distribution" if entry.dist is None else _name_of(entry.dist)


@lru_cache(maxsize=256)
def _name_of(found: Distribution) -> str:
    return found.name  # cached: each access parses metadata, and jobs need it dozens of times


def checked(kind: type[Made], value: object) -> Made:
    """Return the value; raise TypeError if it is no `kind`."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r:.60} is no {kind.__name__}")
    return value


def _ours_alone(several: Candidates) -> Candidates:
    if distribution(several[0]) != OWN:
        return several
    for other in several[1:]:
        _warn(other, f"{OWN} has one of this name")
    return several[:1]


def _rank(entry: EntryPoint) -> tuple[bool, str]:
    name = distribution(entry)
    return name != OWN, name


_warned: set[tuple[str, ...]] = set()


def _warn(entry: EntryPoint, reason: str) -> None:
    """Warn once about the plugin of an entry point, in the main process only, not in workers."""
    if multiprocessing.parent_process() is not None:
        return
    plugin = (entry.group, entry.name, entry.value, distribution(entry))
    if plugin in _warned:
        return
    _warned.add(plugin)
    text = f"{entry.name} of {distribution(entry)} ({entry.group}) is left out: {reason}"
    warnings.warn(text, PluginWarning, stacklevel=3)
