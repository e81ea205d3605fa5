"""Option groups as dataclasses: source, target, codec, overwriting, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.table_options import CODEC

if TYPE_CHECKING:
    from gangsaw.tasks.formats.contract.format import ExportOptions, SourceOptions
    from gangsaw.tasks.jobs.choice.recipe import Recipe


@dataclass(frozen=True)
class StoreSource:
    """Command line options for reading a Zarr store."""

    PANEL: ClassVar[str] = opt.SOURCE
    variable: opt.Variable = None
    group: opt.Group = ""

    def options(self) -> SourceOptions:
        """Return the options for opening the store."""
        from gangsaw.tasks.formats.contract.format import SourceOptions

        return SourceOptions(tuple(self.variable or ()), self.group)


@dataclass(frozen=True)
class AnySource:
    """Command line options for opening a source of any format."""

    PANEL: ClassVar[str] = opt.SOURCE
    format_: opt.SourceFormat = None
    variable: opt.Variable = None
    group: opt.Group = ""
    accept_loss: opt.AcceptLoss = False

    def options(self, own: Mapping[str, str]) -> SourceOptions:
        """Return the options for opening the source; `own` are those of its format, by name."""
        from gangsaw.tasks.formats.contract.format import SourceOptions

        return SourceOptions(
            variables=tuple(self.variable or ()),
            group=self.group,
            format=self.format_,
            accept_loss=self.accept_loss,
            own=own,
        )


@dataclass(frozen=True)
class TargetChoice:
    """Command line options for writing a target, and for the treatment of damaged blocks."""

    format_: opt.TargetFormat = None
    damaged: opt.Damaged = "fail"
    damaged_value: opt.DamagedValue = None

    def options(self, own: Mapping[str, str]) -> ExportOptions:
        """Return the options for writing the target; `own` are those of its format, by name."""
        from gangsaw.tasks.formats.contract.format import ExportOptions

        return ExportOptions(self.format_, own)


@dataclass(frozen=True)
class ExistingTarget:
    """Command line options for a target that exists: resume or overwrite."""

    resume: opt.Resume = False
    overwrite: opt.Overwrite = False


@dataclass(frozen=True)
class OutputOptions:
    """Command line options for the output: JSON, or no progress."""

    as_json: opt.Json = False
    quiet: opt.Quiet = False

    @property
    def no_bar(self) -> bool:
        """True if no progress is shown."""
        return self.quiet or self.as_json


@dataclass(frozen=True)
class Encoding:
    """Command line options for codec, parameters and chunks.

    Options of single codecs come from the codec table.
    """

    PANEL: ClassVar[str] = CODEC
    codec: opt.Codec = "auto"
    chunks: opt.Chunks = None
    block: opt.Block = None
    param: opt.Param = None
    params: opt.ParamsFile = None

    def recipe(self, options: Mapping[str, str]) -> Recipe:
        """Return the recipe, including options of codecs; raise BadParams for invalid values."""
        from gangsaw.tasks.jobs.choice.recipe import Recipe

        return Recipe(
            codec=self.codec,
            params=opt.params_of(self.param, self.params),
            block=None if self.block is None else opt.extents_of("--block", self.block),
            options=options,
            chunks=opt.chunks_of(self.chunks),
        )
