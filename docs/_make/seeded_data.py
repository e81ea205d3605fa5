"""Small data for the pictures and recordings of the documentation, from fixed seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import xarray as xr

Codes = npt.NDArray[np.int64]
BASES = np.frombuffer(b"ACGT", np.uint8)
READ_LENGTH = 150
V_GENE, J_GENE = "TRBV19*01", "TRBJ2-7*01"
HOURS = 48  # of the log
PAGES = ("/", "/index.html", "/about.html", "/images/logo.png", "/api/items", "/search?q=zarr")


def text_of(codes: Codes) -> str:
    """Return bases as text."""
    return BASES[codes].tobytes().decode()


def write_fasta(path: Path, records: Sequence[tuple[str, Codes]]) -> Path:
    """Write records, 60 bases in a line."""
    lines: list[str] = []
    for name, codes in records:
        text = text_of(codes)
        lines += [f">{name}", *(text[i : i + 60] for i in range(0, len(text), 60))]
    path.write_text("\n".join(lines) + "\n")
    return path


def genome_records(seed: int = 1) -> list[tuple[str, Codes]]:
    """Return five records of 1.2 Mb together, parts of which have repeats.

    chr2 has eight copies of 12 kb with 5 % substitutions, chr3 an inverted copy of 30 kb. chr4 is
    rich in AT, and chr5 is a tandem repeat.
    """
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 4, 420_000)
    second = rng.integers(0, 4, 330_000)
    copies = np.resize(second[90_000:102_000], 96_000)
    second[90_000:186_000] = substituted(copies, 0.05, rng)
    third = rng.integers(0, 4, 210_000)
    third[66_000:96_000] = 3 - third[36_000:66_000][::-1]
    fourth = rng.choice(4, 150_000, p=[0.4, 0.1, 0.1, 0.4])
    fifth = substituted(np.resize(rng.integers(0, 4, 171), 90_000), 0.1, rng)
    names = ("chr1", "chr2", "chr3", "chr4", "chr5")
    return list(zip(names, (first, second, third, fourth, fifth), strict=True))


def substituted(codes: Codes, share: float, rng: np.random.Generator) -> Codes:
    """Return a copy with a share of the bases substituted."""
    others = (codes + rng.integers(1, 4, codes.shape)) % 4
    found: Codes = np.where(rng.random(codes.shape) < share, others, codes)
    return found


def inverted_query(genome: Codes, seed: int = 2) -> Codes:
    """Return 60 kb of a genome: the second of four parts inverted, the third one absent."""
    rng = np.random.default_rng(seed)
    a, b, _, d = (genome[i : i + 20_000] for i in range(100_000, 180_000, 20_000))
    return substituted(np.concatenate([a, 3 - b[::-1], d]), 0.03, rng)


def write_reads(folder: Path, n: int = 6000, seed: int = 3) -> list[Path]:
    """Write pairs of FASTQ files: qualities fall along a read, and errors follow them."""
    rng = np.random.default_rng(seed)
    genome = rng.integers(0, 4, 40_000)
    starts = rng.integers(0, len(genome) - 400, n)
    sizes = rng.integers(2 * READ_LENGTH, 400, n)
    falling = 37 - 14 * (np.arange(READ_LENGTH) / READ_LENGTH) ** 2
    paths = [folder / "reads_1.fastq", folder / "reads_2.fastq"]
    for mate, path in enumerate(paths):
        lines = []
        for i in range(n):
            if mate == 0:
                codes = genome[starts[i] : starts[i] + READ_LENGTH]
            else:
                end = starts[i] + sizes[i]
                codes = 3 - genome[end - READ_LENGTH : end][::-1]
            noise = rng.normal(0, 3, READ_LENGTH) + rng.normal(0, 2)
            quality = np.clip(np.round((falling + noise) / 4) * 4 + 1, 2, 40).astype(int)
            wrong = rng.random(READ_LENGTH) < 10.0 ** (-quality / 10)
            codes = np.where(wrong, (codes + 1) % 4, codes)
            letters = (quality + 33).astype(np.uint8).tobytes().decode()
            lines.append(
                f"@run7:{1100 + i // 500}:{i}/{mate + 1}\n{text_of(codes)}\n+\n{letters}\n"
            )
        path.write_text("".join(lines))
    return paths


def visibility_dataset(times: int = 128, channels: int = 256, antennas: int = 8) -> xr.Dataset:
    """Return visibilities with a band of interference, as a dataset of xarray."""
    import xarray as xr

    from gangsaw.tasks.radio.synthetic import make_visibilities

    made = make_visibilities(times, channels, antennas)
    data = made.data.reshape(times, channels, -1, 4).copy()
    band = np.exp(-(((np.arange(channels) - 0.7 * channels) / 4) ** 2))
    pulse = (np.arange(times) // 12 % 3 == 0)[:, None] * band
    data *= np.rint(1 + 3 * pulse).astype(np.float32)[:, :, None, None]
    dims = ("time", "frequency", "baseline_id", "polarization")
    coords = {
        "time": ("time", made.time, {"units": "s"}),
        "frequency": ("frequency", made.frequency, {"units": "Hz"}),
        "polarization": ["XX", "XY", "YX", "YY"],
    }
    return xr.Dataset({"VISIBILITY": (dims, data, {"units": "Jy"})}, coords)


def write_log(path: Path, n: int = 30_000, seed: int = 4) -> Path:
    """Write lines of a web server: two days, with an outage and a scan for passwords."""
    rng = np.random.default_rng(seed)
    seconds = np.sort(rng.integers(0, HOURS * 3600, n))
    lines = []
    for i, second in enumerate(seconds.tolist()):
        hour = second / 3600
        address = f"10.0.{rng.integers(0, 4)}.{rng.integers(1, 90)}"
        page, status = PAGES[int(rng.integers(0, len(PAGES)))], 200
        if 20 < hour < 23 and rng.random() < 0.6:
            status = 503
        elif 35 < hour < 36.5 and rng.random() < 0.7:
            address, page, status = "203.0.113.9", "/admin/login.php", 404
        elif rng.random() < 0.01:
            page, status = "/missing.html", 404
        day, time = 1 + second // 86400, f"{second // 3600 % 24:02}:{second // 60 % 60:02}"
        stamp = f"{day:02}/Mar/2026:{time}"
        size = int(rng.integers(200, 9000))
        lines.append(
            f'{address} - - [{stamp}:{second % 60:02} +0000] "GET {page}" {status} {size}\n'
        )
        if i % 997 == 5:
            lines.append(f"{address} - - [{stamp}:00 +0000] connection reset by peer\n")
    path.write_text("".join(lines))
    return path


def write_repertoires(folder: Path, mice: int = 6, cells: int = 1500) -> list[Path]:
    """Write an AIRR table for each mouse, drawn from a model of mouse beta chains by olga.

    One V and one J gene are drawn, so that mice share nucleotypes.
    """
    import olga
    from olga.load_model import GenerativeModelVDJ, GenomicDataVDJ
    from olga.sequence_generation import SequenceGenerationVDJ

    own = Path(olga.__file__).parent / "default_models" / "mouse_T_beta"
    anchors = [str(own / f"{gene}_gene_CDR3_anchors.csv") for gene in "VJ"]
    model, genes = GenerativeModelVDJ(), GenomicDataVDJ()
    model.load_and_process_igor_model(str(own / "model_marginals.txt"))
    genes.load_igor_genomic_data(str(own / "model_params.txt"), *anchors)
    model.PV *= np.array([gene[0] for gene in genes.genV]) == V_GENE
    model.PDJ *= np.array([gene[0] for gene in genes.genJ]) == J_GENE
    model.PV /= model.PV.sum()
    model.PDJ /= model.PDJ.sum()
    generator = SequenceGenerationVDJ(model, genes)
    np.random.seed(20261121)  # olga draws from NumPy's global generator
    copies = np.random.default_rng(1)
    paths = []
    for mouse in range(1, mice + 1):
        found = (generator.gen_rnd_prod_CDR3() for _ in range(cells))
        rows = [
            f"m{mouse}.{i}\t{one[0]}\t{V_GENE}\t{J_GENE}\tT\t{copies.geometric(0.3)}"
            for i, one in enumerate(found)
        ]
        head = "sequence_id\tjunction\tv_call\tj_call\tproductive\tduplicate_count"
        paths.append(folder / f"mouse{mouse}.tsv")
        paths[-1].write_text("\n".join([head, *rows]) + "\n")
    return paths
