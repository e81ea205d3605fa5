"""README next to the metadata of an array, for readers without the package of its codec.

Groups have none: Zarr would take it for a member and warn whenever it lists the members.
"""

from __future__ import annotations

import json

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.plugins import entry_points

_TEXT = """\
This folder is an array of a Zarr store, format 3. Its chunks are encoded by {codecs}.
To read it:  pip install {packages}
Then zarr and xarray open the store as any other; nothing else has to be imported:
    xarray.open_zarr(store)   or   zarr.open_group(store, mode="r")
Without, open_group(..., use_consolidated=False) has the attributes and the other arrays.
"""


def make_readme(metadata: bytes) -> bytes | None:
    """Return the README for an array with this zarr.json, which says how its codecs are decoded.

    It is None if no codec of the array is in Gangsaw's codec table.
    """
    found = [codec["name"] for codec in json.loads(metadata)["codecs"]]
    ours = [name for name in found if name in codec_table.names()]
    if not ours:
        return None
    packages = sorted({entry_points.distribution(codec_table.entry_of(name)) for name in ours})
    return _TEXT.format(codecs=" and ".join(ours), packages=" ".join(packages)).encode()
