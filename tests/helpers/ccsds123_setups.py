"""Between the parameters of the package and those of the slow reference and the vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from reference.ccsds123_header import Setup

from gangsaw.codecs.ccsds123 import Image, Params
from gangsaw.codecs.ccsds123.narrow import narrow_block
from gangsaw.codecs.ccsds123.params import LOCAL_SUMS
from helpers.ccsds123_vectors import HEADERLESS_WORD, Vector


def setup_of(image: Image, params: Params) -> Setup:
    """Return what the reference calls these parameters."""
    p = params.resolved(image)
    table = p.accumulator_init
    return Setup(
        *image.shape,
        d=image.bit_depth,
        signed=image.signed,
        p=p.prediction_bands,
        full=p.mode == "full",
        local_sum=LOCAL_SUMS.index(p.local_sum),
        r_bits=p.register_size,
        omega=p.weight_resolution,
        t_inc=p.weight_interval,
        v_min=p.weight_min,
        v_max=p.weight_max,
        weights=p.init_weights and [list(band) for band in p.init_weights],
        q=p.init_weight_bits,
        weights_in_header=p.init_weights_in_header,
        bsq=p.order == "bsq",
        m=p.interleave_depth,
        block_adaptive=p.coder == "block",
        b=p.word_bytes,
        u_max=p.unary_limit,
        gamma_star=p.rescale,
        gamma_0=p.initial_count,
        k=table if isinstance(table, int) else list(table),
        j=p.samples_per_block,
        r=p.reference_interval,
        restricted=p.restricted,
        user=p.user_data,
        supplementary=tuple(table.data for table in p.supplementary),
    )


def body_params(vector: Vector) -> tuple[Image, Params]:
    """Return what the header of a stream without one would say."""
    c = vector.choices
    coder: dict[str, Any] = {"samples_per_block": c["J"], "reference_interval": c["r"]}
    if c["ec"] == 0:
        coder = {"unary_limit": c["U"], "rescale": c["gs"], "initial_count": c["g0"]}
        coder["accumulator_init"] = c["K"]
    params = Params(
        bit_depth=c["D"],
        prediction_bands=c["P"],
        mode="reduced" if c["red"] else "full",
        local_sum=LOCAL_SUMS[c["ls"]],
        register_size=c["R"],
        weight_resolution=c["Om"],
        weight_interval=c["tinc"],
        weight_min=c["vmin"],
        weight_max=c["vmax"],
        order="bsq" if c["bsq"] else "bi",
        interleave_depth=c["M"],
        coder="block" if c["ec"] == 2 else "sample",
        word_bytes=HEADERLESS_WORD,
        **coder,
    )
    return Image(*vector.shape, c["D"], bool(c["signed"])), params


def as_image(array: npt.NDArray[Any], params: Params) -> npt.NDArray[Any]:
    """Return the first (z, y, x) image of a sample's array, of at most 32 bits as in a stream."""
    axes = params.axes if array.ndim > 2 else params.axes.replace("z", "")
    first = array[(0,) * (array.ndim - len(axes))]
    view = first.transpose([axes.index(axis) for axis in "zyx" if axis in axes])
    return narrow_block(view if "z" in axes else view[np.newaxis])
