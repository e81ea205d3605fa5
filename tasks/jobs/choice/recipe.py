"""Resolution of the user's codec name, parameters and options to the codec of each array."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gangsaw.codecs.core import codec_table
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import nearest
from gangsaw.codecs.core.plugins.selection import ArrayFacts, Extents, Grade
from gangsaw.tasks.engine.report import dry_run
from gangsaw.tasks.formats.python_objects.conversion import get_type_name
from gangsaw.tasks.jobs.choice.choose import (
    GENERAL_CODEC,
    Choice,
    choose_by_content,
    choose_chunks,
    choose_named,
    configure_codec,
    facts_of_all,
    grade,
)
from gangsaw.tasks.jobs.choice.registered import prefer_registered
from gangsaw.tasks.sources.source import Source, SourceArray
from gangsaw.tasks.store.arrays.layout import (
    ChunkChoice,
    Codec,
    CodecChoice,
    Filtered,
    check_axes,
    check_sizes,
)
from gangsaw.tasks.store.dataset.texts import type_name

if TYPE_CHECKING:
    from distributed import Client

log = logging.getLogger(__name__)
REASONS = {
    Grade.GENERAL: "is for such dtypes and axes",
    Grade.PROVEN: "suits a sample",
    Grade.MADE_FOR: "is made for it",
}
PLAIN = "zstd"  # the only codec outside the table that a user may request


@dataclass(frozen=True)
class Recipe:
    """The user's request for codec, parameters and chunks of the arrays of a store.

    Attributes
    ----------
    codec : Zarr name of a codec with or without "gangsaw.", "zstd", "auto" or "none"
    params : parameters that differ from the codec's defaults, for the named codec; with "auto",
        for each chosen codec that has a parameter of that name
    block : extents of a block in items, as the codec's parameter; None chooses by the chunk
    options : values of the codecs' options, by name, such as "bit_depth" or "effort"
    chunks : extents of a chunk, one per axis or by axis name; None chooses
    settled : extents of chunks by name of the array, where they are fixed already
    """

    codec: str = "auto"
    params: Mapping[str, object] = field(default_factory=dict)
    block: tuple[int, ...] | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    chunks: ChunkChoice = None
    settled: Mapping[str, Extents] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise TypeError, with a message of one line, for a value of a wrong type."""
        _require(isinstance(self.codec, str), "codec", self.codec, "a name such as 'auto'")
        _require(isinstance(self.params, Mapping), "params", self.params, "a dict by name")
        is_said = self.chunks is None or isinstance(self.chunks, Mapping | Sequence)
        _require(is_said, "chunks", self.chunks, "extents, one for each axis, or a dict by axis")
        extents = self.chunks.values() if isinstance(self.chunks, Mapping) else self.chunks or ()
        for extent in (*extents, *(self.block or ())):
            _require(isinstance(extent, int | np.integer), "an extent", extent, "an integer")

    def check(self) -> None:
        """Raise BadParams for an unknown codec, option or parameter."""
        _check_options(self.options)
        is_named = self.codec not in ("auto", "none", PLAIN)
        names = [self._full_name()] if is_named else codec_table.names()
        known = [codec_table.parameter_names(name) for name in names]
        if not all(known):  # a codec without a list of parameters checks them itself
            return
        for name in self.params:
            if not any(name in own for own in known):
                every = sorted({one for own in known for one in own or ()})
                near = nearest(name, every)
                raise BadParams(f"unknown parameter {name!r}; known are {', '.join(every)}{near}")

    def codecs(self, source: Source, client: Client | None = None) -> dict[str, CodecChoice]:
        """Return the codec of each array, by name.

        Raises
        ------
        BadParams
            A codec, parameter or option is unknown or applies to no array, the codec cannot encode
            an array, or an array has more chunks than a job can list.
        """
        check_axes(source.arrays, self.chunks)
        check_sizes(source.arrays, self.chunks)
        self.check()
        if self.codec == "none":
            self._check_used(source.arrays, [None for _ in source.arrays])
            return {array.name: "none" for array in source.arrays}
        facts = facts_of_all(source.arrays, client)
        pairs = zip(source.arrays, facts, strict=True)
        choices = [self._choice(array, of) for array, of in pairs]
        self._check_used(source.arrays, choices)
        changes = self._changes(choices)
        rows = zip(source.arrays, facts, choices, changes, strict=True)
        codecs = {row[0].name: self._codec(*row) for row in rows}
        if self.codec == "auto":
            for array, of in zip(source.arrays, facts, strict=True):
                codecs[array.name] = prefer_registered(codecs[array.name], array, of, client)
        if log.isEnabledFor(logging.INFO) and not dry_run.is_quick():  # the job logs it again
            _log_choices(source.arrays, facts, choices, by_user=self.codec != "auto")
        return codecs

    def _choice(self, array: SourceArray, facts: ArrayFacts) -> Choice:
        if self.codec == "auto":
            return choose_by_content(facts)
        if self.codec == PLAIN:
            return Choice(None, GENERAL_CODEC)
        return choose_named(self._full_name(), facts, array)

    def _full_name(self) -> str:
        name = codec_table.full_name(self.codec)
        if name not in codec_table.names():
            names = ["auto", *codec_table.names(), PLAIN, "none"]
            near = nearest(name, names)
            raise BadParams(f"no codec {self.codec!r}; there are: {', '.join(names)}{near}")
        return name

    def _changes(self, choices: Sequence[Choice]) -> list[dict[str, object]]:
        """Return the user's parameters that apply to the codec of each array, in order.

        If a codec was requested, only it gets parameters. With "auto", a parameter that no codec
        knows goes to all of them, which refuse it.
        """
        wanted = dict(self.params)
        if self.block is not None:
            wanted["block"] = list(self.block)
        if self.codec != "auto":
            meant = codec_table.full_name(self.codec)
            found = [wanted if choice.coded_by == meant else {} for choice in choices]
        else:
            known = [_parameter_names(choice) for choice in choices]
            others = wanted.keys() - frozenset().union(*known)
            found = [{n: v for n, v in wanted.items() if n in own | others} for own in known]
        return list(map(_with_single_block, choices, found))

    def _codec(
        self, array: SourceArray, facts: ArrayFacts, choice: Choice, changes: Mapping[str, object]
    ) -> CodecChoice:
        extents = self.settled.get(array.name)
        if extents is None:
            extents = choose_chunks(array, self.chunks, facts, choice.name)
        return configure_codec(choice, facts, extents, changes, self.options)

    def _check_used(self, arrays: Sequence[SourceArray], choices: Sequence[Choice | None]) -> None:
        """Raise BadParams for options, parameters or a block that apply to no array."""
        ours = [c for c in choices if c is not None and c.plain is None]
        where = ", ".join(map(_target_of, arrays, choices))
        for name in self.options:
            if not any(name in _option_names(choice) for choice in ours):
                owners = " and ".join(codec_table.owners(name))
                flag = name.replace("_", "-")
                raise BadParams(f"no array has --{flag}, an option of {owners}: {where}")
        meant = {c.coded_by for c in ours}
        if self.codec != "auto":
            meant &= {codec_table.full_name(self.codec)}
            self._check_fits(arrays, choices, where)
        if (self.params or self.block is not None) and not meant:
            raise BadParams(f"no array has codec parameters or a block: {where}")

    def _check_fits(
        self, arrays: Sequence[SourceArray], choices: Sequence[Choice | None], where: str
    ) -> None:
        """Raise BadParams if other codecs store all arrays; texts alone are stored by others."""
        wanted = codec_table.full_name(self.codec)
        used = {name for one in choices if one is not None for name in (one.name, one.inner)}
        is_plain = self.codec in (PLAIN, "none")
        if not is_plain and wanted not in used and any(a.dtype.kind != "T" for a in arrays):
            raise BadParams(f"no array can be stored with {self.codec}: {where}")


def _require(is_right: bool, what: str, value: object, wanted: str) -> None:
    if not is_right:
        raise TypeError(f"{what} must be {wanted}, got {get_type_name(value)}")


def _log_choices(
    arrays: Sequence[SourceArray],
    facts: Sequence[ArrayFacts],
    choices: Sequence[Choice],
    *,
    by_user: bool,
) -> None:
    """Log the codec chosen for each array, with the grades of the codecs that suit it.

    Parameters
    ----------
    by_user : True if the user requested the codec
    """
    for array, of, choice in zip(arrays, facts, choices, strict=True):
        grades = {name: grade(name, of) for name in codec_table.capabilities()}
        able = [f"{n} {REASONS[g]}" for n, g in grades.items() if g > Grade.ON_REQUEST]
        why = "as requested" if by_user else "; ".join(able) or "no codec is for such content"
        log.info("%s: %s", _target_of(array, choice), why)


def _with_single_block(choice: Choice, changes: dict[str, object]) -> dict[str, object]:
    """Return a codec's parameters, with `--block N` as a number where its block is one."""
    match changes.get("block"), choice.coded_by:
        case [extent], str(name) if codec_table.is_whole_number(name, "block"):
            return {**changes, "block": extent}
    return changes


def _option_names(choice: Choice) -> set[str]:
    return {option.name for option in choice.coding.options}


def _parameter_names(choice: Choice) -> frozenset[str]:
    if choice.coded_by is None or choice.plain is not None:
        return frozenset()
    return frozenset(codec_table.parameter_names(choice.coded_by))


def _target_of(array: SourceArray, choice: Choice | None) -> str:
    target = "plain samples" if choice is None else choice.name
    if choice is not None and choice.plain is not None:
        target = _plain_name(choice.plain)
    return f"{array.name} ({type_name(array.dtype)}) goes to {target}"


def _plain_name(codec: Codec) -> str:
    return "filters" if isinstance(codec, Filtered) else str(codec.to_dict()["name"])


def _check_options(options: Mapping[str, object]) -> None:
    for name in options:
        if not codec_table.owners(name):
            known = {
                option.name for a in codec_table.capabilities().values() for option in a.options
            }
            raise BadParams(
                f"no codec or format has an option {name!r}; of codecs there are: "
                f"{', '.join(sorted(known))}"
            )
