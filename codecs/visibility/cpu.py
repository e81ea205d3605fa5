"""CPU backend of the visibility codec: blocks over threads, kernels in Numba."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.container.blocks import Blocks
from gangsaw.codecs.core.container.folding import CAN_FOLD
from gangsaw.codecs.core.container.frame import Layout
from gangsaw.codecs.core.container.output import Shelf
from gangsaw.codecs.core.container.runs import payloads_of
from gangsaw.codecs.core.container.views import Form, Places, places_of
from gangsaw.codecs.core.errors import CorruptChunk
from gangsaw.codecs.core.memory.per_thread import Kept
from gangsaw.codecs.core.memory.threads import run_blocks, thread_limit
from gangsaw.codecs.visibility.dense import cpu as dense
from gangsaw.codecs.visibility.dense import narrow as dense_narrow
from gangsaw.codecs.visibility.fast import cpu as fast
from gangsaw.codecs.visibility.fast.blocks import OTHER_KIND
from gangsaw.codecs.visibility.params import Params
from gangsaw.codecs.visibility.words import construction, raw
from gangsaw.codecs.visibility.words.arrange import from_words, to_words, words_layout

TOGETHER = 7  # blocks of "fast" in one call of a kernel: `Kept` keeps no more of usual ones
LEAST_RUNS = 4  # for each thread
COPIED = 1 << 20  # bytes of blocks whose payloads are in a cache yet when they are copied
Words = npt.NDArray[Any]
Payload = npt.NDArray[np.uint8]

_kept = Kept()


def encode(sources: Sequence[npt.NDArray[Any]], params: Params) -> Blocks:
    """Encode every block.

    Parameters
    ----------
    sources : blocks (time, frequency, ...) of floats or complex numbers, any byte order and strides
    params : choices of the encoder
    """
    places, n = places_of(sources), len(sources)
    is_fast = _is_fast(params)
    runs = _runs(places.forms if is_fast else [None] * n)
    plans = [fast.plan_of(places.forms[first]) for first, _ in runs] if is_fast else []
    spare = max((plan.spare for plan in plans), default=0)
    shelf = Shelf(n, places.n_bytes + n + spare, Layout(0, 1, n).index_size)

    def encode_run(number: int) -> None:
        first, end = runs[number]
        if is_fast:
            _put_fast(shelf, sources, places, first, end)
        else:
            shelf.put(first, *_encode_block(sources[first], params))

    run_blocks(encode_run, len(runs))
    return Blocks(shelf.parts, shelf=shelf, checksums=shelf.checksums)


def decode(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode every block into its target, several at once.

    Parameters
    ----------
    coded : the blocks
    targets : views (time, frequency, ...) to fill, any byte order and strides
    params : what the blocks were encoded with

    Raises
    ------
    CorruptChunk : a block is none of its target's shape and dtype
    """
    _, checksums = coded.unverified
    # kernels verify what is to be fast, where they can
    if _is_fast(params) and (checksums is None or CAN_FOLD):
        _decode_fast(coded, targets, params)
        return

    def decode_one(i: int) -> None:
        _decode_one(coded, targets, params, i)

    run_blocks(decode_one, len(targets))


def _decode_one(
    coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params, number: int
) -> None:
    try:
        decode_block(coded.parts[number], targets[number], params)
    except CorruptChunk as error:
        raise CorruptChunk(error.reason, block=number) from error


def _decode_fast(coded: Blocks, targets: Sequence[npt.NDArray[Any]], params: Params) -> None:
    """Decode blocks, several in one call of a kernel as far as they are of kind "fast"."""
    parts, checksums = coded.unverified
    places, payloads = places_of(targets), payloads_of(parts)
    groups = _groups(places.forms)

    def decode_group(which: int) -> None:
        numbers = groups[which]
        plan = fast.plan_of(places.forms[numbers[0]])
        while numbers.size:
            n, wrong = fast.decode_some(plan, payloads, checksums, places, numbers)
            if wrong == OTHER_KIND:
                _decode_one(coded, targets, params, int(numbers[n]))
            elif wrong:
                reason = fast.reason(wrong, parts[numbers[n]], plan.padded, plan.word_bytes)
                raise CorruptChunk(reason, block=int(numbers[n]))
            numbers = numbers[n + 1 :]

    try:
        run_blocks(decode_group, len(groups))
    except CorruptChunk as error:  # of blocks in other groups, one in front may be wrong too
        for number in range(error.block or 0):
            _decode_one(coded, targets, params, number)
        raise


def _groups(forms: Sequence[Form]) -> list[npt.NDArray[np.int64]]:
    """Return numbers of blocks of one form each, ascending."""
    by_form: dict[int, list[int]] = {}
    for number, form in enumerate(forms):  # equal ones of a chunk are the same
        by_form.setdefault(id(form), []).append(number)
    groups, left = [], len(forms)
    for numbers in by_form.values():
        while numbers:
            most = _at_most(left)
            groups.append(np.array(numbers[:most], np.int64))
            numbers, left = numbers[most:], left - groups[-1].size
    return groups


def _is_fast(params: Params) -> bool:
    return params.effort == "fast" and not params.is_construction


def _runs(forms: Sequence[Any]) -> list[tuple[int, int]]:
    """Return runs of blocks of one form: first, end; those without a form are alone.

    Of several threads, one copies to their place what another had ready before its turn. Runs of
    3.5 MiB went through memory on that way: two threads were an eighth slower.
    """
    runs, first, n, alone = [], 0, len(forms), thread_limit() == 1
    while first < n:
        end, form = first + 1, forms[first]
        most = TOGETHER if alone or form is None else max(1, COPIED // fast.plan_of(form).n_bytes)
        stop = first + min(most, _at_most(n - first))
        while end < stop and form is not None and forms[end] == form:
            end += 1
        runs.append((first, end))
        first = end
    return runs


def _at_most(left: int) -> int:
    """Return how many blocks of those left one call takes at most: fewer near the end.

    There are some left for each thread when one is begun: none waits long for another at last.
    """
    threads = thread_limit()
    return max(1, min(TOGETHER, left // (LEAST_RUNS * threads if threads > 1 else 1)))


def _put_fast(
    shelf: Shelf, sources: Sequence[npt.NDArray[Any]], places: Places, first: int, end: int
) -> None:
    """Encode blocks that are alike, those raw that do not get shorter."""
    plan = fast.plan_of(places.forms[first])
    while first < end:
        n, room = end - first, shelf.room(first)
        out = fast.room_for(plan, n) if room is None else room
        ends, sums = fast.encode_some(
            plan, places.base, places.offsets[first:end], plan.n_bytes, out
        )
        if room is not None:
            shelf.settle(first, ends, sums)
        elif ends and not shelf.put_run(first, out[: ends[-1]], ends, sums):
            fast.leave_room()
        first += len(ends)
        if len(ends) < n:
            shelf.put(first, *_encode_raw(sources[first]))
            first += 1


def _encode_block(block: npt.NDArray[Any], params: Params) -> tuple[Payload, ...]:
    """Return the payload of a block: what its way of encoding gives, or raw where that is less.

    It is in parts, in memory of this thread that the next call uses again.
    """
    if params.effort == "dense" and not params.is_construction:
        parts = dense_narrow.encode_parts(block)
        if sum(part.size for part in parts) <= block.nbytes:
            return parts
    words = _kept_words(block)
    to_words(block, words)
    return (encode_words(words, params),)


def encode_raw(block: npt.NDArray[Any]) -> Payload:
    """Return the payload of a block that no way of encoding makes shorter."""
    return np.concatenate(_encode_raw(block))


def _encode_raw(block: npt.NDArray[Any]) -> tuple[Payload, ...]:
    words = _kept_words(block)
    to_words(block, words)
    return raw.encode_parts(words)


def _kept_words(block: npt.NDArray[Any]) -> Words:
    """Return words for a block, in memory of this thread that the next call uses again."""
    shape, dtype = words_layout(block)
    n = math.prod(shape)
    return _kept.array("words", n, dtype)[:n].reshape(shape)


def decode_block(data: Payload, block: npt.NDArray[Any], params: Params) -> None:
    """Fill a block from its payload; CorruptChunk if it is none."""
    decoder = TO_BLOCKS.get(int(data[0])) if data.size else None
    if decoder is not None:
        decoder(data, block)
        return
    words = _kept_words(block)
    decode_words(data, words, params)
    from_words(words, block)


def encode_words(words: Words, params: Params) -> Payload:
    """Return the payload of words (component, rest, frequency, time), raw where that is less."""
    encoder = ENCODERS.get("construction" if params.is_construction else params.effort, raw.encode)
    coded = encoder(words, params)
    return coded if coded.size <= words.nbytes else raw.encode(words, params)


def decode_words(data: Payload, words: Words, params: Params) -> None:
    """Fill words (component, rest, frequency, time) from a payload; CorruptChunk if it is none."""
    decoder = DECODERS.get(int(data[0])) if data.size else None
    if decoder is None:
        raise CorruptChunk(f"no kind of block is known that begins with {bytes(data[:1]).hex()}")
    decoder(data, words, params)


# Each takes (words, params) and returns a payload that begins with its kind.
ENCODERS = {"construction": construction.encode}
# By the kind that a payload begins with; each takes (payload, words, params) and fills the words.
DECODERS = {raw.KIND: raw.decode, construction.KIND: construction.decode}
# The same for what needs no words; these fill the block itself.
TO_BLOCKS = {
    raw.KIND: raw.decode_block,
    fast.KIND: fast.decode,
    dense.KIND: dense.decode,
    dense_narrow.KIND: dense_narrow.decode,
}
