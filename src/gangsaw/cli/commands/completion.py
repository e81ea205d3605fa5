"""gangsaw completion."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.console.choices import make_completion

SHELLS = ("bash", "zsh", "fish")
PROGRAM, VARIABLE = "gangsaw", "_GANGSAW_COMPLETE"
NO_FILES = " --no-files"  # in typer's script for fish: most arguments of gangsaw are files


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            help="Shell to complete in.",
            metavar="|".join(SHELLS),
            autocompletion=make_completion(SHELLS),
        ),
    ],
) -> None:
    """Print the completion script of a shell for commands, options and their values.

    Example: gangsaw completion bash >> ~/.bashrc
    """
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    if shell not in SHELLS:
        raise none_of("shell", SHELLS, shell)
    script = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
    typer.echo(script.replace(NO_FILES, ""))
