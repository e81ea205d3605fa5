"""Public functions: compress, decompress, verify, info, open and plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.tasks.api.arguments import (
    Named,
    check_client,
    open_given_source,
    readable_source,
    split_options,
)
from gangsaw.tasks.api.compression import encode as encode
from gangsaw.tasks.api.compression import options_for as options_for
from gangsaw.tasks.api.exporting import ExportJob, ExportResult
from gangsaw.tasks.api.verification import verify as verify
from gangsaw.tasks.api.workers import page_of as page_of
from gangsaw.tasks.api.workers import status as status
from gangsaw.tasks.api.workers import workers as workers
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.formats.contract.format import ExportOptions, SourceOptions, Work
from gangsaw.tasks.formats.contract.opening import paths_of
from gangsaw.tasks.jobs import compress as jobs
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.figures.report import StoreInfo, describe
from gangsaw.tasks.sources.open_files import closes_files
from gangsaw.tasks.store.arrays.layout import ChunkChoice
from gangsaw.tasks.store.damage import parse_damage
from gangsaw.tasks.store.objects.address import add_options
from gangsaw.tasks.store.objects.stores import StoreLike, as_address

StorageOptions: TypeAlias = Mapping[str, object] | None

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client
    from matplotlib.figure import Figure


@extras_named()
@closes_files
def compress(
    source: Named,
    target: StoreLike,
    *,
    codec: str = "auto",
    params: Mapping[str, object] | None = None,
    block: Sequence[int] | None = None,
    chunks: ChunkChoice = None,
    device: str = "cpu",
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    storage_options: StorageOptions = None,
    on_progress: OnProgress | None = None,
    **options: object,
) -> Summary:
    """Compress a file, a store or arrays in memory into a Zarr v3 group.

    Parameters
    ----------
    source : path, address, array or list of these
        Path or address of a file of any format in the table `gangsaw.formats`, several paths if the
        format reads them together, or "-" for standard input if it reads streams. Otherwise an
        array of NumPy, Dask or Zarr, a Zarr group, or a DataArray, Dataset or DataTree of xarray.
        Any object that follows `gangsaw.tasks.sources.source.Source` or `Stream` is accepted, too.
        Blocks of Dask arrays are encoded where they are computed: on workers, else in threads of
        this process.
    target : path, address or Zarr store
        Store to write. An open store may be that of an Icechunk session, which the caller commits.
        There only arrays and groups are written, so that only this process can resume or verify.
    codec : str, default "auto"
        "auto" chooses by content. Otherwise the Zarr name of a codec with or without "gangsaw.",
        "zstd", or "none" for plain samples.
    params : dict, optional
        Parameters of the codec that differ from its defaults.
    block : sequence of int, optional
        Extents of a block, in the order of the codec's parameter of that name.
    chunks : sequence or dict of int, optional
        Extents of a chunk in the source's axis order or by axis name, -1 for a whole axis. None
        chooses them.
    device : {"cpu", "gpu"}, default "cpu"
        "gpu" uses the GPU of this process, or those of workers with the resource GPU=1.
    client : distributed.Client, optional
        Dask client. None works in this process, with its threads.
    resume : bool, default False
        True finishes what an earlier run with the same source and options began. A job of Dask
        arrays is resumed only if workers have their blocks in memory. For others nothing shows that
        they are unchanged.
    overwrite : bool, default False
        True replaces an existing store.
    storage_options : dict, optional
        Options of the file systems (fsspec) of the addresses of source and target, such as {"key":
        ..., "secret": ..., "endpoint_url": ...} for s3://. None leaves them to the environment.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.
    **options : object
        Options of codecs and formats, as on the command line: `bit_depth="auto"`, `effort="fast"`,
        or `shape=(224, 512, 614)` for a raw file. All formats have `variables`, `group`, `format`
        and `accept_loss`, which leaves out what cannot be stored. None counts as not given.

    Returns
    -------
    Summary
        Numbers and sizes of what was written.

    Raises
    ------
    TypeError
        The source has none of these types, or the target is no store.
    BadParams
        Source, codec and chunks are incompatible, codec and format lack an option, or the target
        may not be changed.
    DeviceError
        CuPy, the driver or the GPU is missing here.
    JobFailed
        The job stopped; `resume` continues it.

    See Also
    --------
    verify : Check the store, also against its source.
    decompress : Write the store in another format.
    open : Open the store in xarray.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.arange(4 * 16 * 16, dtype="uint16").reshape(4, 16, 16)
    >>> summary = gangsaw.compress(cube, "cube.zarr", codec="ccsds123", chunks=(-1, 8, -1))
    >>> summary.arrays, summary.chunks, summary.raw_bytes
    (('data',), 2, 2048)
    """
    check_client(client)
    of_codecs, of_source = split_options(options)
    with readable_source(add_options(source, storage_options), of_source) as ready:
        opened, watch = open_given_source(cast("Named", ready), of_source, client)
        return encode(
            opened,
            as_address(target, storage_options, client=client, is_writable=True),
            Recipe(codec, params or {}, None if block is None else tuple(block), of_codecs, chunks),
            device=device,
            client=client,
            resume=resume,
            overwrite=overwrite,
            on_progress=on_progress,
            watch=watch,
            is_part=bool(of_source.variables),
        )


@extras_named()
@closes_files
@count_as_job("decompress", "target")
def decompress(
    store: StoreLike,
    target: str | Path | Sequence[str | Path],
    *,
    options: ExportOptions | None = None,
    source: SourceOptions | None = None,
    device: str = "cpu",
    client: Client | None = None,
    overwrite: bool = False,
    resume: bool = False,
    accept_loss: bool = False,
    damaged: str = "fail",
    damaged_value: complex | str | None = None,
    storage_options: StorageOptions = None,
    on_progress: OnProgress | None = None,
    **own: object,
) -> ExportResult:
    """Write a store's samples, coordinates and attributes in another format.

    Parameters
    ----------
    store : path, address or Zarr store
        Store to read.
    target : path, address or list of these
        File to write. Its suffix determines the format unless `options` names it. Some formats
        write several targets.
    options : `ExportOptions`, optional
        Format and selection, as `gangsaw decompress` takes them.
    source : `SourceOptions`, optional
        Options of reading the store, such as its group.
    device : {"cpu", "gpu"}, default "cpu"
        As for `compress`.
    client : distributed.Client, optional
        Dask client. None works in this process, with its threads.
    overwrite : bool, default False
        True replaces an existing target.
    resume : bool, default False
        True finishes what an earlier run began.
    accept_loss : bool, default False
        True leaves out items that the format cannot represent, instead of raising BadParams.
    damaged : {"fail", "fill", "skip"}, default "fail"
        "fail" leaves no target. "fill" sets samples of damaged blocks to `damaged_value`. "skip"
        leaves their records out. Only text takes both.
    damaged_value : complex or str, optional
        Value of samples in damaged blocks. None is the array's fill value.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `compress`.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.
    **own : object
        Options of that format alone.

    Returns
    -------
    `ExportResult`
        Tuple of lines on items that were left out or converted. Its attributes `damaged` and
        `skipped` list blocks and records.

    Raises
    ------
    BadParams
        The format cannot represent the samples or items, or a file is in the way.
    JobFailed
        The job stopped. The subclass `DamagedStore`, also a CorruptChunk, lists all damaged blocks.

    See Also
    --------
    compress : Write a store.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.arange(2 * 8 * 8, dtype="uint16").reshape(2, 8, 8)
    >>> summary = gangsaw.compress(cube, "cube.zarr")
    >>> result = gangsaw.decompress("cube.zarr", "copy.hdr")
    >>> bool((np.fromfile("copy.img", "uint16") == cube.ravel()).all())
    True
    """
    damage = parse_damage(damaged, damaged_value)
    wanted = options or ExportOptions()
    return ExportJob(
        as_address(store, storage_options),
        source,
        paths_of(add_options(target, storage_options)),
        replace(wanted, own={**wanted.own, **own}),
        Work(overwrite, resume, client, on_progress, jobs.decompress, accept_loss, damage),
        is_on_gpu=options_for(device, client).device == "gpu",
    ).run()


@extras_named()
def info(store: StoreLike, *, storage_options: StorageOptions = None) -> StoreInfo:
    """Return figures of a store, from its metadata and the index of each chunk.

    Parameters
    ----------
    store : path, address or Zarr store
        Store to describe.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `compress`.

    Returns
    -------
    `StoreInfo`
        Codec and sizes of each array, and the jobs that wrote the store.

    Raises
    ------
    BadParams
        There is no Zarr array or group.
    CorruptChunk
        The index of a chunk is damaged.

    See Also
    --------
    plot : Draw the figures.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> summary = gangsaw.compress(np.zeros((4, 32, 32), "uint16"), "cube.zarr", codec="ccsds123")
    >>> array = gangsaw.info("cube.zarr").arrays[0]
    >>> array.codec, array.raw_bytes
    ('gangsaw.ccsds123', 8192)
    """
    return describe(as_address(store, storage_options))


@extras_named()
def open(  # the name in xarray and zarr
    store: StoreLike,
    *,
    group: str = "",
    storage_options: StorageOptions = None,
    **options: object,
) -> xr.Dataset | xr.DataTree:
    """Open a store in xarray: lazy Dask arrays, one block per Zarr chunk.

    Parameters
    ----------
    store : path, address or Zarr store
        Store to open.
    group : str, default ""
        Path of a group in the store; "" is its root.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `compress`.
    **options : object
        Arguments of `xarray.open_zarr` or `xarray.open_datatree`.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        A DataTree if the store has groups. Both have the accessor `.gangsaw`.

    Raises
    ------
    BadParams
        There is no such store or group.

    See Also
    --------
    compress : Write a store.
    encoding : Return an encoding for xarray's `to_zarr`.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> summary = gangsaw.compress(np.ones((2, 8, 8), "uint16"), "cube.zarr", chunks=(-1, 4, -1))
    >>> data = gangsaw.open("cube.zarr")["data"]
    >>> data.chunks
    ((2,), (4, 4), (8,))
    >>> int(data.sum())
    128
    """
    from gangsaw.tasks.api.xarray_accessor import register
    from gangsaw.tasks.formats.python_objects.xarray_stores import open_as_xarray

    register()
    return open_as_xarray(as_address(store, storage_options), group, options)


@extras_named()
def plot(store: StoreLike, *, storage_options: StorageOptions = None) -> Figure:
    """Return a figure: bits per sample of each block, for scenes also false colours and bands.

    Parameters
    ----------
    store : path, address or Zarr store
        Store to draw.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `compress`.

    Returns
    -------
    matplotlib.figure.Figure
        The figure, which no window shows yet.

    Raises
    ------
    BadParams
        The store has no blocks.
    CorruptChunk
        A chunk is damaged.

    See Also
    --------
    info : Return the figures as numbers.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> summary = gangsaw.compress(np.zeros((4, 32, 32), "uint16"), "cube.zarr", codec="ccsds123")
    >>> figure = gangsaw.plot("cube.zarr")
    >>> figure.savefig("cube.png")
    """
    from gangsaw.tasks.jobs.figures.plots import figure_of

    return figure_of(info(store, storage_options=storage_options))
