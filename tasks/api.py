"""The public functions: a source or store by its name, a client by a few numbers, and the job."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams, DeviceError, JobFailed
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.engine.pools import checked_device
from gangsaw.tasks.engine.progress import OnProgress
from gangsaw.tasks.engine.window import Options
from gangsaw.tasks.formats.atomic import published_if
from gangsaw.tasks.formats.export import check_store_target, export
from gangsaw.tasks.formats.format import ExportOptions, SourceOptions, Work, flags, given
from gangsaw.tasks.formats.opening import open_source, open_watched, open_witness, paths_of
from gangsaw.tasks.formats.table import readable
from gangsaw.tasks.formats.witness import Witness
from gangsaw.tasks.jobs import compress as jobs
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.jobs.compress import Summary
from gangsaw.tasks.jobs.device import check_here
from gangsaw.tasks.jobs.figures.report import StoreInfo, describe
from gangsaw.tasks.jobs.stages import scratch_of, staged, staged_at_target
from gangsaw.tasks.jobs.streams.spool import spool
from gangsaw.tasks.jobs.verification.compared import compared
from gangsaw.tasks.jobs.verification.verify import Report
from gangsaw.tasks.jobs.verification.verify import verify as check
from gangsaw.tasks.open_files import closes_files
from gangsaw.tasks.source import Source, Stream
from gangsaw.tasks.store.layout import ChunkChoice
from gangsaw.tasks.store.stamps import Watch, Watched
from gangsaw.tasks.store.zipped import packed_target, zarr_at

SHARED = {"variables", "group", "format", "accept_loss"}  # of all formats: of SourceOptions
CLUSTERS = {"cpu": "local", "gpu": "gpu"}  # modules that start workers

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client
    from matplotlib.figure import Figure


@closes_files
def compress(
    source: str | Path | Sequence[str | Path] | Source | Stream,
    target: str | Path,
    *,
    codec: str = "auto",
    params: Mapping[str, object] | None = None,
    block: Sequence[int] | None = None,
    chunks: ChunkChoice = None,
    device: str = "cpu",
    client: Client | None = None,
    resume: bool = False,
    overwrite: bool = False,
    on_progress: OnProgress | None = None,
    **options: object,
) -> Summary:
    """Compress a file or store into a Zarr v3 group.

    Parameters
    ----------
    source : path or address of any format in the table `gangsaw.formats`, several paths where the
        format takes them together, "-" for standard input where it reads streams, or any object
        that follows `gangsaw.tasks.source.Source` or `Stream`
    target : path or address of the store
    codec : "auto" by content, the Zarr name of a codec with or without "gangsaw.", "zstd" or "none"
    params : parameters of the codec that differ from its defaults
    block : extents of a block, as the codec's parameter of that name has them
    chunks : extents of a chunk in the source's axis order or by axis name, -1 for a whole axis
    device : "gpu" encodes on GPUs, with the same bytes: on that of this process, or on those of
        the client's workers that have the resource GPU=1, while the other workers use their cores
    client : Dask client; None works in this process, with its threads
    resume : finish what an earlier run with the same source and options began
    overwrite : replace an existing store
    on_progress : called after each batch of chunks
    **options : options of codecs and formats, as of the command line: bit_depth="auto",
        effort="fast", shape=(224, 512, 614) of a raw file; of all formats are `variables`,
        `group`, `format` and `accept_loss` (leave out what cannot be stored); None is not given.
        One that the codec or format does not take is an error

    Raises
    ------
    BadParams
        Source, codec and chunks do not go together, or the target may not be touched.
    DeviceError
        CuPy, the driver or the GPU is missing here.
    JobFailed
        The job stopped; `resume` goes on from there.
    """
    of_codecs, of_source = _split(options)
    opened, watch = _opened(source, of_source)
    return encode(
        opened,
        target,
        Recipe(codec, params or {}, None if block is None else tuple(block), of_codecs, chunks),
        device=device,
        client=client,
        resume=resume,
        overwrite=overwrite,
        on_progress=on_progress,
        watch=watch,
    )


@closes_files
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
    if isinstance(source, Stream):
        _check_stream(source, recipe.options, resume)
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


@closes_files
def decompress(
    store: str | Path,
    target: str | Path | Sequence[str | Path],
    *,
    options: ExportOptions | None = None,
    source: SourceOptions | None = None,
    client: Client | None = None,
    overwrite: bool = False,
    resume: bool = False,
    accept_loss: bool = False,
    on_progress: OnProgress | None = None,
    **own: object,
) -> tuple[str, ...]:
    """Write a store's samples, coordinates and attributes in another format.

    The suffix of `target` gives the format unless `options` names it; `own` are options that only
    that format takes. Some formats write several targets. What the format has no place for is
    an error that names each item, unless `accept_loss` leaves it out: then it is returned, in
    words. Raises BadParams also for samples that it cannot hold or a file that stands in the way,
    JobFailed where work stopped; `resume` finishes a Zarr store that stopped.
    """
    opened = open_source(str(store), source)
    watch = Watch.of(opened)
    work = Work(overwrite, resume, client, on_progress, jobs.decompress, accept_loss)
    wanted = replace(wanted := options or ExportOptions(), own={**wanted.own, **own})
    with watch.held(), published_if(watch.check):
        return export(opened, paths_of(target), wanted, work)


@closes_files
def verify(
    store: str | Path,
    *,
    against: str | Path | Sequence[str | Path] | Source | Stream | None = None,
    device: str = "cpu",
    client: Client | None = None,
    on_progress: OnProgress | None = None,
    **options: object,
) -> Report:
    """Check that every chunk of a store is there, whole and decodable; compare with `against`.

    `device` and `options` are those of `compress`, as far as they tell of `against`.
    The paths of `against` are read by their field's own library where it is installed; the report's
    `readers` say by which. Raises BadParams where there is no such store, JobFailed where its job
    is not finished, or what it is compared with changes meanwhile. What is wrong with the store is
    in the report, not raised.
    """
    if "://" not in str(store) and not Path(store).exists():
        raise BadParams(f"{store}: no such store")
    wanted = _of_source(options, options)
    if against is None and (asked := _flags_given(wanted)):
        raise BadParams(f"{listed(asked)} tells of a source: name it by --against")
    whole = replace(wanted, accept_loss=True)  # what a store lacks is told, not raised
    opened = None if against is None else _opened(against, whole)
    how = options_for(device, client)
    run = partial(check, str(store), client=client, options=how, on_progress=on_progress)
    if opened is None:
        return run()
    other, witness = _as_stored(opened[0], store), _witness(against, wanted, opened[0])
    with (
        opened[1].held(),
        TemporaryDirectory(prefix="gangsaw-", dir=scratch_of(other)) as folder,
        staged(other, lambda name: Path(folder, name)) as ready,
    ):
        if isinstance(ready, Stream):
            return compared(run(), str(store), ready, witness)
        is_part = bool(wanted.variables or wanted.group) or isinstance(other, Stream)  # has indexes
        return run(against=ready, is_part=is_part, witness=witness, accept_loss=wanted.accept_loss)


def _witness(
    against: str | Path | Sequence[str | Path] | Source | Stream | None,
    options: SourceOptions,
    source: Source | Stream,
) -> Witness | None:
    """Return what a field's library reads of paths; None of what the caller opened."""
    if against is None or isinstance(against, Source | Stream):
        return None
    if options.variables and isinstance(source, Source):  # which may be said by their last names
        full = [*(array.name for array in source.arrays), *(coord.name for coord in source.coords)]
        options = replace(options, variables=tuple(full))
    return open_witness(paths_of(against), options)


def _as_stored(source: Source | Stream, store: str | Path) -> Source | Stream:
    """Return a source as a store was made of it, where it can tell that by the store."""
    as_stored = getattr(source, "as_stored", None)
    return source if as_stored is None else as_stored(open_source(str(store)))


def _split(options: Mapping[str, object]) -> tuple[dict[str, object], SourceOptions]:
    """Return the options of codecs, and what is said of the source."""
    of_formats = {option.name for kind in readable() for option in kind.options}
    of_source = {*of_formats, *SHARED, "variable"}
    of_codecs = {k: v for k, v in options.items() if k not in of_source and v is not None}
    return of_codecs, _of_source(options, of_source)


def _of_source(options: Mapping[str, object], names: Collection[str]) -> SourceOptions:
    """Return what these options say of a source; those of one format are its own."""
    said = {k: v for k, v in options.items() if k in names and v is not None}
    if "variable" in said:
        raise BadParams("'variable' is said by variables=[...]")
    shared = {name: said.pop(name) for name in SHARED & said.keys()}
    variables = shared.pop("variables", ())
    if isinstance(variables, str) or not isinstance(variables, Iterable):
        raise BadParams(f"variables must be names, got {variables!r}")
    accept_loss = bool(shared.pop("accept_loss", False))
    texts = {name: str(value) for name, value in shared.items()}
    return SourceOptions(tuple(map(str, variables)), **texts, accept_loss=accept_loss, own=said)


def _check_stream(stream: Stream, options: Mapping[str, object], resume: bool) -> None:
    """Raise BadParams for what cannot be done with a source that comes once, from its start."""
    if resume and not getattr(stream, "is_repeatable", False):
        raise BadParams(f"{stream.name} is a stream: it cannot be resumed, use --overwrite")
    of_codecs = (option for of in codec_table.answers().values() for option in of.options)
    for option in of_codecs:
        if option.name in options and options[option.name] in option.scans:
            raise BadParams(
                f"{stream.name} is a stream, which is encoded as it comes: no scan for "
                f"{option.flag} {options[option.name]} can go before"
            )


def _opened(
    source: str | Path | Sequence[str | Path] | Source | Stream, options: SourceOptions
) -> tuple[Source | Stream, Watch]:
    """Return a source, and a watch of it that began before paths were opened."""
    if isinstance(source, str | Path) or not isinstance(source, Source | Stream):
        return open_watched(paths_of(source), options)
    if asked := _flags_given(options):
        raise BadParams(f"{source.name} is open: {listed(asked)} comes too late")
    return source, Watch.of(source)


def _flags_given(options: SourceOptions) -> list[str]:
    """Return all options that differ from their defaults, the format among them."""
    return flags(given(options) | ({"format"} if options.format is not None else set()))


def options_for(device: str, client: Client | None) -> Options:
    """Say how to run a job on a device; without a client it must be here."""
    if client is None:
        check_here(device)
    return Options(device=checked_device(device))


def info(store: str | Path) -> StoreInfo:
    """Return figures of a store, read from its metadata and the index of each chunk."""
    return describe(str(store))


def open(store: str | Path, **options: object) -> xr.Dataset:  # as xarray and zarr call it
    """Return a store as an xarray data set of dask arrays, a dask chunk per Zarr chunk.

    `options` go to `xarray.open_zarr`.
    """
    wanted = {"chunks": {}, **options}
    opened: xr.Dataset = import_module("xarray").open_zarr(zarr_at(str(store)), **wanted)
    return opened


def plot(store: str | Path) -> Figure:
    """Return a figure: bits per sample of each block, or of a scene also false colours and bands.

    Raises BadParams for a store without blocks, CorruptChunk for damaged chunks.
    """
    from gangsaw.tasks.jobs.figures.plots import figure_of

    return figure_of(info(store))


@contextmanager
def workers(
    *,
    workers: int = 0,
    threads: int = 0,
    scheduler: str = "",
    device: str = "cpu",
    dashboard: bool = False,
    silent: bool = False,
) -> Iterator[Client]:
    """Yield a Dask client: of a scheduler's address, or of workers started on this machine.

    `device` "gpu" starts one worker per GPU, `workers` of them at most. `silent` hides the log
    lines of these workers. Raises JobFailed where no scheduler answers, BadParams for what is no
    address, DeviceError for what is missing for GPUs.
    """
    from gangsaw.cluster.config import ClusterConfig

    start = import_module(f"gangsaw.cluster.{CLUSTERS[checked_device(device)]}").start
    if not scheduler:
        check_here(device)

    config = ClusterConfig(
        workers=workers, threads=threads, scheduler=scheduler, dashboard=dashboard, silent=silent
    )
    with ExitStack() as stack:
        try:
            client = stack.enter_context(start(config))
        except ConnectionError as error:
            raise JobFailed(str(error)) from error
        except ValueError as error:
            raise BadParams(str(error)) from error
        except (ModuleNotFoundError, RuntimeError) as error:
            raise DeviceError(str(error)) from error
        yield client
