"""Letters, codes and complements, against what IUPAC says; packing, against plain Python."""

from __future__ import annotations

import ast
import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangsaw.codecs.core.nucleotides import alphabet, codes, kernels, packing
from gangsaw.codecs.core.numba.bits import swapped
from gangsaw.codecs.core.numba.jit import jit

REPOSITORY = Path(__file__).parents[4]
# IUPAC-IUB, Nomenclature for incompletely specified bases (1984), table 1
MEANINGS = {
    "A": "A",
    "C": "C",
    "G": "G",
    "T": "T",
    "U": "T",
    "R": "AG",
    "Y": "CT",
    "S": "CG",
    "W": "AT",
    "K": "GT",
    "M": "AC",
    "B": "CGT",
    "D": "AGT",
    "H": "ACT",
    "V": "ACG",
    "N": "ACGT",
}
PAIRS = dict(zip("ACGT", "TGCA", strict=True))
ALL = np.arange(256, dtype=np.uint8)
texts = st.binary(max_size=70) | st.text("ACGTNacgt", max_size=70).map(str.encode)


def partner(letter: str) -> str:
    """The letter whose bases pair with those of a letter."""
    wanted = {PAIRS[base] for base in MEANINGS[letter]}
    return next(x for x, bases in MEANINGS.items() if set(bases) == wanted and x != "U")


def code(letter: int, known: bytes = alphabet.BASES) -> int:
    return known.find(letter) if letter in known else alphabet.NOT_A_BASE


def test_letters_stand_for_sets_of_bases() -> None:
    bit = {"A": alphabet.A, "C": alphabet.C, "G": alphabet.G, "T": alphabet.T}
    assert {x: sum(bit[base] for base in bases) for x, bases in MEANINGS.items()} == alphabet.SETS
    found = {chr(i): int(bits) for i, bits in enumerate(codes.SET_OF_LETTER) if bits}
    assert found == alphabet.SETS | {x.lower(): bits for x, bits in alphabet.SETS.items()}
    assert [alphabet.LETTER_OF_SET[i] for i in range(1, 16)] == list("ATWCMYHGRKDSVBN")


def test_complements_are_those_of_the_bases() -> None:
    expected = {ord(x): ord(partner(x)) for x in MEANINGS}
    expected |= {ord(x.lower()): ord(partner(x).lower()) for x in MEANINGS}
    assert list(alphabet.COMPLEMENT) == [expected.get(i, i) for i in range(256)]
    assert alphabet.reverse_complement_text(b"AACGTNrY=.") == b".=RyNACGTT"
    text = np.frombuffer(b"AACGTNrY=.", np.uint8)
    assert codes.reverse_complement_bases(text).tobytes() == alphabet.reverse_complement_text(
        text.tobytes()
    )


def test_complements_of_codes_and_sets_are_those_of_letters() -> None:
    text = np.frombuffer(b"ACGTTN", np.uint8)
    turned = codes.reverse_complement_bases(text)
    np.testing.assert_array_equal(
        codes.reverse_complement_codes(codes.CODES[text]), codes.CODES[turned]
    )
    some = np.frombuffer("".join(MEANINGS).encode(), np.uint8)
    turned = codes.SET_OF_LETTER[codes.reverse_complement_bases(some)]
    np.testing.assert_array_equal(codes.reverse_complement_sets(codes.SET_OF_LETTER[some]), turned)


def test_codes_are_places_among_the_bases() -> None:
    assert codes.UPPER_CODES.tolist() == [code(i) for i in range(256)]
    known = [code(ord(chr(i).upper()[:1].replace("U", "T"))) for i in range(128)]
    assert codes.CODES.tolist() == known + [4] * 128
    assert codes.LETTER_OF_CODE.tobytes() == b"ACGTN"
    assert codes.code_table(b"TCAG", both_cases=False)[list(b"TCAGN")].tolist() == [0, 1, 2, 3, 4]


@jit
def by_kernels(text: np.ndarray, found: np.ndarray) -> None:
    """Fill code, letter of the code and code of the complement of the bases among bytes."""
    for i in range(text.size):
        if kernels.is_base(text[i]):
            one = kernels.code_of(np.int64(text[i]))
            found[i, 0], found[i, 1] = one, kernels.letter_of(one)
            found[i, 2] = kernels.paired_code(one)
        else:
            found[i] = kernels.paired_code(alphabet.NOT_A_BASE)


def test_kernels_have_the_codes_of_the_tables() -> None:
    found = np.zeros((256, 3), np.int64)
    by_kernels(ALL, found)
    np.testing.assert_array_equal(found[:, 0], codes.UPPER_CODES)
    np.testing.assert_array_equal(found[:, 2], codes.COMPLEMENT_OF_CODE[codes.UPPER_CODES])
    bases = [*alphabet.BASES]
    assert found[bases, 1].tolist() == bases
    filled = np.zeros(256, np.uint8)
    kernels.encode_dna(ALL, filled)
    np.testing.assert_array_equal(filled, codes.UPPER_CODES)
    kernels.encode_nucleotides(ALL, filled)
    assert filled.tolist() == [code(i if i != ord("U") else ord("T")) for i in range(256)]


@jit
def as_dna(text: np.ndarray, out: np.ndarray) -> None:
    out[0] = kernels.as_dna(kernels.eight_of(text, 0, 8))


@given(st.binary(min_size=8, max_size=8) | st.text("TUtuA", min_size=8, max_size=8).map(str.encode))
def test_eight_letters_of_rna_are_those_of_dna(text: bytes) -> None:
    out = np.zeros(1, np.uint64)
    as_dna(np.frombuffer(text, np.uint8), out)
    assert out.tobytes() == text.replace(b"U", b"T")


@given(texts)
def test_four_codes_are_a_byte(text: bytes) -> None:
    own = codes.CODES[np.frombuffer(text, np.uint8)]
    packed = packing.packed_codes(own)
    assert packed.dtype == np.uint8
    assert packed.size == packing.packed_size(len(text))
    digits = [*(own & 3).tolist(), *[0] * (-len(text) % 4)]
    expected = [
        64 * a + 16 * b + 4 * c + d
        for a, b, c, d in zip(*(digits[i::4] for i in range(4)), strict=True)
    ]
    assert packed.tolist() == expected
    unpacked = packing.unpacked_codes(packed, len(text))
    assert unpacked.dtype == np.uint8
    np.testing.assert_array_equal(unpacked, own & 3)


def test_letters_of_bytes_are_in_any_order() -> None:
    expected = ["".join(four).encode() for four in product("TCAG", repeat=4)]
    assert [row.tobytes() for row in packing.build_unpacking_table(b"TCAG")] == expected


@jit
def eight(text: np.ndarray, begin: int, n: int, is_swapped: bool) -> tuple[int, int]:
    word = kernels.eight_of(text, begin, n)
    found, marks = kernels.codes_of_eight(swapped(word) if is_swapped else word)
    return np.int64(kernels.pack_codes(found)), np.int64(kernels.pack_marks(marks))


@given(st.binary(min_size=8, max_size=8) | st.text("ACGTN", min_size=8, max_size=8).map(str.encode))
def test_eight_letters_are_packed_at_once(text: bytes) -> None:
    given_text = np.frombuffer(text + b"A", np.uint8)
    own = [code(letter) for letter in text]
    found, marks = eight(given_text, 0, 8, False)
    assert marks == sum((one == alphabet.NOT_A_BASE) << i for i, one in enumerate(own))
    lowest, _ = eight(given_text, 0, 8, True)
    for i, one in enumerate(own):
        if one != alphabet.NOT_A_BASE:
            assert found >> 14 - 2 * i & 3 == lowest >> 2 * i & 3 == one


@pytest.mark.parametrize("n", range(8))
def test_nothing_behind_the_text_is_read(n: int) -> None:
    text = np.frombuffer(b"GTTTCCCG"[:n], np.uint8)
    found, marks = eight(text, 0, n, False)
    own = codes.CODES[text].tolist()
    assert found >> 16 - 2 * n == sum(one << 2 * (n - 1 - i) for i, one in enumerate(own))
    assert marks & (1 << n) - 1 == 0


SPELLED = re.compile("ACGT|TGCA|acgt|tgca")
HOMES = {"codecs/core/nucleotides/alphabet.py"}
SAMPLES = re.compile(r"samples\.py$|/sample_lines\.py$")  # their texts are what they are


def test_no_other_file_spells_the_bases() -> None:
    """A table of one's own begins with these letters, in a constant; docstrings explain."""
    found = set()
    for folder in ("codecs", "tasks", "cluster", "src"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            name = path.relative_to(REPOSITORY).as_posix()
            if not SAMPLES.search(name) and any(map(SPELLED.search, constants(path))):
                found.add(name)
    assert found == HOMES


def constants(path: Path) -> list[str]:
    """Texts and bytes of a file that are one word: no sentence."""
    nodes = [
        node.value for node in ast.walk(ast.parse(path.read_text())) if type(node) is ast.Constant
    ]
    plain = [one.decode("latin-1") for one in nodes if isinstance(one, bytes)]
    plain += [one for one in nodes if isinstance(one, str)]
    return [one for one in plain if " " not in one and "\n" not in one]
