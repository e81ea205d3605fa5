"""What a codec answers of itself: the base of the `ANSWERS` in each codec's `suits.py`.

Commands and jobs know no codec: they ask every one of the table. What answers is imported where a
codec is chosen, drawn or explained, never where Zarr decodes, and it imports no kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from gangsaw.codecs.core.contents import CONTENT as CONTENT
from gangsaw.codecs.core.options import Option as Option

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import Dtype, NumpyArray

Extents = tuple[int, ...]


class Grade(IntEnum):
    """How a codec suits an array; the highest is chosen, a trial on a sample decides a tie."""

    REFUSE = 0  # it cannot hold such an array
    ON_REQUEST = 1  # it can, and does where a user names it
    GENERAL = 2  # dtype and axes are those it is for; nothing in the samples was looked at
    PROVEN = 3  # a sample shows that it is for such content
    MADE_FOR = 4  # the format said so: by CONTENT, or by the names of axes


@dataclass(frozen=True)
class Extremes:
    """Smallest and largest of integers, each with the index of its first place in a chunk."""

    low: int
    low_at: tuple[int, ...]
    high: int
    high_at: tuple[int, ...]

    def __or__(self, other: Extremes) -> Extremes:
        """Return the extremes of both parts."""
        lows = min((self.low, self.low_at), (other.low, other.low_at))
        highs = max(((self.high, self.high_at), (other.high, other.high_at)), key=lambda h: h[0])
        return Extremes(*lows, *highs)


@dataclass(frozen=True)
class ArrayFacts:
    """The array that a codec is asked about.

    Attributes
    ----------
    name, shape, dtype, dims, attrs : as its source describes it
    others : the other arrays of the source, each without others of its own
    fill_value : of the array, None where it has none
    sample : reads a piece of its middle, of a MiB at most; None where there is nothing to read
    cube : reads a piece of its middle, some 64 items along each of the last three axes; None where
        there is nothing to read
    extremes : reads all of an integer array; None where there is nothing to read
    general_bytes : returns how long the codec of what no other is for makes `sample`; None where
        there is none
    """

    name: str
    shape: Extents
    dtype: Dtype
    dims: tuple[str, ...]
    attrs: Mapping[str, object] = field(default_factory=dict)
    others: tuple[ArrayFacts, ...] = ()
    fill_value: object = field(default=None, compare=False)
    sample: Callable[[], NumpyArray] | None = field(default=None, compare=False)
    cube: Callable[[], NumpyArray] | None = field(default=None, compare=False)
    extremes: Callable[[], Extremes] | None = field(default=None, compare=False)
    general_bytes: Callable[[], int] | None = field(default=None, compare=False)

    @property
    def content(self) -> str | None:
        """What the array holds, if its format said so."""
        said = self.attrs.get(CONTENT)
        return said if isinstance(said, str) else None


class Refusal(NamedTuple):
    """Why a codec cannot hold an array: "DATA" + `found` + "; the codec" + `takes`."""

    found: str
    takes: str


@dataclass(frozen=True)
class Picture:
    """What `info --plot` draws of an array besides its figures.

    Attributes
    ----------
    axes : one or two axes of the array over which bits of the blocks are drawn, the first downwards
    lanes : the axis whose items are lanes, drawn as bits of each; None draws none
    kind : name in the table `gangsaw.pictures` of a picture that shows more, such as "scene"
    """

    axes: tuple[int, ...]
    lanes: int | None = None
    kind: str = ""


class Answers:
    """The answers of a codec; those here are of one that is chosen only where a user names it."""

    options: tuple[Option, ...] = ()

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        """Say why the codec cannot hold the array; None where it can."""
        return None

    def suits(self, array: ArrayFacts) -> Grade:
        """Return how the codec suits an array that it does not refuse."""
        return Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        """Whether a user who names the codec does not mean this array: flags of signals are such.

        It is stored as if no codec had been named.
        """
        return False

    def companion(self, array: ArrayFacts) -> Mapping[str, object] | None:
        """Return the plain codec, as Zarr's JSON, of an array that goes with those it codes."""
        return None

    def inner(self, array: ArrayFacts) -> str | None:
        """Return the Zarr name of the codec that this one, of bytes, usually codes an array by.

        Another may be named in its parameter `inner`. None is of codecs that code by themselves.
        """
        return None

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        """Return the extent below which no chunk is cut, by axis; axes not named are cut to 1.

        None leaves it to the rule for arrays of any kind.
        """
        return None

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        """Return the parameters, as JSON, for such chunks that differ from the defaults."""
        return {}

    def settled(self, array: ArrayFacts, options: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters, as JSON, that the user's options mean for this array.

        Raises BadParams for values that do not fit it.
        """
        return options

    def registered(
        self, array: ArrayFacts, params: Mapping[str, object]
    ) -> Sequence[Mapping[str, object]] | None:
        """Return codecs, as Zarr's JSON, that may do as well for an array, the serializer last.

        Those before it are Zarr's own, which any reader has. They are taken where they prove to
        lose no bit of the array. None is of codecs in whose place there are none.

        params : of this codec, its configuration
        """
        return None

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the parameters worth showing to a user; `usual` are the defaults."""
        return {name: value for name, value in params.items() if usual.get(name) != value}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        """Say what to draw of an array: its blocks along the last axes, unless a codec knows more.

        `dims` are one or more.
        """
        rank = len(dims)
        return Picture(tuple(range(max(0, rank - 2), rank)))
