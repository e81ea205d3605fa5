"""Step folder of a job, `TARGET.part`: it exists next to the target until the target is complete.

A killed run leaves the folder, and `resume` continues from its contents.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from gangsaw.codecs.core.errors import BadParams, CorruptChunk
from gangsaw.tasks.formats.contract.pipes import is_stream
from gangsaw.tasks.formats.exporting.atomic import check_target, get_store_prefix
from gangsaw.tasks.store.objects.prefix import open_prefix
from gangsaw.tasks.store.state.job_folder import STEPS_JOB, JobFolder
from gangsaw.tasks.store.state.lease import hold_lease, refuse_leased
from gangsaw.tasks.store.state_fields import read_fields


@dataclass(frozen=True)
class StepFolder:
    """Folder `TARGET.part` for the outputs of a job's preparatory steps, next to its target file.

    Attributes
    ----------
    target : path of the file that the job writes
    resume : continue an interrupted run
    overwrite : replace an existing target and the step folder of an earlier run
    """

    target: str
    resume: bool = False
    overwrite: bool = False

    @property
    def folder(self) -> Path:
        """Path of the folder, `TARGET.part`."""
        return Path(f"{self.target}.part")

    @property
    def replaces(self) -> bool:
        """True if the target may exist already."""
        return self.overwrite or self.resume

    def check(self) -> None:
        """Raise BadParams if the target or an earlier step folder exists and must stay."""
        if not is_stream(self.target):
            refuse_leased(get_store_prefix(Path(self.target)))
        self._check_free()

    def _check_free(self) -> None:
        check_target(Path(self.target), overwrite=self.replaces)
        if is_stream(self.target):
            if self.resume:
                raise BadParams(
                    f"{self.target} is a stream, which is not resumed: leave --resume out"
                )
            return
        if self.folder.exists() and not self.replaces:
            raise BadParams(
                f"{self.folder} holds what an earlier run began: --resume finishes it, "
                "--overwrite starts again"
            )

    @contextmanager
    def open(self) -> Iterator[Path]:
        """Yield the path of the step folder, which may not exist yet; remove it after success.

        The block runs under the lease of the target, after a second check of the files. For a
        stream the folder is temporary.
        """
        if is_stream(self.target):
            with TemporaryDirectory(prefix="gangsaw-steps-") as name:
                yield Path(name, "steps")
            return
        with hold_lease(get_store_prefix(Path(self.target)), shared=True) as lease:
            self._check_free()
            if self.folder.exists() and not self.resume:
                shutil.rmtree(self.folder)
            try:
                yield self.folder
            except BadParams:  # the next run will have another source
                if not self.resume:
                    lease.confirm()
                    shutil.rmtree(self.folder, ignore_errors=True)
                raise
            lease.confirm()
            shutil.rmtree(self.folder)


def begin_steps(folder: Path, own: Mapping[str, object], same: str) -> str:
    """Write the identity of the job into its step folder; return that JSON text.

    Parameters
    ----------
    own : JSON values that identify the job; `version` is the version of the folder's format
    same : inputs that must be the same on resume, for the message

    Raises
    ------
    BadParams : the folder belongs to another job or has another version
    """
    text = json.dumps(own, sort_keys=True)
    folder.mkdir(exist_ok=True)
    begun = JobFolder(open_prefix(folder, writable=True), STEPS_JOB)
    if not begun.claim(text.encode()):
        is_old = _version(folder / STEPS_JOB) != own["version"]
        whose = "what an earlier version of Gangsaw began" if is_old else "a different job"
        raise BadParams(
            f"{folder} holds {whose}: resume with the same {same}, or start again with --overwrite"
        )
    return text


def _version(path: Path) -> object:
    try:
        return read_fields(path.read_bytes()).values.get("version")
    except CorruptChunk as error:
        raise error.at(store=str(path)) from None
