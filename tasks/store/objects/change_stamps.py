"""Change stamps: detect that a file or store changed during a job, without reading it again.

The stamp of a file has its size, time of change and inode, that of an object also its ETag.
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
from gangsaw.tasks.store.objects.files import file_stamp
from gangsaw.tasks.store.objects.prefix import ObjectStamp, Place, open_place

GONE = "gone"
LOCK = "table.lock"  # of casacore: reading a table changes it

Stamps = Mapping[str, str]  # change stamps by file name


def file_stamps(*paths: str | Path) -> dict[str, str]:
    """Return the change stamps of files and folders by path; a pipe has none."""
    return {str(path): stamp for path in paths if (stamp := _path_stamp(Path(path)))}


def places_stamps(places: Iterable[Place]) -> dict[str, str]:
    """Return the change stamps of arrays of a store by their addresses."""
    return {str(place): digest_of(place.stamps()) for place in places}


def version_of(path: str | Path) -> str:
    """Return a key for caches of open files that changes with the file or folder."""
    return f"{path} {_path_stamp(Path(path))}"


def digest_of(stamps: Iterable[ObjectStamp], *, with_number: bool = True) -> str:
    """Return a digest of the change stamps of objects, independent of their order."""
    total = 0  # a sum needs no sort, so a listing of millions is not collected in memory
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
    """Object that reports the change stamps of the files it reads."""

    def stamps(self) -> Stamps:
        """Return the change stamps by file name."""


def stamps_of(source: Source | Stream | Stamped) -> Stamps:
    """Return the change stamps of a source; its identity if it has no stamps."""
    own: Callable[[], Stamps] | None = getattr(source, "stamps", None)
    if own is not None:
        return own()
    return {source.name: source.identity()} if isinstance(source, Source) else {}


def all_stamps(sources: Iterable[Source | Stream | Stamped]) -> dict[str, str]:
    """Return the change stamps of several sources."""
    return {name: stamp for source in sources for name, stamp in stamps_of(source).items()}


@dataclass(frozen=True)
class Watch:
    """Change stamps of files and stores at the beginning of a job, for comparison at its end.

    Attributes
    ----------
    now : returns the current stamps
    before : stamps at the beginning of the job
    """

    now: Callable[[], Stamps]
    before: Stamps

    @classmethod
    def of(cls, *sources: Source | Stream | Stamped) -> Watch:
        """Begin to watch the files that the sources read."""
        return cls.by(lambda: all_stamps(sources))

    @classmethod
    def by(cls, now: Callable[[], Stamps]) -> Watch:
        """Begin to watch the stamps that a function returns."""
        return cls(now, now())

    def check(self) -> None:
        """Raise JobFailed if a file changed since the beginning; the message names it."""
        if changed := self._changed():
            raise JobFailed(
                f"{', '.join(changed)} changed while it was read, so the result would be of no one "
                "state of it: when nothing writes to it any more, start again with --overwrite"
            )

    @contextmanager
    def held(self, give_up: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Raise JobFailed at the end of the context if a file changed, whatever else failed.

        `give_up` is called before that, so that no later run resumes from the output.
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
        except OSError:  # a file out of reach is not known to have changed
            if cause is None:
                raise

    def _changed(self) -> list[str]:
        now = self.now()
        return [name for name in {**self.before, **now} if now.get(name) != self.before.get(name)]


@dataclass(frozen=True)
class Watched:
    """Source with the watch of its files, which may have begun before the source was opened."""

    source: Source
    watch: Watch

    @classmethod
    def of(cls, source: Source | Watched) -> Watched:
        """Return a watched source; a source without a watch is watched from now on."""
        return source if isinstance(source, Watched) else cls(source, Watch.of(source))
