"""Public functions: compress, decompress, verify, info, open and plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.api.arguments import (
    Named,
    check_client,
    check_stream,
    choose_recorded_format,
    list_changed_flags,
    open_field_reader,
    open_given_source,
    readable_source,
    restore_stored_form,
    source_options,
    split_options,
)
from gangsaw.tasks.api.exporting import ExportJob, ExportResult
from gangsaw.tasks.api.workers import page_of as page_of
from gangsaw.tasks.api.workers import status as status
from gangsaw.tasks.api.workers import workers as workers
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job, current_counters
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.engine.run.run import Options
from gangsaw.tasks.engine.scheduling.worker_pools import check_device
from gangsaw.tasks.formats.contract.format import ExportOptions, SourceOptions, Work
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.formats.contract.opening import paths_of
from gangsaw.tasks.formats.exporting.export import check_store_target
from gangsaw.tasks.jobs import compress as jobs
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.chunks.device import require_device
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.figures.report import StoreInfo, describe
from gangsaw.tasks.jobs.sizes import files_bytes
from gangsaw.tasks.jobs.steps.stages import run_stages, run_stages_at_target, scratch_of
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.jobs.verification.stream_comparison import compare_with_stream
from gangsaw.tasks.jobs.verification.verify import Report
from gangsaw.tasks.jobs.verification.verify import verify as check
from gangsaw.tasks.sources.open_files import closes_files
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.arrays.layout import ChunkChoice
from gangsaw.tasks.store.damage import parse_damage
from gangsaw.tasks.store.objects.address import add_options, explain_missing_store
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.objects.versions import Watch, WatchedSource
from gangsaw.tasks.store.state.lease import refuse_leased
from gangsaw.tasks.store.zip_target import pack_target

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
    source : path or address of any format in the table `gangsaw.formats`, several paths if the
        format reads them together; "-" for standard input if it reads streams; any object that
        follows `gangsaw.tasks.sources.source.Source` or `Stream`; or an object of Python: an array
        of
        NumPy, Dask or Zarr, a Zarr group, a DataArray, Dataset or DataTree of xarray. Blocks of
        Dask arrays are encoded where they are computed: on workers, else in threads of this process
    target : path or address of the store, or an open Zarr store, such as that of an Icechunk
        session, which the caller commits: only arrays and groups are written there, so that only
        this process can resume or verify
    codec : "auto" by content, the Zarr name of a codec with or without "gangsaw.", "zstd" or "none"
    params : parameters of the codec that differ from its defaults
    block : extents of a block, in the order of the codec's parameter of that name
    chunks : extents of a chunk in the source's axis order or by axis name, -1 for a whole axis
    device : "gpu" uses that of this process, or those of workers with the resource GPU=1
    client : Dask client; None works in this process, with its threads
    resume : finish what an earlier run with the same source and options began; for a Dask array
        only if workers have its blocks in memory: for others nothing shows that they are unchanged
    overwrite : replace an existing store
    storage_options : options of the file systems (fsspec) of addresses, source and target, such as
        {"key": ..., "secret": ..., "endpoint_url": ...} for s3://; None leaves them to the
        environment
    on_progress : called after each batch of chunks
    **options : options of codecs and formats, as on the command line: bit_depth="auto",
        effort="fast", shape=(224, 512, 614) for a raw file; all formats have `variables`, `group`,
        `format` and `accept_loss` (leave out what cannot be stored); None counts as not given.
        Options that codec and format do not have are an error

    Raises
    ------
    TypeError : the source has none of these types, or the target is no store
    BadParams : source, codec and chunks are incompatible, or the target may not be changed
    DeviceError : CuPy, the driver or the GPU is missing here
    JobFailed : the job stopped; `resume` continues it
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


@closes_files
@count_as_job("compress", "target")
def encode(
    source: Source | Stream,
    target: str | Path,
    recipe: Recipe,
    *,
    device: str = "cpu",
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    watch: Watch | None = None,
    is_part: bool = False,
) -> Summary:
    """Compress an open source with a recipe; see `compress`. `watch` began before it was opened.

    With `is_part` the files hold more than is read, so that no ratio of files is given.
    """
    check_store_target(target)
    recipe.check()
    if isinstance(source, Stream):
        if resume:  # else the message might suggest to overwrite the target of a running job
            refuse_leased(open_prefix(target, writable=True))
        check_stream(source, recipe.options, resume)
    n_bytes = 0 if is_part or dry_run.is_on() else files_bytes(source)
    if (counters := current_counters()) is not None:
        counters.source_bytes = n_bytes
    with pack_target(target, overwrite=overwrite, resume=resume) as folder:
        summary = _encode(
            source,
            folder,
            recipe,
            device=device,
            client=client,
            resume=resume,
            overwrite=overwrite or folder != str(target),
            on_progress=on_progress,
            watch=watch,
        )
    summary = replace(summary, source_bytes=n_bytes)
    return replace(summary, store=str(target)) if folder != str(target) else summary


def _encode(
    source: Source | Stream,
    target: str | Path,
    recipe: Recipe,
    *,
    device: str,
    client: Client | None,
    resume: bool,
    overwrite: bool,
    on_progress: OnProgress | None,
    watch: Watch | None,
) -> Summary:
    with run_stages_at_target(
        source, target, client=client, resume=resume, overwrite=overwrite, on_progress=on_progress
    ) as ready:
        if isinstance(ready, Stream):
            summary = spool(
                ready,
                target,
                choose=recipe.codecs,
                chunks=recipe.chunks,
                client=client,
                options=options_for(device, client),
                resume=resume,
                overwrite=overwrite,
                on_progress=on_progress,
            )
            return replace(summary, notes=(*summary.notes, *getattr(ready, "notes", ())))
        return jobs.compress(
            WatchedSource(ready, watch) if watch is not None and ready is source else ready,
            target,
            codec=recipe.codecs(ready, client),
            chunks=recipe.chunks,
            client=client,
            options=options_for(device, client),
            resume=resume,
            overwrite=overwrite,
            on_progress=on_progress,
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

    The suffix of `target` determines the format unless `options` names it. Some formats write
    several targets. `device`, `resume`, `storage_options` are as for `compress`.

    Parameters
    ----------
    accept_loss : leave out items that the format cannot represent, instead of raising BadParams
    damaged : "fail" leaves no target; "fill" sets samples of damaged blocks to `damaged_value`, by
        default the array's fill value; "skip" leaves their records out. Only text takes both
    **own : options of that format alone

    Returns
    -------
    items that were left out; attributes `damaged` and `skipped` list blocks and records

    Raises
    ------
    BadParams : the format cannot represent the samples or items, or a file is in the way
    JobFailed : the job stopped; the subclass `DamagedStore`, also a CorruptChunk, lists all blocks
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
@closes_files
@count_as_job("verify", "store")
def verify(
    store: StoreLike,
    *,
    against: Named | None = None,
    adopt: bool = False,
    device: str = "cpu",
    client: Client | None = None,
    storage_options: StorageOptions = None,
    on_progress: OnProgress | None = None,
    **options: object,
) -> Report:
    """Check that every chunk of a store exists and can be decoded; compare with `against`.

    Chunks that xarray's `to_zarr(append_dim=...)` added have no record: they are decoded and
    compared, and the report's `notes` name their arrays. The paths of `against` are read by their
    field's own library if it is installed; the report's `readers` names it. Errors in the store are
    listed in the report, not raised.

    Parameters
    ----------
    adopt : record appended chunks and added arrays if all chunks are correct
    device, storage_options : see `compress`
    **options : options of `compress` that apply to the source `against`

    Raises
    ------
    BadParams : there is no such store
    JobFailed : the job of the store is not finished, or `against` changes meanwhile
    """
    store = as_address(store, storage_options, client=client, is_writable=adopt)
    if "://" not in store and not Path(store).exists():
        raise BadParams(f"{store}: no such store{explain_missing_store(store)}")
    against = add_options(against, storage_options)
    wanted = source_options(options, options)
    if against is None and (asked := list_changed_flags(wanted)):
        raise BadParams(f"{join_words(asked)} tells of a source: name it by --against")
    wanted = choose_recorded_format(wanted, against, str(store))
    whole = replace(wanted, accept_loss=True)  # missing variables are reported, not raised
    with readable_source(against, whole) as ready:
        opened = None if ready is None else open_given_source(ready, whole, client)
        dry_run.stop(lambda: JobPlan(str(store), ()))
        how = options_for(device, client)
        run = partial(
            check, store, client=client, options=how, on_progress=on_progress, adopt=adopt
        )
        if opened is None:
            return run()
        return _compare(run, store, opened, open_field_reader(ready, wanted, opened[0]), wanted)


def _compare(
    run: partial[Report],
    store: str,
    opened: tuple[Source | Stream, Watch],
    reader: IndependentReader | None,
    wanted: SourceOptions,
) -> Report:
    """Run `verify` (`run`) on a store, and compare the store with an open source or stream."""
    other = restore_stored_form(opened[0], store)
    with (
        opened[1].check_at_end(),
        TemporaryDirectory(prefix="gangsaw-", dir=scratch_of(other)) as folder,
        run_stages(other, lambda name: Path(folder, name)) as ready,
    ):
        if isinstance(ready, Stream):
            return compare_with_stream(run(), store, ready, reader)
        is_part = bool(wanted.variables or wanted.group) or isinstance(other, Stream)  # has indexes
        return run(against=ready, is_part=is_part, library=reader, accept_loss=wanted.accept_loss)


def options_for(device: str, client: Client | None) -> Options:
    """Return the job options for a device; without a client this process must have it."""
    check_client(client)
    if client is None:
        require_device(device)
    return Options(device=check_device(device))


@extras_named()
def info(store: StoreLike, *, storage_options: StorageOptions = None) -> StoreInfo:
    """Return figures of a store, from its metadata and the index of each chunk."""
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

    The result is a Dataset, or a DataTree if the store has groups, with the accessor `.gangsaw`.
    For `storage_options` see `compress`; `options` are arguments of `xarray.open_zarr` or
    `open_datatree`. Raises BadParams if there is no group.
    """
    from gangsaw.tasks.api.xarray_accessor import register
    from gangsaw.tasks.formats.python_objects.xarray_stores import open_as_xarray

    register()
    return open_as_xarray(as_address(store, storage_options), group, options)


@extras_named()
def plot(store: StoreLike, *, storage_options: StorageOptions = None) -> Figure:
    """Return a figure: bits per sample of each block, for scenes also false colours and bands.

    Raises BadParams if the store has no blocks, CorruptChunk if a chunk is damaged.
    """
    from gangsaw.tasks.jobs.figures.plots import figure_of

    return figure_of(info(store, storage_options=storage_options))
