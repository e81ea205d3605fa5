"""The list of what goes into packs is whole: each codec, and the runs of each domain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import typer

import gangsaw.tasks
from gangsaw.cli.app import app
from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.container.chunk import ChunkCoder
from gangsaw.codecs.core.container.runs import Runs
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins import entry_points
from gangsaw.tasks.precompile import samples
from gangsaw.tasks.precompile.first_runs import GROUP, FirstRun, FirstRuns, all_runs, first_runs
from gangsaw.tasks.precompile.running import KernelSetting, tasks_of
from gangsaw.tasks.precompile.samples import run_samples

TASKS = Path(gangsaw.tasks.__path__[0])
JIT = re.compile(r"^@jit", re.MULTILINE)


def test_every_codec_and_every_run_is_in_the_list(tmp_path: Path) -> None:
    listed = tasks_of(KernelSetting(tmp_path, {}))
    of_codecs = {f"samples of {name.removeprefix('gangsaw.')}" for name in codec_table.names()}
    assert listed.keys() == of_codecs | first_runs().keys()
    domains = entry_points.load_table(GROUP, FirstRuns).values()
    assert len(all_runs()) == sum(len(domain.runs) for domain in domains), "a name was given twice"


def test_every_domain_with_kernels_or_formats_has_runs() -> None:
    with_kernels = {
        domain(path.relative_to(TASKS).parts)
        for path in TASKS.rglob("*.py")
        if JIT.search(path.read_text(encoding="utf-8"))
    }
    # kernels of `sequences` are those of reads and genomes, formats of `formats` have none
    needed = (with_kernels | domains("gangsaw.formats")) - {"genomics.sequences", "formats"}
    assert needed <= domains(GROUP)
    files = {domain(path.relative_to(TASKS).parts) for path in TASKS.rglob("first_runs.py")}
    assert domains(GROUP) == files - {"precompile"}


def domain(parts: Sequence[str]) -> str:
    """Return the folder of a domain, such as "tcr" or "genomics.reads"."""
    return ".".join(parts[: 2 if parts[0] == "genomics" else 1])


def domains(group: str) -> set[str]:
    """Folders of `tasks` that have entry points in a group."""
    modules = [
        several[0].module.split(".") for several in entry_points.find_entries(group).values()
    ]
    return {domain(parts[2:]) for parts in modules if parts[:2] == ["gangsaw", "tasks"]}


@pytest.mark.parametrize("run", all_runs().values(), ids=lambda run: run.name)
def test_the_command_line_takes_every_run(run: FirstRun) -> None:
    """Its options; nothing is run."""
    for arguments in run.commands:
        take(typer.main.get_command(app), "gangsaw", list(arguments))


def take(command: Any, name: str, arguments: list[str], parent: Any = None) -> None:
    """Parse arguments by a command, or by that of a group which they name."""
    context = command.make_context(name, arguments, parent=parent)
    if hasattr(command, "resolve_command"):
        rest = [*context._protected_args, *context.args]
        name, command, rest = command.resolve_command(context, rest)
        take(command, name, rest, context)


def test_samples_of_no_codec_are_refused() -> None:
    with pytest.raises(BadParams, match="no codec is called 'nothing': there are bwt"):
        run_samples("nothing")


def test_parts_of_samples_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of stores: only blocks that a selection touches."""
    shares: list[float] = []

    def read(coder: ChunkCoder, data: memoryview, selection: Any) -> Runs:
        runs = read_part(coder, data, selection)
        share = 1.0 if runs.numbers is None else len(runs.numbers) / coder.grid.n_blocks
        shares.append(share)
        return runs

    read_part = samples._read
    monkeypatch.setattr(samples, "_read", read)
    named = {sample.name: (kind, sample) for kind, sample in samples.codec_samples("ccsds123")}
    monkeypatch.setattr(samples, "codec_samples", lambda _: [named["blocks"]])
    run_samples("ccsds123")
    n_axes, n_orders = 3, 3
    assert len(shares) == n_orders * (1 + n_axes)
    assert 0 < min(shares) < 1
