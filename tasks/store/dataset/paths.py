"""Names of a tree: a variable in a group below is called by its path, names apart by "/"."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.source import GroupAttrs


def last(path: str) -> str:
    """Return the name without its groups."""
    return path.rpartition("/")[2]


def above(path: str) -> Iterator[str]:
    """Yield the groups that a variable or group lies in, its own first; "" is the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def key_of(path: str, name: str) -> str:
    """Return the key of an object of an array; one that lies at the root has the path ""."""
    return f"{path}/{name}".lstrip("/")


def groups_of(names: Iterable[str]) -> list[str]:
    """Return all groups below the root that these variables lie in, outer ones first."""
    return sorted({group for name in names for group in above(name) if group})


def groups_kept(groups: Iterable[GroupAttrs], names: Iterable[str]) -> tuple[GroupAttrs, ...]:
    """Return the groups that hold a variable of these names, at any depth."""
    there = set(groups_of(names))
    return tuple(group for group in groups if group.path in there)


def resolved(wanted: Iterable[str], there: Collection[str]) -> tuple[str, ...]:
    """Return the paths that a user names, by path or by a last name that only one of them has.

    What is not there stays as it is. Raises BadParams for a last name of several.
    """
    return tuple(_resolved(name.strip("/"), there) for name in wanted)


def _resolved(name: str, there: Collection[str]) -> str:
    if name in there:
        return name
    found = [path for path in there if path.endswith(f"/{name}")]
    if len(found) > 1:
        raise BadParams(f"{name!r} is the name of several variables: {', '.join(sorted(found))}")
    return found[0] if found else name


def seen_from(path: str, name: str, there: Collection[str]) -> str | None:
    """Return the variable that an attribute of the one at `path` means by `name`.

    As in CF it is in the same group or the nearest above, or is named by a path; None where there
    is no such variable.
    """
    if name.startswith("/"):
        return name[1:] if name[1:] in there else None
    places = (f"{group}/{name}".lstrip("/") for group in above(path))
    return next((place for place in places if place in there), None)


def check_paths(what: str, names: Collection[str]) -> None:
    """Raise BadParams for names that are no paths, are there twice or are a group of another's."""
    if len(set(names)) < len(names) or any(not _is_path(name) for name in names):
        raise BadParams(
            f"{what}: names must differ and be paths of names apart by '/': {', '.join(names)}"
        )
    if both := sorted(set(groups_of(names)) & set(names)):
        raise BadParams(f"{what}: {both[0]} is a variable and a group")


def _is_path(path: str) -> bool:
    return all(part not in ("", ".", "..") for part in path.split("/"))


def attrs_of(
    groups: Iterable[GroupAttrs], names: Iterable[str]
) -> Mapping[str, Mapping[str, object]]:
    """Return the attributes of every group of a tree by path, outer groups first."""
    listed = {group.path: group.attrs for group in groups}
    paths = sorted({*listed, *groups_of([*names, *listed])})
    return {path: listed.get(path, {}) for path in paths}
