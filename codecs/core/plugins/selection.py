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
    """Smallest and largest integer, each with the index of its first occurrence in a chunk."""

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
    """Description of an array for codec selection.

    Attributes
    ----------
    name, shape, dtype, dims, attrs : as its source describes it
    others : the other arrays of the source, each without its own others
    fill_value : of the array, None if it has none
    sample : reads a part of its middle, at most a MiB; None if there are no data
    cube : reads a part of its middle, some 64 items along each of the last three axes; None if
        there are no data
    extremes : reads all of an integer array; None if there are no data
    general_bytes : returns the encoded size of `sample` with the general codec; None without one
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
        """Content of the array, if its format declares it."""
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
    """Arrays of a source, with counts of each content and kind of dtype."""

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
        """Store the arrays of a source and the number of the one to leave out."""
        self._of, self._without = of, without

    def __len__(self) -> int:
        """Return the number of other arrays."""
        return len(self._of.arrays) - 1

    def __iter__(self) -> Iterator[ArrayFacts]:
        """Yield the other arrays in the order of the source."""
        return (one for n, one in enumerate(self._of.arrays) if n != self._without)

    def __contains__(self, array: object) -> bool:
        """Return True if an array is one of them."""
        return any(one is array for one in self)

    def contents(self) -> frozenset[str | None]:
        """Return the contents of the other arrays."""
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
    """Parts of an array that `info --plot` draws.

    Attributes
    ----------
    axes : one or two axes of the array over which bits of the blocks are drawn, the first downwards
    lanes : the axis whose items are lanes, drawn as bits of each; None draws none
    kind : name in the table `gangsaw.pictures` of a picture that shows more, such as "scene"
    """

    axes: tuple[int, ...]
    lanes: int | None = None
    kind: str = ""


class Capabilities:
    """Capabilities of a codec. The defaults are those of a codec that is used on request only."""

    options: tuple[Option, ...] = ()

    def refusal(self, array: ArrayFacts) -> Refusal | None:
        """Return the reason why the codec cannot represent the array; None if it can."""
        return None

    def grade(self, array: ArrayFacts) -> Grade:
        """Return the grade of the codec for an array that it does not refuse."""
        return Grade.ON_REQUEST

    def is_aside(self, array: ArrayFacts) -> bool:
        """Return True if a requested codec should skip this array, such as flags of signals.

        It is stored as if no codec had been requested.
        """
        return False

    def companion(self, array: ArrayFacts) -> Mapping[str, object] | None:
        """Return the plain codec, as Zarr's JSON, of an array that accompanies those it codes."""
        return None

    def inner(self, array: ArrayFacts) -> str | None:
        """Return the Zarr name of the array codec that this codec of bytes usually wraps.

        The parameter `inner` may name another one. It is None for codecs that wrap none.
        """
        return None

    def least_chunks(self, array: ArrayFacts) -> Mapping[int, int] | None:
        """Return the smallest chunk extents by axis; chunks have extent 1 on the other axes.

        None leaves it to the rule for arrays of any kind.
        """
        return None

    def parameters(self, array: ArrayFacts, chunks: Extents) -> Mapping[str, object]:
        """Return the parameters for such chunks that differ from the defaults, as JSON."""
        return {}

    def settled(self, array: ArrayFacts, options: Mapping[str, object]) -> Mapping[str, object]:
        """Return the parameters, as JSON, for the user's options and this array.

        Raises BadParams for values that do not fit it.
        """
        return options

    def registered(
        self, array: ArrayFacts, params: Mapping[str, object]
    ) -> Sequence[Mapping[str, object]] | None:
        """Return equivalent codecs for an array, as Zarr's JSON, the serializer last.

        The codecs before it are Zarr's own, which any reader has. They are used if they prove to be
        lossless for the array. None means that this codec has no equivalent.

        params : of this codec, its configuration
        """
        return None

    def summary(
        self, params: Mapping[str, object], usual: Mapping[str, object]
    ) -> Mapping[str, object]:
        """Return the parameters to show to a user; `usual` are the defaults."""
        return {name: value for name, value in params.items() if usual.get(name) != value}

    def picture(self, params: Mapping[str, object], dims: tuple[str, ...]) -> Picture:
        """Return the picture of an array: by default its blocks along the last axes.

        `dims` has one or more names.
        """
        rank = len(dims)
        return Picture(tuple(range(max(0, rank - 2), rank)))
