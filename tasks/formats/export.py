"""From a store to another format: the named one, else that of the target's suffix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.options import listed
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.engine.rehearsal import ArrayPlan, JobPlan
from gangsaw.tasks.formats.atomic import check_apart
from gangsaw.tasks.formats.format import ExportOptions, Format, Paths, Work
from gangsaw.tasks.formats.table import named, names, titles, writable
from gangsaw.tasks.source import Source
from gangsaw.tasks.store.dataset.texts import item_bytes

STDOUT = "-"
ZARR = "zarr"
MOST_ITEMS = 40  # in one message

__all__ = ["ExportOptions", "choose_format", "export"]


def export(
    source: Source, targets: Sequence[str], options: ExportOptions, work: Work
) -> tuple[str, ...]:
    """Write all of a source; return what the format cannot hold as it was, in words.

    Raises BadParams for samples that the format cannot hold, for anything else that it cannot
    unless `work.accept_loss`, for a number of targets that it does not take, and options that it
    does not take.
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
        rehearsal.stop(lambda: _plan(source, paths, kind, lost, work))
    assert kind.export is not None
    kind.export(source, paths, wanted, work)
    return (*lost, *fit.told)


def _plan(source: Source, paths: Paths, kind: Format, lost: tuple[str, ...], work: Work) -> JobPlan:
    """Return what would be written; BadParams for a target that may not be replaced."""
    for path in paths:
        if path != STDOUT and Path(path).exists() and not work.overwrite:
            raise BadParams(f"{path} exists: give another name, or --overwrite to replace it")
    arrays = tuple(ArrayPlan(a.name, str(a.dtype), a.shape, a.chunks or ()) for a in source.arrays)
    raw = sum(math.prod(array.shape) * item_bytes(array) for array in source.arrays)
    return JobPlan(source.name, paths, arrays, format=kind.title, raw_bytes=raw, lost=lost)


def check_store_target(target: str | Path) -> None:
    """Raise BadParams for a target of another format than Zarr, where no store is already."""
    if str(target) == STDOUT:
        raise BadParams("a Zarr store is no stream: name a folder, such as out.zarr")
    suffix, zarr = Path(target).suffix.lower(), named(ZARR, writable())
    others = [k for k in writable() if suffix in k.suffixes and suffix not in zarr.suffixes]
    if others and not Path(target).is_dir():
        raise BadParams(
            f"{target}: compress writes a Zarr store, and {suffix} is for {titles(others)}: name "
            f"it {Path(target).stem}{zarr.suffixes[0]}; gangsaw decompress writes other formats"
        )


def _check_stdout(targets: Paths, kind: Format) -> None:
    """Raise BadParams where "-" is a target and the format is no stream."""
    if STDOUT in targets and not kind.writes_streams:
        able = titles([kind for kind in writable() if kind.writes_streams])
        raise BadParams(f"{kind.title} cannot go to standard output, as {able} can: name a file")


def _loss(what: str, kind: Format, lost: Sequence[str]) -> str:
    """Return the error of a loss: its first items, and how to accept them."""
    more = [f"{len(lost) - MOST_ITEMS} more"] if len(lost) > MOST_ITEMS else []
    items = listed([*lost[:MOST_ITEMS], *more])
    return f"{what}: {kind.title} has no place for {items}; --accept-loss leaves that out"


def choose_format(source: Source, targets: Paths, options: ExportOptions) -> Format:
    """Return the format to write; where the suffix is of several or of none, that of the source."""
    if options.format is not None:
        return named(options.format, writable())
    found = [kind for kind in writable() if _has_suffix(kind, targets)]
    found = found or [kind for kind in writable() if kind.fit(source).is_own]
    if not found:
        what = ", ".join(targets)
        raise BadParams(f"the suffix of {what} is of no format: say --format {names(writable())}")
    return max(found, key=lambda kind: _order(kind, source)) if found[1:] else found[0]


def _has_suffix(kind: Format, targets: Paths) -> bool:
    return all(Path(target).suffix.lower() in kind.suffixes for target in targets)


def _order(kind: Format, source: Source) -> tuple[bool, bool]:
    fit = kind.fit(source)
    return fit.is_own, not fit.refusal
