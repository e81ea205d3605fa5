"""The automatic choices, frozen: a store that is written again tomorrow has the same layout.

Each source is a list of rows: name, axes, dtype and shape of an array; then what is chosen for it
beside the others: the codec with the parameters that differ from its defaults, and the chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs import Ccsds123
from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.jobs.choice.choose import choose_layout
from gangsaw.tasks.jobs.choice.recipe import Recipe
from gangsaw.tasks.sources.source import Described
from gangsaw.tasks.store.arrays.layout import ArrayLayout
from gangsaw.tasks.store.skeleton import build_objects

Extents = tuple[int, ...]
Row = tuple[str, str, str, Extents, str, Extents]
AXES = "time baseline_id frequency polarization"

BY_CONTENT: list[list[Row]] = [
    [
        (
            "data",
            "band y x",
            "u2",
            (224, 512, 614),
            "gangsaw.ccsds123 block=0,171,307",
            (224, 171, 307),
        ),
    ],
    [
        (
            "data",
            "y x band",
            "u2",
            (512, 614, 224),
            "gangsaw.ccsds123 block=0,171,307 axes=yxz",
            (171, 307, 224),
        ),
    ],
    [
        (
            "data",
            "y band x",
            ">i2",
            (512, 224, 614),
            "gangsaw.ccsds123 block=0,171,307 axes=yzx",
            (171, 224, 307),
        ),
    ],
    [
        (
            "data",
            "band y x",
            "u1",
            (3, 10000, 10000),
            "gangsaw.ccsds123 block=0,125,250",
            (3, 2000, 5000),
        ),
    ],
    [
        ("data", "band y x", "i4", (3000, 1000, 800), "gangsaw.ccsds123", (1000, 125, 200)),
    ],
    [
        ("data", "y x", "u2", (5000, 5000), "gangsaw.ccsds123 block=0,125,250", (2500, 5000)),
    ],
    [
        ("data", "y x", "i1", (100, 145), "gangsaw.ccsds123", (100, 145)),
    ],
    [
        (
            "data",
            "dim_0 dim_1 dim_2",
            "u4",
            (10, 349, 300),
            "gangsaw.ccsds123 block=0,117,300",
            (10, 349, 300),
        ),
    ],
    [
        (
            "data",
            "time band y x",
            "u2",
            (7, 50, 600, 600),
            "gangsaw.ccsds123 block=0,150,300",
            (1, 50, 300, 600),
        ),
    ],
    [
        (
            "series",
            "time y x",
            "u2",
            (70000, 4, 4),
            "gangsaw.ccsds123 block=35000,128,256",
            (70000, 4, 4),
        ),
    ],
    [
        ("data", "band y x", "f4", (50, 700, 700), "zstd level=3", (50, 234, 700)),
    ],
    [
        ("data", "band y x", "u8", (50, 700, 700), "zstd level=3", (50, 234, 350)),
    ],
    [
        ("data", "band y x", "bool", (5, 70, 70), "zstd level=3", (5, 70, 70)),
    ],
    [
        ("data", "x", "u1", (300000000,), "zstd level=3", (33333334,)),
    ],
    [
        ("data", "x", "u2", (30000000,), "zstd level=3", (15000000,)),
    ],
    [
        ("data", "time", "f8", (10000000,), "zstd level=3", (3333334,)),
    ],
    [
        ("data", "row", "i4", (100000,), "blosc 4 shuffle", (100000,)),
    ],
    [
        ("data", "x y", "c8", (4000, 5000), "gangsaw.visibility", (2000, 1667)),
    ],
    [
        ("data", "x", "c16", (50000000,), "gangsaw.visibility", (2083334,)),
    ],
    [
        ("vis", AXES, "c8", (600, 2016, 768, 4), "gangsaw.visibility axes=tbfb", (200, 18, 256, 4)),
        ("weight", AXES, "f4", (600, 2016, 768, 4), "blosc 4 shuffle", (300, 23, 256, 4)),
        ("flag", AXES, "bool", (600, 2016, 768, 4), "blosc 1 bitshuffle", (300, 37, 384, 4)),
        ("flag8", AXES, "u1", (600, 2016, 768, 4), "blosc 1 bitshuffle", (300, 37, 384, 4)),
        (
            "uvw",
            "time baseline_id uvw_label",
            "f8",
            (600, 2016, 3),
            "blosc 8 shuffle",
            (600, 2016, 3),
        ),
        ("antenna", "baseline_id", "i4", (2016,), "blosc 4 shuffle", (2016,)),
        (
            "scan",
            "time frequency",
            "i4",
            (600, 768),
            "gangsaw.ccsds123 block=0,120,256",
            (600, 768),
        ),
        ("gain", "time frequency", "f4", (600, 768), "zstd level=3", (600, 768)),
    ],
    [
        ("spectrum", "time freq", "c8", (3000, 4096), "gangsaw.visibility axes=tf", (1500, 2048)),
        ("mask", "time freq", "u1", (3000, 4096), "gangsaw.ccsds123 block=0,131,256", (3000, 4096)),
    ],
    [
        (
            "row_data",
            "row chan corr",
            "c8",
            (100000, 64, 4),
            "gangsaw.visibility axes=bfb",
            (14286, 64, 4),
        ),
        ("FLAG", "row chan corr", "u1", (100000, 64, 4), "blosc 1 bitshuffle", (100000, 64, 4)),
    ],
    [
        (
            "WEIGHT",
            "time baseline frequency",
            "f4",
            (300, 500, 100),
            "blosc 4 shuffle",
            (300, 250, 100),
        ),
    ],
]
NAMED_VISIBILITY: list[list[Row]] = [
    [("data", "band y x", "f4", (50, 700, 700), "gangsaw.visibility axes=bft", (50, 234, 700))],
    [("data", "time", "f8", (10000000,), "gangsaw.visibility axes=t", (3333334,))],
    [
        (
            "WEIGHT",
            "time baseline frequency",
            "f4",
            (300, 500, 100),
            "gangsaw.visibility axes=tbf",
            (300, 250, 100),
        )
    ],
]

WITH_COMPLEX = [rows for rows in BY_CONTENT if any(row[2].startswith("c") for row in rows)]
OF_IMAGES = [rows for rows in BY_CONTENT if all(row[4].startswith("gangsaw.cc") for row in rows)]
CHOICES = [
    *(("auto", rows) for rows in BY_CONTENT),
    *(("visibility", rows) for rows in NAMED_VISIBILITY + WITH_COMPLEX),
    *(("ccsds123", rows) for rows in OF_IMAGES),
]


@pytest.mark.parametrize(
    ("codec", "rows"), CHOICES, ids=[f"{c}-{r[0][1]}-{r[0][2]}" for c, r in CHOICES]
)
def test_what_is_chosen_stays(codec: str, rows: Sequence[Row]) -> None:
    source = Unread(tuple(described(*row[:4]) for row in rows))
    choices = Recipe(codec).codecs(source, None)  # type: ignore[arg-type]
    layouts = [choose_layout(array, choices, None) for array in source.arrays]  # type: ignore[arg-type]
    for array, layout in zip(source.arrays, layouts, strict=True):
        assert layout.peak_bytes(array) > 0  # the codec takes such chunks
    assert [(told(lay.codec), lay.chunks) for lay in layouts] == [row[4:] for row in rows]


SAID = {  # by a format of what an array holds
    "read sequences": ("u1", "gangsaw.reads"),
    "read qualities": ("u1", "gangsaw.reads kind=quality"),
    "read names": ("u1", "gangsaw.reads kind=name"),
    "line offsets": ("u8", "gangsaw.reads kind=offset"),
}


def test_a_format_says_that_an_array_holds_nucleotides() -> None:
    array = described("genome", "place", "u1", (1 << 27,))
    assert chosen(replace(array, attrs={"gangsaw_content": "nucleotides"})) == "gangsaw.dna"


@pytest.mark.parametrize("content", SAID)
def test_a_format_says_what_arrays_of_reads_hold(content: str) -> None:
    dtype, codec = SAID[content]
    array = described("lines", "place", dtype, (1 << 27,))
    assert chosen(replace(array, attrs={"gangsaw_content": content})).startswith(codec)
    mates = replace(array, attrs={"gangsaw_content": content, "pairs": True})
    assert chosen(mates) == f"{codec} pairs=True"


LINES = {  # plain bytes, and the codec that their sample is for; another may be for other text
    "reads": (b"ACGTTGCANNACGTAGCA\n" * 90, "gangsaw.reads"),
    "genome": (b"ACGTTGCANNACGTAGCA" * 90, "gangsaw.dna"),
    "few-lines": (b"ACGTTGCANNACGTAGCA\n" * 9, ""),
    "log": (b"12:07 GATTACA starts; ACGT done\n" * 90, ""),
    "newlines": (b"\n" * 900, ""),
    "numbers": (bytes(range(256)) * 9, ""),
}


@pytest.mark.parametrize("name", LINES)
def test_nucleotides_are_known_by_a_sample(name: str) -> None:
    text, codec = LINES[name]
    values = np.frombuffer(text, np.uint8)
    for dims in ("place", "lines"):  # an axis with the array's name makes it no other content
        plain = described("lines", dims, "u1", values.shape)
        found = chosen(Held(**vars(plain), values=values))
        assert found == codec or (not codec and found not in ("gangsaw.reads", "gangsaw.dna"))


def steps_of_bytes() -> bytes:
    """Bytes that follow from the one before, mostly: no text."""
    rng, found = np.random.default_rng(5), [0]
    for other in rng.integers(128, 256, 8000).tolist():
        found.append(128 + found[-1] * 7 % 97 if other > 140 else other)
    return bytes(found)


BYTES = {  # on one axis, and their codec
    "text": (b"12:07 the job starts; all done\n" * 90, "gangsaw.bwt"),
    "utf-8": (b"gr\xc3\xbc\xc3\x9fe, \xe4\xb8\x96\xe7\x95\x8c\n" * 90, "gangsaw.bwt"),
    "steps": (steps_of_bytes(), "gangsaw.bwt"),
    "noise": (np.random.default_rng(1).bytes(4000), "zstd level=3"),
    "few": (b"short\n" * 20, "zstd level=3"),
}


@pytest.mark.parametrize("name", BYTES)
def test_text_is_known_by_a_sample(name: str) -> None:
    """And other bytes by what Zstandard makes of them; a coordinate and other content never."""
    text, codec = BYTES[name]
    values = np.frombuffer(text, np.uint8)
    plain = Held(**vars(described("data", "place", "u1", values.shape)), values=values)
    assert chosen(plain) == codec
    assert chosen(replace(plain, name="place")) == "zstd level=3"
    assert chosen(replace(plain, attrs={"gangsaw_content": "places"})) == "zstd level=3"
    assert chosen(replace(plain, attrs={"gangsaw_content": "plain text"})) == "gangsaw.bwt"


@dataclass(frozen=True)
class Held(Described):
    """An array that is read."""

    values: Any = None

    def read(self, region: Any) -> Any:
        return self.values[region]


def chosen(array: Described) -> str:
    """Tell the codec that an array gets."""
    return told(choose_layout(array, "auto", None).codec)


@dataclass(frozen=True)
class Unread:
    """A source whose arrays are described and cannot be read."""

    arrays: tuple[Described, ...]
    name: str = "unread"
    coords: tuple[Any, ...] = ()
    attrs: Mapping[str, Any] = ()  # type: ignore[assignment]


def described(name: str, dims: str, dtype: str, shape: Extents) -> Described:
    axes = tuple(dims.split())
    return Described(name=name, dims=axes, dtype=np.dtype(dtype), shape=shape, chunks=None)


def told(codec: Any) -> str:
    """Name a codec and what differs from its defaults; of others what decides their bytes."""
    if not hasattr(codec, "params"):
        config = codec.to_dict()["configuration"]
        if config.keys() >= {"typesize", "shuffle"}:
            assert (config["cname"], config["clevel"]) == ("zstd", 5)
            return f"blosc {config['typesize']} {config['shuffle']}"
        return f"{codec.to_dict()['name']} level={config['level']}"
    usual = type(codec)().params.to_dict()
    changed = {k: v for k, v in codec.params.to_dict().items() if v != usual[k]}
    words = (
        f"{k}={','.join(map(str, v)) if isinstance(v, list) else v}" for k, v in changed.items()
    )
    return " ".join([codec.codec_name, *words])


def test_what_a_codec_does_not_take_is_named() -> None:
    source = described("series", "time y x", "u2", (70000, 4, 4))
    layout = ArrayLayout(source.shape, Ccsds123(block=(0, 4, 4)))
    with pytest.raises(BadParams, match=r"^series: n_bands must be in 1\.\.65536, got 70000$"):
        build_objects("in.zarr", [source], [], {}, {"series": layout})
