"""Seeded hyperspectral scene, as an airborne imaging spectrometer would record it.

Land-cover spectra are mixed by spatially smooth abundances with field edges, lit by terrain, and
seen through an atmosphere with its absorption bands. They are recorded with photon noise and read
noise. Numbers are typical of AVIRIS-like sensors (Green et al., Remote Sens. Environ. 65, 1998);
nothing is copied from a real scene.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gangsaw.codecs.core.errors import BadParams

Floats = npt.NDArray[np.float32]

# centre (nm), width (nm), depth of the gases' absorption: O2-A, then water vapour
GASES: tuple[tuple[float, float, float], ...] = (
    (760, 6, 0.6),
    (820, 14, 0.2),
    (940, 28, 0.7),
    (1135, 35, 0.75),
    (1385, 60, 0.98),
    (1880, 75, 0.98),
    (2010, 18, 0.35),  # this and the next are carbon dioxide
    (2060, 16, 0.3),
    (2500, 90, 0.6),
)
FIELDS = 40  # number of land parcels, whose borders are the edges of the scene
ROWS_AT_ONCE = 64  # bounds the float working memory to a few bands x rows x columns
FULL_WELL = 0.85  # the brightest sample as a fraction of the D-bit range
PHOTONS_PER_DN = 18.0  # sets the photon noise: SNR about 250 at a tenth of full scale
READ_NOISE_DN = 1.6  # standard deviation at 12 bits of a 14-bit range, scaled with D


@dataclass(frozen=True)
class Scene:
    """A synthetic cube and its spectral calibration.

    Attributes
    ----------
    cube : (bands, rows, columns) uint16 digital numbers
    wavelength, fwhm : (bands,) float64, nanometres
    """

    cube: npt.NDArray[np.uint16]
    wavelength: npt.NDArray[np.float64]
    fwhm: npt.NDArray[np.float64]


def make_scene(
    n_bands: int = 96, n_rows: int = 256, n_columns: int = 256, bit_depth: int = 14, seed: int = 123
) -> Scene:
    """Return a scene, the same one for the same arguments. `bit_depth` is 12 to 16 bits."""
    if min(n_bands, n_rows, n_columns) < 1:
        raise BadParams(f"a scene needs positive extents, got {n_bands}x{n_rows}x{n_columns}")
    if not 12 <= bit_depth <= 16:
        raise BadParams(f"bit_depth of a scene must be in 12..16, got {bit_depth}")
    wavelength = np.linspace(400.0, 2450.0, n_bands)
    fwhm = np.full(n_bands, max(9.4, 2050.0 / n_bands))
    rng = np.random.default_rng(seed)
    spectra, sky = _at_sensor(wavelength)
    maps = _abundances(rng, len(spectra), n_rows, n_columns) * _illumination(rng, n_rows, n_columns)
    cube = np.empty((n_bands, n_rows, n_columns), np.uint16)
    for rows in _strips(n_rows):
        clean = np.tensordot(spectra.T, maps[:, rows], axes=1) + sky[:, None, None]
        cube[:, rows] = _to_digital_numbers(rng, clean.astype(np.float32), bit_depth)
    return Scene(cube, wavelength, fwhm)


def _strips(n_rows: int) -> Iterator[slice[int, int, int | None]]:
    return (slice(r, min(r + ROWS_AT_ONCE, n_rows)) for r in range(0, n_rows, ROWS_AT_ONCE))


def _at_sensor(wavelength: npt.NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Return radiances of land covers (endmembers, bands) and of the sky (bands,), at most 1."""
    sun = _planck(wavelength, 5800.0)
    through = _transmittance(wavelength)
    ground = _reflectances(wavelength) * sun * through**2
    sky = 0.22 * sun * (wavelength / 400.0) ** -3.6
    scale = float((ground.max(axis=0) + sky).max())
    return (ground / scale).astype(np.float32), (sky / scale).astype(np.float32)


def _planck(nm: npt.NDArray[np.float64], kelvin: float) -> npt.NDArray[np.float64]:
    radiance: npt.NDArray[np.float64] = 1e15 / nm**5 / np.expm1(1.4388e7 / (nm * kelvin))
    return radiance


def _transmittance(nm: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    through = np.exp(-0.12 * (nm / 400.0) ** -2)
    for centre, width, depth in GASES:
        through *= 1 - depth * _bump(nm, centre, width)
    return through


def _bump(nm: npt.NDArray[np.float64], centre: float, width: float) -> npt.NDArray[np.float64]:
    return np.exp(-0.5 * ((nm - centre) / width) ** 2)


def _step(nm: npt.NDArray[np.float64], centre: float, width: float) -> npt.NDArray[np.float64]:
    return 1 / (1 + np.exp(-(nm - centre) / width))


def _reflectances(nm: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return reflectances (6, bands): crop, dry grass, soil, clay mineral, asphalt, water."""
    leaf_water = (
        1 - 0.5 * _bump(nm, 1450, 70) - 0.65 * _bump(nm, 1940, 90) - 0.12 * _bump(nm, 1200, 50)
    )
    green = 0.03 + 0.06 * _bump(nm, 550, 35) + 0.45 * _step(nm, 715, 14)
    crop = green * leaf_water * (1 - 0.5 * _step(nm, 1900, 350))
    dry = (0.08 + 0.3 * _step(nm, 750, 170)) * (1 - 0.18 * _bump(nm, 2100, 70))
    soil = (0.06 + 0.34 * _step(nm, 900, 330)) * (1 - 0.1 * _bump(nm, 1920, 60))
    clay = (0.2 + 0.38 * _step(nm, 620, 90)) * (
        1 - 0.3 * _bump(nm, 2205, 28) - 0.1 * _bump(nm, 900, 90)
    )
    asphalt = 0.09 + 0.04 * _step(nm, 1100, 400)
    water = 0.05 * _bump(nm, 520, 110) + 0.004
    return np.stack([crop, dry, soil, clay, asphalt, water])


def _random_field(rng: np.random.Generator, n_rows: int, n_columns: int, slope: float) -> Floats:
    """Return a random field (rows, columns) of mean 0 and variance 1, with spectrum f**-slope."""
    fy = np.fft.fftfreq(n_rows)[:, None]
    fx = np.fft.rfftfreq(n_columns)[None, :]
    envelope = np.maximum(np.hypot(fy, fx), 1.0 / max(n_rows, n_columns)) ** -slope
    white = np.fft.rfft2(rng.standard_normal((n_rows, n_columns)))
    field = np.fft.irfft2(white * envelope, s=(n_rows, n_columns))
    field -= field.mean()
    return (field / (field.std() or 1.0)).astype(np.float32)


def _parcels(rng: np.random.Generator, n_rows: int, n_columns: int) -> npt.NDArray[np.intp]:
    """Return the index of the nearest of FIELDS seeds: (rows, columns) intp.

    The metric is skewed, which makes straight borders.
    """
    y = np.linspace(0, 1, n_rows, dtype=np.float32)[:, None]
    x = np.linspace(0, 1, n_columns, dtype=np.float32)[None, :]
    nearest = np.full((n_rows, n_columns), np.inf, np.float32)
    owner = np.zeros((n_rows, n_columns), np.intp)
    for index, (sy, sx) in enumerate(rng.random((FIELDS, 2))):
        distance = np.abs(y - sy + 0.3 * (x - sx)) + np.abs(x - sx - 0.3 * (y - sy))
        closer = distance < nearest
        nearest[closer], owner[closer] = distance[closer], index
    return owner


def _abundances(rng: np.random.Generator, n: int, n_rows: int, n_columns: int) -> Floats:
    """Return fractions with sum 1: (covers, rows, columns). One cover dominates each parcel.

    A river is water.
    """
    leading = rng.choice(n - 1, FIELDS, p=(0.34, 0.22, 0.2, 0.14, 0.1))[
        _parcels(rng, n_rows, n_columns)
    ]
    weights = np.stack([0.7 * _random_field(rng, n_rows, n_columns, 1.25) for _ in range(n)])
    np.put_along_axis(weights, leading[None], np.take_along_axis(weights, leading[None], 0) + 3, 0)
    river = np.abs(_random_field(rng, n_rows, n_columns, 2.2)) < 0.06
    weights[n - 1] = np.where(river, 9, weights[n - 1] - 3)
    parts = np.exp(weights)
    abundances: Floats = (parts / parts.sum(axis=0)).astype(np.float32)
    return abundances


def _illumination(rng: np.random.Generator, n_rows: int, n_columns: int) -> Floats:
    """Return the light on sloping ground: (rows, columns), mean about 0.8."""
    height = _random_field(rng, n_rows, n_columns, 2.0)
    slope = height - np.roll(height, (1, 1), axis=(0, 1))
    texture = 0.03 * _random_field(rng, n_rows, n_columns, 0.6)  # plants, rows, stones
    light: Floats = np.clip(0.8 + 0.5 * slope + texture, 0.25, 1.0).astype(np.float32)
    return light


def _to_digital_numbers(
    rng: np.random.Generator, clean: Floats, bit_depth: int
) -> npt.NDArray[np.uint16]:
    """Return digital numbers for radiances of 0..1: (bands, rows, columns)."""
    full = float((1 << bit_depth) - 1)
    read = READ_NOISE_DN * full / (1 << 14)
    signal = clean * np.float32(FULL_WELL * full)
    sigma = np.sqrt(signal / PHOTONS_PER_DN + np.float32(read * read))
    noisy = signal + sigma * rng.standard_normal(clean.shape, dtype=np.float32)
    recorded: npt.NDArray[np.uint16] = np.clip(np.rint(noisy), 0, full).astype(np.uint16)
    return recorded
