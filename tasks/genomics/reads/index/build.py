"""Out-of-core construction of an index: keys are distributed to files and sorted in memory.

The high bits of a key select its file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.contents import CONTENT, LINE_OFFSETS
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.genomics.reads.index.kinds import KINDS, IndexKind
from gangsaw.tasks.genomics.reads.stored.stored import Stored
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.sources.source import Coordinate, Described
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.objects.prefix import Prefix, open_prefix
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.store.objects.zipped import is_zip
from gangsaw.tasks.store.source import open_zarr
from gangsaw.tasks.store.state.lease import hold_lease, refuse_leased

BATCH = 1 << 16  # records whose keys are computed at once
PART = 1 << 22  # entries that are sorted at once, 16 bytes each
MOST_BITS = 9  # high bits that select a file: at most 512 files are open
INDEXES = "gangsaw_reads_indexes"  # attribute of a group: number of distinct keys of each index
ENTRY = np.dtype([("key", "<u8"), ("number", "<u8")])


@dataclass(frozen=True)
class IndexStream:
    """Input stream of the entries of a reads index, sorted by key.

    Attributes
    ----------
    scratch : folder for temporary files, 16 bytes for each entry
    outcome : number of distinct keys, at the end
    """

    name: str
    stored: Stored
    kind: IndexKind
    scratch: Path
    coords: tuple[Coordinate, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    outcome: dict[str, object] = field(default_factory=dict, compare=False)

    @property
    def arrays(self) -> tuple[Described, ...]:
        """Descriptions of the two arrays of the index: keys and record numbers."""
        return tuple(
            Described(
                name=name,
                shape=(0,),
                dtype=np.dtype("u8"),
                dims=(f"{self.kind.name}_entry",),
                chunks=None,
                attrs={CONTENT: LINE_OFFSETS},
            )
            for name in (self.kind.keys, self.kind.numbers)
        )

    def pieces(self) -> Iterator[Mapping[str, NumpyArray]]:
        """Yield the sorted entries of each temporary file, as the next items of both arrays."""
        n_keys = 0
        for path in self._scattered():
            entries = np.fromfile(path, ENTRY)
            path.unlink()
            order = np.lexsort((entries["number"], entries["key"]))
            keys, numbers = entries["key"][order], entries["number"][order]
            n_keys += int((np.diff(keys) > 0).sum()) + bool(keys.size)  # files have disjoint keys
            yield {self.kind.keys: keys, self.kind.numbers: numbers}
        if not n_keys:
            raise BadParams(f"{self.name}: no read is in an index of {self.kind.name}")
        self.outcome[INDEXES] = {self.kind.name: n_keys}

    def _scattered(self) -> list[Path]:
        """Write the entries to temporary files by the high bits of their keys; return the paths."""
        n_bits = max(1, min(MOST_BITS, (2 * self.stored.n_records // PART).bit_length()))
        paths = [self.scratch / f"{i}.entries" for i in range(1 << n_bits)]
        with ExitStack() as stack:
            files = [stack.enter_context(path.open("wb")) for path in paths]
            for entries in self._entries():
                which = (entries["key"] >> np.uint64(self.kind.bits - n_bits)).astype(np.int64)
                own = entries[np.argsort(which, kind="stable")]
                ends = np.cumsum(np.bincount(which, minlength=len(files)))
                for file, part in zip(files, np.split(own, ends[:-1]), strict=True):
                    file.write(part.tobytes())
        return paths

    def _entries(self) -> Iterator[npt.NDArray[np.void]]:
        for first in range(0, self.stored.n_records, BATCH):
            last = min(first + BATCH, self.stored.n_records)
            keys, lines = self.kind.keys_of(self.stored.lines(self.kind.of, first, last))
            entries = np.empty(keys.size, ENTRY)
            entries["key"], entries["number"] = keys, first + lines
            yield entries


def add_index(
    store: str | Path,
    of: str = "names",
    *,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
) -> int:
    r"""Add an index of names or of bins to a store of reads.

    It is written to a hidden folder next to the store, which must be a folder, and moved into the
    store when it is complete.

    Parameters
    ----------
    store : path
        Store of reads, in a folder.
    of : {"names", "bins"}, default "names"
        Kind of the index: "names" for `ReadSet.find`, "bins" for `ReadSet.near`.
    overwrite : bool, default False
        True replaces an existing index.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.

    Returns
    -------
    int
        Number of entries.

    Raises
    ------
    BadParams
        The store has the index, has no such lines, or is not a folder, or a job is writing to it.
        Or `of` is invalid.
    JobFailed
        The store changed while it was read.

    See Also
    --------
    open : Return the reads of a store.

    Examples
    --------
    >>> from pathlib import Path
    >>> import gangsaw.reads
    >>> text = "@r1\nACGT\n+\nIIII\n@r2\nGGTACC\n+\nIIIIII\n"
    >>> size = Path("reads.fastq").write_text(text)
    >>> summary = gangsaw.compress("reads.fastq", "reads.zarr")
    >>> gangsaw.reads.add_index("reads.zarr")
    2
    >>> gangsaw.reads.open("reads.zarr").find("r2")
    [1]
    """
    if of not in KINDS:
        raise BadParams(f"an index is of {' or '.join(KINDS)}, not of {of!r}")
    store, kind = str(store), KINDS[of]
    source, place = open_zarr(store), open_prefix(store, writable=True)
    watch = Watch.of_sources(source)
    try:
        stored = Stored(source.arrays, source.attrs)
    except BadParams as error:
        raise BadParams(f"{store}: {error}") from error
    if place.folder is None or is_zip(store):
        raise BadParams(f"{store}: an index is added to stores in folders alone")
    if stored.has(kind.keys) and not overwrite:
        refuse_leased(place)
        raise BadParams(f"{store} has an index of {kind.name}: --overwrite makes it anew")
    if not stored.has(kind.of):
        raise BadParams(f"{store} holds no {kind.of} of reads")
    beside = place.folder.with_name(f".{place.folder.name}.gangsaw-index")
    with hold_lease(place) as lease:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        try:
            made = beside / "store"
            with watch.check_at_end():
                spool(IndexStream(store, stored, kind, beside), made, on_progress=on_progress)
            lease.confirm()
            return _adopt(place, made, kind)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _adopt(place: Prefix, made: Path, kind: IndexKind) -> int:
    """Move the completed index arrays into the store, and add them to its metadata."""
    assert place.folder is not None
    group, own = (json.loads((path / METADATA).read_bytes()) for path in (place.folder, made))
    for name in (kind.keys, kind.numbers):
        shutil.rmtree(place.folder / name, ignore_errors=True)
        (made / name).rename(place.folder / name)
        node = own["consolidated_metadata"]["metadata"][name]
        group["consolidated_metadata"]["metadata"][name] = node
    known = group["attributes"].get(INDEXES, {})
    group["attributes"][INDEXES] = known | own["attributes"][INDEXES]
    place.put(METADATA, json.dumps(group, indent=2).encode())
    place.flush([METADATA])
    return int(group["consolidated_metadata"]["metadata"][kind.keys]["shape"][0])
