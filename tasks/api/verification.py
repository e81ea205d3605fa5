"""Public function `verify`: a check of a store, and its comparison with a source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.api.arguments import (
    Named,
    choose_recorded_format,
    list_changed_flags,
    open_field_reader,
    open_given_source,
    readable_source,
    restore_stored_form,
    source_options,
)
from gangsaw.tasks.api.compression import options_for
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.counters import count_as_job
from gangsaw.tasks.engine.report.dry_run import JobPlan
from gangsaw.tasks.engine.report.progress import OnProgress
from gangsaw.tasks.formats.contract.format import SourceOptions
from gangsaw.tasks.formats.contract.independent_reader import IndependentReader
from gangsaw.tasks.jobs.steps.stages import run_stages, scratch_of
from gangsaw.tasks.jobs.verification.stream_comparison import compare_with_stream
from gangsaw.tasks.jobs.verification.verify import Report
from gangsaw.tasks.jobs.verification.verify import verify as check
from gangsaw.tasks.sources.open_files import closes_files
from gangsaw.tasks.sources.source import Source, Stream
from gangsaw.tasks.store.objects.address import add_options, explain_missing_store
from gangsaw.tasks.store.objects.stores import StoreLike, as_address
from gangsaw.tasks.store.objects.versions import Watch

if TYPE_CHECKING:
    from distributed import Client

StorageOptions: TypeAlias = Mapping[str, object] | None


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
    store : path, address or Zarr store
        Store to check.
    against : path, address, array or list of these, optional
        Source of the store, as `compress` takes it.
    adopt : bool, default False
        True records appended chunks and added arrays if all chunks are correct.
    device : {"cpu", "gpu"}, default "cpu"
        As for `compress`.
    client : distributed.Client, optional
        Dask client. None works in this process, with its threads.
    storage_options : dict, optional
        Options of the file systems of addresses, as for `compress`.
    on_progress : callable, optional
        Function that is called after each batch of chunks with the state of the job.
    **options : object
        Options of `compress` that apply to the source `against`.

    Returns
    -------
    Report
        Problems and sizes; `ok` is True if there are no problems.

    Raises
    ------
    BadParams
        There is no such store.
    JobFailed
        The job of the store is not finished, or `against` changes meanwhile.

    See Also
    --------
    compress : Write a store.

    Examples
    --------
    >>> import gangsaw
    >>> import numpy as np
    >>> cube = np.arange(2 * 8 * 8, dtype="uint16").reshape(2, 8, 8)
    >>> summary = gangsaw.compress(cube, "cube.zarr")
    >>> gangsaw.verify("cube.zarr", against=cube).ok
    True
    >>> gangsaw.verify("cube.zarr", against=cube + 1).ok
    False
    """
    store = as_address(store, storage_options, client=client, is_writable=adopt)
    if "://" not in store and not Path(store).exists():
        raise BadParams(f"{store}: no such store{explain_missing_store(store)}")
    against = add_options(against, storage_options)
    wanted = source_options(options, options)
    if against is None and (asked := list_changed_flags(wanted)):
        raise BadParams(f"{join_words(asked)} describes a source: name the source by --against")
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
        return _compared(run, store, opened, open_field_reader(ready, wanted, opened[0]), wanted)


def _compared(
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
