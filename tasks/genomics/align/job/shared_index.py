"""Shared index of a genome next to its store, identified by content, seeds and parts.

    GENOME.zarr.seeds/lock          lock of the job that builds an index; others wait for it
    GENOME.zarr.seeds/KEY/of.json   input of the hash KEY, with the genome's content
    GENOME.zarr.seeds/KEY/          parts, with a journal until all exist

An index of another content of the genome is never used, and is removed when a new one is built. A
job that was killed leaves parts, and the next one resumes from them. If the index cannot be stored
(remote stores, read-only folders, file systems without locks), each job builds its own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.genomics.align.job.genome import GenomeParts, GenomeText
from gangsaw.tasks.genomics.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.jobs.steps.step_objects import StepOutputs
from gangsaw.tasks.store.state_fields import read_fields

try:
    import fcntl
except ImportError:  # Windows: no shared index
    fcntl = None  # type: ignore[assignment]

VERSION = 1
SUFFIX, LOCK, OF = ".seeds", "lock", "of.json"
FOUND, MADE, REPLACED = "found", "made", "made anew: the genome changed"
# errors of file systems without flock: Lustre, NFS and FUSE may be mounted so
WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}


class NoLocks(BadParams):
    """Error: the file system of a folder has no locks, so jobs cannot wait for each other."""


@dataclass(frozen=True)
class SharedIndex:
    """Index of a genome in a folder next to its store, for all alignment jobs.

    Attributes
    ----------
    root : folder next to the store
    of : JSON description of the indexed genome and of the options
    """

    root: Path
    of: str

    @property
    def parts(self) -> StepOutputs:
        """Files of the index, one for each part of the genome."""
        key = hashlib.sha256(self.of.encode()).hexdigest()
        return StepOutputs(self.root / key[:16], key)

    @property
    def is_whole(self) -> bool:
        """True if all files exist, each with the length that was written."""
        manifest = self.parts.manifest() if self.parts.folder.is_dir() else None
        if manifest is None:
            return False
        paths = [self.parts.path(number) for number in range(len(manifest.rows))]
        sizes = [path.stat().st_size if path.is_file() else -1 for path in paths]
        return bool(sizes == manifest.rows["stored"].tolist())

    def make(self, build: Callable[[StepOutputs], None]) -> str:
        """Build the index unless it exists; return one of FOUND, MADE and REPLACED.

        Raises
        ------
        `NoLocks` : the index does not exist, and the folder cannot be locked; no file is left
        """
        if self.is_whole:
            return FOUND
        with _lock(self.root / LOCK):
            if self.is_whole:  # another job made it meanwhile
                return FOUND
            had_others = self._remove_others()
            self._begin()
            build(self.parts)
        return REPLACED if had_others else MADE

    def _begin(self) -> None:
        """Write the description of the index; restart it if files of a finished one are missing."""
        folder = self.parts.folder
        if folder.is_dir() and self.parts.manifest() is not None:
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        (folder / OF).write_text(self.of)

    def _remove_others(self) -> bool:
        """Remove indexes of other contents of the genome's store; return True if any."""
        others = [path.parent for path in self.root.glob(f"*/{OF}") if self._is_other(path)]
        for folder in others:
            shutil.rmtree(folder)
        return bool(others)

    def _is_other(self, path: Path) -> bool:
        try:
            own = read_fields(path.read_bytes()).text("genome")
        except CorruptChunk:  # incomplete: its job was killed
            return False
        return own != str(json.loads(self.of)["genome"])


def locate_shared_index(genome: GenomeText, cut: GenomeParts, seeds: Seeds) -> SharedIndex | None:
    """Return the location of the shared index of a genome; None if it cannot be stored."""
    store = Path(genome.path)
    if fcntl is None or "://" in genome.path or not store.is_dir():
        return None
    store = store.absolute()
    root = store.with_name(store.name + SUFFIX)
    within = any((store.parent / name).exists() for name in ("zarr.json", ".zgroup"))
    own = {"version": VERSION, "genome": genome.identity}
    own |= {"seeds": list(seeds), "parts": asdict(cut)}
    index = SharedIndex(root, json.dumps(own, sort_keys=True))
    is_free = os.access(root if root.exists() else root.parent, os.W_OK)
    return index if not within and (is_free or index.is_whole) else None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file within the block; wait until no other job has it."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        try:
            # lock of the open file, so that it also separates jobs of one process
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            path.unlink(missing_ok=True)
            with suppress(OSError):  # not empty: it has other indexes
                path.parent.rmdir()
            raise NoLocks(f"{path.parent.parent} is on a file system without locks") from error
        yield
