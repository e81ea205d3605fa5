"""Export of a store to another format: the requested one, else that of the target's suffix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.engine.report.dry_run import ArrayPlan, JobPlan
from gangsaw.tasks.formats.contract.format import ExportOptions, Format, Paths, Work
from gangsaw.tasks.formats.contract.pipes import is_stream
from gangsaw.tasks.formats.contract.table import get_format, list_names, titles, writable
from gangsaw.tasks.formats.exporting.atomic import check_apart, get_store_prefix
from gangsaw.tasks.sources.source import Source
from gangsaw.tasks.store.damage import mark_incomplete
from gangsaw.tasks.store.dataset.texts import item_bytes
from gangsaw.tasks.store.state.lease import refuse_leased

STDOUT = "-"
ZARR = "zarr"
MOST_ITEMS = 40  # lost items listed in one message

__all__ = ["ExportOptions", "choose_format", "export_source"]


def export_source(
    source: Source, targets: Sequence[str], options: ExportOptions, work: Work
) -> tuple[str, ...]:
    """Write a whole source; return a description of each item that the format drops or changes.

    Raises
    ------
    BadParams
        The format cannot hold the samples, or cannot hold another item and `work.accept_loss` is
        False, or does not take this number of targets or these options.
    """
    paths = tuple(targets)
    kind, what = choose_format(source, paths, options), ", ".join(paths)
    kind.check_number(paths, are_targets=True)
    check_apart(paths)
    _check_stdout(paths, kind)
    wanted = kind.for_export(what, options)
    if work.resume and not kind.resumes:
        able = titles([kind for kind in writable() if kind.resumes])
        raise BadParams(f"{what}: only a {able} store can be resumed; leave --resume out")
    fit = kind.fit(source)
    if fit.refusal:
        raise BadParams(fit.refusal)
    kind.check(source, paths, wanted)
    lost = (*fit.lost, *kind.lost_with(source, wanted))
    if lost and not work.accept_loss:
        raise BadParams(_loss(what, kind, lost))
    if kind.name != ZARR:
        dry_run.stop(lambda: _plan(source, paths, kind, lost, work))
    assert kind.export is not None
    kind.export(mark_incomplete(source, work.damage), paths, wanted, work)
    return (*lost, *fit.told)


def _plan(source: Source, paths: Paths, kind: Format, lost: tuple[str, ...], work: Work) -> JobPlan:
    """Return the plan for a dry run; raise BadParams for a target that may not be replaced."""
    for path in paths:
        if not is_stream(path) and Path(path).exists() and not work.overwrite:
            refuse_leased(get_store_prefix(Path(path)))
            raise BadParams(f"{path} exists: give another name, or --overwrite to replace it")
    arrays = tuple(ArrayPlan(a.name, str(a.dtype), a.shape, a.chunks or ()) for a in source.arrays)
    raw = sum(math.prod(array.shape) * item_bytes(array) for array in source.arrays)
    return JobPlan(source.name, paths, arrays, format=kind.title, raw_bytes=raw, lost=lost)


def check_store_target(target: str | Path) -> None:
    """Raise BadParams if a target has the suffix of a format other than Zarr and is no folder."""
    if "://" not in str(target) and is_stream(target):
        named_so = "" if str(target) == STDOUT else f"{target}: "
        raise BadParams(f"{named_so}a Zarr store is no stream: name a folder, such as out.zarr")
    suffix, zarr = Path(target).suffix.lower(), get_format(ZARR, writable())
    others = [k for k in writable() if suffix in k.suffixes and suffix not in zarr.suffixes]
    if others and not Path(target).is_dir():
        raise BadParams(
            f"{target}: compress writes a Zarr store, and {suffix} is for {titles(others)}: name "
            f"it {Path(target).stem}{zarr.suffixes[0]}; gangsaw decompress writes other formats"
        )


def _check_stdout(targets: Paths, kind: Format) -> None:
    """Raise BadParams if "-" is a target and the format cannot be written as a stream."""
    if STDOUT in targets and not kind.writes_streams:
        able = titles([kind for kind in writable() if kind.writes_streams])
        raise BadParams(f"{kind.title} cannot go to standard output, as {able} can: name a file")


def _loss(what: str, kind: Format, lost: Sequence[str]) -> str:
    """Return the error message for items that a format cannot hold: the first ones, the remedy."""
    more = [f"{len(lost) - MOST_ITEMS} more"] if len(lost) > MOST_ITEMS else []
    items = join_words([*lost[:MOST_ITEMS], *more])
    return f"{what}: {kind.title} cannot hold {items}; --accept-loss leaves that out"


def choose_format(source: Source, targets: Paths, options: ExportOptions) -> Format:
    """Return the format to write: by option, else by suffix, else the format of the source.

    If several formats have the suffix, the format of the source is preferred. Files of records and
    texts have any suffix; other formats of the source are written to targets without one.
    """
    if options.format is not None:
        return get_format(options.format, writable())
    found = [kind for kind in writable() if _has_suffix(kind, targets)]
    has_suffix = any(Path(target).suffix for target in targets)
    own = [kind for kind in writable() if kind.writes_streams or not has_suffix]
    found = found or [kind for kind in own if kind.fit(source).is_own]
    if not found:
        what = ", ".join(targets)
        raise BadParams(
            f"the suffix of {what} is of no format: pass --format {list_names(writable())}"
        )
    return max(found, key=lambda kind: _order(kind, source)) if found[1:] else found[0]


def _has_suffix(kind: Format, targets: Paths) -> bool:
    return all(Path(target).suffix.lower() in kind.suffixes for target in targets)


def _order(kind: Format, source: Source) -> tuple[bool, bool]:
    fit = kind.fit(source)
    return fit.is_own, not fit.refusal
