"""The codec gangsaw.dna in slow plain Python, from its SPEC.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from reference import dna_dense

BASES = b"ACGT"
EXCHANGED = bytes.maketrans(b"TUtu", b"UTut")
HEAD = 12
Run = tuple[int, int, int]  # begin, length, letter


def recode_block(
    data: bytes, parameters: dict[str, Any], shape: Sequence[int], dtype: Any
) -> tuple[Any, bytes]:
    """Decode one block, and encode it again: the suite over every codec asks.

    A dense block has to be of one lane, since only the index tells where the others begin.
    """
    text = decoded(data, shape[0])
    return np.frombuffer(text, dtype), encoded(text, parameters["mode"])


def decoded(data: bytes, n: int) -> bytes:
    form, n_odd, n_low = (int.from_bytes(data[i : i + 4], "little") for i in (0, 4, 8))
    end = len(data) - n_odd - n_low
    body, odd, low = data[HEAD:end], data[end : end + n_odd], data[end + n_odd :]
    if form & 8:
        assert form in (9, 10, 12)
        plain = bytes([form - 8]) + data[1:]
        return decoded(plain, n).translate(EXCHANGED)
    if form == 0:
        assert not odd + low
        return body
    if form in (3, 4):
        return with_marks(dense_decoded(body, odd, n, form == 3), odd, low)
    packed = body if form == 1 else bytes(fragments(body))
    assert form in (1, 2)
    assert len(packed) == -(-n // 4)
    letters = bytearray(BASES[byte >> shift & 3] for byte in packed for shift in (6, 4, 2, 0))[:n]
    return with_marks(letters, odd, low)


def dense_decoded(body: bytes, odd: bytes, n: int, is_old: bool) -> bytearray:
    """Letters of the bases of a dense body, with something where exceptions are."""
    places = {i for begin, length, _ in runs(odd, True) for i in range(begin, begin + length)}
    assert len(places) < n or not body
    n_bases = n - len(places)
    codes = iter(dna_dense.decoded([body], n_bases, is_old) if n_bases else [])
    return bytearray(0 if i in places else BASES[next(codes)] for i in range(n))


def with_marks(letters: bytearray, odd: bytes, low: bytes) -> bytes:
    for begin, length, letter in runs(odd, has_letter=True):
        letters[begin : begin + length] = bytes([letter]) * length
    for begin, length, _ in runs(low, has_letter=False):
        letters[begin : begin + length] = letters[begin : begin + length].lower()
    return bytes(letters)


def runs(data: bytes, has_letter: bool) -> Iterator[Run]:
    numbers, place = iter(data), 0
    for first in numbers:
        gap = number(first, numbers)
        length = number(next(numbers), numbers) + 1
        yield place + gap, length, next(numbers) if has_letter else 0
        place += gap + length


def number(byte: int, rest: Iterator[int]) -> int:
    return byte if byte < 128 else byte - 128 + 128 * number(next(rest), rest)


def fragments(data: bytes) -> Iterator[int]:
    for at in range(0, len(data), 9):
        code, group, i = data[at], data[at + 1 : at + 9], 0
        while i < len(group):
            if code >> i & 1:
                yield from [group[i]] * group[i + 1]
                i += 2
            else:
                yield group[i]
                i += 1


def encoded(text: bytes, mode: str) -> bytes:
    is_rna = text.upper().count(b"U") > text.upper().count(b"T")
    data = encoded_as_dna(text.translate(EXCHANGED) if is_rna else text, mode)
    if is_rna and data[0]:
        return bytes([data[0] + 8]) + data[1:]
    return bytes(HEAD) + text if is_rna else data


def encoded_as_dna(text: bytes, mode: str) -> bytes:
    upper = bytes(letter - 32 if 97 <= letter <= 122 else letter for letter in text)
    codes = [max(0, BASES.find(letter)) for letter in upper] + [0] * (-len(text) % 4)
    packed = bytes(
        codes[i] << 6 | codes[i + 1] << 4 | codes[i + 2] << 2 | codes[i + 3]
        for i in range(0, len(codes), 4)
    )
    odd = stream([-1 if letter in BASES else letter for letter in upper], has_letter=True)
    low = stream([1 if 97 <= letter <= 122 else -1 for letter in text], has_letter=False)
    form, body = shortest(upper, packed, mode)
    if len(body) + len(odd) + len(low) >= len(text):
        return bytes(HEAD) + text
    head = b"".join(size.to_bytes(4, "little") for size in (form, len(odd), len(low)))
    return head + body + odd + low


def shortest(upper: bytes, packed: bytes, mode: str) -> tuple[int, bytes]:
    """Form and body: those of the mode if they are shorter than what is packed."""
    if mode == "pack":
        return 1, packed
    if mode == "gencodex":
        form, body = 2, groups(packed)
    else:
        codes = [BASES.index(letter) for letter in upper if letter in BASES]
        form, body = 4, b"".join(dna_dense.encoded(codes, 1)) if codes else b""
    return (form, body) if len(body) < len(packed) else (1, packed)


def stream(kinds: list[int], has_letter: bool) -> bytes:
    out, place, before = b"", 0, 0
    for kind, run in groupby(kinds):
        length = len(list(run))
        if kind >= 0:
            out += leb(place - before) + leb(length - 1) + (bytes([kind]) if has_letter else b"")
            before = place + length
        place += length
    return out


def leb(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + leb(value // 128)


def groups(packed: bytes) -> bytes:
    out, place = b"", 0
    while place < len(packed):
        code, group = 0, b""
        while len(group) < 8 and place < len(packed):
            length = 1
            while packed[place : place + length + 1] == packed[place : place + 1] * (length + 1):
                length += 1
            length = min(length, 255)
            group += packed[place : place + 1]
            if length > 1 and len(group) < 8:
                code |= 1 << (len(group) - 1)
                group += bytes([length])
            else:
                length = 1
            place += length
        out += bytes([code]) + group
    return out
