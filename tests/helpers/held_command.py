"""`gangsaw` where the chunks of what it reads are held until the test lets them go.

python -m helpers.held_command FOLDER WORD ...: the words of a command line; the folder is that of a
`HeldJob`
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from gangsaw.cli import main
from gangsaw.tasks.formats.contract import opening
from helpers.faulty_jobs import held


def run(folder: Path, *words: str) -> int:
    """Run the command line."""
    open_watched = opening.open_watched

    def open_held(*how: Any) -> Any:
        source, watch = open_watched(*how)
        return held(source, folder), watch  # type: ignore[arg-type]

    opening.open_watched = open_held
    return main(words)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), *sys.argv[2:]))
