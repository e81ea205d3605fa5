"""Versions of files and stores: a change during a job is detected without reading them again.

The version of a file has its size, time of change and inode. That of an object also has its ETag.
Journals rely on content where it is known: see `identity` of a source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gangsaw.codecs.core.errors import GangsawError, JobFailed
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.objects.files import file_version
from gangsaw.tasks.store.objects.prefix import ObjectVersion, Prefix, open_prefix

GONE = "gone"
LOCK = "table.lock"  # of casacore: reading a table changes it

FileVersions = Mapping[str, str]  # by file name


def file_versions(*paths: str | Path) -> dict[str, str]:
    """Return the change stamps (size, time, inode) of files and folders by path; none for pipes."""
    return {str(path): version for path in paths if (version := _path_version(Path(path)))}


def array_versions(arrays: Iterable[Prefix]) -> dict[str, str]:
    """Return a digest of the change stamps of all objects of each array, by the array's address."""
    return {str(array): digest_of_versions(array.versions()) for array in arrays}


def version_of(path: str | Path) -> str:
    """Return a cache key of an open file that changes with the file or folder."""
    return f"{path} {_path_version(Path(path))}"


def digest_of_versions(versions: Iterable[ObjectVersion], *, with_number: bool = True) -> str:
    """Return a digest of the change stamps of objects, independent of their order.

    Parameters
    ----------
    with_number : False to exclude inodes, which differ after a restore
    """
    total = 0  # a sum needs no sort, so a listing of millions is not collected in memory
    for key, size, changed, number in versions:
        line = f"{key} {size} {changed} {number if with_number else 0}"
        total += int.from_bytes(hashlib.blake2b(line.encode(), digest_size=16).digest())
    return f"{total % (1 << 128):032x}"


def _path_version(path: Path) -> str:
    if path.is_dir():
        found = open_prefix(path).versions()
        return digest_of_versions(version for version in found if Path(version.key).name != LOCK)
    if path.is_file():
        return " ".join(map(str, file_version(path)))
    return "" if path.exists() else GONE


class Versioned(Protocol):
    """Object that reports the change stamps of the files it reads."""

    def versions(self) -> FileVersions:
        """Return the change stamps by file name."""


def versions_of(source: Source | Stream | Versioned) -> FileVersions:
    """Return the change stamps of the files of a source; its identity if it reports none."""
    own: Callable[[], FileVersions] | None = getattr(source, "versions", None)
    if own is not None:
        return own()
    return {source.name: source.identity()} if isinstance(source, Source) else {}


def all_versions(sources: Iterable[Source | Stream | Versioned]) -> dict[str, str]:
    """Return the change stamps of the files of several sources, by file name."""
    return {name: found for source in sources for name, found in versions_of(source).items()}


@dataclass(frozen=True)
class Watch:
    """Change stamps of input files at the beginning of a job, compared with new ones at its end.

    Attributes
    ----------
    now : returns the current change stamps
    before : change stamps at the beginning of the job
    """

    now: Callable[[], FileVersions]
    before: FileVersions

    @classmethod
    def of_sources(cls, *sources: Source | Stream | Versioned) -> Watch:
        """Begin to watch the files that the sources read."""
        return cls.of_versions(lambda: all_versions(sources))

    @classmethod
    def of_versions(cls, now: Callable[[], FileVersions]) -> Watch:
        """Begin to watch the files whose change stamps a function returns."""
        return cls(now, now())

    def check(self) -> None:
        """Raise JobFailed if a file changed since the beginning; the message names it."""
        if changed := self._list_changes():
            raise JobFailed(
                f"{', '.join(changed)} changed while it was read, so the result would be of no one "
                "state of it: when nothing writes to it any more, start again with --overwrite"
            )

    @contextmanager
    def check_at_end(self, give_up: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Raise JobFailed at the end of the context if a file changed, whatever else failed.

        `give_up` is called before that, so that no later run resumes from the output.
        """
        try:
            yield
        except (GangsawError, OSError) as error:
            self._check_at_end(give_up, error)
            raise
        self._check_at_end(give_up, None)

    def _check_at_end(self, give_up: Callable[[], None], cause: Exception | None) -> None:
        try:
            self.check()
        except JobFailed as error:
            give_up()
            raise error from cause
        except OSError:  # a file out of reach is not known to have changed
            if cause is None:
                raise

    def _list_changes(self) -> list[str]:
        now = self.now()
        return [name for name in {**self.before, **now} if now.get(name) != self.before.get(name)]


@dataclass(frozen=True)
class WatchedSource:
    """Source with the `Watch` of its files, which may have begun before the source was opened."""

    source: Source
    watch: Watch

    @classmethod
    def wrap(cls, source: Source | WatchedSource) -> WatchedSource:
        """Return the source with a watch; if it has none, one begins now."""
        return (
            source if isinstance(source, WatchedSource) else cls(source, Watch.of_sources(source))
        )
