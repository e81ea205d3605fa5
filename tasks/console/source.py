"""The panels of options for what a command reads, and for how an array is encoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gangsaw.tasks.console import options as opt
from gangsaw.tasks.console.codec_options import CODEC

if TYPE_CHECKING:
    from gangsaw.tasks.formats.format import SourceOptions


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
    shape: opt.Shape = None
    dtype: opt.Dtype = None
    interleave: opt.Interleave = None
    byte_order: opt.ByteOrder = None
    offset: opt.Offset = None

    def options(self) -> SourceOptions:
        """Return the options for opening it; BadParams for a shape that is none."""
        from gangsaw.tasks.formats.format import SourceOptions

        return SourceOptions(
            variables=tuple(self.variable or ()),
            group=self.group,
            shape=None if self.shape is None else opt.extents_of("--shape", self.shape),
            dtype=self.dtype,
            interleave=self.interleave,
            byte_order=self.byte_order,
            offset=self.offset,
            format=self.format_,
        )


@dataclass(frozen=True)
class Encoding:
    """The codec, its parameters and the chunks; options of single codecs come from the table."""

    PANEL: ClassVar[str] = CODEC
    codec: opt.Codec = "auto"
    chunks: opt.Chunks = None
    block: opt.Block = None
    param: opt.Param = None
    params: opt.ParamsFile = None

    def settings(self) -> Mapping[str, Any]:
        """Return what `tasks.api.compress` takes of it; BadParams for texts that say nothing."""
        return {
            "codec": self.codec,
            "chunks": opt.chunks_of(self.chunks),
            "block": None if self.block is None else opt.extents_of("--block", self.block),
            "params": opt.params_of(self.param, self.params),
        }
