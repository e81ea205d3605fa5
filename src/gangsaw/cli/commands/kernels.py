"""gangsaw kernels: packs of compiled kernels, and warm caches."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, cast

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.output import print_table, size, write_json

app = typer.Typer(help="Manage compiled kernels: list them, build packs, fill the cache.")
Codec = Annotated[str, typer.Option("--codec", help="Compile only the kernels of this codec.")]
FirstRuns = Annotated[
    bool,
    typer.Option(
        "--first-runs",
        help=("Compile only the kernels of common first commands: one minute instead of several."),
    ),
]
Processes = Annotated[
    int, typer.Option(min=0, help="Number of parallel processes; 0 for one per core.")
]


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
        str, typer.Option(help="With --write: names of first runs, separated by commas.")
    ] = "",
    processes: Processes = 1,
) -> None:
    """Show the instruction set level in use, the packs of kernels, and unused packs.

    Example: gangsaw kernels list
    """
    if write:
        from gangsaw.tasks.precompile.listing import write_all

        names = [name for name in domain.split(",") if name]
        write_all(names, processes, _make_progress_callback(as_json))
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
            help=(
                "Instruction set levels, separated by commas. (default: the highest of "
                "this processor)"
            ),
            show_default=False,
        ),
    ] = "",
    into: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the packs. (default: the folder of the package)", show_default=False
        ),
    ] = None,
    codec: Codec = "",
    first_runs: FirstRuns = False,
    processes: Processes = 0,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Compile all kernels for an instruction set level into one file, a pack.

    A pack is code: whoever can write to the folder of packs can run code as its users.

    Example: gangsaw kernels build --level x86-64-v3 --into packs
    """
    from gangsaw.tasks.precompile.building import build_packs as make

    made = make(
        [name for name in level.split(",") if name],
        into,
        codec,
        processes,
        _make_progress_callback(quiet or as_json),
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
    """Compile kernels without a pack into the cache, for images or on login nodes.

    Example: gangsaw kernels warm --codec dna
    """
    from gangsaw.tasks.precompile.building import warm_workers as compile_all

    compile_all(codec, processes, _make_progress_callback(quiet), first_runs)


def _make_progress_callback(quiet: bool) -> Callable[[str], None]:
    def tell(step: str) -> None:
        if not quiet:
            sys.stderr.write(f"{step}: done\n")

    return tell
