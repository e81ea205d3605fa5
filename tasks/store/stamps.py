"""What shows that a file or store changed while a job reads it, without reading it again.

Of a file its size, time of change and number (inode), of an object its ETag, too. What a journal
stands on is content where that is known: see `identity` of a source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gangsaw.codecs.core.errors import GangsawError, JobFailed
from gangsaw.tasks.source import Source, Stream
from gangsaw.tasks.store.files import file_stamp
from gangsaw.tasks.store.place import ObjectStamp, Place, open_place

GONE = "gone"
LOCK = "table.lock"  # of casacore: reading changes it

Stamps = Mapping[str, str]  # what changes with a file, by the file's name


def file_stamps(*paths: str | Path) -> dict[str, str]:
    """Return the stamps of files and folders by path; a pipe has none."""
    return {str(path): stamp for path in paths if (stamp := _path_stamp(Path(path)))}


def places_stamps(places: Iterable[Place]) -> dict[str, str]:
    """Return the stamps of arrays of a store, by their addresses."""
    return {str(place): digest_of(place.stamps()) for place in places}


def version_of(path: str | Path) -> str:
    """Return by what a cache of open files tells states of a file or folder apart."""
    return f"{path} {_path_stamp(Path(path))}"


def digest_of(stamps: Iterable[ObjectStamp], *, with_number: bool = True) -> str:
    """Return a digest of the names and stamps of objects, listed in any order."""
    total = 0  # a sum: a listing of millions need not be held to be sorted
    for key, size, changed, number in stamps:
        line = f"{key} {size} {changed} {number if with_number else 0}"
        total += int.from_bytes(hashlib.blake2b(line.encode(), digest_size=16).digest())
    return f"{total % (1 << 128):032x}"


def _path_stamp(path: Path) -> str:
    if path.is_dir():
        found = open_place(path).stamps()
        return digest_of(stamp for stamp in found if Path(stamp.key).name != LOCK)
    if path.is_file():
        return " ".join(map(str, file_stamp(path)))
    return "" if path.exists() else GONE


class Stamped(Protocol):
    """What tells by itself what it reads."""

    def stamps(self) -> Stamps:
        """Return what changes with each file, by the file's name."""


def stamps_of(source: Source | Stream | Stamped) -> Stamps:
    """Return the stamps of what a source reads; its identity where it tells no more."""
    own: Callable[[], Stamps] | None = getattr(source, "stamps", None)
    if own is not None:
        return own()
    return {source.name: source.identity()} if isinstance(source, Source) else {}


def all_stamps(sources: Iterable[Source | Stream | Stamped]) -> dict[str, str]:
    """Return the stamps of what several sources read."""
    return {name: stamp for source in sources for name, stamp in stamps_of(source).items()}


@dataclass(frozen=True)
class Watch:
    """Files and stores as they were when a job began, and whether they still are.

    Attributes
    ----------
    now : returns their stamps
    before : those of the beginning
    """

    now: Callable[[], Stamps]
    before: Stamps

    @classmethod
    def of(cls, *sources: Source | Stream | Stamped) -> Watch:
        """Begin to watch what sources read."""
        return cls.by(lambda: all_stamps(sources))

    @classmethod
    def by(cls, now: Callable[[], Stamps]) -> Watch:
        """Begin to watch what has these stamps."""
        return cls(now, now())

    def check(self) -> None:
        """Raise JobFailed, which names what changed since."""
        if changed := self._changed():
            raise JobFailed(
                f"{', '.join(changed)} changed while it was read, so the result would be of no one "
                "state of it: when nothing writes to it any more, start again with --overwrite"
            )

    @contextmanager
    def held(self, give_up: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Raise JobFailed at the end where something changed, whatever else failed by then.

        `give_up` is called before, so that no later run goes on from what was made.
        """
        try:
            yield
        except (GangsawError, OSError) as error:
            self._given_up(give_up, error)
            raise
        self._given_up(give_up, None)

    def _given_up(self, give_up: Callable[[], None], cause: Exception | None) -> None:
        try:
            self.check()
        except JobFailed as error:
            give_up()
            raise error from cause
        except OSError:  # what is out of reach has not changed, as far as is known
            if cause is None:
                raise

    def _changed(self) -> list[str]:
        now = self.now()
        return [name for name in {**self.before, **now} if now.get(name) != self.before.get(name)]


@dataclass(frozen=True)
class Watched:
    """A source with a watch of it, which may have begun before the source was opened."""

    source: Source
    watch: Watch

    @classmethod
    def of(cls, source: Source | Watched) -> Watched:
        """Return a source that is watched; the watch begins now where it has none."""
        return source if isinstance(source, Watched) else cls(source, Watch.of(source))
