"""The synthetic visibilities: the same everywhere, and what their recipe says."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest

from gangsaw.codecs.core.errors import BadParams
from gangsaw.tasks.radio.synthetic import NOISE_JY, NOISE_LEVELS, make_visibilities

SCALE = np.float32(NOISE_JY / NOISE_LEVELS)
N_PAIRS = 64 * 63 // 2
HASH = "ada338288d07d7ddeb7419773755ebd57b0a33f61f76defb300f1b935c624fe7"  # of (3, 5)


def test_same_bits_on_every_machine() -> None:
    data = make_visibilities(3, 5).data
    assert (data.shape, data.dtype) == ((3, 5, N_PAIRS * 4), np.complex64)
    assert sha256(data.astype("<c8").tobytes()).hexdigest() == HASH


def test_a_longer_cube_begins_with_the_shorter() -> None:
    longer = make_visibilities(3, 4, 6)
    shorter = make_visibilities(2, 3, 6)
    assert np.array_equal(longer.data[:2, :3], shorter.data)
    assert not np.array_equal(make_visibilities(2, 3, 6, seed=9).data, shorter.data)


def test_noise_has_the_rms_of_the_recipe() -> None:
    cross = make_visibilities(8, 4).data.reshape(8, 4, N_PAIRS, 4)[..., 1]
    noise = np.diff(cross, axis=0) / np.sqrt(2)  # the sky hardly turns in 8 s
    for part in (noise.real, noise.imag):
        assert part.std() == pytest.approx(NOISE_JY, rel=0.01)
        assert abs(part.mean()) < 0.01 * NOISE_JY


def test_sources_stand_above_the_noise_and_turn() -> None:
    found = make_visibilities(16, 1)
    xx, yy = (found.data.reshape(16, 1, N_PAIRS, 4)[..., p] for p in (0, 3))
    sky = np.mean(xx * yy.conj(), axis=(0, 1)).real  # their noises are independent
    assert 0.5 < np.sqrt(sky.mean()) < 2  # Jy
    assert found.time[-1] == 120
    assert np.all(np.diff(found.frequency) == 208_984.375)
    assert found.antennas.tolist()[:2] == [[0, 1], [0, 2]]


def test_samples_of_8_bits_leave_integers_and_of_12_bits_full_mantissas() -> None:
    coarse = make_visibilities(2, 4).data.view(np.float32)
    levels = np.rint(coarse / SCALE)
    assert np.abs(levels).max() < 1 << 24
    assert np.array_equal(levels * SCALE, coarse)
    fine = make_visibilities(2, 4, sample_bits=12).data.view(np.float32)
    assert np.abs(fine - coarse).max() < 2 * SCALE
    assert np.mean(np.rint(fine / SCALE) * SCALE == fine) < 0.1


@pytest.mark.parametrize("extents", [(0, 1, 2), (1, 0, 2), (1, 1, 1)])
def test_extents_are_checked(extents: tuple[int, int, int]) -> None:
    with pytest.raises(BadParams, match="visibilities need a time, a channel and 2 antennas"):
        make_visibilities(*extents)


def test_sample_bits_are_checked() -> None:
    with pytest.raises(BadParams, match=r"must be in 8\.\.12, got 13"):
        make_visibilities(1, 1, 2, sample_bits=13)
