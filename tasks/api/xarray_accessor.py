"""Argument `encoding` of xarray's `to_zarr`, and the accessor: codecs and chunks of `compress`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.api.arguments import split_options
from gangsaw.tasks.formats.python_objects.conversion import get_type_name
from gangsaw.tasks.formats.python_objects.encodings import (
    fit_chunks,
    has_same_form,
    make_encoding,
    sample_encoding,
    variables_by_path,
)
from gangsaw.tasks.formats.python_objects.xarray_objects import (
    dataset_of,
    from_xarray,
    with_exact_packing,
)
from gangsaw.tasks.jobs.choice.choose import choose_layouts
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.store.arrays.layout import ArrayLayout, ChunkChoice

if TYPE_CHECKING:
    import xarray as xr

    Given: TypeAlias = "xr.DataArray | xr.Dataset | xr.DataTree"

Encoding: TypeAlias = "dict[str, dict[str, object]]"  # encoding by variable
UNNAMED = "__xarray_dataarray_variable__"  # xarray's name for a DataArray without a name


@extras_named()
def encoding(
    data: Given,
    *,
    codec: str = "auto",
    params: Mapping[str, object] | None = None,
    block: Sequence[int] | None = None,
    chunks: ChunkChoice = None,
    **options: object,
) -> Encoding | dict[str, Encoding]:
    """Return the argument `encoding` of xarray's `to_zarr` that stores as `compress` does.

    Parameters
    ----------
    data : xarray.DataArray, xarray.Dataset or xarray.DataTree
        Data to store.
    codec : str, default "auto"
        As for `compress`.
    params : dict, optional
        Parameters of the codec that differ from its defaults.
    block : sequence of int, optional
        Extents of a block, in the order of the codec's parameter of that name.
    chunks : sequence or dict of int, optional
        Extents of a chunk, as for `compress`. They are cut so that each chunk lies in one block of
        a Dask array, because tasks of `to_zarr` write concurrently.
    **options : object
        Options of codecs, as for `compress`.

    Returns
    -------
    dict
        Encoding by name of the variable, for a DataTree by path of the group first. It keeps the
        sample settings of the variables' own encodings if they restore every value; a warning names
        the others. It drops their settings of the store that they were read from.

    Raises
    ------
    TypeError
        The argument is no object of xarray.
    BadParams
        Codec and chunks are incompatible, or a variable cannot be stored.

    See Also
    --------
    gangsaw.compress : Write a store without xarray.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> import xarray as xr
    >>> data = xr.Dataset({"cube": (("band", "y", "x"), np.ones((2, 8, 8), "uint16"))})
    >>> found = gangsaw.encoding(data, codec="ccsds123")
    >>> found["cube"]["chunks"]
    (2, 8, 8)
    >>> stored = data.to_zarr("cube.zarr", encoding=found, consolidated=False)
    """
    import xarray as xr

    if not isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree):
        raise TypeError(
            f"got {get_type_name(data)}: encoding needs a DataArray, Dataset or DataTree"
        )
    register()
    exact, lossy = with_exact_packing(
        dataset_of(data, UNNAMED) if isinstance(data, xr.DataArray) else data
    )
    for line in lossy:
        warnings.warn(line, stacklevel=2)
    of_codecs, _ = split_options(options)
    own_block = None if block is None else tuple(block)
    recipe = Recipe(codec, params or {}, own_block, of_codecs, chunks)
    layouts = _layouts(exact, recipe)
    found = {path: _of_group(path, v, layouts) for path, v in variables_by_path(exact)}
    return {f"/{path}": own for path, own in found.items()} if _is_tree(data) else found[""]


def _is_tree(data: Given) -> bool:
    return type(data).__name__ == "DataTree"


def _layouts(data: Given, recipe: Recipe) -> dict[str, ArrayLayout]:
    """Return chunks and codecs of the arrays of an xarray object, as `compress` chooses them."""
    source = from_xarray(data)
    alike = replace(source, arrays=tuple(filter(has_same_form, source.arrays)))
    codecs = recipe.codecs(alike)
    wanted = choose_layouts(alike.arrays, codecs, recipe.chunks)
    settled = {a.name: fit_chunks(a, wanted[a.name].chunks) for a in alike.arrays}
    fit = replace(recipe, settled=settled).codecs(alike)
    return {
        name: ArrayLayout(settled[name], None if isinstance(of, str) else of)
        for name, of in fit.items()
    }


def _of_group(
    path: str, variables: Mapping[object, xr.Variable], layouts: Mapping[str, ArrayLayout]
) -> Encoding:
    found: Encoding = {}
    for key, variable in variables.items():
        layout = layouts.get(f"{path}/{key}".lstrip("/"))
        found[str(key)] = (
            sample_encoding(variable) if layout is None else make_encoding(layout, variable)
        )
    return found


@dataclass(frozen=True)
class Accessor:
    """Accessor `.gangsaw` of xarray objects.

    Parameters
    ----------
    data : xarray.DataArray, xarray.Dataset or xarray.DataTree
        Object that has the accessor.

    Examples
    --------
    >>> import gangsaw.xarray
    >>> import numpy as np
    >>> import xarray as xr
    >>> cube = xr.DataArray(np.ones((2, 8, 8), "uint16"), dims=("band", "y", "x"), name="cube")
    >>> stored = cube.gangsaw.to_zarr("cube.zarr", codec="ccsds123", consolidated=False)
    >>> gangsaw.info("cube.zarr").arrays[0].codec
    'gangsaw.ccsds123'
    """

    data: Given

    def encoding(self, **how: object) -> Encoding | dict[str, Encoding]:
        """Return the result of `gangsaw.encoding`.

        Parameters
        ----------
        **how : object
            Arguments of `gangsaw.encoding`.

        Returns
        -------
        dict
            Encoding by name of the variable, for a DataTree by path of the group first.
        """
        return encoding(self.data, **how)  # type: ignore[arg-type]

    def to_zarr(
        self,
        store: object,
        *,
        codec: str = "auto",
        params: Mapping[str, object] | None = None,
        block: Sequence[int] | None = None,
        chunks: ChunkChoice = None,
        options: Mapping[str, object] | None = None,
        **to_zarr: object,
    ) -> object:
        """Store by xarray's `to_zarr`, with codecs and chunks of `gangsaw.encoding`.

        A DataArray without a name is named "data".

        Parameters
        ----------
        store : path, address or Zarr store
            Store to write, as xarray takes it.
        codec : str, default "auto"
            As for `gangsaw.compress`.
        params : dict, optional
            Parameters of the codec that differ from its defaults.
        block : sequence of int, optional
            Extents of a block, in the order of the codec's parameter of that name.
        chunks : sequence or dict of int, optional
            Extents of a chunk, as for `gangsaw.encoding`.
        options : dict, optional
            Options of codecs.
        **to_zarr : object
            Further arguments of xarray's `to_zarr`.

        Returns
        -------
        object
            Result of xarray's `to_zarr`.
        """
        import xarray as xr

        data = dataset_of(self.data) if isinstance(self.data, xr.DataArray) else self.data
        how = {"codec": codec, "params": params, "block": block, "chunks": chunks}
        told = encoding(data, **how, **(options or {}))  # type: ignore[arg-type]
        return data.to_zarr(store, encoding=told, **to_zarr)  # type: ignore[call-overload]


def register() -> None:
    """Register the accessor of xarray's objects, if it is missing."""
    import xarray as xr

    pairs = (
        (xr.DataArray, xr.register_dataarray_accessor),
        (xr.Dataset, xr.register_dataset_accessor),
        (xr.DataTree, xr.register_datatree_accessor),
    )
    for kind, registered in pairs:
        if not hasattr(kind, "gangsaw"):
            registered("gangsaw")(Accessor)  # type: ignore[no-untyped-call]
