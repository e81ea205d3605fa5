"""Identity of a store: its content by the checksums of the manifests, without reading samples."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

from gangsaw.codecs.core.arrays import NumpyArray
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.tasks.sources.source import Coordinate
from gangsaw.tasks.store.dataset.carried import TEXTS
from gangsaw.tasks.store.objects.files import file_version
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.objects.versions import digest_of_versions
from gangsaw.tasks.store.state.manifest import MANIFEST, Manifest, open_manifest
from gangsaw.tasks.store.state.manifest_shards import is_metadata_key

CONTENT = "content "  # prefix of identities by content; earlier versions wrote others


def identity_of_store(
    arrays: Iterable[tuple[Prefix, str]], coords: Iterable[Coordinate], attrs: Mapping[str, object]
) -> str:
    """Return the identity of a store's content.

    If a job wrote the store, equal content has the same identity at any address. For other stores
    the identity depends on the address and on the change stamps of the objects.

    Parameters
    ----------
    arrays : prefix of each array and a digest of its metadata, in stable order
    coords : variables that are copied as a whole
    attrs : attributes of the group
    """
    lines = [json.dumps(attrs, sort_keys=True, default=str)]
    lines += [f"{metadata} {_samples(place)}" for place, metadata in arrays]
    lines += [f"{coord.name} {coord.dims} {_values(coord.values)}" for coord in coords]
    return CONTENT + _hex("\n".join(lines).encode())


def _samples(array: Prefix) -> str:
    """Return a digest of an array's manifest; of the chunks' change stamps if it is not valid."""
    manifest = _manifest(array)
    if manifest is not None and not _is_edited(array):
        content = hashlib.sha256()
        for part in manifest.parts():
            content.update(part.rows.tobytes())
        return content.hexdigest()
    chunks = (v for v in array.versions() if not is_metadata_key(v.key))
    digest = digest_of_versions(chunks, with_number=False)  # inodes differ after a restore
    return f"{array} {digest}"


def _manifest(array: Prefix) -> Manifest | None:
    try:
        return open_manifest(array)
    except CorruptChunk:
        return None


def _is_edited(array: Prefix) -> bool:
    """Return True if a chunk is newer than the manifest: another program wrote samples.

    Only folders are checked: listing the objects at an address may cost more than the rest of the
    job.
    """
    if (folder := array.folder) is None:
        return False
    _, written, _ = file_version(folder / MANIFEST)
    return any(
        int(s.changed) > int(written) for s in array.versions() if not is_metadata_key(s.key)
    )


def _values(values: NumpyArray) -> str:
    kind = values.dtype
    data = repr(values.tolist()).encode() if kind.kind in TEXTS else values.tobytes()
    return f"{kind.str} {values.shape} {_hex(data)}"


def _hex(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
