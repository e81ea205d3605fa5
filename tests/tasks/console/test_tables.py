"""Tables in 80 columns: nothing is cut off, figures do not fold, wide ones go below each other."""

from __future__ import annotations

import pytest

from gangsaw.cli.commands.status import JOBS, WORKERS
from gangsaw.tasks.console.output import print_table

FIGURE = "-1.234e-300"
LONG = "bits of every band of the whole scene"
# the tables with headers of all commands: their headers, and how wide their cells get
TABLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bench": (
        ("codec", "bits/sample", "ratio", "encode Ms/s", "decode Ms/s"),
        (LONG, "16.530", "1000.123", "12345.6", "12345.6"),
    ),
    "bench on a GPU": (
        ("what", "measured", "asked", "remark"),
        (LONG, "123.4 GB/s", "at least 100 GB/s", "of the copies in between, as measured here"),
    ),
    "status": (JOBS, ("compress a.zarr", "interrupted", "100 % of 1,000,000", "123 MB/s", "12.34")),
    "workers": (WORKERS, ("..0.0.1:12345-worker", "16", "128", "1600 %", "123.45 GB of 128.00 GB")),
    "germline": (
        ("gene", "region", "length", "CDR3 part"),
        ("TRBV12-3*01", "V", "17", "TGTGCCAGCAGTTTAGCTGCCAGCAGTTTAGCTGCCAGCAGTTTAGC"),
    ),
    "sharing": (("individuals", "nucleotypes", "percent"), ("20 or more", "123,456,789", "12.3")),
    "correlations": (
        ("paths", "copies", "frequency", "individuals"),
        (LONG, *["+0.123 (< 1e-300)"] * 3),
    ),
    "regression": (
        ("predictor", "per deviation", "error", "z", "P", "LASSO"),
        (LONG, "+12.3456", "12.3456", "-123.45", FIGURE, "drops"),
    ),
    "means by sharing": (
        ("individuals", *map(str, range(1, 13))),
        (LONG, *["1.235e+10"] * 12),
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_with_headers(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    headers, cells = TABLES[name]
    print_table("title", [cells] * 2, headers)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    for header in headers[1:]:
        assert header in text, text
    for cell in cells[1:]:
        if len(cell) <= 20:
            assert cell in text, text
    letters = "".join(text.split())
    for word in LONG.split() if cells[0] == LONG else ():
        assert word in letters, text


def test_names_of_one_row_stay(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("title", [("parameters", "a=1, " * 40), ("x" * 90, "y")])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "".join(lines).count("x") == 90
