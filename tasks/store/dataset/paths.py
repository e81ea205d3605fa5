"""Paths in a tree of groups: a variable is named by its groups and its name, joined by "/"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.sources.source import GroupAttrs


def last_component(path: str) -> str:
    """Return the last component of a path."""
    return path.rpartition("/")[2]


def parents_of(path: str) -> Iterator[str]:
    """Yield the parent groups of a variable or group, innermost first; "" is the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def key_of(path: str, name: str) -> str:
    """Return the store key of an object of an array; `path` is "" for an array at the root."""
    return f"{path}/{name}".lstrip("/")


def parent_groups(names: Iterable[str]) -> list[str]:
    """Return all groups, except the root, that contain these variables, outer ones first."""
    return sorted({group for name in names for group in parents_of(name) if group})


def groups_with(groups: Iterable[GroupAttrs], names: Iterable[str]) -> tuple[GroupAttrs, ...]:
    """Return the groups that contain a variable of these names, at any depth."""
    there = set(parent_groups(names))
    return tuple(group for group in groups if group.path in there)


def resolve_paths(wanted: Iterable[str], there: Collection[str]) -> tuple[str, ...]:
    """Return the paths of names that a user gave: paths, or last components that are unique.

    Unknown names are returned as they are.

    Raises
    ------
    BadParams : a last component belongs to several variables
    """
    return tuple(_resolve_path(name.strip("/"), there) for name in wanted)


def _resolve_path(name: str, there: Collection[str]) -> str:
    if name in there:
        return name
    found = [path for path in there if path.endswith(f"/{name}")]
    if len(found) > 1:
        raise BadParams(f"{name!r} is the name of several variables: {', '.join(sorted(found))}")
    return found[0] if found else name


def resolve_reference(path: str, name: str, there: Collection[str]) -> str | None:
    """Return the path of the variable that an attribute of the variable at `path` refers to.

    By the CF conventions it is in the same group or the nearest parent group, or is named by a
    path. The result is None if there is no such variable.
    """
    if name.startswith("/"):
        return name[1:] if name[1:] in there else None
    places = (f"{group}/{name}".lstrip("/") for group in parents_of(path))
    return next((place for place in places if place in there), None)


def check_paths(what: str, names: Collection[str]) -> None:
    """Raise BadParams for names that are no paths, duplicates, or both a variable and a group."""
    if len(set(names)) < len(names) or any(not _is_path(name) for name in names):
        raise BadParams(
            f"{what}: names must differ and be paths of names apart by '/': {', '.join(names)}"
        )
    if both := sorted(set(parent_groups(names)) & set(names)):
        raise BadParams(f"{what}: {both[0]} is a variable and a group")


def _is_path(path: str) -> bool:
    return all(part not in ("", ".", "..") for part in path.split("/"))


def attrs_by_group(
    groups: Iterable[GroupAttrs], names: Iterable[str]
) -> Mapping[str, Mapping[str, object]]:
    """Return the attributes of every group of a tree by path, outer groups first."""
    listed = {group.path: group.attrs for group in groups}
    paths = sorted({*listed, *parent_groups([*names, *listed])})
    return {path: listed.get(path, {}) for path in paths}
