"""Recombination models: their parameters and multiplicities."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal, TypeAlias, TypedDict, Unpack, cast

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of

Kind = Literal["dp1", "dp2", "both"]
MAX_P, USUAL_N = 4, 10  # sweep of the thesis
MAX_N = 15  # kernel vectors have 16 lanes, one for each nu, including 0
ALL = "all"
MOST = 255  # stands for "all": no CDR3 has more n-nucleotides, and no known gene end is longer
SWEPT = 64  # longer sweeps have only the thesis' values and the limit, or a row would need MB
MAX_D = 255  # the longest known D, IGHD8-2 of cattle, has 149
LOCI = ("TRA", "TRB", "TRG", "TRD", "IGH", "IGK", "IGL")
MAX_LENGTH = 255  # longest CDR3: positions fit a byte; seven times the usual, twice the longest


Limit: TypeAlias = int | Literal["all"]


class EndLimits(TypedDict, total=False):
    """Limits of gene ends and junctions: keyword arguments for Model."""

    strands: Literal[1, 2]
    max_p: Limit
    max_n: Limit
    min_d_end: Literal[0, 1]


class ModelLimits(EndLimits, total=False):
    """All fields of Model but its kind, as keyword arguments."""

    d_segments: Literal[1, 2]


@dataclass(frozen=True)
class Model:
    """Model of the counted recombination paths.

    Parameters
    ----------
    kind : {"dp2", "dp1", "both"}, default "dp2"
        "dp1" is compatible with the exhaustive method. "dp2" has ordered steps with deletion after
        extension.
    strands : {1, 2}, default 1
        Number of strands of a palindrome that can be cut (DP-2 only).
    max_p : int, default 4
        Longest palindrome at a gene end, 0..255 nucleotides, 255 meaning all. No end has one longer
        than its gene. DP-2 sweeps pi = 0..max_p.
    max_n : int, default 10
        Maximum of n-nucleotides, 0..255, 255 meaning all. In DP-2 it is that of each junction, and
        nu = 0..max_n is swept. In DP-1 it is that of all junctions together, and each total n =
        0..max_n is counted.
    d_segments : {1, 2}, default 1
        Number of D genes in a row: 1, or 2 for V-D-D-J (a V-J chain has no D genes).
    min_d_end : {1, 0}, default 1
        Minimum number of symbols of an extended D after its J-side cut. With 0, a completely
        deleted D can have a palindrome of the symbols after it (DP-2 only).

    Raises
    ------
    BadParams
        A value is outside its range, or two do not fit each other.

    See Also
    --------
    count_paths : Count the paths of a model.

    Notes
    -----
    tasks/tcr/SPEC.md defines the paths of both kinds.

    Examples
    --------
    >>> from gangsaw import tcr
    >>> model = tcr.Model(max_n=4, max_p=2)
    >>> model.nus, model.pis
    ((0, 1, 2, 3, 4), (0, 1, 2))
    """

    kind: Kind = "dp2"
    strands: Literal[1, 2] = 1
    max_p: int = MAX_P
    max_n: int = USUAL_N
    d_segments: Literal[1, 2] = 1
    min_d_end: Literal[0, 1] = 1

    def __post_init__(self) -> None:
        """Raise `BadParams` if a value is out of range; kernels do not check again."""
        if self.kind not in ("dp1", "dp2", "both"):
            raise none_of("model", ("dp1", "dp2", "both"), self.kind)
        for name, lowest, highest in (
            ("strands", 1, 2),
            ("max_p", 0, MOST),
            ("max_n", 0, MOST),
            ("d_segments", 1, 2),
            ("min_d_end", 0, 1),
        ):
            value = getattr(self, name)
            whole = isinstance(value, Integral) and not isinstance(value, bool)  # True is one
            if not whole or not lowest <= value <= highest:
                raise BadParams(f"{name} must be in {lowest}..{highest}, got {value!r}")
            object.__setattr__(self, name, int(value))  # JSON cannot represent NumPy's integers
        if self.d_segments == 2 and self.kind != "dp2":
            raise BadParams("two D genes in a row are counted by dp2 only; set model to dp2")

    @classmethod
    def of(cls, kind: Kind, **limits: Unpack[ModelLimits]) -> Model:
        """Return a model; max_p and max_n may be "all".

        Parameters
        ----------
        kind : {"dp1", "dp2", "both"}
            Kind of the model.
        **limits : int or "all"
            Other parameters of the class.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        BadParams
            A value is outside its range, or two do not fit each other.
        """
        numbers = {name: MOST if value == ALL else value for name, value in limits.items()}
        return cls(kind, **cast("dict[str, int]", numbers))  # type: ignore[arg-type]

    @property
    def is_wide(self) -> bool:
        """True if max_n or max_p exceeds the vectors of the fixed-width kernels."""
        return self.max_p > MAX_P or self.max_n > MAX_N

    @property
    def shortest(self) -> int:
        """Minimum number of nucleotides of a gene: the longest palindrome of the usual sweep."""
        return min(self.max_p, MAX_P)

    @property
    def nus(self) -> tuple[int, ...]:
        """Limits of n-nucleotides that DP-2 sweeps, ascending to max_n."""
        return _sweep(self.max_n, USUAL_N)

    @property
    def pis(self) -> tuple[int, ...]:
        """Limits of palindromes that DP-2 sweeps, ascending to max_p."""
        return _sweep(self.max_p, MAX_P)

    @property
    def dp1(self) -> bool:
        """True if DP-1 paths are counted."""
        return self.kind != "dp2"

    @property
    def dp2(self) -> bool:
        """True if DP-2 paths are counted."""
        return self.kind != "dp1"

    def ways(self, change: int, pi: int) -> int:
        """Return s(dl, pi): the ways to change the length of a gene end by `change` symbols.

        A way is an extension by 0..pi symbols, followed by deletion. With two strands, each
        extension but 0 counts twice. A `change` of 0 or less leaves no palindrome. SPEC.md, "Gene
        ends".

        Parameters
        ----------
        change : int
            Difference dl of the length, in symbols.
        pi : int
            Longest palindrome.

        Returns
        -------
        int
            Number of ways.
        """
        if self.strands == 1:
            return max(0, min(pi + 1, pi + 1 - change))
        return max(0, min(2 * pi + 1, 2 * (pi + 1 - change)))

    def empty_d_ways(self, d_length: int, pi: int) -> int:
        """Return Z: the ways to delete a D gene completely (DP-2).

        Parameters
        ----------
        d_length : int
            Germline symbols of the D gene.
        pi : int
            Longest palindrome.

        Returns
        -------
        int
            Number of ways.
        """
        own = min(pi, d_length)
        ends = range(self.min_d_end, d_length + own + 1)
        return sum(self.ways(end - d_length, own) * self.ways(0, own) for end in ends)


def _sweep(last: int, usual: int) -> tuple[int, ...]:
    return tuple(range(last + 1)) if last <= SWEPT else (*range(usual + 1), last)


def empty_d_cuts(d_length: int, max_p: int) -> int:
    """Return z: the number of pairs of cuts that delete a D with both palindromes (DP-1)."""
    return d_length + 2 * min(max_p, d_length) + 1
