"""Target of a job: its objects before the first chunk, and the rules for changing it.

An old target stays until the new one is complete: an overwriting job writes to a sibling directory
and swaps at the end. That needs a rename, so only a directory can be overwritten.
"""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from zarr.core.buffer import Buffer, default_buffer_prototype
from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams, JobFailed
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.store.arrays.chunks import METADATA
from gangsaw.tasks.store.dataset.paths import key_of
from gangsaw.tasks.store.objects.files import follow_link, ignores_case
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.identity import CONTENT
from gangsaw.tasks.store.state.job_folder import JOB, ORIGIN, FolderOwner, FolderState, JobFolder
from gangsaw.tasks.store.state.journal import Job
from gangsaw.tasks.store.state.lease import is_free, lease_of

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
    """Store prefixes of a job's output: the final one, and the one that the job writes to.

    Attributes
    ----------
    final : prefix that the user named
    work : the same, or a sibling directory as long as an old store exists
    confirm : raises `LeaseLost` if another job has taken the target over; called before
        irreversible changes
    """

    final: Prefix
    work: Prefix
    confirm: Callable[[], None] = field(repr=False, compare=False)

    def publish(self) -> None:
        """Move the finished store to its final location, if it is not there already."""
        folder, new = _folder(self.final), _folder(self.work)
        if folder is None or new is None or folder == new:
            return
        old = _sibling(folder, "old")
        self.confirm()
        if folder.exists():
            folder.rename(old)
            self.confirm()
        new.rename(folder)
        self.confirm()
        shutil.rmtree(old, ignore_errors=True)

    def remove_abandoned(self) -> None:
        """Remove the output of an abandoned overwriting job, because another job has finished."""
        if (staging := _staging(self.final)) is not None and staging.folder is not None:
            self.confirm()
            shutil.rmtree(staging.folder, ignore_errors=True)


def choose_target(
    final: Prefix,
    jobs: Mapping[str, Job],
    confirm: Callable[[], None],
    *,
    resume: bool,
    overwrite: bool,
) -> Target:
    """Choose the location to write to, creating nothing; the caller holds the lease of `final`.

    Parameters
    ----------
    final : prefix that the user named
    jobs : identities of the jobs by array name
    confirm : raises if the lease is lost
    resume, overwrite : options of the user

    Raises
    ------
    BadParams
        The target exists and may not be changed; the message gives the option to use.
    """
    _undo_half_swap(final, confirm)
    staging = _staging(final)
    if resume and (place := _find_resumable(final, staging, jobs, overwrite=overwrite)) is not None:
        return Target(final, place, confirm)
    if is_free(final):
        return Target(final, final, confirm)
    if not any(final.get(name) is not None for name in STORE_FILES) and not _is_job(final, jobs):
        raise BadParams(f"{final} exists and is no Zarr store: give another name")
    if overwrite:
        return Target(final, _clear_staging(final, staging, confirm), confirm)
    raise BadParams(f"{final} exists{_advice(final, staging, jobs, resume)}")


def find_begun(
    final: Prefix, origins: Mapping[str, bytes], confirm: Callable[[], None]
) -> Target | None:
    """Return the location of an unfinished stream job, or None; nothing is created.

    Parameters
    ----------
    final : prefix that the user named
    origins : content of `ORIGIN` for this stream, codec and chunks, by array name
    confirm : raises if the lease is lost

    Raises
    ------
    BadParams
        Another stream, or the same with other options, was stored there.
    """
    _undo_half_swap(final, confirm)
    for place in (_staging(final), final):
        if place is None:
            continue
        owners = {JobFolder(place / name, ORIGIN).owner(own) for name, own in origins.items()}
        if FolderOwner.OTHER_JOB in owners:
            raise BadParams(
                f"{place} holds a different job: resume with the same source and options, or start "
                "again with --overwrite"
            )
        if FolderOwner.THIS_JOB in owners:
            return Target(final, place, confirm)
    return None


def write_skeleton(target: Target, objects: Mapping[str, Buffer], jobs: Mapping[str, Job]) -> None:
    """Write the objects that are not yet in the target: job files first, root metadata last.

    So a store whose creation was killed is recognised as a job. No reader opens it as a group
    before all its arrays are in it.
    """
    _check_case(target.final, {*map(str, objects), *jobs})
    to_buffer = default_buffer_prototype().buffer.from_bytes
    marks = {key_of(name, JOB): to_buffer(job.to_json()) for name, job in jobs.items()}
    wanted = {**marks, **objects}
    try:
        found = dict(zip(wanted, target.work.get_many(wanted), strict=True))
        other = {key for key, data in wanted.items() if not _is_same(found[key], data)}
        target.confirm()
        for keys in (marks.keys(), objects.keys() - {METADATA}, {METADATA}):
            target.work.put_all({key: wanted[key] for key in keys & other})
        target.work.flush(wanted)
    except OSError as error:
        raise JobFailed(f"cannot write to {target.work}: {error.strerror or error}") from error


def _check_case(final: Prefix, keys: Collection[str]) -> None:
    """Raise BadParams for names that a case-insensitive file system cannot tell apart."""
    home, key = lease_of(final)
    if home.folder is None:
        return
    known: dict[str, str] = {}
    for path in sorted({path for key in keys for path in _paths_to(key)}):
        same = known.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if same != path and ignores_case(home.folder / key):
            raise BadParams(
                f"{final}: its file system treats {same} and {path} as one name: write to "
                "another one, or rename one of them"
            )


def _paths_to(key: str) -> list[str]:
    """Return a key and all its parent folders."""
    parts = key.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _is_same(found: Buffer | None, wanted: Buffer) -> bool:
    return found is not None and found.to_bytes() == wanted.to_bytes()


def discard_begun(final: Prefix, names: Collection[str], confirm: Callable[[], None]) -> None:
    """Remove the unfinished output of the last job on arrays of these names.

    The lease of `final` is held. An old store that the job would have replaced stays.
    """
    for place in (_staging(final), final):
        if place is None or not _is_unfinished(place, names):
            continue
        confirm()
        place.delete_all()
        if place.folder is not None:
            shutil.rmtree(place.folder, ignore_errors=True)
        return


def _is_unfinished(place: Prefix, names: Collection[str]) -> bool:
    return any(JobFolder(place / name).state is FolderState.UNFINISHED for name in names)


def _is_job(place: Prefix, jobs: Mapping[str, Job]) -> bool:
    return not place.is_empty and any(JobFolder(place / name).has_job for name in jobs)


def _find_resumable(
    final: Prefix, staging: Prefix | None, jobs: Mapping[str, Job], *, overwrite: bool
) -> Prefix | None:
    """Return the location of these jobs' unfinished output or None; raise BadParams for other jobs.

    The output of an abandoned overwriting job may still be next to the store.

    Parameters
    ----------
    staging : sibling directory of an overwriting job, if any
    """
    begun = [p for p in (staging, final) if p is not None and _is_job(p, jobs)]
    for place in begun:
        if not _differences(place, jobs):
            return place
    if begun and not (overwrite and begun == [final]):
        _check_same(begun[0], jobs)
    return None


def _differences(place: Prefix, jobs: Mapping[str, Job]) -> list[str]:
    return [
        f"{name}: {_difference(field, stored, job)}"
        for name, job in jobs.items()
        if (stored := JobFolder(place / name).fields()) is not None
        for field in _differing(stored, json.loads(job.to_json()))
    ]


def _difference(field: str, stored: Mapping[str, object], wanted: Job) -> str:
    if field == "source" and _knew_no_content(str(stored.get(field)), wanted.source):
        return "an earlier version of Gangsaw began it, which did not note what its source held"
    return DIFFERENT.get(field, field)


def _knew_no_content(stored: str, wanted: str) -> bool:
    return wanted.startswith(CONTENT) and not stored.startswith(CONTENT)


def _differing(stored: Mapping[str, object], wanted: dict[str, object]) -> list[str]:
    """Return the fields of two jobs that differ.

    A quick dry run reads no samples, so it does not know codec parameters that follow from them,
    such as a bit depth; the job compares these.
    """
    unknown = {"array"} if dry_run.is_quick() else set()
    known = wanted.keys() - unknown
    return [field for field in wanted if field in known and stored.get(field) != wanted[field]]


def _check_same(place: Prefix, jobs: Mapping[str, Job]) -> None:
    if differences := _differences(place, jobs):
        raise BadParams(
            f"{place} holds a different job ({differences[0]}): resume with the same source and "
            f"options, or start again with --overwrite"
        )


def _advice(final: Prefix, staging: Prefix | None, jobs: Mapping[str, Job], resume: bool) -> str:
    other = f"give another name, or {'delete it' if staging is None else '--overwrite'}"
    if resume:
        return f" and holds no job to resume: {other}"
    if _is_unfinished(final, jobs):
        anew = "delete it" if staging is None else "start again with --overwrite"
        return f" and holds an unfinished job: finish it with --resume, or {anew}"
    return f": {other} to replace it"


def _clear_staging(final: Prefix, staging: Prefix | None, confirm: Callable[[], None]) -> Prefix:
    """Return the staging directory, emptied."""
    if staging is None or staging.folder is None:
        raise BadParams(
            f"{final} exists and cannot be replaced safely where there is no rename: "
            f"delete it first, or give another name"
        )
    if staging.folder.exists() and not dry_run.is_on():
        confirm()
        shutil.rmtree(staging.folder)
    return staging


def _staging(final: Prefix) -> Prefix | None:
    """Return the sibling directory of an overwriting job, or None for stores without rename."""
    folder = _folder(final)
    if folder is None or final.path:
        return None
    return Prefix(LocalStore(_sibling(folder, "new")))


def _folder(place: Prefix) -> Path | None:
    """Return the folder of a prefix, through a symbolic link, which a rename would replace."""
    return None if place.folder is None else follow_link(place.folder)


def _sibling(folder: Path, what: str) -> Path:
    return folder.with_name(f".{folder.name}.gangsaw-{what}")


def _undo_half_swap(final: Prefix, confirm: Callable[[], None]) -> None:
    """Restore the old store if a job was killed between the two renames of its swap."""
    if (folder := _folder(final)) is None or dry_run.is_on():
        return
    old = _sibling(folder, "old")
    if old.exists():
        confirm()
    if old.exists() and not folder.exists():
        old.rename(folder)
    elif old.exists():
        shutil.rmtree(old, ignore_errors=True)
