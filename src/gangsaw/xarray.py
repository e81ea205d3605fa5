"""Registration of the accessor `.gangsaw` for xarray objects: `data.gangsaw.to_zarr(store)`.

Import this module, or call `gangsaw.open` or `gangsaw.encoding`, which register it, too. xarray has
no entry points for accessors.
"""

from __future__ import annotations

from gangsaw.tasks.api.xarray_accessor import Accessor, encoding, register

__all__ = ["Accessor", "encoding"]

register()
