"""The folder of a job's steps, beside its target until that is complete: `TARGET.part`.

A run that was killed leaves it, and `resume` goes on from what it holds.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.atomic import check_target

JOB = "job.json"


@dataclass(frozen=True)
class StepsBeside:
    """Where the steps of a job are, and what may be done with what is there.

    Attributes
    ----------
    target : file that the job writes
    resume : finish what an earlier run began
    overwrite : replace an existing target, and what an earlier run left
    """

    target: str
    resume: bool = False
    overwrite: bool = False

    @property
    def folder(self) -> Path:
        """The folder."""
        return Path(f"{self.target}.part")

    @property
    def replaces(self) -> bool:
        """Whether the target may be there."""
        return self.overwrite or self.resume

    def check(self) -> None:
        """Raise BadParams where the target, or what an earlier run began, may not be replaced."""
        check_target(Path(self.target), overwrite=self.replaces)
        if self.folder.exists() and not self.replaces:
            raise BadParams(
                f"{self.folder} holds what an earlier run began: --resume finishes it, "
                "--overwrite starts again"
            )

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """Yield the folder, which may not be there yet; it is removed when all went well."""
        if self.folder.exists() and not self.resume:
            shutil.rmtree(self.folder)
        try:
            yield self.folder
        except BadParams:  # the next run will have another source
            if not self.resume:
                shutil.rmtree(self.folder, ignore_errors=True)
            raise
        shutil.rmtree(self.folder)


def begin_steps(folder: Path, own: Mapping[str, object], same: str) -> str:
    """Say whose folder it is, and return that.

    Parameters
    ----------
    own : what makes it this job: JSON values, and `version`, of what is in the folder
    same : what must be the same, for the message

    Raises
    ------
    BadParams : it is the folder of another job, or of an earlier version
    """
    text, path = json.dumps(own, sort_keys=True), folder / JOB
    if path.exists() and (found := path.read_text()) != text:
        is_old = json.loads(found).get("version") != own["version"]
        begun = "what an earlier version of Gangsaw began" if is_old else "a different job"
        raise BadParams(
            f"{folder} holds {begun}: resume with the same {same}, or start again with --overwrite"
        )
    folder.mkdir(exist_ok=True)
    path.write_text(text)
    return text
