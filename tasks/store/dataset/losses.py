"""Variables that no store can represent: refused by name, or left out if the user accepts that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import join_words
from gangsaw.tasks.sources.source import SourceArray
from gangsaw.tasks.store.dataset.carried import carry_variable
from gangsaw.tasks.store.dataset.paths import resolve_paths
from gangsaw.tasks.store.dataset.texts import TextArray, make_large_text_array, make_text_array
from gangsaw.tasks.store.dataset.variables import SMALL, is_small_variable

LEFT_OUT = "gangsaw_left_out"  # of a group: variables of its source that were left out


@dataclass(frozen=True)
class Refused:
    """Variable of a source that no store can represent.

    Attributes
    ----------
    name : path of the variable
    reason : clause that follows the name in messages
    """

    name: str
    reason: str

    def __str__(self) -> str:
        """Return a clause that names the variable."""
        return f"{self.name} {self.reason}"


def storable_variables(
    found: Sequence[SourceArray],
    refused: Iterable[Refused] = (),
    wanted: Sequence[str] = (),
    chunked: Collection[str] = (),
    *,
    accept_loss: bool = False,
) -> tuple[list[SourceArray], tuple[Refused, ...]]:
    """Return the variables in forms that a store can represent, and those that are left out.

    Parameters
    ----------
    found : variables that can be read
    refused : variables that cannot be read
    wanted : names that the user selected; () selects all
    chunked : names of string variables that a job wrote chunk by chunk
    accept_loss : leave out the variables that cannot be stored, instead of refusing the source

    Raises
    ------
    BadParams : a selected variable cannot be stored
    """
    found = [_in_pieces(v, chunked) for v in found]
    large = [_refuse_size(v) for v in found if _is_large_item(v)]
    none = [*refused, *large]
    names = resolve_paths(wanted, [*(v.name for v in found), *(one.name for one in refused)])
    lost = tuple(one for one in none if not wanted or one.name in names)
    if lost and (wanted or not accept_loss):
        raise BadParams(
            f"{join_words(map(str, lost))}: name the arrays to copy by --variable, or leave this "
            "out by --accept-loss"
        )
    without = {one.name for one in none}
    return [carry_variable(v) for v in found if v.name not in without], lost


def _in_pieces(variable: SourceArray, chunked: Collection[str]) -> SourceArray:
    """Return a large string variable in the form stored chunk by chunk, any other one unchanged."""
    if variable.dtype.kind == "T" and variable.name in chunked:  # known without reading
        return make_text_array(variable)
    return make_large_text_array(variable) or variable


def _is_large_item(variable: SourceArray) -> bool:
    """Return True if a variable has items of variable length and is too large to copy whole."""
    is_whole = variable.dtype.kind in "OT" and not isinstance(variable, TextArray)
    return is_whole and not is_small_variable(variable)


def _refuse_size(variable: SourceArray) -> Refused:
    return Refused(
        variable.name,
        f"holds {prod(variable.shape)} items of any length, which are copied whole, but no more "
        f"than {SMALL >> 20} MiB",
    )


def left_out_attrs(lost: Iterable[Refused]) -> dict[str, object]:
    """Return the group attribute that lists the variables of the source that the store lacks."""
    lines = [str(one) for one in lost]
    return {LEFT_OUT: lines} if lines else {}


def notes_of(lost: Iterable[Refused]) -> tuple[str, ...]:
    """Return the lines on left-out variables in the summary of a job."""
    return tuple(f"left out: {one}" for one in lost)
