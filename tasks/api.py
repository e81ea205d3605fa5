"""The public functions: a source or store by its name, a client by a few numbers, and the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.extras import extras_named
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.asked import (
    Named,
    as_made,
    as_stored,
    check_client,
    check_stream,
    flags_given,
    opened_source,
    source_options,
    split_options,
    witness_of,
)
from gangsaw.tasks.clusters import page_of as page_of
from gangsaw.tasks.clusters import status as status
from gangsaw.tasks.clusters import workers as workers
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.pools import checked_device
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.rehearsal import JobPlan
from gangsaw.tasks.engine.tally import job_of
from gangsaw.tasks.engine.window import Options
from gangsaw.tasks.formats.atomic import published_if
from gangsaw.tasks.formats.export import check_store_target, export
from gangsaw.tasks.formats.format import ExportOptions, SourceOptions, Work
from gangsaw.tasks.formats.opening import open_source, paths_of
from gangsaw.tasks.jobs import compress as jobs
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.device import check_here
from gangsaw.tasks.jobs.device_source import on_device
from gangsaw.tasks.jobs.figures.report import StoreInfo, describe
from gangsaw.tasks.jobs.stages import scratch_of, staged, staged_at_target
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.jobs.verification.compared import compared
from gangsaw.tasks.jobs.verification.verify import Report
from gangsaw.tasks.jobs.verification.verify import verify as check
from gangsaw.tasks.open_files import closes_files
from gangsaw.tasks.source import Source, Stream
from gangsaw.tasks.store.address import opened_with
from gangsaw.tasks.store.layout import ChunkChoice
from gangsaw.tasks.store.stamps import Watch, Watched
from gangsaw.tasks.store.stores import StoreLike, as_address
from gangsaw.tasks.store.zipped import packed_target

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
    source : path or address of any format in the table `gangsaw.formats`, several paths where the
        format takes them together, "-" for standard input where it reads streams, any object
        that follows `gangsaw.tasks.source.Source` or `Stream`; or an object of Python: an array of
        NumPy, Dask or Zarr, a Zarr group, a DataArray, Dataset or DataTree of xarray. Blocks of
        Dask arrays are encoded where they are computed: on the client's workers, or on those that
        hold them already; where there are neither, in threads of this process
    target : path or address of the store, or a Zarr store that is open, such as that of a session
        of Icechunk, which the caller commits: nothing is written there but arrays and groups, so
        that only this process can resume or verify
    codec : "auto" by content, the Zarr name of a codec with or without "gangsaw.", "zstd" or "none"
    params : parameters of the codec that differ from its defaults
    block : extents of a block, as the codec's parameter of that name has them
    chunks : extents of a chunk in the source's axis order or by axis name, -1 for a whole axis
    device : "gpu" encodes on GPUs, with the same bytes: on that of this process, or on those of
        the client's workers that have the resource GPU=1, while the other workers use their cores
    client : Dask client; None works in this process, with its threads
    resume : finish what an earlier run with the same source and options began; of a Dask array only
        where workers hold its blocks: of others nothing tells that they are what that run stored
    overwrite : replace an existing store
    storage_options : of the file systems (fsspec) of addresses, source and target, such as
        {"key": ..., "secret": ..., "endpoint_url": ...} of s3://; None leaves them to the
        environment
    on_progress : called after each batch of chunks
    **options : options of codecs and formats, as of the command line: bit_depth="auto",
        effort="fast", shape=(224, 512, 614) of a raw file; of all formats are `variables`,
        `group`, `format` and `accept_loss` (leave out what cannot be stored); None is not given.
        One that the codec or format does not take is an error

    Raises
    ------
    TypeError
        The source is nothing of all these, or the target is no store.
    BadParams
        Source, codec and chunks do not go together, or the target may not be touched.
    DeviceError
        CuPy, the driver or the GPU is missing here.
    JobFailed
        The job stopped; `resume` goes on from there.
    """
    check_client(client)
    of_codecs, of_source = split_options(options)
    opened, watch = opened_source(opened_with(source, storage_options), of_source, client)
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
    )


@closes_files
@job_of("compress", "target")
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
) -> Summary:
    """Compress what is open by a recipe; see `compress`. A `watch` began when it was opened."""
    check_store_target(target)
    recipe.check()
    if isinstance(source, Stream):
        check_stream(source, recipe.options, resume)
    with packed_target(target, overwrite=overwrite, resume=resume) as folder:
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
    with staged_at_target(
        source,
        target,
        client=client,
        resume=resume,
        overwrite=overwrite,
        on_progress=on_progress,
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
            Watched(ready, watch) if watch is not None and ready is source else ready,
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
@job_of("decompress", "target")
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
    storage_options: StorageOptions = None,
    on_progress: OnProgress | None = None,
    **own: object,
) -> tuple[str, ...]:
    """Write a store's samples, coordinates and attributes in another format.

    The suffix of `target` gives the format unless `options` names it; `own` are options that only
    that format takes. Some formats write several targets. What the format has no place for is
    an error that names each item, unless `accept_loss` leaves it out: then it is returned, in
    words. Raises BadParams also for samples that it cannot hold or a file that stands in the way,
    JobFailed where work stopped; `resume` finishes a Zarr store that stopped. `storage_options` are
    those of `compress`; with `device` "gpu" GPUs decode, this process's or those of workers that
    have the resource GPU=1.
    """
    is_on_gpu = options_for(device, client).device == "gpu"
    opened = open_source(as_address(store, storage_options), source)
    watch = Watch.of(opened)
    work = Work(overwrite, resume, client, on_progress, jobs.decompress, accept_loss)
    wanted = replace(wanted := options or ExportOptions(), own={**wanted.own, **own})
    with watch.held(), published_if(watch.check):
        taken = on_device(opened) if is_on_gpu else opened
        return export(taken, paths_of(opened_with(target, storage_options)), wanted, work)


@extras_named()
@closes_files
@job_of("verify", "store")
def verify(
    store: StoreLike,
    *,
    against: Named | None = None,
    device: str = "cpu",
    client: Client | None = None,
    storage_options: StorageOptions = None,
    on_progress: OnProgress | None = None,
    **options: object,
) -> Report:
    """Check that every chunk of a store is there, whole and decodable; compare with `against`.

    `device`, `storage_options` and `options` are those of `compress`, the last as far as they tell
    of `against`.
    The paths of `against` are read by their field's own library where it is installed; the report's
    `readers` say by which. Raises BadParams where there is no such store, JobFailed where its job
    is not finished, or what it is compared with changes meanwhile. What is wrong with the store is
    in the report, not raised.
    """
    store = as_address(store, storage_options, client=client)
    if "://" not in store and not Path(store).exists():
        raise BadParams(f"{store}: no such store")
    against = opened_with(against, storage_options)
    wanted = source_options(options, options)
    if against is None and (asked := flags_given(wanted)):
        raise BadParams(f"{listed(asked)} tells of a source: name it by --against")
    wanted = as_made(wanted, against, str(store))
    whole = replace(wanted, accept_loss=True)  # what a store lacks is told, not raised
    opened = None if against is None else opened_source(against, whole, client)
    rehearsal.stop(lambda: JobPlan(str(store), ()))
    how = options_for(device, client)
    run = partial(check, store, client=client, options=how, on_progress=on_progress)
    if opened is None:
        return run()
    other, witness = as_stored(opened[0], store), witness_of(against, wanted, opened[0])
    with (
        opened[1].held(),
        TemporaryDirectory(prefix="gangsaw-", dir=scratch_of(other)) as folder,
        staged(other, lambda name: Path(folder, name)) as ready,
    ):
        if isinstance(ready, Stream):
            return compared(run(), store, ready, witness)
        is_part = bool(wanted.variables or wanted.group) or isinstance(other, Stream)  # has indexes
        return run(against=ready, is_part=is_part, witness=witness, accept_loss=wanted.accept_loss)


def options_for(device: str, client: Client | None) -> Options:
    """Say how to run a job on a device; without a client it must be here."""
    check_client(client)
    if client is None:
        check_here(device)
    return Options(device=checked_device(device))


@extras_named()
def info(store: StoreLike, *, storage_options: StorageOptions = None) -> StoreInfo:
    """Return figures of a store, read from its metadata and the index of each chunk."""
    return describe(as_address(store, storage_options))


@extras_named()
def open(  # as xarray and zarr call it
    store: StoreLike,
    *,
    group: str = "",
    storage_options: StorageOptions = None,
    **options: object,
) -> xr.Dataset | xr.DataTree:
    """Return a store as xarray has it: lazy Dask arrays, a block per Zarr chunk.

    It is a Dataset, or a DataTree where there are groups in it. `storage_options` are those of
    `compress`; `options` go to `xarray.open_zarr` or `open_datatree`. What is returned has the
    accessor `.gangsaw`. Raises BadParams for what is no group.
    """
    from gangsaw.tasks.encoding import register
    from gangsaw.tasks.objects.opened import open_as_xarray

    register()
    return open_as_xarray(as_address(store, storage_options), group, options)


@extras_named()
def plot(store: StoreLike, *, storage_options: StorageOptions = None) -> Figure:
    """Return a figure: bits per sample of each block, or of a scene also false colours and bands.

    Raises BadParams for a store without blocks, CorruptChunk for damaged chunks.
    """
    from gangsaw.tasks.jobs.figures.plots import figure_of

    return figure_of(info(store, storage_options=storage_options))
