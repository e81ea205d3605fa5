"""Command `gangsaw stream`: stand-alone CCSDS-123 files, compatible with other implementations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gangsaw.codecs.core.errors import BadParams, ChunkError
from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.choices import choice

app = typer.Typer(
    help="Read and write stand-alone CCSDS-123 files.\n\n"
    "Example: gangsaw stream decode scene.c123 scene.hdr",
)
app.info.rich_help_panel = "Images"  # group of the command in `gangsaw --help`

BitDepth = Annotated[
    str | None,
    typer.Option(
        help="Bits per sample, or auto to scan. (default: the dtype's)", show_default=False
    ),
]


@app.command()
def decode(
    source: Annotated[Path, typer.Argument(help="CCSDS-123 file with its header.")],
    target: Annotated[Path, typer.Argument(help="ENVI header or data file to write.")],
    interleave: Annotated[
        str, choice(of=("bsq", "bil", "bip"), help="Order of the axes of the ENVI file.")
    ] = "bsq",
    byte_order: Annotated[
        str, choice(of=("little", "big"), help="Byte order of the samples in the ENVI file.")
    ] = "little",
    max_bytes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Maximum number of bytes of decoded samples, which are in memory. (default: 2^30)"
            ),
            show_default=False,
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
) -> None:
    """Decode a CCSDS-123 file into an ENVI image; signed samples of 8 bits become 16-bit ones.

    Example: gangsaw stream decode image.c123 image.hdr
    """
    from gangsaw.codecs.ccsds123 import decode_stream
    from gangsaw.codecs.ccsds123.stream import MAX_BYTES
    from gangsaw.tasks.formats.envi.export import EnviLayout, export_envi
    from gangsaw.tasks.formats.flat.memory_array import MemoryArray

    try:
        cube, _ = decode_stream(_read(source), max_bytes=max_bytes or MAX_BYTES)
    except ChunkError as error:
        raise error.at(store=str(source)) from None
    if cube.dtype == "int8":  # ENVI has no int8
        cube = cube.astype("int16")
    image = MemoryArray(cube, ("band", "y", "x"))
    export_envi(image, (), target, EnviLayout(interleave, byte_order), overwrite=overwrite)


@app.command()
def encode(
    source: Annotated[
        str, typer.Argument(help="ENVI header, or another source with one integer array.")
    ],
    target: Annotated[Path, typer.Argument(help="CCSDS-123 file to write.")],
    params: opt.ParamsFile = None,
    param: opt.Param = None,
    bit_depth: BitDepth = None,
    overwrite: opt.Overwrite = False,
) -> None:
    """Encode an image into one CCSDS-123 file; the whole image is held in memory.

    Example: gangsaw stream encode image.hdr image.c123 --params issue1.json
    """
    from gangsaw.codecs.ccsds123 import encode_stream
    from gangsaw.codecs.ccsds123.params import Params
    from gangsaw.codecs.ccsds123.selection import CAPABILITIES, read_depth
    from gangsaw.codecs.ccsds123.selection import bit_depth as find_depth
    from gangsaw.tasks.formats.contract.axes import image_dims
    from gangsaw.tasks.formats.contract.opening import open_source
    from gangsaw.tasks.formats.exporting.atomic import write_whole_files
    from gangsaw.tasks.jobs.choice.choose import facts_of, refuse

    arrays = open_source(source).arrays
    if len(arrays) != 1:
        raise BadParams(f"{source} holds {len(arrays)} arrays; a stream is one image")
    (image,) = arrays
    facts = facts_of(image)
    refuse("gangsaw.ccsds123", CAPABILITIES, facts, image)
    chosen = opt.params_of(param, params)
    if bit_depth is not None:
        chosen["bit_depth"] = find_depth(facts, read_depth(bit_depth))
    settings = Params.from_dict(chosen)
    band, y, x = image_dims(image)
    samples = image.read(tuple(slice(0, n) for n in image.shape))
    order = [image.dims.index(name) for name in (band, y, x) if name is not None]
    cube = samples.transpose(order).reshape(_cube_shape(samples.shape, order))
    with write_whole_files([target], overwrite=overwrite) as (part,):
        part.write_bytes(encode_stream(cube, settings))


def _cube_shape(shape: tuple[int, ...], order: list[int]) -> tuple[int, ...]:
    """Return the shape (bands, rows, columns) of an image; one of two axes has one band."""
    return (1,) * (3 - len(order)) + tuple(shape[axis] for axis in order)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise BadParams(f"{path}: no such file") from None
    except IsADirectoryError:
        raise BadParams(f"{path} is a folder: name a CCSDS-123 file") from None
