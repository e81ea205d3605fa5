"""What lies beside the metadata of an array, for who has Zarr and not what decodes the array.

Beside that of a group Zarr would take it for a member, and warn of it whenever it lists them.
"""

from __future__ import annotations

import json

from gangsaw.codecs.core import codec_table, tables

_TEXT = """\
This folder is an array of a Zarr store, format 3. Its chunks are encoded by {codecs}.
To read it:  pip install {packages}
Then zarr and xarray open the store as any other; nothing else has to be imported:
    xarray.open_zarr(store)   or   zarr.open_group(store, mode="r")
Without, open_group(..., use_consolidated=False) has the attributes and the other arrays.
"""


def readme(metadata: bytes) -> bytes | None:
    """Return the text for an array with this zarr.json; None where it has no codec of the table."""
    found = [codec["name"] for codec in json.loads(metadata)["codecs"]]
    ours = [name for name in found if name in codec_table.names()]
    if not ours:
        return None
    packages = sorted({tables.distribution(codec_table.entry_of(name)) for name in ours})
    return _TEXT.format(codecs=" and ".join(ours), packages=" ".join(packages)).encode()
