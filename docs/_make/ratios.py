"""Stored sizes beside the best peer, from the committed benchmark results.

`python docs/_make/ratios.py` writes the bar chart (`ratios.svg`), the numbers behind it
(`ratios.json`), and the table in README.md between its two comments. Run it after a benchmark.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
BENCHMARKS = REPOSITORY / "tests" / "benchmarks"
PICTURES = REPOSITORY / "docs" / "_static" / "pictures"
BEGIN, END = "<!-- ratios: written by docs/_make/ratios.py -->", "<!-- ratios: end -->"
READ_SETS = ("hiv1 250", "portiera 36", "shigella 150", "human 101", "sars2 250", "gaii 79")


@dataclass(frozen=True)
class Comparison:
    """Stored sizes of one kind of data: ours, that of the best peer, and Zstandard's.

    Attributes
    ----------
    data : data set
    ours, peer, zstd : stored sizes in one unit, such as bytes or bits a sample
    peer_name, zstd_name : programs and their settings
    figure : our result as the table shows it
    peer_figure : the best peer's result
    command : command that makes the store
    page : tutorial, below docs/tutorials
    """

    data: str
    ours: float
    peer: float
    zstd: float
    peer_name: str
    zstd_name: str
    figure: str
    peer_figure: str
    command: str
    page: str


def rows_of(file: str) -> dict[str, dict[str, object]]:
    """Return the rows of a file of results by their names."""
    sections = json.loads((BENCHMARKS / file).read_text())["sections"]
    return {row["what"]: row for rows in sections.values() for row in rows}


def value_of(rows: dict[str, dict[str, object]], what: str) -> float:
    """Return the figure of a row."""
    return float(str(rows[what]["value"]))


def comparisons() -> list[Comparison]:
    """Return the comparison of each field, in the order of the chart."""
    return [_cube(), _visibilities(), _reads(), _genome(), _strains(), _log()]


def _cube() -> Comparison:
    rows, name = rows_of("results.json"), "jasper198-u16le-198x100x100"
    ours, peer, zstd = (
        value_of(rows, f"{name}, {codec}")
        for codec in ("ccsds123 default", "JPEG XL effort 3", "zstd -3")
    )
    return Comparison(
        "hyperspectral cube (AVIRIS Jasper Ridge)",
        ours,
        peer,
        zstd,
        "JPEG XL effort 3",
        "zstd -3",
        f"{16 / ours:.2f} : 1",
        f"{16 / peer:.2f} : 1",
        "gangsaw compress scene.hdr scene.zarr",
        "cube",
    )


def _visibilities() -> Comparison:
    rows, name = rows_of("results-visibility.json"), ", all 10 real files"
    ours, peer, zstd = (
        value_of(rows, codec + name) for codec in ("dense", "best peer of each file", "zstd -3")
    )
    return Comparison(
        "radio visibilities (10 files of 6 telescopes)",
        1 / ours,
        1 / peer,
        1 / zstd,
        "for each file the best",
        "zstd -3",
        f"{ours:.2f} : 1",
        f"{peer:.2f} : 1",
        "gangsaw compress observation.ms observation.zarr",
        "visibilities",
    )


def _reads() -> Comparison:
    rows = rows_of("results-reads.json")
    ours = peer = zstd = 0.0
    for name in READ_SETS:
        row = rows[f"whole records, {name}"]
        size = float(str(row["value"]))
        found = re.search(r"zstd -19 --long ([\d.]+); samtools CRAM 3.1 ([\d.]+)", str(row["note"]))
        if found is None:
            raise ValueError(f"the row of {name} names no peers")
        ours, zstd, peer = (
            ours + size,
            zstd + size * float(found[1]),
            peer + size * float(found[2]),
        )
    return Comparison(
        "sequencing reads (6 Illumina runs, FASTQ)",
        ours,
        peer,
        zstd,
        "CRAM 3.1",
        "zstd -19 --long",
        f"{ours:.2f} MB",
        f"{peer:.2f} MB",
        "gangsaw compress reads_1.fastq.gz reads_2.fastq.gz reads.zarr",
        "reads",
    )


def _genome() -> Comparison:
    rows = rows_of("results-dna.json")
    ours, zstd = (value_of(rows, f"E. coli, {codec}") for codec in ("dense", "zstd -19"))
    return Comparison(
        "one genome (E. coli, FASTA)",
        ours,
        zstd,
        zstd,
        "zstd -19",
        "zstd -19",
        f"{ours:.2f} bits a base",
        f"{zstd:.2f} bits a base",
        "gangsaw compress genome.fa.gz genome.zarr",
        "genome",
    )


def _strains() -> Comparison:
    rows, name = rows_of("results-collections.json"), "16 strains, 1 %, "
    ours, zstd = (value_of(rows, name + codec) for codec in ("dense", "zstd -19 --long=27"))
    return Comparison(
        "16 related genomes (1 % apart)",
        ours,
        zstd,
        zstd,
        "zstd -19 --long",
        "zstd -19 --long",
        f"{ours / 1e6:.2f} MB",
        f"{zstd / 1e6:.2f} MB",
        "gangsaw compress *.fa.gz strains.zarr",
        "genome",
    )


def _log() -> Comparison:
    rows, name = rows_of("results-bwt.json"), "apache_logs, "
    ours, peer, zstd = (
        value_of(rows, name + codec) for codec in ("bwt dense", "bzip3 -b16", "zstd -19")
    )
    ratios = [str(rows[name + codec]["note"]) for codec in ("bwt dense", "bzip3 -b16")]
    return Comparison(
        "server log (2.4 MB)",
        ours,
        peer,
        zstd,
        "bzip3 -b16",
        "zstd -19",
        f"{float(ratios[0]):.1f} : 1",
        f"{float(ratios[1]):.1f} : 1",
        "gangsaw compress access.log access.zarr",
        "logs",
    )


BAR, GAP, LEFT, WIDE = 15, 12, 262, 330  # pixels
COLORS = {"Gangsaw": "#c4650f", "best peer": "#5b8f95", "Zstandard": "#b9b9b9"}


def draw_bars(found: Iterable[Comparison]) -> str:
    """Return the chart as SVG: stored sizes, Zstandard's is 100."""
    lines, top = [], 46
    for each in found:
        sizes = {"Gangsaw": each.ours, "best peer": each.peer, "Zstandard": each.zstd}
        if each.peer_name == each.zstd_name:
            del sizes["best peer"]
        names = {"Gangsaw": "", "best peer": each.peer_name, "Zstandard": each.zstd_name}
        middle = top + BAR * len(sizes) / 2 + 4
        lines.append(f'<text x="{LEFT - 8}" y="{middle:g}" text-anchor="end">{each.data}</text>')
        for name, size in sizes.items():
            share = 100 * size / each.zstd
            width = WIDE * share / 100
            label = f"{share:.0f} {names[name]}".strip()
            weight = ' font-weight="bold"' if name == "Gangsaw" else ""
            lines.append(
                f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR - 2}"'
                f' fill="{COLORS[name]}"/>'
                f'<text x="{LEFT + width + 5:.1f}" y="{top + BAR - 4}"{weight}>{label}</text>'
            )
            top += BAR
        top += GAP
    legend, x = [], LEFT
    for name, color in COLORS.items():
        legend.append(
            f'<rect x="{x}" y="24" width="12" height="12" fill="{color}"/>'
            f'<text x="{x + 17}" y="34">{name}</text>'
        )
        x += 110
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDE + 130} {top}"'
        ' font-family="sans-serif" font-size="12" fill="#222" role="img">'
        "<title>Stored sizes of six kinds of data, as a percentage of Zstandard's</title>"
        f'<rect width="{LEFT + WIDE + 130}" height="{top}" fill="#fff"/>'
        f'<text x="{LEFT}" y="15" font-size="13">stored size; Zstandard = 100</text>'
        f"{''.join(legend)}{''.join(lines)}</svg>\n"
    )


def table_lines(found: Iterable[Comparison]) -> list[str]:
    """Return the lines of the table of README.md."""
    lines = ["| data | Gangsaw | best peer | command | tutorial |", "|---|---|---|---|---|"]
    for each in found:
        page = f"[{each.page}](docs/tutorials/{each.page}.ipynb)"
        peer = f"{each.peer_figure} ({each.peer_name})"
        data = each.data.partition(" (")[0]  # the chart has the rest
        lines.append(f"| {data} | {each.figure} | {peer} | `{each.command}` | {page} |")
    lines.insert(-3, _receptors())  # after reads
    return lines


def _receptors() -> str:
    """Return the row of path counting, which has a speed and no stored size."""
    rows = rows_of("results-tcr.json")
    ours = value_of(rows, "DP-2, one strand, mouse-like, 2 D genes")
    olga = value_of(rows, "OLGA's FastPgen of the same references")
    return (
        f"| T-cell receptors | {ours:,.0f} a second (kernel) |"
        f" {olga:,.0f} a second (OLGA, probabilities) | `gangsaw tcr count donor.tsv paths.zarr`"
        " | [tcr](docs/tutorials/tcr.ipynb) |"
    )


def with_table(text: str, lines: Iterable[str]) -> str:
    """Return the text of README.md with the table between its comments replaced."""
    head, rest = text.split(BEGIN)
    return f"{head}{BEGIN}\n{chr(10).join(lines)}\n{END}{rest.split(END)[1]}"


def main() -> None:
    """Write the chart, its numbers and the table of README.md."""
    found = comparisons()
    PICTURES.mkdir(parents=True, exist_ok=True)
    (PICTURES / "ratios.svg").write_text(draw_bars(found))
    numbers = json.dumps([asdict(each) for each in found], indent=1)
    (PICTURES / "ratios.json").write_text(f"{numbers}\n")
    readme = REPOSITORY / "README.md"
    readme.write_text(with_table(readme.read_text(), table_lines(found)))


if __name__ == "__main__":
    main()
