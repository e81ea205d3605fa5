"""Tables of plugins: what distributions add under a group of entry points."""

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
    """A plugin was left out; the text names its distribution."""


def entries(group: str, prefix: str = "") -> dict[str, Candidates]:
    """Return the entries of a group by name, where names begin so; nothing is imported.

    Of several with one name ours is taken, and a PluginWarning names the others. Without one of
    ours they are candidates, in the order of their distributions' names; see `settle`.
    """
    named: dict[str, dict[str, EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=_rank):
        if entry.name.startswith(prefix):
            named.setdefault(entry.name, {}).setdefault(entry.value, entry)
    return {name: _ours_alone(tuple(several.values())) for name, several in named.items()}


def settle(several: Candidates, usable: Callable[[EntryPoint], object]) -> EntryPoint:
    """Return the first candidate for which `usable` does not fail, or the last of all.

    A PluginWarning names each of the others. A single candidate is returned as it is.
    """
    first = next((one for one in several[:-1] if passes(one, usable)), several[-1])
    for other in several[several.index(first) + 1 :]:
        _warn(other, f"{distribution(first)} has one of this name")
    return first


def passes(entry: EntryPoint, check: Callable[[EntryPoint], object]) -> bool:
    """Whether a check of an entry does not fail; a PluginWarning says how it failed."""
    return attempt(entry, lambda: (check(entry),)) is not None


def contested(group: str, prefix: str = "") -> set[str]:
    """Return the names, of those that begin so, under which several entries name several things."""
    values: dict[str, set[str]] = {}
    for entry in entry_points(group=group):
        if entry.name.startswith(prefix):
            values.setdefault(entry.name, set()).add(entry.value)
    return {name for name, several in values.items() if len(several) > 1}


def load(several: Candidates, made: Callable[[Loaded], Made]) -> Made | None:
    """Import what the first entry names that can be, and return what `made` makes of it.

    None, and PluginWarnings, where each fails.
    """
    entry = settle(several, lambda one: made(one.load()))
    return attempt(entry, lambda: made(entry.load()))


def attempt(entry: EntryPoint, work: Callable[[], Made]) -> Made | None:
    """Return what `work` gives for an entry; None, and a PluginWarning, where it fails."""
    try:
        return work()
    except (Exception, SystemExit) as error:  # whatever a plugin raises, the rest works
        _warn(entry, f"{type(error).__name__}: {error}")
        return None


def ask(
    entry: EntryPoint | None, question: Callable[[], Made], passed: tuple[type[Exception], ...] = ()
) -> Made | None:
    """Return what a loaded plugin answers; None, and a PluginWarning, where it fails.

    Errors of our own plugins are raised, and of what has no entry; so are those of the types
    `passed`, which are about the data.
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


def table(group: str, kind: type[Made]) -> dict[str, Made]:
    """Import all entries of a group; return by name those of a kind that can be imported."""
    found = {
        name: load(several, partial(checked, kind)) for name, several in entries(group).items()
    }
    return {name: value for name, value in found.items() if value is not None}


def distribution(entry: EntryPoint) -> str:
    """Return the name of the distribution that an entry comes from."""
    return "an unknown distribution" if entry.dist is None else _name_of(entry.dist)


@lru_cache(maxsize=256)
def _name_of(found: Distribution) -> str:
    return found.name  # which parses its metadata each time, and jobs ask dozens of times


def checked(kind: type[Made], value: object) -> Made:
    """Return the value; TypeError where it is not of that kind."""
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
    """Warn once of a plugin, whatever of it is asked for; worker processes leave it to ours."""
    if multiprocessing.parent_process() is not None:
        return
    plugin = (entry.group, entry.name, entry.value, distribution(entry))
    if plugin in _warned:
        return
    _warned.add(plugin)
    text = f"{entry.name} of {distribution(entry)} ({entry.group}) is left out: {reason}"
    warnings.warn(text, PluginWarning, stacklevel=3)
