"""gangsaw bench."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import DEVICES, choice
from gangsaw.tasks.console.output import print_table, size, write_json

if TYPE_CHECKING:
    from gangsaw.tasks.formats.flat.memory_array import MemoryArray


def bench(
    source: Annotated[
        str | None,
        typer.Argument(help="Scene to measure. (default: a synthetic one)", show_default=False),
    ] = None,
    scene: Annotated[
        str | None,
        typer.Option(
            "--size",
            help="bands,rows,columns of the synthetic scene. (default: 64,256,256; on a GPU "
            "224,512,614)",
            show_default=False,
        ),
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help="Number of rounds; the table has their medians.")
    ] = 5,
    device: Annotated[
        str,
        choice(of=DEVICES, help="gpu: measure kernels, copies and upper bounds instead of peers."),
    ] = "cpu",
    peers: Annotated[
        bool, typer.Option(help="Measure other compressors that are installed.")
    ] = True,
    as_json: opt.Json = False,
) -> None:
    """Compare codecs with their peers, each on one thread, on your scene or a synthetic one.

    Example: gangsaw bench scene.hdr --rounds 7 --json
    """
    from gangsaw.codecs.core.errors import BadParams
    from gangsaw.tasks.bench.data import sample_of, synthetic_sample
    from gangsaw.tasks.bench.host import benchmark
    from gangsaw.tasks.bench.table import machine
    from gangsaw.tasks.jobs.chunks.device import require_device

    require_device(device)
    if source and scene is not None:
        raise BadParams(f"--size is of a synthetic scene: it does not go with {source}")
    extents = None if scene is None else opt.extents_of("--size", scene)
    sample = sample_of(source) if source else synthetic_sample(extents, device)
    cube, what = sample.values, source or "synthetic"
    if device == "gpu":
        _bench_gpu(what, sample, rounds, as_json)
        return
    found = benchmark(cube, sample.dims, rounds=rounds, with_peers=peers)
    if as_json:
        rows = [result.to_dict() for result in found]
        write_json(
            {
                "data": what,
                "shape": cube.shape,
                "dtype": cube.dtype.name,
                "rounds": rounds,
                "machine": machine(),
                "results": rows,
            }
        )
        return
    shape = " x ".join(map(str, cube.shape))
    title = f"{what}: {shape} {cube.dtype.name}, {size(cube.nbytes)}"
    headers = ("codec", "bits/sample", "ratio", "encode Ms/s", "decode Ms/s")
    print_table(title, [result.row() for result in found], headers)


def _bench_gpu(what: str, sample: MemoryArray, rounds: int, as_json: bool) -> None:
    from gangsaw.tasks.bench.device import Workbench, device_figures, device_machine

    found = list(device_figures(Workbench(sample, rounds)))
    about = device_machine()
    if as_json:
        rows = [vars(figure) for figure in found]
        write_json({"data": what, "shape": sample.shape, "machine": about, "results": rows})
        return
    title = (
        f"{what}: {' x '.join(map(str, sample.shape))} {sample.dtype.name}, on {about['device']}"
    )
    print_table(title, [figure.row() for figure in found], ("what", "measured", "asked", "remark"))
