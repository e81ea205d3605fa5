"""Text files as a format of the format table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gangsaw.tasks.compressed_text.names import PACKED, is_called
from gangsaw.tasks.formats.contract.format import (
    ExportOptions,
    Fit,
    Format,
    Look,
    Paths,
    SourceOptions,
    Sure,
    Work,
)
from gangsaw.tasks.formats.contract.table import formats
from gangsaw.tasks.text.text_detection import NAMES, is_text, read_start

if TYPE_CHECKING:
    from gangsaw.tasks.sources.source import Source
    from gangsaw.tasks.text.source import StreamedText, TextSource


def _sure(look: Look) -> Sure:
    """Return the confidence that a path is text, by its suffix, else by its content.

    A pipe may hold anything, so it is text only on request. Text with the suffix of another format
    is not text, but a mistake, such as an error page or a pointer to the file.
    """
    if look.is_folder or look.is_address or look.is_stream:
        return Sure.NO
    if is_called(look.path, NAMES, ("", *PACKED)):
        return Sure.PERHAPS
    is_of_others = any(look.suffix in kind.suffixes for kind in formats().values())
    return Sure.ELSE if not is_of_others and is_text(read_start(look.path)) else Sure.NO


def _open(paths: Paths, options: SourceOptions) -> TextSource | StreamedText:
    from gangsaw.tasks.text.source import open_text

    return open_text(paths[0], is_named=options.format is not None)


def _fit(source: Source) -> Fit:
    from gangsaw.tasks.text.export import fit_text

    return fit_text(source)


def _export(source: Source, paths: Paths, options: ExportOptions, work: Work) -> None:
    from gangsaw.tasks.text.export import export_text

    export_text(source, paths, work)


TEXT = Format(
    name="text",
    title="text",
    about="any file of bytes, to the byte: logs, tables, sources; or a stream",
    sure=_sure,
    open=_open,
    export=_export,
    suffixes=(*NAMES, *PACKED),
    fit=_fit,
    damaged=("fill", "skip"),
    streams=True,
    writes_streams=True,
)
