"""The index of a genome beside its store, for all jobs: known by content, seeds and parts.

    GENOME.zarr.seeds/lock          held by the job that makes an index; others wait for it
    GENOME.zarr.seeds/KEY/of.json   what KEY is the hash of: the genome's content among it
    GENOME.zarr.seeds/KEY/          parts, with a journal until all are there

An index of another content of the genome is never found, and is removed when a new one is made. A
job that was killed while it made one leaves parts that the next one goes on from. Where nothing can
be kept (stores elsewhere, folders that cannot be written, file systems without locks) each job
makes its own.
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

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.align.job.genome import GenomeParts, GenomeText
from gangsaw.tasks.align.search.seeds.minimizers import Seeds
from gangsaw.tasks.jobs.parts import Parts

try:
    import fcntl
except ImportError:  # Windows: nothing is kept
    fcntl = None  # type: ignore[assignment]

VERSION = 1
SUFFIX, LOCK, OF = ".seeds", "lock", "of.json"
FOUND, MADE, REPLACED = "found", "made", "made anew: the genome changed"
# of file systems that know no flock: Lustre, NFS and FUSE may be mounted so
WITHOUT_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP}


class NoLocks(BadParams):
    """A folder is on a file system without locks: jobs that write there cannot wait."""


@dataclass(frozen=True)
class KeptIndex:
    """Where the index of a genome is kept.

    Attributes
    ----------
    root : folder beside the store
    of : what the index is of, as JSON
    """

    root: Path
    of: str

    @property
    def parts(self) -> Parts:
        """The index of each part of the genome."""
        key = hashlib.sha256(self.of.encode()).hexdigest()
        return Parts(self.root / key[:16], key)

    @property
    def is_whole(self) -> bool:
        """Whether all of it is there, each file of the length that it was written with."""
        manifest = self.parts.manifest() if self.parts.folder.is_dir() else None
        if manifest is None:
            return False
        paths = [self.parts.path(number) for number in range(len(manifest.rows))]
        sizes = [path.stat().st_size if path.is_file() else -1 for path in paths]
        return bool(sizes == manifest.rows["stored"].tolist())

    def make(self, build: Callable[[Parts], None]) -> str:
        """Have the index made unless it is there; return which of FOUND, MADE and REPLACED.

        Raises
        ------
        NoLocks : it is not there, and no job can have the folder for itself; nothing is left of it
        """
        if self.is_whole:
            return FOUND
        with _held(self.root / LOCK):
            if self.is_whole:  # another job made it meanwhile
                return FOUND
            had_others = self._remove_others()
            self._begin()
            build(self.parts)
        return REPLACED if had_others else MADE

    def _begin(self) -> None:
        """Write what the index is of; a whole one of which files are missing begins anew."""
        folder = self.parts.folder
        if folder.is_dir() and self.parts.manifest() is not None:
            shutil.rmtree(folder)
        folder.mkdir(exist_ok=True)
        (folder / OF).write_text(self.of)

    def _remove_others(self) -> bool:
        """Remove indexes of other contents; return whether there was one."""
        others = [path.parent for path in self.root.glob(f"*/{OF}") if self._is_other(path)]
        for folder in others:
            shutil.rmtree(folder)
        return bool(others)

    def _is_other(self, path: Path) -> bool:
        try:
            own = json.loads(path.read_text())
        except ValueError:  # it was killed while it wrote
            return False
        return str(own["genome"]) != str(json.loads(self.of)["genome"])


def kept_index(genome: GenomeText, cut: GenomeParts, seeds: Seeds) -> KeptIndex | None:
    """Return where the index of a genome is kept; None where it cannot be."""
    store = Path(genome.path)
    if fcntl is None or "://" in genome.path or not store.is_dir():
        return None
    store = store.absolute()
    root = store.with_name(store.name + SUFFIX)
    within = any((store.parent / name).exists() for name in ("zarr.json", ".zgroup"))
    own = {"version": VERSION, "genome": genome.identity}
    own |= {"seeds": list(seeds), "parts": asdict(cut)}
    index = KeptIndex(root, json.dumps(own, sort_keys=True))
    is_free = os.access(root if root.exists() else root.parent, os.W_OK)
    return index if not within and (is_free or index.is_whole) else None


@contextmanager
def _held(path: Path) -> Iterator[None]:
    """Wait until no other job has the lock, which ends with its owner."""
    path.parent.mkdir(exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        try:
            # of the open file, so that it also parts jobs of one process
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            path.unlink(missing_ok=True)
            with suppress(OSError):  # there are other indexes in it
                path.parent.rmdir()
            raise NoLocks(f"{path.parent.parent} is on a file system without locks") from error
        yield
