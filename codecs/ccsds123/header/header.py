"""Headers of CCSDS-123 streams (5.3 of 123.0-B-1 and -2): conversion of Image and Params.

One layout serves both issues: fields that issue 2 added are reserved zeros in issue 1. Writer and
reader use the same tables of fields, so that they cannot differ.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from gangsaw.codecs.ccsds123.header.bits import RESERVED, Fields, HeaderReader, HeaderWriter
from gangsaw.codecs.ccsds123.header.tables import (
    check_supplementary_table,
    read_supplementary_table,
)
from gangsaw.codecs.ccsds123.params import (
    LOCAL_SUMS,
    MAX_EXTENT,
    Image,
    Params,
    SupplementaryTable,
)
from gangsaw.codecs.core.errors import BadParams, CorruptChunk, NewerFormat
from gangsaw.codecs.core.plugins.parameters import built

Choices: TypeAlias = dict[str, object]  # fields of Params by name
Argument = TypeVar("Argument")
Made = TypeVar("Made")

IMAGE: Fields = (
    ("user_data", 8),
    ("n_columns", 16),
    ("n_rows", 16),
    ("n_bands", 16),
    ("signed", 1),
    (RESERVED, 1),
    ("wide", 1),  # D > 16
    ("bit_depth", 4),
    ("bsq", 1),
    ("interleave_depth", 16),
    (RESERVED, 2),
    ("word_bytes", 3),
    ("coder", 2),
    (RESERVED, 1),
    ("fidelity", 2),
    (RESERVED, 2),
    ("n_supplementary", 4),
)
PREDICTOR: Fields = (
    (RESERVED, 1),
    ("representatives", 1),
    ("prediction_bands", 4),
    ("reduced", 1),
    ("exponent_offsets", 1),
    ("local_sum", 2),
    ("register_size", 6),
    ("weight_resolution", 4),
    ("weight_interval", 4),
    ("weight_min", 4),
    ("weight_max", 4),
    ("offset_table", 1),
    ("custom_weights", 1),
    ("weight_table", 1),
    ("init_weight_bits", 5),
)
SAMPLE_CODER: Fields = (
    ("unary_limit", 5),
    ("rescale", 3),
    ("initial_count", 3),
    ("constant", 4),
    ("table", 1),
)
BLOCK_CODER: Fields = (
    (RESERVED, 1),
    ("samples_per_block", 2),
    ("restricted", 1),
    ("reference_interval", 12),
)

SAMPLE, HYBRID, BLOCK = 0, 1, 2  # entropy coder codes
NO_CONSTANT = 15  # value of the accumulator constant if a table is used
WEIGHTS = ("init_weights", "init_weight_bits", "init_weights_in_header")  # of Params


def write_header(image: Image, params: Params) -> bytes:
    """Return the header of a stream.

    Parameters
    ----------
    image : Image
        Properties of the image.
    params : Params
        Params, which are resolved for the image.

    Returns
    -------
    bytes
        The header.

    Raises
    ------
    BadParams
        The params do not fit the image.

    References
    ----------
    .. [1] CCSDS 123.0-B-2, "Low-Complexity Lossless and Near-Lossless Multispectral and
       Hyperspectral Image Compression", February 2019.

    Examples
    --------
    >>> from gangsaw.codecs import ccsds123
    >>> image = ccsds123.Image(4, 8, 8, bit_depth=12, signed=False)
    >>> len(ccsds123.write_header(image, ccsds123.Params()))
    19
    """
    p = params.resolved(image)
    out = HeaderWriter()
    out.put(IMAGE, _image_fields(image, p))
    for table in p.supplementary:
        check_supplementary_table(table.data, image)
        out.data += table.data
    _write_predictor(out, p)
    _write_coder(out, p)
    return bytes(out.data)


def read_header(
    data: bytes | memoryview, init_weights: tuple[tuple[int, ...], ...] | None = None
) -> tuple[Image, Params, int]:
    """Return image, resolved params and the number of header bytes at the start of data.

    Memory is only allocated for elements that are present in data.

    Parameters
    ----------
    data : bytes or memoryview
        A stream.
    init_weights : tuple of tuple of int, optional
        Custom weights of a stream whose header does not contain its weights.

    Returns
    -------
    image : Image
        Properties of the image.
    params : Params
        Resolved params.
    n_bytes : int
        Length of the header.

    Raises
    ------
    CorruptChunk
        The bytes are no header.
    NewerFormat
        The stream has features of the standard that this version lacks: near-lossless, hybrid
        coder, sample representatives, weight exponent offsets. A later Gangsaw will read such
        bytes.
    BadParams
        `init_weights` are needed and missing, or do not fit the header.

    References
    ----------
    .. [1] CCSDS 123.0-B-2, "Low-Complexity Lossless and Near-Lossless Multispectral and
       Hyperspectral Image Compression", February 2019.

    Examples
    --------
    >>> from gangsaw.codecs import ccsds123
    >>> image = ccsds123.Image(4, 8, 8, bit_depth=12, signed=False)
    >>> header = ccsds123.write_header(image, ccsds123.Params(prediction_bands=2))
    >>> found, params, n_bytes = ccsds123.read_header(header)
    >>> found == image, params.prediction_bands, n_bytes == len(header)
    (True, 2, True)
    """
    source = HeaderReader(data)
    values = source.get(IMAGE)
    _refuse("near-lossless compression", values["fidelity"])
    _refuse("the hybrid entropy coder", values["coder"] == HYBRID)
    image = _checked(_image, values)
    choices = _image_choices(values)
    choices["supplementary"] = tuple(
        SupplementaryTable(read_supplementary_table(source, image))
        for _ in range(values["n_supplementary"])
    )
    choices |= _read_predictor(source, image, init_weights)
    choices |= _read_coder(source, image, values["coder"])
    # The caller supplies external weights: errors in them are not errors of the bytes.
    outside = not choices.get("init_weights_in_header", True)
    weights = {name: choices.pop(name) for name in WEIGHTS if outside}
    params = _checked(lambda named: built(Params, named).resolved(image), choices)
    _check_resolved(choices, params)
    return image, built(Params, vars(params) | weights).resolved(image), source.n_bytes


def _checked(make: Callable[[Argument], Made], argument: Argument) -> Made:
    """Return make(argument); raise CorruptChunk for BadParams, as the header is wrong."""
    try:
        return make(argument)
    except BadParams as error:
        raise CorruptChunk(f"header: {error}") from None


def _refuse(feature: str, present: int) -> None:
    if present:
        raise NewerFormat(f"this stream uses {feature}, which needs a newer Gangsaw")


def _check_resolved(choices: Choices, resolved: Params) -> None:
    """Raise CorruptChunk if a header's fields differ from the params that resolving them gives."""
    for name, said in choices.items():
        if said != (due := getattr(resolved, name)):
            raise CorruptChunk(f"header: {name} is {said!r}, but for this image it must be {due!r}")


# ------------------------------------------------------------------ image metadata, 5.3.2


def _image_fields(image: Image, p: Params) -> dict[str, int]:
    return {
        "user_data": p.user_data,
        "n_columns": image.n_columns,
        "n_rows": image.n_rows,
        "n_bands": image.n_bands,
        "signed": image.signed,
        "wide": image.bit_depth > 16,
        "bit_depth": image.bit_depth,
        "bsq": p.order == "bsq",
        "interleave_depth": p.interleave_depth,
        "word_bytes": p.word_bytes,
        "coder": BLOCK if p.coder == "block" else SAMPLE,
        "n_supplementary": len(p.supplementary),
    }


def _image(values: dict[str, int]) -> Image:
    n_bands, n_rows, n_columns = (
        values[name] or MAX_EXTENT for name in ("n_bands", "n_rows", "n_columns")
    )
    return Image(n_bands, n_rows, n_columns, _bit_depth(values), bool(values["signed"]))


def _bit_depth(values: dict[str, int]) -> int:
    """Return D, which is coded modulo 16 with a flag for D > 16: 16 is (0, 0), 32 is (1, 0)."""
    return (values["bit_depth"] or 16) + 16 * values["wide"]


def _image_choices(values: dict[str, int]) -> Choices:
    if values["coder"] not in (SAMPLE, BLOCK):
        raise CorruptChunk(f"header: entropy coder code {values['coder']} is not defined")
    interleaved = not values["bsq"] and values["interleave_depth"] == 0
    return {
        "user_data": values["user_data"],
        "bit_depth": _bit_depth(values),
        "order": "bsq" if values["bsq"] else "bi",
        "interleave_depth": MAX_EXTENT if interleaved else values["interleave_depth"],
        "word_bytes": values["word_bytes"] or 8,
        "coder": "block" if values["coder"] == BLOCK else "sample",
    }


# ------------------------------------------------------------------ predictor metadata, 5.3.3


def _write_predictor(out: HeaderWriter, p: Params) -> None:
    weights = p.init_weights if p.init_weights_in_header else None
    values = {
        "prediction_bands": p.prediction_bands,
        "reduced": p.mode == "reduced",
        "local_sum": LOCAL_SUMS.index(p.local_sum),
        "register_size": p.register_size,
        "weight_resolution": p.weight_resolution - 4,
        "weight_interval": p.weight_interval.bit_length() - 5,
        "weight_min": p.weight_min + 6,
        "weight_max": p.weight_max + 6,
        "custom_weights": p.init_weights is not None,
        "weight_table": weights is not None,
        "init_weight_bits": p.init_weight_bits,
    }
    out.put(PREDICTOR, values)
    if weights is not None:
        out.table([weight for band in weights for weight in band], p.init_weight_bits)


def _read_predictor(
    source: HeaderReader, image: Image, known: tuple[tuple[int, ...], ...] | None
) -> Choices:
    values = source.get(PREDICTOR)
    _refuse("sample representatives", values["representatives"])
    _refuse("weight exponent offsets", values["exponent_offsets"] | values["offset_table"])
    choices: Choices = {
        "prediction_bands": values["prediction_bands"],
        "mode": "reduced" if values["reduced"] else "full",
        "local_sum": LOCAL_SUMS[values["local_sum"]],
        "register_size": values["register_size"] or 64,
        "weight_resolution": values["weight_resolution"] + 4,
        "weight_interval": 1 << (values["weight_interval"] + 4),
        "weight_min": values["weight_min"] - 6,
        "weight_max": values["weight_max"] - 6,
    }
    return choices | _read_weights(source, image, values, known)


def _read_weights(
    source: HeaderReader,
    image: Image,
    values: dict[str, int],
    known: tuple[tuple[int, ...], ...] | None,
) -> Choices:
    if not values["custom_weights"]:
        if values["weight_table"] or values["init_weight_bits"]:
            raise CorruptChunk("header: a weight table is announced for default weights")
        return {}
    width = values["init_weight_bits"]
    if not 3 <= width <= values["weight_resolution"] + 7:
        raise CorruptChunk(f"header: custom weights of {width} bits are not allowed")
    if values["weight_table"]:
        known = _read_weight_table(source, image, values)
    elif known is None:
        raise BadParams("this stream's custom weights are not in it: give params with init_weights")
    return {
        "init_weights": known,
        "init_weight_bits": width,
        "init_weights_in_header": bool(values["weight_table"]),
    }


def _read_weight_table(
    source: HeaderReader, image: Image, values: dict[str, int]
) -> tuple[tuple[int, ...], ...]:
    directional, width = 0 if values["reduced"] else 3, values["init_weight_bits"]
    lengths = [min(z, values["prediction_bands"]) + directional for z in range(image.n_bands)]
    flat = iter(source.table(sum(lengths), width))
    sign = 1 << width >> 1
    return tuple(tuple((next(flat) ^ sign) - sign for _ in range(n)) for n in lengths)


# ------------------------------------------------------------------ entropy coder metadata, 5.3.4


def _write_coder(out: HeaderWriter, p: Params) -> None:
    if p.coder == "block":
        size = p.samples_per_block.bit_length() - 4
        values = {"samples_per_block": size, "restricted": p.restricted}
        out.put(BLOCK_CODER, values | {"reference_interval": p.reference_interval})
        return
    table = p.accumulator_init
    values = {
        "unary_limit": p.unary_limit,
        "rescale": p.rescale - 4,
        "initial_count": p.initial_count,
        "constant": table if isinstance(table, int) else NO_CONSTANT,
        "table": not isinstance(table, int),
    }
    out.put(SAMPLE_CODER, values)
    if not isinstance(table, int):
        out.table(list(table), 4)


def _read_coder(source: HeaderReader, image: Image, coder: int) -> Choices:
    if coder == BLOCK:
        values = source.get(BLOCK_CODER)
        return {
            "samples_per_block": 8 << values["samples_per_block"],
            "restricted": bool(values["restricted"]),
            "reference_interval": values["reference_interval"] or 4096,
        }
    values = source.get(SAMPLE_CODER)
    if (values["constant"] == NO_CONSTANT) != values["table"]:
        raise CorruptChunk("header: accumulator constant and table flag contradict each other")
    table = tuple(source.table(image.n_bands, 4)) if values["table"] else values["constant"]
    return {
        "unary_limit": values["unary_limit"] or 32,
        "rescale": values["rescale"] + 4,
        "initial_count": values["initial_count"] or 8,
        "accumulator_init": table,
    }
