"""`gangsaw info` output for a store of text."""

from __future__ import annotations

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.figures.contents import Content
from gangsaw.tasks.jobs.figures.report import StoreInfo
from gangsaw.tasks.text.info import TextInfo


def read_text_content(info: StoreInfo) -> Content:
    """Return the description of a text store for `gangsaw info`.

    Raises BadParams if its attribute is invalid.
    """
    text = TextInfo.from_attrs(info.source.attrs)
    if text is None:
        raise BadParams(f"{info.store} holds no text")
    n = sum(array.shape[0] for array in info.source.arrays)
    stored = sum(array.stored_bytes for array in info.arrays)
    bits = 8 * stored / max(1, n)
    figures = {"bytes": n, "stored_bytes": stored, "bits_per_byte": bits, **text.to_dict()}
    rows = (
        ("bytes", f"{n:,}"),
        ("encoding", f"{text.encoding}, as it begins"),
        ("line ends", text.line_ends),
        ("bits/byte", f"{bits:.3f}"),
    )
    return Content("text", rows, figures)
