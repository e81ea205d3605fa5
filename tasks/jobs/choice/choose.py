"""Choice of codec and chunks for an array, by the capabilities of all codecs of the table.

Arrays that suit no codec are stored with Zstandard.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np
from numcodecs import Blosc, Zstd
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import ZstdCodec
from zarr.registry import get_codec_class

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.arrays import Dtype, NumpyArray
from gangsaw.codecs.core.errors import BadParams, GangsawError
from gangsaw.codecs.core.plugins import selection
from gangsaw.codecs.core.plugins.contents import CONTENT, TEXT
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Capabilities, Extents, Grade
from gangsaw.codecs.core.zarr.block_codec import BlockCodec
from gangsaw.tasks.jobs.choice.extremes import find_extremes, first_nan
from gangsaw.tasks.sources.source import Description, SourceArray
from gangsaw.tasks.store.arrays.layout import (
    ArrayLayout,
    ChunkChoice,
    Codec,
    CodecChoices,
    check_source_overlaps,
    resolve_chunks,
)
from gangsaw.tasks.store.dataset.carried import is_carried
from gangsaw.tasks.store.dataset.texts import encode_texts, item_bytes

if TYPE_CHECKING:
    from distributed import Client
    from zarr.core.common import JSON

SAMPLE_BYTES = 1 << 20  # upper bound of the sample read from an array: 1 MiB costs little time
CUBE = 64  # items along an axis of a sample: enough to see along which axis it is smooth
SAMPLE_CHUNKS = 1024  # upper bound of the source chunks that a sample touches: each may be a file
GENERAL_LEVEL = 3
GENERAL_CODEC = ZstdCodec(level=GENERAL_LEVEL)  # for arrays that suit no codec
FILTERS = "shuffle", "bitshuffle"  # Blosc filters of numbers; the shorter sample decides
FILTER_LEVEL = 5
LEAST_FILTERED = 1 << 16  # bytes of an array: a smaller one, such as a coordinate, shows little
FILTER_GAIN = 0.95  # a smaller gain does not justify a codec that fewer readers support
NUMBERS = "biufmM"  # kinds of dtypes
MOST_NAMED = 5  # arrays in a note
WIDE = 4  # bytes: integers as wide may be labels and counts, besides image samples


@dataclass(frozen=True)
class Choice:
    """Codec chosen for an array: one of Gangsaw's codec table, or one of Zarr's own.

    Attributes
    ----------
    name : Zarr name of the table's codec; if `plain` is used, of the codec that proposed it
    plain : Zarr's own codec to use instead, or None
    inner : Zarr name of the array codec inside a byte codec; all parameters belong to it
    """

    name: str | None
    plain: Codec | None = None
    inner: str | None = None

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the array's codec."""
        return Capabilities() if self.name is None else codec_table.capabilities()[self.name]

    @property
    def coded_by(self) -> str | None:
        """Name of the codec that takes the user's parameters and options."""
        return self.inner or self.name

    @property
    def coding(self) -> Capabilities:
        """Capabilities of the codec `coded_by`."""
        return codec_table.capabilities()[self.coded_by] if self.coded_by else Capabilities()


def facts_of_all(arrays: Iterable[Description], client: Client | None = None) -> list[ArrayFacts]:
    """Return the facts about each array for codec selection, with links to the source's others."""
    return [*selection.SourceArrays(facts_of(array, client) for array in arrays)]


def facts_of(array: Description, client: Client | None = None) -> ArrayFacts:
    """Return the description of a single array from which codecs judge if they suit it."""
    facts = ArrayFacts(array.name, array.shape, array.dtype, array.dims, array.attrs)
    facts = replace(facts, fill_value=array.fill_value)
    if not isinstance(array, SourceArray) or 0 in array.shape:
        return facts
    if array.dtype.kind == "T":
        letters = lru_cache(lambda: encode_texts(_sample(array)))
        return replace(
            facts,
            sample=letters,
            general_bytes=lru_cache(lambda: _general_bytes(letters())),
        )
    sample, cube = lru_cache(partial(_sample, array)), lru_cache(partial(_cube, array))
    extremes = lru_cache(partial(find_extremes, array, client=client))
    return replace(
        facts,
        sample=sample,
        cube=cube,
        extremes=extremes,
        general_bytes=lru_cache(lambda: _general_bytes(sample())),
    )


def choose_layouts(
    arrays: Sequence[Description], codec: CodecChoices, chunks: ChunkChoice
) -> dict[str, ArrayLayout]:
    """Choose codec and chunks of each array of a source, by name; see `choose_layout`."""
    pairs = zip(arrays, facts_of_all(arrays), strict=True)
    return {one.name: choose_layout(one, codec, chunks, facts) for one, facts in pairs}


def choose_layout(
    source: Description,
    codec: CodecChoices,
    chunks: ChunkChoice,
    facts: ArrayFacts | None = None,
) -> ArrayLayout:
    """Choose codec and chunks of an array; raise BadParams for chunks that do not fit it."""
    chosen = codec[source.name] if isinstance(codec, Mapping) else codec
    facts = facts or facts_of(source)
    if isinstance(chosen, str):
        if chosen not in ("auto", "none"):
            raise BadParams(f"codec must be a Zarr codec, 'auto' or 'none', got {chosen!r}")
        choice = choose_by_content(facts)
        extents = choose_chunks(source, chunks, facts, choice.name)
        return ArrayLayout(
            extents, configure_codec(choice, facts, extents) if chosen == "auto" else None
        )
    if source.dtype.kind == "T" and isinstance(chosen, BlockCodec):
        choice = _choose_inner(chosen.codec_name, facts)
        extents = choose_chunks(source, chunks, facts, choice.name)
        changes = chosen.params.to_dict() if choice.inner == chosen.codec_name else {}
        return ArrayLayout(extents, configure_codec(choice, facts, extents, changes))
    return ArrayLayout(
        choose_chunks(source, chunks, facts, getattr(chosen, "codec_name", None)), chosen
    )


def choose_chunks(
    source: Description, chunks: ChunkChoice, array: ArrayFacts, name: str | None
) -> Extents:
    """Return the extents of a chunk: those requested, or those that the codec `name` prefers.

    If the codec has no preference, the codec that suits the content best decides. Raises BadParams
    for chunks that do not fit the array or the chunks of its source.
    """
    least = codec_table.capabilities().get(name or "", Capabilities()).least_chunks(array)
    if least is None:
        least = choose_by_content(array).capabilities.least_chunks(array)
    extents = resolve_chunks(source, chunks, least)
    check_source_overlaps(source, extents)
    return extents


def choose_by_content(array: ArrayFacts) -> Choice:
    """Return the codec that suits the array best, by the capabilities of all codecs.

    Codecs that the format of the source names come first, then codecs proven on a sample. The next
    are codecs proposed for companions of a codec's own arrays, then codecs for the dtype and axes.
    Codecs of equal grade encode a sample, and the smallest result wins.
    """
    if is_carried(array.attrs):  # bytes of tables and texts: no codec suits their axes
        return Choice(None, GENERAL_CODEC)
    grades = {name: grade(name, array) for name in _candidates(array)}
    best = max(grades.values(), default=Grade.REFUSE)
    if best < Grade.PROVEN:
        for name in grades:
            if (plain := codec_table.query_codec(name, lambda a: a.companion(array))) is not None:
                return Choice(name, _plain(plain))
    if best < Grade.GENERAL:
        return Choice(None, _general(array))
    chosen = _smallest([name for name in grades if grades[name] == best], array)
    if best == Grade.GENERAL and _is_shorter_plain(chosen, array):
        return Choice(None, _general(array))
    return Choice(chosen, inner=codec_table.query_codec(chosen, lambda a: a.inner(array)))


def _candidates(array: ArrayFacts) -> list[str]:
    """Return the names of the codecs that may suit an array: for strings the byte codecs.

    Strings have serializers of Zarr's own, which only byte codecs can follow.
    """
    of_bytes, is_text = codec_table.bytes_table(), array.dtype.kind == "T"
    return [name for name in codec_table.capabilities() if (name in of_bytes) == is_text]


def choose_named(name: str, array: ArrayFacts, source: SourceArray) -> Choice:
    """Return the requested codec, or the best one for an array that the codec does not handle.

    Raises BadParams if the codec cannot be imported or cannot encode the array.
    """
    answer = codec_table.capabilities_of(name)
    if answer.is_aside(array):
        return choose_by_content(array)
    if array.dtype.kind == "T":
        return _choose_inner(name, array)
    refuse(name, answer, array, source)
    return Choice(name)


def _choose_inner(name: str, array: ArrayFacts) -> Choice:
    """Return the requested byte codec, or a byte codec around the requested array codec.

    Texts accompany other arrays. If the requested codec is not made for text, the best codec for
    the array is returned.
    """
    if name in codec_table.bytes_table():
        return Choice(name, inner=codec_table.query_codec(name, lambda a: a.inner(array)))
    letters = ArrayFacts(array.name, (1,), np.dtype("u1"), ("letter",), {CONTENT: TEXT})
    if grade(name, letters) == Grade.MADE_FOR:
        for outer in _candidates(array):
            if codec_table.query_codec(outer, lambda a: a.inner(array)) is not None:
                return Choice(outer, inner=name)
    return choose_by_content(array)


def grade(name: str, array: ArrayFacts) -> Grade:
    """Return the grade of suitability of a codec for an array; REFUSE if its plugin fails."""

    def of(answer: Capabilities) -> Grade:
        return Grade.REFUSE if answer.refusal(array) is not None else Grade(answer.grade(array))

    return codec_table.query_codec(name, of) or Grade.REFUSE


def refuse(name: str, answer: Capabilities, array: ArrayFacts, source: SourceArray) -> None:
    """Raise BadParams if the codec cannot encode the array; name the first NaN of floats."""
    if (refusal := answer.refusal(array)) is None:
        return
    nan = first_nan(source) if array.dtype.kind == "f" else None
    place = f" and NaN at {nan}" if nan is not None else ""
    raise BadParams(f"{array.name} {refusal.found}{place}, {name} {refusal.takes}")


def configure_codec(
    choice: Choice,
    array: ArrayFacts,
    chunks: Extents,
    params: Mapping[str, object] | None = None,
    options: Mapping[str, object] | None = None,
) -> Codec:
    """Return the codec for these chunks; the user's parameters and options override its own.

    Zarr's own codecs take neither. Raises BadParams for unknown parameters and wrong values.
    """
    if choice.plain is not None:
        return choice.plain
    assert choice.name is not None
    answer, wanted = choice.coding, options or {}
    given = {o.name: o.value(wanted[o.name]) for o in answer.options if o.name in wanted}
    changes = {**answer.parameters(array, chunks), **(params or {}), **answer.settled(array, given)}
    kind = codec_table.named_class(choice.name)
    if choice.inner is not None:
        changes = {"inner": {"name": choice.inner, "configuration": changes}}
    settings = cast("JSON", changes)
    return cast("Codec", kind.from_dict({"name": choice.name, "configuration": settings}))


def wide_notes(
    arrays: Iterable[SourceArray], layouts: Mapping[str, ArrayLayout]
) -> tuple[str, ...]:
    """Return notes for the user on 64-bit integer arrays that Zarr's own codecs store."""
    wide = defaultdict[str, list[str]](list)
    for array in arrays:
        is_wide = array.dtype.kind in "iu" and array.dtype.itemsize > WIDE and len(array.shape) > 1
        codec = layouts[array.name].codec
        if is_wide and isinstance(codec, BytesBytesCodec) and not is_carried(array.attrs):
            wide[str(codec.to_dict()["name"])].append(array.name)
    return tuple(
        f"integers of 64 bits, stored by Zarr's own {codec}: {_shorten(names)}"
        for codec, names in wide.items()
    )


def _shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _plain(configuration: Mapping[str, object]) -> Codec:
    kind = get_codec_class(str(configuration["name"]))
    return cast("Codec", kind.from_dict(cast("dict[str, JSON]", dict(configuration))))


def _smallest(names: Sequence[str], array: ArrayFacts) -> str:
    """Return the codec with the smallest encoding of a sample; the first one without a sample."""
    usable = [name for name in names if len(names) == 1 or codec_table.is_usable(name)] or names
    sample = array.sample() if len(usable) > 1 and array.sample is not None else None
    if sample is None:
        return usable[0]
    return min(usable, key=lambda name: _trial(name, array, sample))


def _trial(name: str, array: ArrayFacts, sample: NumpyArray) -> float:
    """Return the encoded size of a sample in bytes by the named codec; infinity if that fails."""
    part = replace(array, shape=sample.shape)
    try:
        codec = cast("BlockCodec", configure_codec(Choice(name), part, sample.shape))
        return len(codec.encode_chunk(sample))
    except GangsawError:
        return np.inf


def _is_shorter_plain(name: str, array: ArrayFacts) -> bool:
    """Return True if Zarr's own codecs encode a sample of wide integers shorter than `name`."""
    is_wide = array.dtype.kind in "iu" and array.dtype.itemsize >= WIDE
    if not is_wide or array.sample is None or array.general_bytes is None:
        return False
    if math.prod(array.shape) * array.dtype.itemsize < LEAST_FILTERED:
        return False
    return array.general_bytes() <= FILTER_GAIN * _trial(name, array, array.sample())


def _general(array: ArrayFacts) -> Codec:
    """Return Zarr's own codec for an array; for numbers, the shortest encoding of a sample wins."""
    n_bytes = math.prod(array.shape) * array.dtype.itemsize
    if not _is_filtered(array.dtype) or array.sample is None or n_bytes < LEAST_FILTERED:
        return GENERAL_CODEC
    sizes = _plain_sizes(array.sample())
    filtered = min(FILTERS, key=lambda name: sizes[name])
    if sizes[filtered] > FILTER_GAIN * sizes[""]:
        return GENERAL_CODEC
    size = array.dtype.itemsize
    settings = {"typesize": size, "cname": "zstd", "clevel": FILTER_LEVEL, "shuffle": filtered}
    return _plain({"name": "blosc", "configuration": {**settings, "blocksize": 0}})


def _is_filtered(dtype: Dtype) -> bool:
    """Return True for dtypes that a shuffle filter may help: bool, and items of several bytes."""
    return dtype.kind == "b" or (dtype.kind in NUMBERS and dtype.itemsize > 1)


def _plain_sizes(sample: NumpyArray) -> dict[str, int]:
    """Return the encoded bytes of a sample of numbers by name of the shuffle filter; "" is none."""
    modes = {"shuffle": Blosc.SHUFFLE, "bitshuffle": Blosc.BITSHUFFLE}
    codecs = {name: Blosc("zstd", FILTER_LEVEL, modes[name]) for name in FILTERS}
    plain = np.ascontiguousarray(sample)
    plain = plain.view(f"V{plain.dtype.itemsize}") if plain.dtype.kind in "mM" else plain
    return {name: len(codec.encode(plain)) for name, codec in codecs.items()} | {
        "": len(Zstd(GENERAL_LEVEL).encode(plain))
    }


def _general_bytes(sample: NumpyArray) -> int:
    """Return the encoded bytes of a sample with the best of Zarr's own codecs."""
    if _is_filtered(sample.dtype):
        return min(_plain_sizes(sample).values())
    return len(Zstd(GENERAL_LEVEL).encode(sample))


def _sample(array: SourceArray) -> NumpyArray:
    """Return whole rows from the middle of an array, within SAMPLE_BYTES and SAMPLE_CHUNKS."""
    return _middle(array, array.shape)


def _cube(array: SourceArray) -> NumpyArray:
    """Return the middle of an array as a sample: at most CUBE items along its last three axes."""
    before = max(0, len(array.shape) - 3)
    return _middle(array, (1,) * before + (CUBE,) * (len(array.shape) - before))


def _middle(array: SourceArray, most: Sequence[int]) -> NumpyArray:
    """Return a sample from the middle of an array, within `most`, SAMPLE_BYTES and SAMPLE_CHUNKS.

    Parameters
    ----------
    most : upper bound of the extent along each axis
    """
    room, pieces = SAMPLE_BYTES // max(1, item_bytes(array)), SAMPLE_CHUNKS
    region = []
    axes = zip(array.shape, array.chunks or array.shape, most, strict=True)
    for n, chunk, limit in reversed(list(axes)):
        extent = max(1, min(n, limit, room, pieces * chunk))
        start = (n - extent) // 2
        if _touched(start, extent, chunk) > pieces:
            start -= start % chunk
        room //= extent
        pieces //= _touched(start, extent, chunk)
        region.append(slice(start, start + extent))
    return np.ascontiguousarray(array.read(tuple(reversed(region))))


def _touched(start: int, extent: int, chunk: int) -> int:
    """Return the number of chunks that `extent` samples from `start` on touch along one axis."""
    return -(-(start + extent) // chunk) - start // chunk
