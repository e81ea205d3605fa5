"""What `to_zarr` of xarray is told, and its accessor: codecs and chunks as `compress` chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from gangsaw.codecs.core.extras import extras_named
from gangsaw.tasks.asked import split_options
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.objects.encodings import (
    encoding_of,
    fitting,
    is_stored_alike,
    of_samples,
    variables_by_path,
)
from gangsaw.tasks.objects.taken import kind_of
from gangsaw.tasks.objects.xarray_objects import dataset_of, from_xarray
from gangsaw.tasks.store.layout import ArrayLayout, ChunkChoice

if TYPE_CHECKING:
    import xarray as xr

    Given: TypeAlias = "xr.DataArray | xr.Dataset | xr.DataTree"

Encoding: TypeAlias = "dict[str, dict[str, object]]"  # by variable
UNNAMED = "__xarray_dataarray_variable__"  # as xarray calls a DataArray without a name


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
    """Return what to give xarray's `to_zarr` as `encoding`, so that it stores as `compress` does.

    Parameters
    ----------
    data : DataArray, Dataset or DataTree
    codec, params, block, chunks, options : as of `compress`; `chunks` are cut so that each lies in
        one block of a Dask array, since tasks of `to_zarr` write side by side

    Returns
    -------
    by name of the variable, of a DataTree by path of the group before; it holds what the variables'
    own encodings say of samples, and nothing that they say of the store which they were read from

    Raises
    ------
    TypeError
        It is no object of xarray.
    BadParams
        Codec and chunks do not go together, or a variable cannot be stored.
    """
    import xarray as xr

    if not isinstance(data, xr.DataArray | xr.Dataset | xr.DataTree):
        raise TypeError(f"got {kind_of(data)}: encoding takes a DataArray, Dataset or DataTree")
    register()
    of_codecs, _ = split_options(options)
    own_block = None if block is None else tuple(block)
    recipe = Recipe(codec, params or {}, own_block, of_codecs, chunks)
    layouts = _layouts(data, recipe)
    given = dataset_of(data, UNNAMED) if isinstance(data, xr.DataArray) else data
    if isinstance(data, xr.DataArray) and data.name is None:
        layouts = dict.fromkeys([UNNAMED], *layouts.values())
    found = {path: _of_group(path, v, layouts) for path, v in variables_by_path(given)}
    return {f"/{path}": own for path, own in found.items()} if _is_tree(data) else found[""]


def _is_tree(data: Given) -> bool:
    return type(data).__name__ == "DataTree"


def _layouts(data: Given, recipe: Recipe) -> dict[str, ArrayLayout]:
    """Return chunks and codecs of the arrays that xarray stores as we do."""
    source = from_xarray(data)
    alike = replace(source, arrays=tuple(filter(is_stored_alike, source.arrays)))
    codecs = recipe.codecs(alike)
    wanted = {a.name: choose_layout(a, codecs, recipe.chunks, alike.arrays) for a in alike.arrays}
    settled = {a.name: fitting(a, wanted[a.name].chunks) for a in alike.arrays}
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
        found[str(key)] = of_samples(variable) if layout is None else encoding_of(layout, variable)
    return found


@dataclass(frozen=True)
class Accessor:
    """What data of xarray have as `.gangsaw`."""

    data: Given

    def encoding(self, **how: object) -> Encoding | dict[str, Encoding]:
        """Return what `gangsaw.encoding` does."""
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

        `options` are those of codecs; the rest goes to `to_zarr`, whose result is returned. A
        DataArray without a name is called "data".
        """
        import xarray as xr

        data = dataset_of(self.data) if isinstance(self.data, xr.DataArray) else self.data
        how = {"codec": codec, "params": params, "block": block, "chunks": chunks}
        told = encoding(data, **how, **(options or {}))  # type: ignore[arg-type]
        return data.to_zarr(store, encoding=told, **to_zarr)  # type: ignore[call-overload]


def register() -> None:
    """Give xarray's objects the accessor, unless they have it."""
    import xarray as xr

    pairs = (
        (xr.DataArray, xr.register_dataarray_accessor),
        (xr.Dataset, xr.register_dataset_accessor),
        (xr.DataTree, xr.register_datatree_accessor),
    )
    for kind, registered in pairs:
        if not hasattr(kind, "gangsaw"):
            registered("gangsaw")(Accessor)  # type: ignore[no-untyped-call]
