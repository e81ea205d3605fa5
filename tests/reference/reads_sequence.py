"""The kind "sequence" of gangsaw.reads, from its SPEC.md: windows and lines."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

from reference.reads_model import Model, read_fours, read_model, write_fours, write_model
from reference.reads_parts import Block, LaneReader, LaneWriter
from reference.reads_pieces import Memory, Piece, read_mapped, write_mapped

LETTERS = b"ACGT"
EXCHANGED = bytes.maketrans(b"TUtu", b"UTut")


class Line(NamedTuple):
    """A line and its pieces, which are the encoder's choice."""

    letters: bytes
    pieces: list[Piece]


def recode(body: bytes, block: Block) -> tuple[bytes, bytes]:
    """Return the text of a block, and what follows its head, encoded again."""
    assert block.flags < 8
    text, again = recode_bases(body, block._replace(flags=block.flags & 5))
    return text.translate(EXCHANGED) if block.flags & 2 else text, again


def recode_bases(body: bytes, block: Block) -> tuple[bytes, bytes]:
    """Return the same of a text whose T and U are not exchanged."""
    model, rest = read_model(body)
    text, again, n_lines, primary = b"", write_model(model), 0, 0
    for window in range(-(-block.n_bytes // block.lane)):
        stop = min((window + 1) * block.lane, block.used)
        if len(text) >= stop:
            continue
        lead = len(text) - window * block.lane
        lines, memory, rest = read_window(rest, model, block, (lead, n_lines % 2))
        assert memory[0] == (primary if block.flags else 0)
        primary = memory[1]
        again += write_window(lines, model, block, (lead, n_lines % 2, memory[0]))
        n_lines += len(lines)
        text += b"".join(line.letters + b"\n" for line in lines)
    assert rest == b""
    assert n_lines == block.n_lines
    return text[:-1] if block.is_open else text, again


def read_window(
    data: bytes, model: Model, block: Block, expected: tuple[int, int]
) -> tuple[list[Line], tuple[int, int], bytes]:
    """Return lines, the primary place before and behind them, and the data behind the lane."""
    lane, memory = LaneReader(data), Memory(block.flags & 1 == 1, block.flags & 4 == 4)
    odd = lane.raw(1) if block.pairs else 0
    assert odd == expected[1] * block.pairs
    memory.primary = before = lane.raw(32) if block.flags else 0
    assert lane.number(model.table("lead")) == expected[0]
    lines: list[Line] = []
    for _ in range(lane.number(model.table("lines"))):
        lines.append(read_line(lane, model, block, memory, odd, lines))
        odd ^= block.pairs
    assert lines
    return lines, (before, memory.primary), lane.end()


def write_window(
    lines: list[Line], model: Model, block: Block, start: tuple[int, int, int]
) -> bytes:
    lead, odd, primary = start
    lane, memory = LaneWriter(), Memory(block.flags & 1 == 1, block.flags & 4 == 4)
    odd *= block.pairs
    if block.pairs:
        lane.raw(odd, 1)
    if block.flags:
        lane.raw(primary, 32)
        memory.primary = primary
    lane.number(model.table("lead"), lead)
    lane.number(model.table("lines"), len(lines))
    for i, line in enumerate(lines):
        write_line(lane, model, block, memory, odd, lines[:i], line)
        odd ^= block.pairs
    return lane.bytes()


def read_line(
    lane: LaneReader, model: Model, block: Block, memory: Memory, odd: int, before: list[Line]
) -> Line:
    if block.flags and not block.pairs and before:
        memory.repeat = lane.symbol(model.table("repeat", memory.repeat))
        if memory.repeat:
            return before[-1]
    if not lane.symbol(model.table("same length")):
        memory.length = lane.small(model.table("length"), model.table("rest"))
    n, at = memory.length, 0
    letters = [0] * n
    for _ in range(lane.small(model.table("runs"), model.table("rest"))):
        at += lane.number(model.table("run gap"))
        run = lane.number(model.table("run length"))
        byte = lane.symbol(model.table("run byte"))
        assert run > 0
        assert at + run <= n
        letters[at : at + run] = [-1 - byte] * run
        at += run
    pieces = read_pieces(lane, model, memory, odd, letters) if n else []
    if not odd and not any(piece.is_mapped for piece in pieces):
        memory.has_mate = False
    return Line(bytes(-1 - c if c < 0 else LETTERS[c] for c in letters), pieces)


def write_line(
    lane: LaneWriter,
    model: Model,
    block: Block,
    memory: Memory,
    odd: int,
    before: list[Line],
    line: Line,
) -> None:
    if block.flags and not block.pairs and before:
        is_repeat = int(line.letters == before[-1].letters)
        lane.symbol(model.table("repeat", memory.repeat), is_repeat)
        memory.repeat = is_repeat
        if is_repeat:
            return
    n = len(line.letters)
    lane.symbol(model.table("same length"), int(n == memory.length))
    if n != memory.length:
        lane.small(model.table("length"), model.table("rest"), n)
    memory.length = n
    codes = [LETTERS.index(byte) if byte in LETTERS else -1 - byte for byte in line.letters]
    write_runs(lane, model, codes)
    if n:
        write_pieces(lane, model, memory, odd, codes, line.pieces)
    if not odd and not any(piece.is_mapped for piece in line.pieces):
        memory.has_mate = False


def write_runs(lane: LaneWriter, model: Model, codes: list[int]) -> None:
    runs, at = [], 0
    for code, group in groupby(codes):
        length = len(list(group))
        if code < 0:
            runs.append((at, length, -1 - code))
        at += length
    lane.small(model.table("runs"), model.table("rest"), len(runs))
    before = 0
    for at, length, byte in runs:
        lane.number(model.table("run gap"), at - before)
        lane.number(model.table("run length"), length)
        lane.symbol(model.table("run byte"), byte)
        before = at + length


def read_pieces(
    lane: LaneReader, model: Model, memory: Memory, odd: int, letters: list[int]
) -> list[Piece]:
    """Fill the letters of a line that are no exceptions."""
    kind = lane.symbol(model.table("kind", 2 * memory.kind + odd))
    memory.kind = kind
    count = lane.small(model.table("pieces"), model.table("rest")) if kind == 2 else 1
    assert 0 < count <= len(letters)
    pieces: list[Piece] = []
    at = 0
    for i in range(count):
        is_mapped, n = kind == 0, len(letters) - at
        if kind == 2:
            before = 1 + pieces[-1].is_mapped if pieces else 0
            is_mapped = bool(lane.symbol(model.table("mapped", before)))
            if i < count - 1:
                n = lane.small(model.table("piece length", is_mapped), model.table("rest"))
        own = letters[at : at + n]
        assert 0 < n == len(own)
        if is_mapped:
            piece, own = read_mapped(lane, model, memory, (odd, kind == 2), pieces, own)
        else:
            piece = Piece(n, False)
            fours = iter(read_fours(lane, model, "literal", sum(c >= 0 for c in own)))
            own = [c if c < 0 else next(fours) for c in own]
        letters[at : at + n] = own
        at += n
        pieces.append(piece)
    assert at == len(letters)
    return pieces


def write_pieces(
    lane: LaneWriter,
    model: Model,
    memory: Memory,
    odd: int,
    codes: list[int],
    pieces: list[Piece],
) -> None:
    kind = 2 if len(pieces) > 1 else 0 if pieces[0].is_mapped else 1
    lane.symbol(model.table("kind", 2 * memory.kind + odd), kind)
    memory.kind = kind
    if kind == 2:
        lane.small(model.table("pieces"), model.table("rest"), len(pieces))
    at = 0
    for i, piece in enumerate(pieces):
        if kind == 2:
            before = 1 + pieces[i - 1].is_mapped if i else 0
            lane.symbol(model.table("mapped", before), int(piece.is_mapped))
            if i < len(pieces) - 1:
                lane.small(
                    model.table("piece length", piece.is_mapped), model.table("rest"), piece.n
                )
        own = codes[at : at + piece.n]
        if piece.is_mapped:
            write_mapped(lane, model, memory, (odd, kind == 2), pieces[:i], own, piece)
        else:
            write_fours(lane, model, "literal", [c for c in own if c >= 0])
        at += piece.n
