"""Block-wise parser of FASTA: residues, headers and layout of lines. Compiled.

A line is a piece of residues with its end. Other blanks end pieces, too, so that they can be
restored. Equal consecutive pieces are one run. Records with lines of the usual width have no runs.
"""

from __future__ import annotations

from gangsaw.codecs.core.arrays import Bytes, Int64s
from gangsaw.codecs.core.numba.jit import jit
from gangsaw.tasks.genomics.genomes.files.file_parts import (
    LINE_COUNT,
    LINE_END,
    LINE_LENGTH,
    LINE_RECORD,
)

NEWLINE, RETURN, BLANK, HEAD, COMMENT = 10, 13, 32, 62, 59
MOST_EMPTY = 1 << 16  # empty pieces per run: a damaged store cannot fill a disk by a few rows
USUAL = 0  # code of a piece's end: the usual line end of the file
# indices of the state, which is carried from block to block
(
    WIDTH,
    RETURNS,
    RECORD,
    LINE,
    IS_HEAD,
    IS_START,
    HAS_RETURN,
    PIECE,
    RUN_LENGTH,
    RUN_COUNT,
    RUN_END,
    SHAPE,
    FULL_LINES,
    LAST_LINE,
) = range(14)
STATES = 14
# indices of the totals of a block
LETTERS, NAMES, HEADS, RUNS, ODD_HEADS, READ = range(6)
TOTALS = 6
# columns of a header: offsets of its record in residues and names, and its line
IN_LETTERS, IN_NAMES, IN_LINES = range(3)
HEAD_COLUMNS = 3
# shape of a record so far: empty, full lines, a shorter line at the end, anything else
BEGUN, FULL, ENDED, ODD = range(4)


@jit(inline=True, part=True, norefs=True)
def add_run(state: Int64s, totals: Int64s, runs: Int64s, length: int, count: int, end: int) -> None:
    """Append a run: `count` equal line pieces of `length` residues, and the line end of each."""
    row = totals[RUNS]
    runs[row, LINE_RECORD], runs[row, LINE_LENGTH] = state[RECORD], length
    runs[row, LINE_COUNT], runs[row, LINE_END] = count, end
    totals[RUNS] += 1


@jit(part=True, norefs=True)
def close_line_run(state: Int64s, totals: Int64s, runs: Int64s) -> None:
    """Append the current run of equal lines, unless its record has the usual line width so far."""
    length, count, end = state[RUN_LENGTH], state[RUN_COUNT], state[RUN_END]
    state[RUN_COUNT] = 0
    if not count:
        return
    if state[SHAPE] == BEGUN and end == USUAL and length == state[WIDTH]:
        state[SHAPE], state[FULL_LINES] = FULL, count
        return
    is_last = end == USUAL and count == 1 and 0 < length < state[WIDTH]
    if state[SHAPE] <= FULL and is_last:
        state[SHAPE], state[LAST_LINE] = ENDED, length
        return
    if state[SHAPE] != ODD:
        if state[FULL_LINES]:
            add_run(state, totals, runs, state[WIDTH], state[FULL_LINES], USUAL)
        if state[LAST_LINE]:
            add_run(state, totals, runs, state[LAST_LINE], 1, USUAL)
        state[SHAPE] = ODD
    add_run(state, totals, runs, length, count, end)


@jit(part=True, norefs=True)
def end_piece(state: Int64s, totals: Int64s, runs: Int64s, end: int) -> None:
    """End a piece of a line with byte `end`, or with the usual line end."""
    length, state[PIECE] = state[PIECE], 0
    is_same = state[RUN_COUNT] > 0 and length == state[RUN_LENGTH] and end == state[RUN_END]
    if is_same and (length > 0 or state[RUN_COUNT] < MOST_EMPTY):
        state[RUN_COUNT] += 1
        return
    close_line_run(state, totals, runs)
    state[RUN_LENGTH], state[RUN_COUNT], state[RUN_END] = length, 1, end


@jit(part=True, norefs=True)
def end_record(state: Int64s, totals: Int64s, runs: Int64s) -> None:
    """End the current record before the header of the next one."""
    close_line_run(state, totals, runs)
    state[SHAPE] = state[FULL_LINES] = state[LAST_LINE] = 0


@jit(inline=True, part=True, norefs=True)
def begin_record(state: Int64s, totals: Int64s, runs: Int64s, heads: Int64s) -> None:
    """Append a row of `heads` for a record: its offsets in residues and names, and its line."""
    end_record(state, totals, runs)
    state[RECORD] += 1
    state[IS_HEAD], state[IS_START] = 1, 0
    row = totals[HEADS]
    heads[row, IN_LETTERS], heads[row, IN_NAMES] = totals[LETTERS], totals[NAMES]
    heads[row, IN_LINES] = state[LINE]
    totals[HEADS] += 1


@jit(inline=True, part=True, norefs=True)
def full_line(text: Bytes, at: int, state: Int64s, residues: Bytes, to: int) -> bool:
    """Copy a line that is as long as the previous one; return False if it differs."""
    n, has_return = state[RUN_LENGTH], state[RETURNS]
    end = at + n + has_return
    if end >= text.size or text[end] != NEWLINE or (has_return and text[end - 1] != RETURN):
        return False
    is_plain = True
    for i in range(n):
        is_plain &= text[at + i] > BLANK
        residues[to + i] = text[at + i]
    return is_plain


@jit(inline=True, part=True, norefs=True)
def end_head(state: Int64s, totals: Int64s, names: Bytes, odd_heads: Int64s) -> None:
    """End a header line; append its record to `odd_heads` if its line end is unusual."""
    if state[HAS_RETURN] != state[RETURNS]:
        odd_heads[totals[ODD_HEADS]] = state[RECORD]
        totals[ODD_HEADS] += 1
    names[totals[NAMES]] = NEWLINE
    totals[NAMES] += 1
    state[HAS_RETURN] = state[IS_HEAD] = 0
    state[IS_START], state[LINE] = 1, state[LINE] + 1


@jit(inline=True, part=True, norefs=True)
def name_byte(state: Int64s, totals: Int64s, names: Bytes, odd_heads: Int64s, letter: int) -> None:
    """Parse a byte of a header line; a carriage return waits for the next byte."""
    if letter == NEWLINE:
        end_head(state, totals, names, odd_heads)
        return
    if state[HAS_RETURN]:
        names[totals[NAMES]] = RETURN
        totals[NAMES] += 1
    state[HAS_RETURN] = letter == RETURN
    if letter != RETURN:
        names[totals[NAMES]] = letter
        totals[NAMES] += 1


@jit(inline=True, part=True, norefs=True)
def blank_byte(state: Int64s, totals: Int64s, runs: Int64s, letter: int) -> None:
    """Parse a blank, which ends a piece; a carriage return waits, as it may begin the line end."""
    has_return = state[HAS_RETURN]
    state[HAS_RETURN] = 0
    if has_return and letter != NEWLINE:
        end_piece(state, totals, runs, RETURN)
    if letter == RETURN and state[RETURNS]:
        state[HAS_RETURN] = 1
        return
    is_usual = letter == NEWLINE and has_return == state[RETURNS]
    end_piece(state, totals, runs, USUAL if is_usual else letter)
    state[IS_START] = letter == NEWLINE
    state[LINE] += letter == NEWLINE


@jit(inline=True, part=True, norefs=True)
def body_byte(state: Int64s, totals: Int64s, residues: Bytes, runs: Int64s, letter: int) -> None:
    """Parse a byte of a record's sequence lines."""
    if letter <= BLANK:
        blank_byte(state, totals, runs, letter)
        return
    if state[HAS_RETURN]:
        state[HAS_RETURN] = 0
        end_piece(state, totals, runs, RETURN)
    residues[totals[LETTERS]] = letter
    totals[LETTERS] += 1
    state[PIECE] += 1
    state[IS_START] = 0


@jit(norefs=True)
def scan(
    text: Bytes,
    state: Int64s,
    totals: Int64s,
    residues: Bytes,
    names: Bytes,
    heads: Int64s,
    runs: Int64s,
    odd: Int64s,
) -> None:
    """Parse a block of FASTA, up to a line that begins with ";", which is not FASTA.

    Parameters
    ----------
    text : (m,) uint8; the first byte of the first block is ">"
    state : (STATES,) int64, state after the previous block, updated
    totals : (TOTALS,) int64, zeros, output: number of items of each kind, and bytes read
    residues, names : (m + 4,) uint8 each, output: residues; headers without ">", each with
        a newline
    heads : (m, 3) int64, output: residues and name bytes before a record, and its line from 0
    runs : (m + 4, 4) int64, output: record, residues of a line piece, number of
        equal pieces, end of each
    odd : (m,) int64, output: records whose header has an unusual line end
    """
    at = 0
    while at < text.size:
        letter = text[at]
        if state[IS_HEAD]:
            name_byte(state, totals, names, odd, letter)
            at += 1
            continue
        if state[IS_START] and letter == COMMENT:
            break
        if state[IS_START] and letter == HEAD:
            begin_record(state, totals, runs, heads)
            at += 1
            continue
        is_known = state[IS_START] and state[RUN_COUNT] and state[RUN_END] == USUAL
        is_known = is_known and state[RUN_LENGTH] > 0
        if is_known and full_line(text, at, state, residues, totals[LETTERS]):
            state[RUN_COUNT] += 1
            state[LINE] += 1
            totals[LETTERS] += state[RUN_LENGTH]
            at += state[RUN_LENGTH] + state[RETURNS] + 1
            continue
        body_byte(state, totals, residues, runs, letter)
        at += 1
    totals[READ] = at


@jit(norefs=True)
def end_file(state: Int64s, totals: Int64s, names: Bytes, runs: Int64s, odd: Int64s) -> bool:
    """End the last record of FASTA; return True if the last line has no line end."""
    is_open = state[IS_HEAD] or (state[PIECE] and not state[HAS_RETURN])
    if state[IS_HEAD]:
        if state[HAS_RETURN]:
            names[totals[NAMES]] = RETURN
            totals[NAMES] += 1
        state[HAS_RETURN] = state[RETURNS]
        end_head(state, totals, names, odd)
    elif state[HAS_RETURN]:
        end_piece(state, totals, runs, RETURN)
    elif state[PIECE]:
        end_piece(state, totals, runs, USUAL)
    end_record(state, totals, runs)
    return bool(is_open)
