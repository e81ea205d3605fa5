"""Manifests of arrays that another program extended or added since the job.

New chunks, and partial chunks at the former end of the axis, have no valid record: they are
decoded, and compared with the source if there is one. An added array has no record at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.container.checksum import crc32c
from gangsaw.tasks.jobs.chunks.check import make_unwritten_samples
from gangsaw.tasks.store.arrays.chunks import ArrayCoder
from gangsaw.tasks.store.arrays.growth import Growth
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.journal import metadata_digest
from gangsaw.tasks.store.state.manifest import Manifest, read_manifest, write_manifest
from gangsaw.tasks.store.state.manifest_shards import PART
from gangsaw.tasks.store.state.records import ROW, Records

SHOWN = 1000  # upper bound of the chunks whose sizes are compared with records


def choose_likeliest_growth(place: Prefix, coder: ArrayCoder, several: Sequence[Growth]) -> Growth:
    """Return the possible growth of an array with the fewest chunk sizes that contradict records.

    Among equal ones, the growth with the fewest valid records is returned.
    """
    old = read_manifest(place)
    assert old is not None, "it was opened"
    shown = list(range(min(coder.grid.n_chunks, SHOWN)))
    sizes = np.array([size or 0 for size in place.sizes([coder.key(n) for n in shown])])

    def wrong(growth: Growth) -> tuple[int, int]:
        rows, is_known = _move_records(coder, growth, old.rows)
        pairs = rows["stored"].reshape(-1)[shown], is_known.reshape(-1)[shown]
        return int(np.count_nonzero((pairs[0] != sizes) & pairs[1])), prod(growth.known)

    return min(several, key=wrong)


def grown_manifest(place: Prefix, coder: ArrayCoder, growth: Growth) -> Manifest:
    """Return a manifest of a grown array; chunks without a valid record get their present size."""
    old = read_manifest(place)
    assert old is not None, "it was opened"
    rows, _ = _move_records(coder, growth, old.rows)
    return _with_sizes(place, coder, old.job, rows.reshape(-1), new_chunks(coder, growth.known))


def foreign_manifest(place: Prefix, metadata: bytes) -> Manifest:
    """Return a manifest of an array that another program added, with the present chunk sizes."""
    coder, job = ArrayCoder(metadata), metadata_digest(json.loads(metadata))
    rows = np.zeros(coder.grid.n_chunks, ROW)
    return _with_sizes(place, coder, job, rows, np.arange(coder.grid.n_chunks))


def _with_sizes(
    place: Prefix, coder: ArrayCoder, job: str, rows: NDArray[np.void], new: NumpyArray
) -> Manifest:
    """Return a manifest of these records, with the present sizes of the new chunks.

    Parameters
    ----------
    job : fingerprint of the job
    rows : (n_chunks,) of dtype ROW
    new : (n,) int64, numbers of the chunks without a valid record
    """
    sizes = place.sizes([coder.key(number) for number in new.tolist()])
    rows["stored"][new] = [size or 0 for size in sizes]
    raw_bytes, n = prod(coder.grid.shape) * coder.dtype.itemsize, len(rows)
    whole = Records(job, 0, raw_bytes, rows)
    none = np.empty(0, PART)
    return Manifest(place, job, n, raw_bytes, whole.stored_bytes, whole, none, max(1, n))


def _move_records(
    coder: ArrayCoder, growth: Growth, old: NDArray[np.void]
) -> tuple[NDArray[np.void], NDArray[np.bool_]]:
    """Move records from the former chunk grid to the present one; return them and their validity.

    Parameters
    ----------
    old : (n,) of dtype ROW, by chunk number in the former grid
    """
    rows, is_known = np.zeros(coder.grid.counts, ROW), np.zeros(coder.grid.counts, bool)
    held = tuple(map(slice, growth.known))
    rows[held] = old.reshape(growth.counts)[held]
    is_known[held] = True
    return rows, is_known


def new_chunks(coder: ArrayCoder, known: tuple[int, ...]) -> NumpyArray:
    """Return the numbers of the chunks without a valid record, ascending.

    Parameters
    ----------
    known : number of chunks with a valid record along each axis
    """
    is_new = np.ones(coder.grid.counts, bool)
    is_new[tuple(map(slice, known))] = False
    return np.flatnonzero(is_new)


def adopt(
    place: Prefix,
    coder: ArrayCoder,
    manifest: Manifest,
    new: NumpyArray,
    found: Mapping[int, tuple[int, int]],
) -> None:
    """Write the manifest of an array that grew or was added, with its new chunks' checksums.

    Absent chunks, for which Zarr reads fill values, are written.

    Parameters
    ----------
    place : store prefix of the array
    coder : coder of the array
    manifest : manifest of `grown_manifest` or `foreign_manifest`
    new : (n,) int64, numbers of the chunks without a valid record
    found : stored bytes and checksum of each new chunk in the store, by number
    """
    assert manifest.whole is not None, "it was made of all records"
    rows = manifest.whole.rows.copy()
    for number in new.tolist():
        if number in found:
            rows[number] = found[number]
        else:
            data = coder.encode(number, make_unwritten_samples(coder, number))
            place.put(coder.key(number), data)
            place.flush([coder.key(number)])
            rows[number] = len(data), crc32c(data.as_numpy_array())
    write_manifest(place, replace(manifest.whole, rows=rows))
