"""Parameters: JSON and back, clear refusals, and the page that documents them."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gangsaw.codecs.ccsds123 import Params
from gangsaw.codecs.ccsds123.samples import samples
from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.samples import Sample

SPEC = (Path(__file__).resolve().parents[3] / "codecs" / "ccsds123" / "SPEC.md").read_text()


@pytest.mark.parametrize("sample", [pytest.param(s, id=s.name) for s in samples()])
def test_json_round_trip(sample: Sample) -> None:
    text = json.dumps(sample.params.to_dict())
    assert Params.from_dict(json.loads(text)) == sample.params
    assert pickle.loads(pickle.dumps(sample.params)) == sample.params


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"prediction_bands": 16}, "prediction_bands must be in 0..15, got 16"),
        ({"prediction_bands": 3.0}, "prediction_bands must be in 0..15, got 3.0"),
        ({"prediction_bands": True}, "got True"),
        ({"bit_depth": np.int64(12)}, ": give a plain int"),
        ({"mode": "half"}, "mode must be one of full, reduced, got 'half'"),
        ({"mode": 1}, "mode must be one of"),
        ({"local_sum": "wide"}, "local_sum must be one of wide_neighbor"),
        ({"register_size": 31}, "register_size must be in 32..64"),
        ({"weight_interval": 48}, "weight_interval must be one of 16, 32"),
        ({"weight_min": 5, "weight_max": 3}, "weight_max must be in 5..9, got 3"),
        ({"bit_depth": 1}, "bit_depth must be in 2..32"),
        ({"block": (1, 2)}, "block must be three extents"),
        ({"block": (0, 0, 70000)}, "block x must be in 0..65536"),
        ({"block": 7}, "block must be three extents"),
        ({"axes": "zyz"}, "axes must be a permutation"),
        ({"axes": 3}, "axes must be a permutation"),
        ({"init_weight_bits": 4}, "init_weight_bits without init_weights"),
        ({"init_weights": ((9,),), "init_weight_bits": 4}, "init_weights must be in -8..7"),
        ({"init_weights": (1,), "init_weight_bits": 4}, "init_weights must be a tuple of tuple"),
        ({"init_weights": ((),), "init_weight_bits": 17}, "init_weight_bits must be in 3..16"),
        ({"init_weights_in_header": 1}, "must be true or false"),
        ({"order": "bip"}, "order must be one of bsq, bi"),
        ({"coder": "hybrid"}, "coder must be one of sample, block"),
        ({"word_bytes": 9}, "word_bytes must be in 1..8"),
        ({"rescale": 4, "initial_count": 8}, "rescale must be in 9..11, got 4"),
        ({"accumulator_init": 15}, "accumulator_init must be in 0..14"),
        ({"accumulator_init": (3, "x")}, "accumulator_init must be in 0..14, got 'x'"),
        ({"samples_per_block": 24}, "samples_per_block must be one of 8, 16, 32, 64"),
        ({"reference_interval": 0}, "reference_interval must be in 1..4096"),
        ({"restricted": "yes"}, "restricted must be true or false"),
        ({"supplementary": (b"x",)}, "supplementary must be a tuple of SupplementaryTable"),
    ],
)
def test_wrong_parameter(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParams, match=re.escape(message)):
        Params(**choices)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ({"bands": 3}, "unknown parameter 'bands'; known are accumulator_init, "),
        ({"supplementary": ["0g"]}, "malformed configuration"),
        ({"supplementary": 5}, "malformed configuration"),
        ({"init_weights": 5, "init_weight_bits": 4}, "malformed configuration"),
        ({"block": [1, 2]}, "block must be three extents"),
        ({"block": [1, 2, "3"]}, "block x must be in 0..65536, got '3'"),
    ],
)
def test_wrong_configuration(configuration: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParams, match=re.escape(message)):
        Params.from_dict(configuration)


def test_page_names_every_parameter_with_its_default() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \| ([^|]+) \|", SPEC, re.MULTILINE)
    said = {name: json.loads(default) for name, default in rows}
    assert said == Params().to_dict()
    assert said.keys() == {field.name for field in fields(Params)}


def test_page_has_an_example_that_is_read() -> None:
    example = json.loads(SPEC.split("```json")[1].split("```")[0])
    assert example["name"] == "gangsaw.ccsds123"
    params = Params.from_dict(example["configuration"])
    assert (params.mode, params.bit_depth) == ("full", 12)
