"""To import this gives data of xarray the accessor `.gangsaw`: `data.gangsaw.to_zarr(store)`.

`gangsaw.open` and `gangsaw.encoding` do it, too. xarray has no entry points for accessors.
"""

from __future__ import annotations

from gangsaw.tasks.encoding import Accessor, encoding, register

__all__ = ["Accessor", "encoding"]

register()
