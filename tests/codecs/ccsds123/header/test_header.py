"""Headers: what is written is read, by the reference too; what is wrong is refused."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest
from helpers.ccsds123_setups import as_image, setup_of
from helpers.ccsds123_vectors import Vector, vector_parameters
from reference import ccsds123_header as reference

from gangsaw.codecs.ccsds123 import Image, Params, SupplementaryTable, read_header, write_header
from gangsaw.codecs.ccsds123.samples import SCALAR_TABLE, samples
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat
from gangsaw.codecs.core.plugins.samples import Sample

IMAGE = Image(5, 6, 7, 12, False)
RESERVED_BITS = [57, 80, 81, 87, 90, 91, 96]  # of the image part and the first of the predictor's
SAMPLES = [pytest.param(sample, id=sample.name) for sample in samples()]


def flipped(data: bytes, bit: int) -> bytes:
    out = bytearray(data)
    out[bit // 8] ^= 128 >> bit % 8
    return bytes(out)


@pytest.mark.parametrize("vector", vector_parameters(slow_above=1 << 32))
def test_third_party_header(vector: Vector) -> None:
    if not vector.has_header:
        assert vector.choices["D"] > 0
        return
    data = vector.data()
    image, params, length = read_header(data)
    assert image.shape == vector.shape
    assert write_header(image, params) == data[:length]


@pytest.mark.parametrize("sample", SAMPLES)
def test_round_trip(sample: Sample) -> None:
    array, params = as_image(sample.array, sample.params), sample.params
    image = params.image(array.shape, array.dtype)
    header = write_header(image, params)
    read, said, length = read_header(header + b"body", params.init_weights)
    assert (read, length) == (image, len(header))
    assert write_header(read, said) == header
    out = reference.BitWriter()
    reference.write_header(out, setup_of(image, params))
    assert out.to_bytes(1) == header


@pytest.mark.parametrize("depth", range(2, 33))
@pytest.mark.parametrize("signed", [False, True])
def test_bit_depths(depth: int, signed: bool) -> None:
    image = Image(1, 1 << 16, 1 << 16, depth, signed)
    assert read_header(write_header(image, Params()))[0] == image


@pytest.mark.parametrize("sample", SAMPLES)
def test_every_truncation_is_corrupt(sample: Sample) -> None:
    array, params = as_image(sample.array, sample.params), sample.params
    header = write_header(params.image(array.shape, array.dtype), params)
    for length in range(len(header)):
        with pytest.raises(CorruptChunk):
            read_header(header[:length], params.init_weights)


@pytest.mark.parametrize("bit", RESERVED_BITS)
def test_reserved_bits(bit: int) -> None:
    with pytest.raises(CorruptChunk, match="reserved bit"):
        read_header(flipped(write_header(IMAGE, Params()), bit))


@pytest.mark.parametrize(
    ("bit", "feature"),
    [
        (86, "hybrid"),
        (88, "near-lossless"),
        (89, "near-lossless"),
        (97, "sample representatives"),
        (103, "weight exponent offsets"),
        (128, "weight exponent offsets"),
    ],
)
def test_what_a_later_version_will_read(bit: int, feature: str) -> None:
    with pytest.raises(NewerFormat, match=feature):
        read_header(flipped(write_header(IMAGE, Params()), bit))


def test_every_flipped_bit_is_refused_or_read() -> None:
    """What is read is written again as it was: no bit of a header is ignored."""
    for params in (Params(), Params(coder="block", order="bi")):
        header = write_header(IMAGE, params)
        for first, second in itertools.combinations_with_replacement(range(8 * len(header)), 2):
            damaged = flipped(header, first)
            damaged = damaged if first == second else flipped(damaged, second)
            try:
                image, said, length = read_header(damaged + bytes(100))
            except (CorruptChunk, NewerFormat, BadParams):  # weights known elsewhere: not here
                continue
            assert write_header(image, said) == (damaged + bytes(100))[:length]


@pytest.mark.parametrize(
    ("image", "bits", "message"),
    [
        (Image(5, 6, 1, 12, False), [102], "mode is 'full'"),
        (Image(5, 6, 1, 12, False), [104], "local_sum is 'wide_neighbor'"),
        (IMAGE, [64 + 13], "interleave_depth is 4"),
        (IMAGE, [129], "custom weights of 0 bits"),
        (IMAGE, [130], "announced for default weights"),
        (IMAGE, [136], "unary_limit must be in 8..32"),
        (IMAGE, [151], "accumulator constant and table flag"),
    ],
)
def test_illegal_fields(image: Image, bits: list[int], message: str) -> None:
    data = write_header(image, Params(unary_limit=20, order="bsq"))
    for bit in bits:
        data = flipped(data, bit)
    with pytest.raises(CorruptChunk, match=message):
        read_header(data)


def table(kind: int, purpose: int, structure: int, element: str, count: int) -> bytes:
    bits = f"{kind:02b}00{purpose:04b}0{structure:02b}00101" + element.split("|")[0]
    bits += element.split("|")[1] * count
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


INTEGERS = "01011|11001010011"  # 11 bits
WIDE_INTEGERS = "00000|" + "10" * 16
FLOATS = "01010" + "101" + "10011|" + "1" + "01010" + "1100110011"  # 10-bit significand, 5 bits


@pytest.mark.parametrize("structure", range(4))
@pytest.mark.parametrize(
    ("kind", "element"), [(0, INTEGERS), (1, INTEGERS), (0, WIDE_INTEGERS), (2, FLOATS)]
)
def test_supplementary_tables_are_kept(structure: int, kind: int, element: str) -> None:
    count = (1, 5, 5 * 7, 6 * 7)[structure]
    tables = tuple(
        SupplementaryTable(table(kind, purpose, structure, element, count)) for purpose in (2, 15)
    )
    params = Params(supplementary=tables)
    header = write_header(IMAGE, params)
    assert read_header(header)[1].supplementary == tables
    assert read_header(header)[2] == len(header) == 19 + sum(len(t.data) for t in tables)
    source = reference.BitReader(header)
    assert reference.read_header(source).supplementary == tuple(t.data for t in tables)


@pytest.mark.parametrize(
    "data",
    [
        SCALAR_TABLE.data + b"\0",
        SCALAR_TABLE.data[:-1],
        b"",
        bytes([0xC2]) + SCALAR_TABLE.data[1:],  # no such type
        bytes([0x05]) + SCALAR_TABLE.data[1:],  # no such purpose
        SCALAR_TABLE.data[:-1] + b"\x59",  # fill bits
    ],
)
def test_supplementary_tables_that_are_none(data: bytes) -> None:
    with pytest.raises(BadParams, match="supplementary table"):
        write_header(IMAGE, Params(supplementary=(SupplementaryTable(data),)))


def test_weights_known_elsewhere() -> None:
    weights = tuple((z,) * min(z, 3) for z in range(5))
    params = Params(init_weights=weights, init_weight_bits=6, init_weights_in_header=False)
    header = write_header(IMAGE, params)
    assert len(header) == 19
    with pytest.raises(BadParams, match="give params with init_weights"):
        read_header(header)
    assert read_header(header, weights)[1].init_weights == weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (((),) * 4, "must have 5 entries"),
        (((),) * 5, "of band 1 must have 1"),
        (tuple((z * 8,) * min(z, 3) for z in range(5)), "must be in -16..15, got 16"),
    ],
)
def test_false_weights_from_elsewhere_are_not_the_bytes_fault(
    weights: tuple[tuple[int, ...], ...], message: str
) -> None:
    own = tuple((z,) * min(z, 3) for z in range(5))
    params = Params(init_weights=own, init_weight_bits=5, init_weights_in_header=False)
    header = write_header(IMAGE, params)
    with pytest.raises(BadParams, match=message):
        read_header(header, weights)


def test_single_column_loses_directional_weights() -> None:
    weights = tuple((1, 2, 3) + (z,) * min(z, 3) for z in range(5))
    params = Params(mode="full", init_weights=weights, init_weight_bits=6)
    read = read_header(write_header(replace(IMAGE, n_columns=1), params))[1]
    assert read.init_weights == tuple((z,) * min(z, 3) for z in range(5))


@pytest.mark.parametrize(
    ("image", "choices", "message"),
    [
        (IMAGE, {"accumulator_init": (3, 3)}, "must have 5 entries"),
        (IMAGE, {"accumulator_init": (3, 3, 3, 3, 11)}, "must be in 0..10, got 11"),
        (IMAGE, {"restricted": True, "coder": "block"}, "at most 4, got 12"),
        (IMAGE, {"init_weights": ((),), "init_weight_bits": 4}, "must have 5 entries"),
        (IMAGE, {"init_weights": ((),) * 5, "init_weight_bits": 4}, "of band 1 must have 1"),
    ],
)
def test_choices_that_do_not_fit(image: Image, choices: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParams, match=message):
        write_header(image, Params(**choices))
