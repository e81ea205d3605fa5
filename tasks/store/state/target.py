"""The target of a job: what is in it before the first chunk, and when it may be changed. An old
target stays until the new one is complete: an overwriting job writes next to it and swaps at the
end. That needs a rename, so only a directory can be overwritten.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine import rehearsal
from gangsaw.tasks.store.chunks import METADATA
from gangsaw.tasks.store.dataset.paths import key_of
from gangsaw.tasks.store.place import Place
from gangsaw.tasks.store.state.identity import CONTENT
from gangsaw.tasks.store.state.journal import FOLDER, Job
from gangsaw.tasks.store.state.lease import is_lease, refuse_leased
from gangsaw.tasks.store.state.manifest import MANIFEST

JOB = f"{FOLDER}/job.json"
ORIGIN = f"{FOLDER}/stream.json"  # the job of a stream as it was when nothing was read yet
STORE_FILES = (METADATA, ".zgroup", ".zarray")  # one of them makes a directory a Zarr store
DIFFERENT = {
    "source": "the source is another one or has changed",
    "array": "shape, dtype, chunks, codec, parameters or attributes differ",
    "n_chunks": "the number of chunks differs",
    "batch_chunks": "the batches differ",
    "format": "it is of another version of Gangsaw",
}


@dataclass(frozen=True)
class Target:
    """Where a job writes, and where the store will be.

    Attributes
    ----------
    final : the place that the user named
    work : the same, or a sibling directory while an old store is still there
    """

    final: Place
    work: Place

    def publish(self) -> None:
        """Move the finished store to its final place, unless it is there already."""
        folder, new = self.final.folder, self.work.folder
        if folder is None or new is None or folder == new:
            return
        old = _sibling(folder, "old")
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        shutil.rmtree(old, ignore_errors=True)

    def drop_given_up(self) -> None:
        """Remove what an abandoned overwriting job left: another job has finished."""
        if (staging := _staging(self.final)) is not None and staging.folder is not None:
            shutil.rmtree(staging.folder, ignore_errors=True)


def choose_target(
    final: Place, jobs: Mapping[str, Job], *, resume: bool, overwrite: bool
) -> Target:
    """Decide where to write; nothing is created here.

    Parameters
    ----------
    final : what the user named
    jobs : by array name
    resume, overwrite : what the user allows

    Raises
    ------
    BadParams
        The target exists and may not be changed; the message says what would help.
    """
    _undo_half_swap(final)
    staging = _staging(final)
    if resume and (place := _to_resume(final, staging, jobs, overwrite=overwrite)) is not None:
        return Target(final, place)
    if final.is_empty:
        return Target(final, final)
    if not any(final.get(name) is not None for name in STORE_FILES) and not _is_job(final, jobs):
        if all(is_lease(key) for key in final.walk()):  # a job began, and did not write anything
            return Target(final, final)
        raise BadParams(f"{final} exists and is no Zarr store: give another name")
    if overwrite:
        return Target(final, _cleared(final, staging, jobs))
    raise BadParams(f"{final} exists{_advice(final, staging, jobs, resume)}")


def find_begun(final: Place, origins: Mapping[str, bytes]) -> Target | None:
    """Return where a stream was being stored, None where none was; nothing is created here.

    Parameters
    ----------
    final : what the user named
    origins : by array name, what `ORIGIN` holds for this stream, codec and chunks

    Raises
    ------
    BadParams
        Another stream, or the same with other options, was stored there.
    """
    _undo_half_swap(final)
    for place in (_staging(final), final):
        if place is None:
            continue
        found = {name: (place / name).get(ORIGIN) for name in origins}
        there = {name: data.to_bytes() for name, data in found.items() if data is not None}
        if any(data != origins[name] for name, data in there.items()):
            raise BadParams(
                f"{place} holds a different job: resume with the same source and options, or start "
                "again with --overwrite"
            )
        if there:
            return Target(final, place)
    return None


def write_skeleton(target: Target, objects: Mapping[str, Buffer], jobs: Mapping[str, Job]) -> None:
    """Write what is not yet there: jobs first, root metadata last.

    So a store whose creation was killed is recognised as a job, and no reader opens it as a group
    before all its arrays are in it.
    """
    to_buffer = default_buffer_prototype().buffer.from_bytes
    marks = {key_of(name, JOB): to_buffer(job.to_json()) for name, job in jobs.items()}
    wanted = {**marks, **objects}
    try:
        found = dict(zip(wanted, target.work.get_many(wanted), strict=True))
        other = {key for key, data in wanted.items() if not _is_same(found[key], data)}
        for keys in (marks.keys(), objects.keys() - {METADATA}, {METADATA}):
            target.work.put_all({key: wanted[key] for key in keys & other})
        target.work.flush(wanted)
    except OSError as error:
        raise JobFailed(f"cannot write to {target.work}: {error.strerror or error}") from error


def _is_same(found: Buffer | None, wanted: Buffer) -> bool:
    return found is not None and found.to_bytes() == wanted.to_bytes()


def is_unfinished(array: Place) -> bool:
    """Whether a job on this array began and has no manifest yet."""
    return state_of(array) == (True, False)


def state_of(array: Place) -> tuple[bool, bool]:
    """Return whether a job on this array began, and whether it has a manifest."""
    job, manifest = array.get_heads([JOB, MANIFEST], 1)  # a manifest may be long
    return job is not None, manifest is not None


def _is_job(place: Place, jobs: Mapping[str, Job]) -> bool:
    return not place.is_empty and any((place / name).get(JOB) is not None for name in jobs)


def _to_resume(
    final: Place, staging: Place | None, jobs: Mapping[str, Job], *, overwrite: bool
) -> Place | None:
    """Return where these jobs began, or None; raise BadParams where only other jobs are.

    An abandoned overwriting job may still be next to the store.
    """
    begun = [p for p in (staging, final) if p is not None and _is_job(p, jobs)]
    for place in begun:
        if not _differences(place, jobs):
            return place
    if begun and not (overwrite and begun == [final]):
        _check_same(begun[0], jobs)
    return None


def _differences(place: Place, jobs: Mapping[str, Job]) -> list[str]:
    return [
        f"{name}: {_difference(field, json.loads(stored.to_bytes()), job)}"
        for name, job in jobs.items()
        if (stored := (place / name).get(JOB)) is not None
        for field in _differing(json.loads(stored.to_bytes()), json.loads(job.to_json()))
    ]


def _difference(field: str, stored: dict[str, object], wanted: Job) -> str:
    if field == "source" and _knew_no_content(str(stored.get(field)), wanted.source):
        return "an earlier version of Gangsaw began it, which did not note what its source held"
    return DIFFERENT.get(field, field)


def _knew_no_content(stored: str, wanted: str) -> bool:
    return wanted.startswith(CONTENT) and not stored.startswith(CONTENT)


def _differing(stored: dict[str, object], wanted: dict[str, object]) -> list[str]:
    return [field for field in wanted if stored.get(field) != wanted[field]]


def _check_same(place: Place, jobs: Mapping[str, Job]) -> None:
    if differences := _differences(place, jobs):
        raise BadParams(
            f"{place} holds a different job ({differences[0]}): resume with the same source and "
            f"options, or start again with --overwrite"
        )


def _advice(final: Place, staging: Place | None, jobs: Mapping[str, Job], resume: bool) -> str:
    other = f"give another name, or {'delete it' if staging is None else '--overwrite'}"
    if resume:
        return f" and holds no job to resume: {other}"
    if any(is_unfinished(final / name) for name in jobs):
        anew = "delete it" if staging is None else "start again with --overwrite"
        return f" and holds an unfinished job: finish it with --resume, or {anew}"
    return f": {other} to replace it"


def _cleared(final: Place, staging: Place | None, names: Iterable[str]) -> Place:
    """Return the staging directory, emptied; no job may be writing there."""
    if staging is None or staging.folder is None:
        raise BadParams(
            f"{final} exists and cannot be replaced safely where there is no rename: "
            f"delete it first, or give another name"
        )
    if staging.folder.exists() and not rehearsal.is_on():
        refuse_leased(staging, next(iter(names)))
        shutil.rmtree(staging.folder)
    return staging


def _staging(final: Place) -> Place | None:
    """Return the sibling directory in which an overwriting job writes, None without a rename."""
    folder = final.folder
    if folder is None or final.path:
        return None
    return Place(LocalStore(_sibling(folder, "new")))


def _sibling(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.gangsaw-{what}")


def _undo_half_swap(final: Place) -> None:
    """Restore the old store where a job was killed between the two renames of its swap."""
    if (folder := final.folder) is None or rehearsal.is_on():
        return
    old = _sibling(folder, "old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    elif old.exists():
        shutil.rmtree(old, ignore_errors=True)
