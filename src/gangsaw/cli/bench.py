"""gangsaw bench."""

from __future__ import annotations

from typing import Annotated

import typer

from gangsaw.cli import options as opt
from gangsaw.cli.console import size, write_json, write_table


def bench(
    source: Annotated[
        str | None,
        typer.Argument(help="A scene of yours. (default: a synthetic one)", show_default=False),
    ] = None,
    scene: Annotated[
        str, typer.Option("--size", help="bands,rows,columns of the synthetic scene.")
    ] = "64,256,256",
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the table has their medians.")] = 5,
    peers: Annotated[
        bool, typer.Option(help="Measure other compressors that are installed.")
    ] = True,
    as_json: opt.Json = False,
) -> None:
    """Measure the codec beside its peers, each on one thread, on your scene or a synthetic one.

    Example: gangsaw bench scene.hdr --rounds 7 --json
    """
    from gangsaw.tasks.bench import benchmark, machine, sample_of, synthetic_sample

    cube, bits = sample_of(source) if source else synthetic_sample(opt.extents_of("--size", scene))
    found = benchmark(cube, bits, rounds=rounds, with_peers=peers)
    what = source or "synthetic"
    if as_json:
        rows = [result.to_dict() for result in found]
        write_json(
            {
                "data": what,
                "shape": cube.shape,
                "dtype": cube.dtype.name,
                "bit_depth": bits,
                "rounds": rounds,
                "machine": machine(),
                "results": rows,
            }
        )
        return
    shape = " x ".join(map(str, cube.shape))
    title = f"{what}: {shape} {cube.dtype.name}, {size(cube.nbytes)}, D={bits}"
    headers = ("codec", "bits/sample", "ratio", "encode Ms/s", "decode Ms/s")
    write_table(title, [result.row() for result in found], headers)
