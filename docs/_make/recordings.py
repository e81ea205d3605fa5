"""Recordings of terminal sessions, as SVG, from commands that run on small seeded data.

`python docs/_make/recordings.py` runs the commands and writes `docs/_static/recordings/`; names of
recordings after it write only these. Times, speeds and paths are masked. With `--check` it runs the
commands again, and compares the texts with the committed ones, without spaces and lines of tables.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

import seeded_data

RECORDINGS = Path(__file__).parents[1] / "_static" / "recordings"
WIDTH = 88  # columns
SECONDS = 300.0  # that a command may take
DONE = 24  # chunks that are stored before a job is killed
MASKS = (
    (r"(?<= )\d+:\d\d(:\d\d)?(?=[ ,\n])", "m:ss"),
    (r"\b[\d.,]+ [kMG]?B/s", "… MB/s"),
    (r"\b[\d.,]+ references/s", "… references/s"),
    (r"\b[\d.]+ s\b", "… s"),
    (r"\b\d+(?= of them by an earlier run)", "n"),
    (r"\bspectral [\d.]+", "spectral"),
)
IGNORED = re.compile(r"[\s─━│╭╮╰╯┃]+")


@dataclass(frozen=True)
class Session:
    """Commands of a recording.

    Attributes
    ----------
    title : title of the window
    prepare : writes the files that the commands read into a folder
    commands : lines of a shell
    killed : a job that is killed before the commands run; "" for none
    """

    title: str
    prepare: Callable[[Path], object]
    commands: tuple[str, ...]
    killed: str = ""


def write_scene(folder: Path) -> None:
    """Write the scene of the demonstration, 24 bands of it."""
    from gangsaw.tasks.hyperspectral.commands.demo import write_demo_scene

    write_demo_scene(folder, (24, 512, 512))


def write_genome_and_query(folder: Path) -> None:
    """Write genome.fa, and query.fa with an inversion."""
    records = seeded_data.genome_records()
    seeded_data.write_fasta(folder / "genome.fa", records)
    query = seeded_data.inverted_query(records[0][1])
    seeded_data.write_fasta(folder / "query.fa", [("query", query)])


SESSIONS = {
    "demo": Session("gangsaw demo", lambda folder: None, ("gangsaw demo --size 48,256,512",)),
    "compress": Session(
        "compress, verify",
        write_scene,
        (
            "gangsaw compress scene.hdr scene.zarr",
            "gangsaw verify scene.zarr --against scene.hdr",
            "gangsaw decompress scene.zarr copy.hdr",
        ),
    ),
    "search": Session(
        "search a log",
        lambda folder: seeded_data.write_log(folder / "access.log"),
        (
            "gangsaw compress access.log logs.zarr --format text",
            "gangsaw index logs.zarr --workers 0",
            'gangsaw search logs.zarr "login.php" --count',
            'gangsaw search logs.zarr "connection reset" | head -n 5',
        ),
    ),
    "align": Session(
        "align a query with an inversion",
        write_genome_and_query,
        (
            "gangsaw compress genome.fa genome.zarr",
            "gangsaw align query.fa genome.zarr query.paf",
            "cut -f 1-9 query.paf",
        ),
    ),
    "tcr": Session(
        "recombination paths of T-cell receptors",
        lambda folder: seeded_data.write_repertoires(folder, cells=1000),
        (
            "gangsaw tcr count mouse*.tsv paths.zarr --species mouse --locus TRB",
            "gangsaw tcr share paths.zarr shared.parquet | head -n 20",
        ),
    ),
    "resume": Session(
        "a killed job continues",
        write_scene,
        (
            "gangsaw compress scene.hdr scene.zarr --chunks y=64,x=64 --resume",
            "gangsaw verify scene.zarr --against scene.hdr",
        ),
        killed="gangsaw compress scene.hdr scene.zarr --chunks y=64,x=64",
    ),
}


def environment() -> dict[str, str]:
    """Return the environment of a command: of a terminal with colours and a fixed width."""
    programs = str(Path(sys.executable).parent)
    path = os.pathsep.join([programs, os.environ.get("PATH", "")])
    shown = {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    return {**os.environ, **shown, "PATH": path, "LC_ALL": "C.UTF-8"}


def output_of(command: str, folder: Path) -> str:
    """Run a line of a shell in a folder and return what it prints; raise RuntimeError if it fails.

    The `--quiet` that leaves out progress is not shown.
    """
    quiet = re.sub(r"^(gangsaw (?:tcr )?\w+)", r"\1 --quiet", command)
    ran = subprocess.run(
        ["bash", "-c", quiet],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(f"{command} ended with {ran.returncode}: {ran.stderr}")
    return masked(ran.stdout, folder)


def masked(words: str, folder: Path) -> str:
    """Return a text without times, speeds and the path of a folder."""
    for path in {str(folder), str(folder.resolve())}:
        words = words.replace(f"{path}/", "")
    for pattern, mask in MASKS:
        words = re.sub(pattern, mask, words)
    return words


def kill_job(command: str, folder: Path) -> None:
    """Begin a job and kill it when some of its chunks are stored, with all of its processes."""
    words = [*command.split(), "--quiet", "--workers", "0"]
    job = subprocess.Popen(words, cwd=folder, env=environment(), start_new_session=True)
    try:
        ends = time.monotonic() + SECONDS
        while stored_chunks(folder) < DONE and time.monotonic() < ends and job.poll() is None:
            time.sleep(0.01)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
    if job.wait() != -signal.SIGKILL:
        raise RuntimeError(f"{command} ended before it was killed")


def stored_chunks(folder: Path) -> int:
    """Return how many chunks the store in a folder has."""
    return sum(path.is_file() for path in folder.glob("scene.zarr/data/c/*/*/*"))


def transcript(session: Session) -> str:
    """Return the commands of a session and what they print, with escape sequences of colours."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        session.prepare(folder)
        parts = []
        if session.killed:
            kill_job(session.killed, folder)
            parts.append(f"{prompt(session.killed)}Killed\n\n")
        parts += [f"{prompt(one)}{output_of(one, folder).rstrip()}\n\n" for one in session.commands]
    return "".join(parts).rstrip() + "\n"


def prompt(command: str) -> str:
    """Return a command as a line of a terminal."""
    return f"\x1b[1;32m$\x1b[0m \x1b[1m{command}\x1b[0m\n"


def draw(session: Session, name: str) -> str:
    """Return the recording of a session as SVG."""
    from rich.console import Console
    from rich.text import Text

    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_ansi(transcript(session)), soft_wrap=True)
    svg = console.export_svg(title=session.title, unique_id=name)
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)  # no files of other hosts
    return "\n".join(line.rstrip() for line in svg.replace("Fira Code, ", "").splitlines()) + "\n"


def lines_of(svg: str) -> list[str]:
    """Return the lines of text of a recording, without spaces and lines of tables."""
    found: dict[str, str] = {}
    for y, words in re.findall(r'<text [^>]*?y="([\d.]+)"[^>]*>(.*?)</text>', svg):
        found[y] = found.get(y, "") + unescape(words)
    lines = (IGNORED.sub("", words) for words in found.values())
    return [words for words in lines if words]


def check(names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each line of a recording that differs from the committed one."""
    for name in names:
        path = RECORDINGS / f"{name}.svg"
        if not path.is_file():
            yield f"{name}: no recording is committed"
            continue
        pairs = zip_longest(
            lines_of(path.read_text()), lines_of(draw(SESSIONS[name], name)), fillvalue=""
        )
        for one, other in pairs:
            if one != other:
                yield f"{name}: {one!r} is committed, {other!r} was printed"


def main() -> int:
    """Write the recordings, or check their texts; return 1 if some differ."""
    parser = argparse.ArgumentParser(description="Write or check the recordings.")
    parser.add_argument("names", nargs="*", help=f"recordings; all: {' '.join(SESSIONS)}")
    parser.add_argument("--check", action="store_true", help="compare the texts, write nothing")
    options = parser.parse_args()
    if unknown := set(options.names) - set(SESSIONS):
        parser.error(f"no recording {sorted(unknown)[0]!r}; there are: {' '.join(SESSIONS)}")
    names = options.names or list(SESSIONS)
    if options.check:
        lines = list(check(names))
        print("\n".join(lines or [f"{len(names)} recordings have the committed texts"]))
        return 1 if lines else 0
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    for name in names:
        (RECORDINGS / f"{name}.svg").write_text(draw(SESSIONS[name], name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
