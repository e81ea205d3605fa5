"""Seeded scenes that compress like real ones: smooth spectra, correlated ground, sensor noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def imaging_spectrometer(
    shape: tuple[int, int, int] = (224, 512, 262), bit_depth: int = 16, seed: int = 123
) -> npt.NDArray[np.uint16]:
    """Return a cube (z, y, x) like a raw AVIRIS scene, 5 to 7 bits a sample after CCSDS-123.

    A few materials with smooth spectra are mixed by fields that are correlated over tens of
    pixels; each pixel has an illumination, each sample Gaussian noise that grows with its signal.
    """
    rng = np.random.default_rng(seed)
    bands, rows, columns = shape
    spectra = np.exp(_smooth(rng, (5, bands), 24) * 1.2)
    fields = np.stack([_field(rng, rows, columns) for _ in range(5)])
    weights = np.exp(2 * fields)
    weights /= weights.sum(axis=0)
    light = 1 + 0.15 * _field(rng, rows, columns)
    peak = np.tensordot(spectra.max(axis=1), weights, axes=1).max()
    cube = np.empty(shape, np.uint16)
    for z in range(bands):
        signal = np.tensordot(spectra[:, z], weights, axes=1) * light / peak
        noise = rng.standard_normal((rows, columns), np.float32) * (0.5 + np.sqrt(signal))
        level = signal * (0.25 * 2**bit_depth) + noise * 2 ** (bit_depth - 12)
        cube[z] = np.clip(level, 0, 2**bit_depth - 1)
    return cube


def _smooth(
    rng: np.random.Generator, shape: tuple[int, ...], width: int
) -> npt.NDArray[np.float64]:
    """Unit-variance noise along the last axis, correlated over about `width`."""
    kernel = np.hanning(2 * width + 1)
    noise = rng.standard_normal((*shape[:-1], shape[-1] + 2 * width))
    out = np.apply_along_axis(np.convolve, -1, noise, kernel, mode="valid")
    return np.asarray(out / out.std())


def _field(rng: np.random.Generator, rows: int, columns: int) -> npt.NDArray[np.float32]:
    """Unit-variance noise with a power-law spectrum, as ground has."""
    frequency = np.hypot(np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None, :])
    frequency[0, 0] = 1
    spectrum = np.fft.rfft2(rng.standard_normal((rows, columns))) / frequency**1.4
    spectrum[0, 0] = 0
    field = np.fft.irfft2(spectrum, (rows, columns))
    return (field / field.std()).astype(np.float32)
