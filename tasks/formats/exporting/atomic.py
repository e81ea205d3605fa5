"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from tempfile import TemporaryDirectory

from zarr.storage import LocalStore

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.formats.contract.pipes import copy_to, is_stream
from gangsaw.tasks.store.objects.files import follow_link, is_same_file, resolve_links, sync_file
from gangsaw.tasks.store.objects.partial import partial_path, remove_abandoned_files
from gangsaw.tasks.store.objects.prefix import Prefix
from gangsaw.tasks.store.state.lease import Lease, hold_lease, lease_of, refuse_leased

_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)
_WRITTEN: ContextVar[list[Path] | None] = ContextVar("written", default=None)


@contextmanager
def check_before_publishing(check: Callable[[], None]) -> Iterator[list[Path]]:
    """Make jobs in the context run `check` before they rename targets.

    If it raises, such as for a changed input, the output is discarded.

    Yields a list of the files and folders that were renamed to their targets so far.
    """
    written: list[Path] = []
    tokens = _CHECK.set(check), _WRITTEN.set(written)
    try:
        yield written
    finally:
        _CHECK.reset(tokens[0])
        _WRITTEN.reset(tokens[1])


def _note(target: Path) -> None:
    if (written := _WRITTEN.get()) is not None:
        written.append(target)


@contextmanager
def write_whole_files(targets: Sequence[Path], *, overwrite: bool) -> Iterator[list[Path]]:
    """Yield a temporary path next to each target; rename all at the end, or remove all.

    The last target is renamed last, so that a header never exists without its data file. If a
    target is a symbolic link, the file that it points to is replaced. A pipe or a device gets the
    bytes of a temporary file at the end.

    Raises
    ------
    BadParams
        A target exists and may not be replaced, or its folder does not exist.
    """
    check_apart(targets)
    with ExitStack() as stack:
        files = [target for target in targets if not is_stream(target)]
        leases = stack.enter_context(hold_leases(files))
        for target in targets:
            check_target(target, overwrite=overwrite)
        paths = [_path_to_write(target, stack) for target in targets]
        for place in paths:
            remove_abandoned_files(place)
        parts = stack.enter_context(_parts(targets, paths))
        yield parts
        _CHECK.get()()
        for part, target in zip(parts, targets, strict=True):
            if not is_stream(target):
                sync_file(part)
        for lease in leases:
            lease.confirm()
        for part, place, target in zip(parts, paths, targets, strict=True):
            if is_stream(target):
                copy_to(part, target)
                continue
            check_target(target, overwrite=overwrite)  # another program may have created it
            part.replace(place)
            _note(target)


def _path_to_write(target: Path, stack: ExitStack) -> Path:
    """Return the file to write for a target: links resolved, a temporary file for a stream."""
    if not is_stream(target):
        return resolve_links(target)
    folder = stack.enter_context(TemporaryDirectory(prefix="gangsaw-stream-"))
    return Path(folder, target.name)


def get_store_prefix(target: Path) -> Prefix:
    """Return the store prefix that names the lease of a target file or folder."""
    return Prefix(LocalStore(target.absolute()))


@contextmanager
def hold_leases(targets: Iterable[Path]) -> Iterator[list[Lease]]:
    """Hold the leases of the files or folders that a job writes; see `hold_lease`."""
    with ExitStack() as stack:
        leases: list[Lease] = []
        for target in sorted(targets):  # in one order: of two jobs that share targets, one gets all
            home, key = lease_of(get_store_prefix(target))
            if any(is_same_file(_file(one.home, one.key), _file(home, key)) for one in leases):
                raise BadParams(f"{target} is named twice: the file system there ignores case")
            leases.append(stack.enter_context(hold_lease(get_store_prefix(target))))
        yield leases


def _file(home: Prefix, key: str) -> Path:
    assert home.folder is not None, "it was made of a path"
    return home.folder / key


@contextmanager
def _parts(targets: Sequence[Path], paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield temporary paths next to the targets; remove files that are left there at the end."""
    parts = [partial_path(place) for place in paths]
    try:
        yield parts
    except OSError as error:  # the user knows the target, not its temporary file
        named = {str(part): str(target) for part, target in zip(parts, targets, strict=True)}
        error.filename = named.get(str(error.filename), error.filename)
        if error.filename is None and error.errno == errno.ENOSPC:
            error.filename = str(targets[0])
        raise
    finally:
        for part in parts:
            part.unlink(missing_ok=True)


@contextmanager
def write_whole_folder(target: Path, mark: str, *, overwrite: bool) -> Iterator[Path]:
    """Yield a temporary path next to the target; rename it at the end, or remove it.

    Raises BadParams if the target exists and may not be replaced. Only a folder that contains a
    file called `mark`, the sign of its format, may be replaced. If the target is a symbolic link,
    the folder that it leads to is replaced.
    """
    target = follow_link(target)
    with hold_leases([target]) as (lease,):
        _check_folder(target, mark, overwrite=overwrite)
        remove_abandoned_files(target)
        part = partial_path(target)
        old = part.with_suffix(".old")
        try:
            yield part
            _CHECK.get()()
            lease.confirm()
            _check_folder(target, mark, overwrite=overwrite)
            if target.exists():
                target.rename(old)
            part.rename(target)
            _note(target)
        finally:
            shutil.rmtree(part, ignore_errors=True)
            shutil.rmtree(old, ignore_errors=True)


def _check_folder(target: Path, mark: str, *, overwrite: bool) -> None:
    if target.exists() and not (overwrite and (target / mark).is_file()):
        hint = (
            "or --overwrite to replace it"
            if (target / mark).is_file()
            else "it is of no such format"
        )
        raise BadParams(f"{target} exists: give another name, {hint}")
    if not target.parent.is_dir():
        raise BadParams(f"{target.parent}: no such directory; make it first")


def check_target(target: Path, *, overwrite: bool) -> None:
    """Raise BadParams if a target file must not be written; pipes and devices always pass."""
    if is_stream(target):
        return
    if target.is_dir():
        raise BadParams(f"{target} is a directory; name a file")
    if target.exists() and not target.is_file():
        raise BadParams(f"{target} is no file: name one, or a pipe")
    if target.exists() and not overwrite:
        refuse_leased(get_store_prefix(target))
        raise BadParams(f"{target} exists: give another name, or --overwrite to replace it")
    place = follow_link(target)
    if not place.parent.is_dir():
        raise BadParams(f"{place.parent}: no such directory; make it first")


def check_apart(targets: Iterable[str | Path]) -> None:
    """Raise BadParams if two targets are the same file: the second would replace the first."""
    known: set[Path] = set()
    for target in targets:
        if Path(target).is_char_device():  # such as /dev/null
            continue
        if (place := resolve_links(Path(target))) in known:
            raise BadParams(f"{target} is named twice: name another file for each target")
        known.add(place)
