"""Mapped pieces of sequences of gangsaw.reads, from its SPEC.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from reference.reads_model import Column, Model, place_bits
from reference.reads_parts import LaneReader, LaneWriter, Table

MATE, PRIMARY, LATER = 0, 1, 2


class Piece(NamedTuple):
    """So many letters of a line; place and strand if they are mapped."""

    n: int
    is_mapped: bool
    place: int = 0
    strand: int = 0

    @property
    def end(self) -> int:
        """Where it ends, in reading order."""
        return self.place if self.strand else self.place + self.n


@dataclass
class Memory:
    """What lines of a window know of those before."""

    is_sorted: bool
    is_steady: bool = False
    length: int = 0
    kind: int = 0
    repeat: int = 0
    primary: int = 0
    strand: int = 0
    has_mate: bool = False

    def reference(self, odd: int, before: list[Piece]) -> tuple[int, int, int]:
        """Return context, place and strand of what a place may be near to."""
        mapped = [piece for piece in before if piece.is_mapped]
        if mapped:
            return LATER, mapped[-1].end, mapped[-1].strand
        return MATE if odd and self.has_mate else PRIMARY, self.primary, self.strand

    def note(self, piece: Piece, odd: int, before: list[Piece]) -> None:
        """Note the first mapped piece of a line."""
        if any(other.is_mapped for other in before):
            return
        self.strand, self.has_mate = piece.strand, True
        if not (self.is_sorted and odd):
            self.primary = piece.place


def read_mapped(
    lane: LaneReader,
    model: Model,
    memory: Memory,
    line: tuple[int, bool],
    before: list[Piece],
    letters: list[int],
) -> tuple[Piece, list[int]]:
    """Return a piece and its letters; `line`: is it odd, has it several pieces."""
    place, strand = read_place(lane, model, memory, line[0], before, len(letters))
    piece = Piece(len(letters), True, place, strand)
    memory.note(piece, line[0], before)
    columns = model.columns(place, len(letters), strand)
    own = [column.code for column in columns]
    left = lane.small(model.table("mismatches", line[1]), model.table("rest"))
    gap = read_gap(lane, model, left) if left else -1
    last_two = 0
    for i, column in enumerate(columns):
        if column.number:
            own[i], last_two = read_variant(lane, model, column, last_two)
        elif gap == 0:
            own[i] = lane.symbol(model.table("letter", column.code))
            assert own[i] < 4
            assert own[i] != column.code
            left -= 1
            gap = read_gap(lane, model, left) if left else -1
        else:
            gap -= gap > 0
    assert left == 0
    return piece, [c if c < 0 else new for c, new in zip(letters, own, strict=True)]


def write_mapped(
    lane: LaneWriter,
    model: Model,
    memory: Memory,
    line: tuple[int, bool],
    before: list[Piece],
    letters: list[int],
    piece: Piece,
) -> None:
    write_place(lane, model, memory, line[0], before, piece)
    memory.note(piece, line[0], before)
    columns = model.columns(piece.place, piece.n, piece.strand)
    codes = [column.code if c < 0 else c for c, column in zip(letters, columns, strict=True)]
    gaps = [0]  # columns of class 0 before each mismatch, and behind the last
    for code, column in zip(codes, columns, strict=True):
        if column.number == 0:
            gaps[-1] += code == column.code
            if code != column.code:
                gaps.append(0)
    lane.small(model.table("mismatches", line[1]), model.table("rest"), len(gaps) - 1)
    if len(gaps) > 1:
        write_gap(lane, model, len(gaps) - 1, gaps[0])
    last_two = 0
    for code, column in zip(codes, columns, strict=True):
        if column.number:
            last_two = write_variant(lane, model, column, last_two, code)
        elif code != column.code:
            lane.symbol(model.table("letter", column.code), code)
            gaps.pop(0)
            if len(gaps) > 1:
                write_gap(lane, model, len(gaps) - 1, gaps[0])


def read_place(
    lane: LaneReader, model: Model, memory: Memory, odd: int, before: list[Piece], n: int
) -> tuple[int, int]:
    context, reference, reference_strand = memory.reference(odd, before)
    later = context == LATER
    if memory.is_sorted and not odd and not later:
        ahead = lane.symbol(model.table("ahead"))
        place = memory.primary + ahead
        if ahead == 254:
            place = lane.number(model.table("back"))
        elif ahead == 255:
            place = memory.primary + 254 + lane.number(model.table("far ahead"))
        return place, lane.symbol(ahead_table(model, memory, ahead))
    hot = lane.symbol(model.table("hot", later))
    if hot:
        place, strand = divmod(model.anchors[hot - 1], 2)
        return place - n * strand, strand
    is_near = lane.symbol(model.table("near", context))
    if is_near:
        v = lane.symbol(model.table("near high", context)) << 4
        place = reference + (v | lane.raw(4)) - 2048
    else:
        s = max(0, place_bits(len(model.consensus)) - 8)
        place = lane.symbol(model.table("place high", later)) << s
        place |= lane.raw(s)
    strand = lane.symbol(model.table("strand", 2 * context + reference_strand))
    return place - n * (strand and is_near and later), strand


def write_place(
    lane: LaneWriter, model: Model, memory: Memory, odd: int, before: list[Piece], piece: Piece
) -> None:
    context, reference, reference_strand = memory.reference(odd, before)
    later = context == LATER
    if memory.is_sorted and not odd and not later:
        write_ahead(lane, model, memory, piece)
        return
    anchor = 2 * (piece.place + piece.n * piece.strand) + piece.strand
    hot = model.anchors.index(anchor) + 1 if anchor in model.anchors else 0
    lane.symbol(model.table("hot", later), hot)
    if hot:
        return
    v = (anchor // 2 if later else piece.place) - reference + 2048
    is_near = 0 <= v < 4096
    lane.symbol(model.table("near", context), int(is_near))
    if is_near:
        lane.symbol(model.table("near high", context), v >> 4)
        lane.raw(v & 15, 4)
    else:
        s = max(0, place_bits(len(model.consensus)) - 8)
        lane.symbol(model.table("place high", later), piece.place >> s)
        lane.raw(piece.place % (1 << s), s)
    lane.symbol(model.table("strand", 2 * context + reference_strand), piece.strand)


def write_ahead(lane: LaneWriter, model: Model, memory: Memory, piece: Piece) -> None:
    ahead = piece.place - memory.primary
    lane.symbol(model.table("ahead"), 254 if ahead < 0 else ahead if ahead < 254 else 255)
    if ahead < 0:
        lane.number(model.table("back"), piece.place)
    elif ahead >= 254:
        lane.number(model.table("far ahead"), ahead - 254)
    lane.symbol(ahead_table(model, memory, ahead), piece.strand)


def ahead_table(model: Model, memory: Memory, ahead: int) -> Table:
    """Return the table of the strand of a piece so far ahead."""
    if memory.is_steady and ahead == 0:
        return model.table("strand", 2 * PRIMARY + memory.strand)
    return model.table("strand ahead")


def read_gap(lane: LaneReader, model: Model, left: int) -> int:
    table, gap = model.table("gap", min(left, 5) - 1), 0
    while (more := lane.symbol(table)) == 255:
        gap += 255
    return gap + more


def write_gap(lane: LaneWriter, model: Model, left: int, gap: int) -> None:
    table = model.table("gap", min(left, 5) - 1)
    for _ in range(gap // 255):
        lane.symbol(table, 255)
    lane.symbol(table, gap % 255)


def read_variant(lane: LaneReader, model: Model, column: Column, last_two: int) -> tuple[int, int]:
    """Return the code in a column of class > 0, and the last two symbols."""
    which = lane.symbol(model.table("variant", 9 * (column.number - 1) + last_two))
    codes = [column.code, column.second]
    if which == 2:
        others = [code for code in range(4) if code not in codes]
        codes.append(others[lane.symbol(model.table("other"))])
    return codes[which], (3 * last_two + which) % 9


def write_variant(lane: LaneWriter, model: Model, column: Column, last_two: int, code: int) -> int:
    codes = [column.code, column.second]
    which = codes.index(code) if code in codes else 2
    lane.symbol(model.table("variant", 9 * (column.number - 1) + last_two), which)
    if which == 2:
        others = [other for other in range(4) if other not in codes]
        lane.symbol(model.table("other"), others.index(code))
    return (3 * last_two + which) % 9
