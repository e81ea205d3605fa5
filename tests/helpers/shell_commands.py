"""Shell text whose `gangsaw` commands run in this process.

A process of its own would import everything anew for each of them: two seconds a command, and as
much for each worker.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

# The shell expands the words, writes them with its standard input, and waits for the exit status.
FUNCTION = """
gangsaw() {{
    local code
    if [ -p /dev/stdin ]; then cat > '{folder}/stdin'; else : > '{folder}/stdin'; fi
    printf '%s\\0' "$@" > '{folder}/words'
    echo >&{requests}
    read -r code <&{replies}
    return "$code"
}}
"""


def run_shell(text: str, folder: Path, run: Callable[[list[str], Path], int]) -> tuple[int, str]:
    """Run shell text; return its exit status and what it wrote.

    Parameters
    ----------
    text : commands of bash, one of which that fails ends it
    folder : empty; the shell writes its words and its standard input there
    run : is called with the words of each `gangsaw` command and the file of its standard input,
        and returns the exit status
    """
    requests, ask = os.pipe()
    answer, replies = os.pipe()
    function = FUNCTION.format(folder=folder, requests=ask, replies=answer)
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", function + text],
        pass_fds=(ask, answer),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as shell:
        os.close(ask)
        os.close(answer)
        with os.fdopen(requests) as lines, os.fdopen(replies, "w", buffering=1) as codes:
            for _ in lines:  # ends when the shell does
                words = (folder / "words").read_text().split("\0")[:-1]
                codes.write(f"{run(words, folder / 'stdin')}\n")
        written, _ = shell.communicate()
    return shell.returncode, written
