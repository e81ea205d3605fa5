"""What counts, sharing and statistics say of the human and mouse sets of the shared data folder.

Figures of data, not of speed: they are the same on every machine. The introduction of the page, in
run.py, says how the sets differ from those of the source.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.tcr.germline import open_germline
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
from gangsaw.tasks.tcr.sharing.share import Shared, share
from gangsaw.tasks.tcr.statistics.associate import Association, associate
from gangsaw.tasks.tcr.statistics.spearman import Correlation
from gangsaw.tasks.tcr.store.job import count_repertoires
from gangsaw.tasks.tcr.store.setup import Setup

SHARED = Path(os.environ.get("GANGSAW_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "data" / "tcr"
# olga's models lack human TRBV21-1 and mouse TRBV19*03, which 1,328 and 134 rows have
GERMLINE = FOLDER / "germline" / "germline_cdr3_parts.tsv"
MOUSE_COLUMNS = (
    ("junction", "cdr3_b_nucseq"),
    ("v", "v_b_gene"),
    ("j", "j_b_gene"),
    ("copies", "count"),
    ("sample", "subject"),
)
WHOLE = "full_"  # begins the name of a donor's second sample
SHARING, OTHERS = "individuals", ("copies", "frequency")
Z = 3.0  # of predictors that have a row though the LASSO drops them


@dataclass(frozen=True)
class Set:
    """Repertoires that are counted together.

    Attributes
    ----------
    name : what rows call it
    files : of the shared data folder
    """

    name: str
    species: str
    files: tuple[Path, ...]
    columns: tuple[tuple[str, str], ...] = ()


def rows() -> Iterator[Row]:
    """Yield the figures of both sets; none without the shared data folder."""
    human = tuple(sorted((FOLDER / "human_TRB").glob("*.txt.gz")))
    for each in (
        Set("human TRB", "human", human),
        Set("mouse TRB", "mouse", (FOLDER / "mouse" / "dash.csv",), MOUSE_COLUMNS),
    ):
        if not all(path.is_file() for path in (GERMLINE, *each.files)) or not each.files:
            say(f"{each.name}: no files in {FOLDER}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield from _rows(each, Path(folder))


def _rows(of: Set, folder: Path) -> Iterator[Row]:
    say(f"{of.name}: count, share, associate")
    store, table = str(folder / "paths.zarr"), folder / "shared.parquet"
    model = Model("both")
    germline = open_germline(GERMLINE, locus="TRB", species=of.species).checked(model.max_p)
    setup = Setup(germline, model, columns=of.columns)
    counted = count_repertoires(open_inputs(of.files), store, setup)
    shared = share([store], table, table=_donors(of, folder))
    found = associate([store], table)
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in counted.dropped.items())
    note = f"{counted.kept:,} kept; dropped: {dropped or 'none'}"
    yield Row(f"{of.name}, rows read", counted.rows / 1000, "thousand", note=note)
    yield from _sharing(of.name, shared, found)
    yield from _correlations(of.name, found)
    yield from _regression(of.name, found)


def _donors(of: Set, folder: Path) -> Path | None:
    """Join the two samples of a donor; of the mouse set each sample is a subject."""
    if of.columns:
        return None
    names = [path.name.removesuffix(".txt.gz") for path in of.files]
    lines = [f"{name}\t{name.removeprefix(WHOLE)}" for name in names]
    (folder / "donors.tsv").write_text("\n".join(["sample\tindividual", *lines]) + "\n")
    return folder / "donors.tsv"


def _sharing(name: str, shared: Shared, found: Association) -> Iterator[Row]:
    note = f"{shared.shared:,} of them of two or more of {shared.individuals} individuals"
    yield Row(f"{name}, nucleotypes", shared.nucleotypes / 1000, "thousand", note=note)
    paths = {g.individuals: g for g in found.by_sharing if g.column == found.by_sharing[0].column}
    for group in (group for group in found.by_sharing if group.column == "n2"):
        k = group.individuals
        interval = (
            f", 95 % CI {group.low:.2f} to {group.high:.2f}" if group.low < group.high else ""
        )
        median = paths[k].quantiles[len(group.quantiles) // 2]
        note = f"n = {group.n:,}{interval}; median path count {median:.3g}"
        people = f"{k} individual{'s' if k > 1 else ''}"
        yield Row(f"{name}, mean N2 length of nucleotypes of {people}", group.mean, "nt", note=note)


def _correlations(name: str, found: Association) -> Iterator[Row]:
    columns: dict[str, dict[str, Correlation]] = {}
    for each in found.correlations:
        columns.setdefault(each.paths, {})[each.outcome] = each
    for paths, of in columns.items():
        others = ", ".join(f"with {o} {of[o].rho:.3f} (P {of[o].p:.1e})" for o in OTHERS)
        note = f"P {of[SHARING].p:.1e}; {others}"
        yield Row(f"{name}, Spearman of {paths} with sharing", of[SHARING].rho, "", note=note)


def _regression(name: str, found: Association) -> Iterator[Row]:
    if (fit := found.regression) is None:
        return
    gain = 2 * (fit.log_likelihood - fit.null_log_likelihood)
    end = "converged" if fit.converged else "not converged"
    note = f"{len(fit.coefficients)} predictors, {fit.steps} steps, {end}; {'; '.join(fit.notes)}"
    yield Row(f"{name}, likelihood ratio of the regression of sharing", gain, "", note=note)
    for each in fit.coefficients:
        if each.kept or abs(each.z) >= Z or each.predictor.startswith("n2"):
            kept = "kept by the LASSO" if each.kept else "dropped by the LASSO"
            note = f"standard error {each.error:.3f}, P {each.p:.1e}, {kept}"
            what = f"{name}, log odds of sharing per deviation of {each.predictor}"
            yield Row(what, each.estimate, "", note=note)
