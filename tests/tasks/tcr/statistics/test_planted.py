"""Repertoires whose sharing follows a known law: what was planted is found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers.command_line import CommandLine
from helpers.tcr_stores import D_GENES, Made, write_counts

from gangsaw.tasks.tcr.sharing.share import share
from gangsaw.tasks.tcr.statistics.associate import Association, Extras, associate

SAMPLES = tuple(f"donor{i}" for i in range(12))
ODDS = 4.0  # of being shared, per tenfold paths, at equal length
POOL = 3000


def planted(folder: Path, seed: int, *, log_odds_of_paths: float, per_codon: float) -> Made:
    """Write a store where odds of sharing are by paths and length, and long ones have fewer paths.

    A third of them has no path, and is shared as often as one of its length with middling paths.
    """
    rng = np.random.default_rng(seed)
    codons = rng.integers(6, 16, POOL)
    log_paths = 5 - 0.35 * (codons - 10) + rng.normal(0, 0.7, POOL)
    has = rng.random(POOL) > 0.3
    by_paths = np.where(has, log_odds_of_paths * (log_paths - 5), 0)
    log_odds = -2.2 + by_paths + per_codon * (codons - 10)
    shared = rng.random(POOL) < 1 / (1 + np.exp(-log_odds))
    owners = [
        rng.choice(len(SAMPLES), 1 + int(is_shared), replace=False).tolist() for is_shared in shared
    ]
    texts = ["".join(rng.choice(list("ACG"), 3 * n)) for n in codons]  # no T: no stop codons
    number = np.repeat(np.arange(POOL), [len(each) for each in owners])
    rows = pd.DataFrame({"cdr3": np.array(texts, object)[number]})
    rows["v"], rows["j"] = np.minimum(number % 5, 2), number % 3 % 2
    rows["sample"], rows["copies"] = [i for each in owners for i in each], 1
    paths = np.where(has, 10**log_paths, 0).astype("u8")[number]
    no_d = np.broadcast_to(paths[:, None, None], (len(rows), 3, 2))
    zeros = np.zeros((len(rows), len(D_GENES), 3, 2), "u8")
    return write_counts(
        folder / "counts.zarr",
        rows,
        SAMPLES,
        chunk=4096,
        paths_no_d=(("reference", "nu", "pi"), no_d),
        paths_full=(("reference", "d_gene", "nu", "pi"), zeros),
    )


def found_in(made: Made, **extras: Any) -> Association:
    share([str(made.path)], made.path.with_name("shared.parquet"))
    table = made.path.with_name("shared.parquet")
    return associate([str(made.path)], table, extras=Extras(**extras))


def test_planted_odds_are_found_beside_a_confounding_length(tmp_path: Path) -> None:
    made = planted(tmp_path, 1, log_odds_of_paths=np.log(ODDS), per_codon=0.3)
    odds = found_in(made).odds
    assert odds is not None
    terms = {each.predictor: each for each in odds.coefficients}
    paths = terms["log10 paths"]
    assert paths.low < ODDS < paths.high
    assert paths.high / paths.low < 3
    assert paths.p < 1e-6
    assert terms["length"].estimate == pytest.approx(0.3, abs=3 * terms["length"].error)
    assert abs(terms["log10 usage of V"].estimate) < 4 * terms["log10 usage of V"].error
    # the sample is nearly of independent nucleotypes, so that both errors agree
    assert paths.error == pytest.approx(paths.model_error, rel=0.7)


def test_what_length_alone_does_is_not_laid_to_paths(tmp_path: Path) -> None:
    """Short ones are shared, and have more paths: the area of paths is large, the odds are 1."""
    made = planted(tmp_path, 3, log_odds_of_paths=0.0, per_codon=-0.4)
    found = found_in(made, lasso=True)
    assert found.odds is not None
    (paths,) = (each for each in found.odds.coefficients if each.predictor == "log10 paths")
    assert paths.low < 1 < paths.high
    whole, equal, *_ = found.aucs
    assert equal.within == "equal length"
    assert whole.low > 0.5
    assert equal.low < 0.5 + 0.02
    assert equal.auc < whole.auc - 0.03


def test_tenths_rise_with_planted_odds_and_zeros_stand_apart(tmp_path: Path) -> None:
    made = planted(tmp_path, 4, log_odds_of_paths=np.log(12), per_codon=0.0)
    found = found_in(made)
    none, *tenths = found.deciles
    assert (none.number, none.nucleotypes) == (0, found.without_path)
    assert 0.25 < found.without_path / found.nucleotypes < 0.35
    assert tenths[-1].low > tenths[6].high > tenths[4].share > tenths[0].share
    assert none.low < 1 / (1 + np.exp(2.2)) < none.high


def test_the_command_with_all_options(tmp_path: Path, gangsaw: CommandLine) -> None:
    made = planted(tmp_path, 5, log_odds_of_paths=np.log(ODDS), per_codon=0.0)
    table = tmp_path / "shared.parquet"
    share([str(made.path)], table)
    command = ("tcr", "associate", made.path, table, "--lasso")
    out = gangsaw.ok(*command).out
    assert "log10 paths *" in out, "the LASSO keeps what was planted"
    lines = [line for line in out.splitlines() if "shared.parquet" not in line]
    assert [line for line in lines if len(line) > 80] == []
    assert "need the species" in gangsaw(*command, "--pgen", "20").failed(2)
