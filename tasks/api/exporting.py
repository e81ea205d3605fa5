"""Export job: a store is written in another format, with a policy for damaged blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from gangsaw.codecs.core.errors import CorruptChunk, GangsawError, JobFailed
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.progress import Amounts
from gangsaw.tasks.formats.contract.format import ExportOptions, Format, SourceOptions, Work
from gangsaw.tasks.formats.contract.opening import open_source, open_store
from gangsaw.tasks.formats.exporting.atomic import check_before_publishing
from gangsaw.tasks.formats.exporting.export import choose_format, export_source
from gangsaw.tasks.formats.exporting.flat_export import export_grid
from gangsaw.tasks.jobs.chunks.device_source import decode_source_on_device
from gangsaw.tasks.jobs.sizes import sizes_of
from gangsaw.tasks.jobs.survey import find_damaged_blocks, is_damage_error
from gangsaw.tasks.sources.source import Source
from gangsaw.tasks.store.damage import (
    FAIL,
    SKIP,
    Damage,
    DamagedStore,
    SkippedRecords,
    check_damage,
)
from gangsaw.tasks.store.objects.files import bytes_below
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.objects.versions import Watch
from gangsaw.tasks.store.salvage import DamagedBlock, Mending
from gangsaw.tasks.store.source import ZarrSource
from gangsaw.tasks.store.state.lease import hold_lease
from gangsaw.tasks.store.state.target import discard_begun


class ExportResult(tuple[str, ...], Amounts):
    """Result of an export: a tuple of lines on omitted or converted items, with figures of the job.

    Attributes
    ----------
    targets : paths or addresses of the written targets
    chunks, samples : number of chunks and samples of the arrays of the store
    raw_bytes, stored_bytes : bytes of these arrays
    run_bytes : raw bytes of this run
    target_bytes : bytes of the targets; 0 for pipes
    seconds : wall time
    damaged : damaged blocks that were filled, or whose records were omitted
    skipped : records that were omitted because they are damaged
    is_incomplete : True if the targets lack any data of the store because of damage
    """

    targets: tuple[str, ...] = ()
    chunks: int = 0
    samples: int = 0
    target_bytes: int = 0
    damaged: tuple[DamagedBlock, ...] = ()
    skipped: tuple[SkippedRecords, ...] = ()
    is_incomplete: bool = False


@dataclass(frozen=True)
class ExportJob:
    """Export of a store to another format.

    Attributes
    ----------
    store : path or address of the store
    options : options for opening the store
    targets : paths or addresses of the targets
    wanted : options of the target format
    work : client and policies of the job; `work.damage` is the policy for damaged blocks
    is_on_gpu : True to decode on GPUs
    """

    store: str
    options: SourceOptions | None
    targets: tuple[str, ...]
    wanted: ExportOptions
    work: Work
    is_on_gpu: bool = False

    def run(self) -> ExportResult:
        """Write the targets.

        Raises
        ------
        `DamagedStore` : blocks are damaged and the policy is "fail"; the error lists all of them
        BadParams : the format does not support the requested policy for damaged blocks
        """
        started, asked = time.monotonic(), self.work.damage
        if asked.mode == FAIL:
            with self._report_all_damage():
                return self._export(open_source(self.store, self.options), asked, started)
        opened = self._mended(Mending(True, asked.value))
        kind = self._format(opened)
        check_damage(asked, opened, kind.title, kind.damaged)
        if dry_run.is_on():
            return self._export(opened, asked, started)
        found = find_damaged_blocks(opened, self.work.client, self.work.on_progress)
        damage = replace(asked, blocks=found)
        if not found:
            opened = self._mended(None)
        elif asked.mode == SKIP:
            opened = self._with_gaps(found)
        return self._export(opened, damage, started)

    def _export(self, source: Source, damage: Damage, started: float) -> ExportResult:
        watch = Watch.of_sources(source)
        with watch.check_at_end(), check_before_publishing(watch.check) as written:
            taken = decode_source_on_device(source) if self.is_on_gpu else source
            left_out = export_source(
                taken, self.targets, self.wanted, replace(self.work, damage=damage)
            )
        done = ExportResult(left_out)
        done.targets = self.targets
        done.target_bytes = sum(map(bytes_below, self._written(written)))
        done.damaged, done.skipped = damage.blocks, tuple(damage.skipped)
        done.is_incomplete = bool(damage.skipped if damage.mode == SKIP else damage.blocks)
        done.chunks = sum(export_grid(array).n_chunks for array in source.arrays)
        done.samples = sum(prod(array.shape) for array in source.arrays)
        sizes = sizes_of(source)
        done.raw_bytes, done.stored_bytes = sizes.raw_bytes, sizes.stored_bytes
        done.source_bytes, done.run_bytes = sizes.source_bytes, sizes.raw_bytes
        done.seconds = time.monotonic() - started
        return done

    def _written(self, written: Sequence[Path]) -> list[Path]:
        """Return the targets and their sidecar files, such as the data file of a header."""
        named = [Path(target).absolute() for target in self.targets]
        others = (path.absolute() for path in written)
        beside = {path for path in others if not any(map(path.is_relative_to, named))}
        return [*named, *beside]

    def _format(self, source: Source) -> Format:
        return choose_format(source, self.targets, self.wanted)

    def _mended(self, mending: Mending | None) -> ZarrSource:
        return open_store(self.store, self.options, lambda _: mending)

    def _with_gaps(self, blocks: Sequence[DamagedBlock]) -> ZarrSource:
        gaps = {one.array: Mending(False) for one in blocks}
        for one in blocks:
            if len(one.ranges) == 1:
                known = gaps[one.array]
                gaps[one.array] = replace(known, gaps=(*known.gaps, *one.ranges))
        return open_store(self.store, self.options, gaps.get)

    @contextmanager
    def _report_all_damage(self) -> Iterator[None]:
        """Replace the error of the first damaged chunk by one that lists all damaged blocks."""
        try:
            yield
        except (CorruptChunk, JobFailed) as error:
            if not is_damage_error(error) or dry_run.is_on():
                raise
            if (told := self._find_damage()) is None:
                raise
            raise told from error

    def _find_damage(self) -> DamagedStore | None:
        """Return an error that lists all damaged blocks; None if none is found."""
        try:
            opened = self._mended(Mending(True))
            found = find_damaged_blocks(opened, self.work.client)
            if not found:
                return None
            kind = self._format(opened)
            if kind.resumes and not self.work.resume:
                self._discard([array.name for array in opened.arrays])
            return DamagedStore.from_blocks(self.store, found, kind.damaged)
        except (GangsawError, OSError):  # the first error is more useful
            return None

    def _discard(self, names: Sequence[str]) -> None:
        """Remove the unfinished target stores, which a damaged source never completes."""
        for target in self.targets:
            place = open_prefix(target, writable=True)
            with hold_lease(place) as lease:
                discard_begun(place, names, lease.confirm)
