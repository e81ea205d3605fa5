"""Capabilities of codecs: the base class of the `CAPABILITIES` in each codec's `selection.py`.

Commands and jobs know no codec: they query every codec of the table. A `selection.py` is imported
when a codec is chosen, plotted or explained, never when Zarr decodes, and it imports no kernel.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from gangsaw.codecs.core.plugins.contents import CONTENT as CONTENT
from gangsaw.codecs.core.plugins.options import Option as Option

if TYPE_CHECKING:
    from gangsaw.codecs.core.arrays import Dtype, NumpyArray

Extents = tuple[int, ...]


class Grade(IntEnum):
    """Suitability of a codec for an array. The highest wins; a trial on a sample decides a tie."""

    REFUSE = 0  # it cannot represent such an array
    ON_REQUEST = 1  # it can, if a user requests it
    GENERAL = 2  # for arrays with such dtype and axes; samples were not examined
    PROVEN = 3  # a sample shows content that the codec is for
    MADE_FOR = 4  # the format declared the content: with CONTENT, or with the names of axes


@dataclass(frozen=True)
class Extremes:
    """Smallest and largest integer of an array, each with the index of its first occurrence."""

    low: int
    low_at: tuple[int, ...]
    high: int
    high_at: tuple[int, ...]

    def __or__(self, other: Extremes) -> Extremes:
        """Return the extremes of two parts of an array together."""
        lows = min((self.low, self.low_at), (other.low, other.low_at))
        highs = max(((self.high, self.high_at), (other.high, other.high_at)), key=lambda h: h[0])
        return Extremes(*lows, *highs)


@dataclass(frozen=True)
class ArrayFacts:
    """Description of an array for codec selection.

    Attributes
    ----------
    name, shape, dtype, dims, attrs : metadata of the array, as its source describes it
    others : the other arrays of the source, each with empty `others`
    fill_value : fill value of the array, None if it has none
    sample : function that reads a part of the array's middle, at most a MiB; None if there are no
        data
    cube : function that reads a part of the array's middle, some 64 items along each of the last
        three axes; None if there are no data
    extremes : function that reads all of an integer array; None if there are no data
    general_bytes : function that returns the encoded bytes of `sample` with the general codec; None
        without one
    """

    name: str
    shape: Extents
    dtype: Dtype
    dims: tuple[str, ...]
    attrs: Mapping[str, object] = field(default_factory=dict)
    others: Collection[ArrayFacts] = ()
    fill_value: object = field(default=None, compare=False)
    sample: Callable[[], NumpyArray] | None = field(default=None, compare=False)
    cube: Callable[[], NumpyArray] | None = field(default=None, compare=False)
    extremes: Callable[[], Extremes] | None = field(default=None, compare=False)
    general_bytes: Callable[[], int] | None = field(default=None, compare=False)

    @property
    def content(self) -> str | None:
        """Kind of content, such as nucleotides, that the format declares in `attrs`, or None."""
        said = self.attrs.get(CONTENT)
        return said if isinstance(said, str) else None

    @property
    def other_contents(self) -> frozenset[str | None]:
        """Declared contents of the other arrays, with None for an array without.

        It takes no time per array: a source may have thousands.
        """
        if isinstance(self.others, OtherArrays):
            return self.others.contents()
        return frozenset(one.content for one in self.others)

    @property
    def other_kinds(self) -> frozenset[str]:
        """Dtype kinds of the other arrays; it takes no time per array."""
        if isinstance(self.others, OtherArrays):
            return self.others.kinds()
        return frozenset(one.dtype.kind for one in self.others)


class SourceArrays:
    """All arrays of a source, with counts of each declared content and dtype kind."""

    def __init__(self, arrays: Iterable[ArrayFacts]) -> None:
        """Store the arrays, and count their contents and dtype kinds."""
        self.arrays = tuple(arrays)
        self.contents = Counter(one.content for one in self.arrays)
        self.kinds = Counter(one.dtype.kind for one in self.arrays)

    def __iter__(self) -> Iterator[ArrayFacts]:
        """Yield each array with its `others`."""
        for number, one in enumerate(self.arrays):
            yield replace(one, others=OtherArrays(self, number))


class OtherArrays(Collection[ArrayFacts]):
    """All arrays of a source but one, without a copy of the list."""

    def __init__(self, of: SourceArrays, without: int) -> None:
        """Store the arrays of a source, and the index of the one to leave out."""
        self._of, self._without = of, without

    def __len__(self) -> int:
        """Return the number of other arrays."""
        return len(self._of.arrays) - 1

    def __iter__(self) -> Iterator[ArrayFacts]:
        """Yield the other arrays in the order of the source."""
        return (one for n, one in enumerate(self._of.arrays) if n != self._without)

    def __contains__(self, array: object) -> bool:
        """Return True if the array is among them."""
        return any(one is array for one in self)

    def contents(self) -> frozenset[str | None]:
        """Return the declared contents of the other arrays."""
        own = self._of.arrays[self._without].content
        return frozenset(one for one, n in self._of.contents.items() if n > (one == own))

    def kinds(self) -> frozenset[str]:
        """Return the dtype kinds of the other arrays."""
        own = self._of.arrays[self._without].dtype.kind
        return frozenset(one for one, n in self._of.kinds.items() if n > (one == own))


class Refusal(NamedTuple):
    """Reason why a codec cannot represent an array: "DATA" + `found` + "; the codec" + `takes`."""

    found: str
    takes: str


@dataclass(frozen=True)
class Picture:
    """Axes of an array that `info --plot` draws, and how.

    Attributes
    ----------
    axes : one or two axes over which the encoded bits of blocks are drawn, the first one downwards
    lanes : axis whose items are lanes of a block, to draw the bits of each; None draws none
    kind : name in the table `gangsaw.pictures` of a picture that shows more, such as "scene"
    """

    axes: tuple[int, ...]
    lanes: int | None = None
    kind: str = ""


class Capabilities:
    """Capabilities of a codec, queried by codec selection; defaults: it is used on request only."""

    options: tuple[Option, ...] = ()

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        """Return the reason why the codec cannot represent the array; None if it can."""
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        """Return the suitability of the codec for an array that it does not refuse."""
        return Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        """Return True if a requested codec should skip this array, such as flags of signals.

        It is stored as if no codec had been requested.
        """
        return False

    def companion(self, array: ArrayFacts) -> Mapping[str, object] | None:
        """Return the codec, as Zarr's JSON, for an array that accompanies arrays of this codec.

        None means that the codec has no such rule for the array.
        """
        return None

    def inner(self, array: ArrayFacts) -> str | None:
        """Return the Zarr name of the array codec that this bytes codec usually wraps, or None.

        The parameter `inner` may name another one. It is None for codecs that wrap none.
        """
        return None

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        """Return the smallest useful chunk extents by axis; chunks have extent 1 on the other axes.

        None leaves it to the rule for arrays of any kind.
        """
        return None

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        """Return the encoder parameters, as JSON, that differ from the defaults for such chunks."""
        return {}

    def settled(self, array: ArrayFacts, options: Mapping[str, object]) -> Mapping[str, object]:
        """Return the encoder parameters, as JSON, that a user's options imply for this array.

        Raises BadParams for values that do not fit it.
        """
        return options

    def registered(
        self, array: ArrayFacts, params: Mapping[str, object]
    ) -> Sequence[Mapping[str, object]] | None:
        """Return a chain of other codecs, as Zarr's JSON, that is equivalent for an array.

        The serializer is last. The codecs before it are Zarr's own, which any reader has. They are
        used if they prove to be lossless for the array. None means that this codec has no
        equivalent.

        params : configuration of this codec
        """
        return None

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the parameters to show to a user: those that differ from the defaults `usual`."""
        return {name: value for name, value in params.items() if usual.get(name) != value}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        """Return what to draw of an array: by default, its blocks along the last two axes.

        dims : names of the axes, at least one
        """
        rank = len(dims)
        return Picture(tuple(range(max(0, rank - 2), rank)))
