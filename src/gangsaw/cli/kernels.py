"""gangsaw kernels: packs of compiled kernels, and warm caches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, cast

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import print_table, size, write_json

app = typer.Typer(help="Compiled kernels: which are here, packs that travel, a warm cache.")
Codec = Annotated[str, typer.Option("--codec", help="Only of this codec's samples.")]
FirstRuns = Annotated[
    bool,
    typer.Option(
        "--first-runs", help="Only the kernels that first commands call: a minute, not several."
    ),
]
Processes = Annotated[int, typer.Option(min=0, help="Processes at a time, 0 for one per core.")]


@app.command(name="list")
def list_kernels(
    as_json: opt.Json = False,
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="For developers: record first runs, and write the lists of kernels."
        ),
    ] = False,
    domain: Annotated[
        str, typer.Option(help="With --write: names of first runs, with commas between.")
    ] = "",
    processes: Processes = 1,
) -> None:
    """Show the level of instructions that holds, the packs, and why one is not used.

    Example: gangsaw kernels list
    """
    if write:
        from gangsaw.tasks.precompile.listing import write_all

        names = [name for name in domain.split(",") if name]
        write_all(names, processes, _teller(as_json))
        return
    from gangsaw.tasks.precompile.report import report

    found = report()
    if as_json:
        write_json(found)
        return
    cache = cast("dict[str, object]", found["cache"])
    kept = f"{cache['path']}: {cache['kernels']} kernels, {size(cast('int', cache['bytes']))}"
    rows = [("level", f"{found['level']}: {found['why']}"), ("cache", kept)]
    for pack in cast("list[dict[str, object]]", found["packs"]):
        name, why = Path(str(pack["path"])).name, pack["unused"]
        holds = f"{pack['kernels']} kernels, {size(cast('int', pack['bytes']))}"
        rows.append(("pack", f"{name}: {holds}, {f'not used: {why}' if why else 'used'}"))
    print_table("kernels", rows)


@app.command()
def build(
    level: Annotated[
        str,
        typer.Option(
            help="Levels of instructions, with commas between. (default: this processor's best)",
            show_default=False,
        ),
    ] = "",
    into: Annotated[
        Path | None, typer.Option(help="Folder. (default: the package's own)", show_default=False)
    ] = None,
    codec: Codec = "",
    first_runs: FirstRuns = False,
    processes: Processes = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Compile all kernels for a level of instructions into one file, a pack.

    A pack is code: who can write the folder of packs runs code as each user of it.

    Example: gangsaw kernels build --level x86-64-v3 --into packs
    """
    from gangsaw.tasks.precompile.building import build_packs as make

    made = make(
        [name for name in level.split(",") if name],
        into,
        codec,
        processes,
        _teller(quiet or as_json),
        first_runs,
    )
    if as_json:
        write_json({"packs": [vars(pack) for pack in made]})
        return
    rows = [
        (
            pack.level,
            f"{pack.path}: {pack.kernels} kernels, {size(pack.nbytes)}"
            + ("" if pack.ran else "; compiled only: this processor cannot run it"),
        )
        for pack in made
    ]
    print_table("packs", rows)


@app.command()
def warm(
    codec: Codec = "",
    first_runs: FirstRuns = False,
    processes: Processes = 0,
    quiet: opt.Quiet = False,
) -> None:
    """Compile what no pack holds into your cache: for images, and on login nodes.

    Example: gangsaw kernels warm --codec dna
    """
    from gangsaw.tasks.precompile.building import warm_workers as compile_all

    compile_all(codec, processes, _teller(quiet), first_runs)


def _teller(quiet: bool) -> Callable[[str], None]:
    def tell(step: str) -> None:
        if not quiet:
            sys.stderr.write(f"{step}: done\n")

    return tell
