"""Options that several commands share, and parsers of their values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import extents
from gangsaw.tasks.console import choices
from gangsaw.tasks.console.choices import choice
from gangsaw.tasks.console.table_options import CODEC
from gangsaw.tasks.formats.contract import table
from gangsaw.tasks.store.damage import MODES

if TYPE_CHECKING:
    from typer.models import OptionInfo

CLUSTER, SOURCE = "Cluster", "Source"


def workers(default: str) -> OptionInfo:
    """Return the command line option --workers, with a description of its default."""
    info: OptionInfo = typer.Option(
        "--workers",
        min=0,
        help="Number of workers: processes on this machine, batch jobs, pods or hosts; 0 works in "
        "this process. "
        f"(default: {default})",
        show_default=False,
        rich_help_panel=CLUSTER,
    )
    return info


Workers = Annotated[int | None, workers("one per core")]
FewWorkers = Annotated[int | None, workers("0")]
TwoWorkers = Annotated[int | None, workers("2")]
Threads = Annotated[
    int,
    typer.Option(
        min=0,
        help="Threads of each worker; 0 divides the cores among the workers.",
        rich_help_panel=CLUSTER,
    ),
]
Scheduler = Annotated[
    str,
    typer.Option(
        help="Address of a running Dask scheduler, as --cluster tcp://HOST:8786.",
        rich_help_panel=CLUSTER,
    ),
]
Device = Annotated[
    str,
    choice(
        of=choices.DEVICES,
        help="gpu: start one worker per GPU, or use the CPU and GPU workers of a scheduler.",
        panel=CLUSTER,
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Show no progress: neither a bar nor a line a minute.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
DryRun = Annotated[
    bool,
    typer.Option("--dry-run", help="Run all checks and report what would be done; write nothing."),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted job.")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help=("Replace an existing target; the old one stays until the new one is complete."),
    ),
]
AcceptExportLoss = Annotated[
    bool,
    typer.Option(
        "--accept-loss", help="Leave out items that the format cannot hold, and list them."
    ),
]
Damaged = Annotated[
    str,
    choice(
        of=MODES,
        help="With damaged blocks: fail and list them, fill samples, skip records.",
    ),
]
DamagedValue = Annotated[
    str | None,
    typer.Option(
        help="Value for samples of damaged blocks. (default: fill value of the array)",
        metavar="NUMBER",
        show_default=False,
    ),
]
SourceFormat = Annotated[
    str | None,
    choice(
        "--format",
        of=sorted(kind.name for kind in table.readable()),
        help="Format of the source:",
        panel=SOURCE,
        default="by content",
    ),
]
TargetFormat = Annotated[
    str | None,
    choice(
        "--format",
        of=sorted(kind.name for kind in table.writable()),
        help="Format of the target:",
        default="by suffix",
    ),
]
Variable = Annotated[
    list[str] | None,
    typer.Option(
        help="Name of an array to use; repeatable. (default: all)",
        show_default=False,
        rich_help_panel=SOURCE,
    ),
]
Group = Annotated[
    str,
    typer.Option(
        help="Group of a Zarr store or HDF5 file; DATA_DESC_ID of a MeasurementSet.",
        rich_help_panel=SOURCE,
    ),
]
AcceptLoss = Annotated[
    bool,
    typer.Option(
        "--accept-loss",
        help=(
            "Leave out items that cannot be stored, and list them; without it such a "
            "source is refused."
        ),
        rich_help_panel=SOURCE,
    ),
]

Codec = Annotated[
    str,
    choice(
        of=choices.codecs(),
        help="auto chooses by content:",
        panel=CODEC,
        others=choices.is_codec,
    ),
]
Chunks = Annotated[
    str | None,
    typer.Option(
        help="Chunk shape: 198,256,256 or y=256,x=256; -1 is the whole axis.",
        rich_help_panel=CODEC,
    ),
]
Block = Annotated[
    str | None,
    typer.Option(
        help="Block shape in the order of the codec's parameter block: z,y,x for an image.",
        rich_help_panel=CODEC,
    ),
]
Param = Annotated[
    list[str] | None,
    typer.Option(
        help="Codec parameter NAME=VALUE, such as scale=10000; repeatable.",
        metavar="NAME=VALUE",
        rich_help_panel=CODEC,
        autocompletion=choices.parameters,
    ),
]
ParamsFile = Annotated[
    Path | None, typer.Option(help="JSON file of codec parameters.", rich_help_panel=CODEC)
]


def extents_of(option: str, text: str) -> tuple[int, ...]:
    """Parse extents such as "198,256,256"; raise BadParams for other text, naming the option."""
    try:
        return extents(text)
    except ValueError as error:
        raise BadParams(f"{option} cannot be {text!r}: {error}") from None


def chunks_of(text: str | None) -> tuple[int, ...] | dict[str, int] | None:
    """Parse chunk extents such as "198,256,256" or "y=256,x=256"; None gives None."""
    if text is None or "=" not in text:
        return None if text is None else extents_of("--chunks", text)
    try:
        pairs = (part.split("=") for part in text.split(","))
        return {name.strip(): int(extent) for name, extent in pairs}
    except ValueError:
        raise BadParams(f"--chunks must be such as y=256,x=256, got {text!r}") from None


def params_of(pairs: Sequence[str] | None, file: Path | None) -> dict[str, object]:
    """Return codec parameters from the JSON file, overridden by each NAME=VALUE of the pairs."""
    params = {} if file is None else _params_file(file)
    for pair in pairs or ():
        name, equals, value = pair.partition("=")
        if not equals:
            raise BadParams(f"--param must be NAME=VALUE such as mode=full, got {pair!r}")
        params[name.strip().replace("-", "_")] = _value(value)
    return params


def _params_file(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadParams(f"{file}: no such file") from None
    except IsADirectoryError:
        raise BadParams(f"{file} is a folder: --params needs a JSON file") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise BadParams(f"{file} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise BadParams(f"{file} must hold a JSON object of parameters")
    return found


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
