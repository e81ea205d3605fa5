"""The identity of a store: its content, by the checksums of manifests; no sample is read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.source import Coordinate
from gangsaw.tasks.store.dataset.carried import TEXTS
from gangsaw.tasks.store.files import file_stamp
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.stamps import digest_of
from gangsaw.tasks.store.state.manifest import MANIFEST, Manifest, open_manifest
from gangsaw.tasks.store.state.parts import is_beside

CONTENT = "content "  # how the identity of a store begins; earlier versions knew no content


def identity_of_store(
    arrays: Iterable[tuple[Place, str]], coords: Iterable[Coordinate], attrs: Mapping[str, object]
) -> str:
    """Return what identifies the content of a store.

    Equal content has one identity wherever it is, if a job wrote it; in other stores it is that of
    these objects at this place.

    Parameters
    ----------
    arrays : places of the arrays, and a digest of the metadata of each, in an order of their own
    coords : what is copied whole
    attrs : of the group
    """
    lines = [json.dumps(attrs, sort_keys=True, default=str)]
    lines += [f"{metadata} {_samples(place)}" for place, metadata in arrays]
    lines += [f"{coord.name} {coord.dims} {_values(coord.values)}" for coord in coords]
    return CONTENT + _hex("\n".join(lines).encode())


def _samples(array: Place) -> str:
    """Return what identifies the samples of an array."""
    manifest = _manifest(array)
    if manifest is not None and not _is_edited(array):
        content = hashlib.sha256()
        for part in manifest.parts():
            content.update(part.rows.tobytes())
        return content.hexdigest()
    chunks = (stamp for stamp in array.stamps() if not is_beside(stamp.key))
    return f"{array} {digest_of(chunks, with_number=False)}"  # inodes differ after a restore


def _manifest(array: Place) -> Manifest | None:
    try:
        return open_manifest(array)
    except CorruptChunk:
        return None


def _is_edited(array: Place) -> bool:
    """Whether a chunk is younger than the manifest: someone wrote samples by other means.

    Only of folders: to list the objects of an address may cost more than all else.
    """
    if (folder := array.folder) is None:
        return False
    _, written, _ = file_stamp(folder / MANIFEST)
    return any(int(s.changed) > int(written) for s in array.stamps() if not is_beside(s.key))


def _values(values: NumpyArray) -> str:
    kind = values.dtype
    data = repr(values.tolist()).encode() if kind.kind in TEXTS else values.tobytes()
    return f"{kind.str} {values.shape} {_hex(data)}"


def _hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
