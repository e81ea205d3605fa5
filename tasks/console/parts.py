"""What commands read and write, how arrays are encoded, what is shown: options as dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.table_options import CODEC

if TYPE_CHECKING:
    from gangsaw.tasks.formats.format import ExportOptions, SourceOptions
    from gangsaw.tasks.jobs.choice.recipe import Recipe


@dataclass(frozen=True)
class StoreSource:
    """What is taken of a store."""

    PANEL: ClassVar[str] = opt.SOURCE
    variable: opt.Variable = None
    group: opt.Group = ""

    def options(self) -> SourceOptions:
        """Return the options for opening it."""
        from gangsaw.tasks.formats.format import SourceOptions

        return SourceOptions(tuple(self.variable or ()), self.group)


@dataclass(frozen=True)
class AnySource:
    """How a source of any format is opened."""

    PANEL: ClassVar[str] = opt.SOURCE
    format_: opt.SourceFormat = None
    variable: opt.Variable = None
    group: opt.Group = ""
    accept_loss: opt.AcceptLoss = False

    def options(self, own: Mapping[str, str]) -> SourceOptions:
        """Return the options for opening it, with the formats' own."""
        from gangsaw.tasks.formats.format import SourceOptions

        return SourceOptions(
            variables=tuple(self.variable or ()),
            group=self.group,
            format=self.format_,
            accept_loss=self.accept_loss,
            own=own,
        )


@dataclass(frozen=True)
class TargetChoice:
    """How a target is written in its format."""

    format_: opt.TargetFormat = None

    def options(self, own: Mapping[str, str]) -> ExportOptions:
        """Return the options for writing it, with the formats' own."""
        from gangsaw.tasks.formats.format import ExportOptions

        return ExportOptions(self.format_, own)


@dataclass(frozen=True)
class Again:
    """What may be done with a target that is there."""

    resume: opt.Resume = False
    overwrite: opt.Overwrite = False


@dataclass(frozen=True)
class Shown:
    """What a command prints."""

    as_json: opt.Json = False
    quiet: opt.Quiet = False

    @property
    def no_bar(self) -> bool:
        """Whether no progress is shown."""
        return self.quiet or self.as_json


@dataclass(frozen=True)
class Encoding:
    """The codec, its parameters and the chunks; options of single codecs come from the table."""

    PANEL: ClassVar[str] = CODEC
    codec: opt.Codec = "auto"
    chunks: opt.Chunks = None
    block: opt.Block = None
    param: opt.Param = None
    params: opt.ParamsFile = None

    def recipe(self, options: Mapping[str, str]) -> Recipe:
        """Return it with the options of codecs; BadParams for texts that say nothing."""
        from gangsaw.tasks.jobs.choice.recipe import Recipe

        return Recipe(
            codec=self.codec,
            params=opt.params_of(self.param, self.params),
            block=None if self.block is None else opt.extents_of("--block", self.block),
            options=options,
            chunks=opt.chunks_of(self.chunks),
        )
