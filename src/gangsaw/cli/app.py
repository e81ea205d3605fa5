"""Command table of `gangsaw`, and one-line error messages with exit codes.

Exit codes: 0 done, 1 failure, 2 usage (the caller's fault), 130 interrupted.
"""

from __future__ import annotations

import errno
import logging
import re
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import typer

from gangsaw.cli.commands import (
    bench,
    completion,
    compress,
    decompress,
    help,
    info,
    kernels,
    status,
    verify,
)
from gangsaw.cli.table import INSTALLATION, STORES, CommandTable
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.memory.threads import thread_limit
from gangsaw.codecs.core.plugins.extras import extras_named
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.console.output import Interrupted
from gangsaw.tasks.precompile.ahead import compiled_ahead
from gangsaw.tasks.precompile.shown import show_kernels

FAILURE, USAGE, INTERRUPTED = 1, 2, 130
TRACEBACK = "--traceback"  # removed before the commands are parsed, so it may be at any position
NOT_A_NUMBER = re.compile(r"Input should be a valid integer.*")
NOT_WHOLE = re.compile(r"is not a valid integer( range)?")  # of typer
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # of click or typer's copy

app = typer.Typer(
    cls=CommandTable,
    help="Compress large science arrays into indexed Zarr stores, on all cores or a Dask cluster.",
    epilog=f"{TRACEBACK} with any command shows where an error came from.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command(rich_help_panel=STORES)(compress.compress)
app.command(rich_help_panel=STORES)(decompress.decompress)
app.command(rich_help_panel=STORES)(verify.verify)
app.command(rich_help_panel=STORES)(info.info)
app.command(rich_help_panel=INSTALLATION)(bench.bench)
app.command(rich_help_panel=INSTALLATION)(status.status)
app.command(rich_help_panel=INSTALLATION)(completion.completion)
app.command(rich_help_panel=INSTALLATION)(help.help)
app.add_typer(kernels.app, name="kernels", rich_help_panel=INSTALLATION)


def _version(wanted: bool) -> None:
    if wanted:
        import gangsaw

        sys.stdout.write(f"gangsaw {gangsaw.__version__}\n")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Handle the options before the command, and check GANGSAW_THREADS."""
    thread_limit()  # else a decoder would raise it as an error of the store


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    end = args.index("--") if "--" in args else len(args)  # arguments after -- are paths
    show = TRACEBACK in args[:end]
    args = [arg for i, arg in enumerate(args) if i >= end or arg != TRACEBACK] or ["--help"]
    if not show:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # errors take one line
    try:
        with _convert_sigterm(), extras_named(), show_kernels(), compiled_ahead(args[0]):
            command = typer.main.get_command(app)
            code = command.main(args, prog_name="gangsaw", standalone_mode=False)
        if code == INTERRUPTED:  # newer versions of typer convert KeyboardInterrupt to this code
            raise Interrupted
        return code if isinstance(code, int) else 0
    except (Exception, KeyboardInterrupt) as error:
        if show:
            traceback.print_exc()
        return _report(error)


@contextmanager
def _convert_sigterm() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM, which batch systems send, so that workers end, too."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals only reach the main thread
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _report(error: BaseException) -> int:
    """Print one line about an error; return the exit code."""
    if isinstance(error, BrokenPipeError):  # the reader of the output, such as head, has ended
        sys.stderr.close()
        return FAILURE
    line, code = _describe(error)
    sys.stderr.write(f"gangsaw: {' '.join(line.split())}\n")
    return code


def _describe(error: BaseException) -> tuple[str, int]:
    if isinstance(error, Interrupted | KeyboardInterrupt | typer.Abort):
        return str(error) or "interrupted", INTERRUPTED
    if isinstance(error, UsageError):
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "gangsaw"
        return f"{_usage_line(error)} (see {command} --help)", USAGE
    if isinstance(error, BadParams):
        return str(error), USAGE
    if isinstance(error, GangsawError):
        return str(error), FAILURE
    if isinstance(error, OSError):
        return _os_line(error), FAILURE
    if isinstance(error, MemoryError):
        return "out of memory: use smaller --chunks or fewer --workers", FAILURE
    return f"unexpected {type(error).__name__}: {error} (run with {TRACEBACK} and report)", FAILURE


def _usage_line(error: Exception) -> str:
    """Return the message of a usage error; reword typer's messages on options and numbers."""
    name: str | None = getattr(error, "option_name", None)
    if name is not None:  # an unknown option
        near: Sequence[str] = getattr(error, "possibilities", None) or ()
        return f"No such option: {name}" + (
            f"; did you mean {join_words(near, 'or')}?" if near else ""
        )
    line: str = error.format_message()  # type: ignore[attr-defined]
    if match := NOT_A_NUMBER.search(line):  # newer versions of typer do not show the value
        given = [one["input"] for one in getattr(error.__cause__, "errors", list)()]
        return line.replace(match[0], f"{given[0]!r} is no whole number" if given else match[0])
    return NOT_WHOLE.sub("is no whole number", line)


def _os_line(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and not error.filename:  # os.getcwd gives no file name
        return "the current directory no longer exists: change to one that does"
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno == errno.ENOSPC:
        reason += ": free some space, or name another folder"
    return f"{error.filename}: {reason}" if error.filename else reason
