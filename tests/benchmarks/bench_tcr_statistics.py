"""What counts, sharing and statistics say of the human and mouse sets of the shared data folder.

Figures of data, not of speed: they are the same on every machine. The introduction of the page, in
run.py, says how the sets differ from those of the source.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from gangsaw.tasks.bench.table import Row, say
from gangsaw.tasks.tcr.germline import open_germline
from gangsaw.tasks.tcr.model import Model
from gangsaw.tasks.tcr.repertoire.cleaning.clean import Limits
from gangsaw.tasks.tcr.repertoire.inputs import open_inputs
from gangsaw.tasks.tcr.sharing.rarefy import Rarefaction
from gangsaw.tasks.tcr.sharing.share import Shared, share
from gangsaw.tasks.tcr.statistics.associate import Association, Extras, associate
from gangsaw.tasks.tcr.statistics.auc import Auc
from gangsaw.tasks.tcr.statistics.deciles import Decile
from gangsaw.tasks.tcr.statistics.differences import Difference
from gangsaw.tasks.tcr.statistics.fits.regression import Coefficient, Regression
from gangsaw.tasks.tcr.store.counts_store import open_counts
from gangsaw.tasks.tcr.store.job import count_repertoires
from gangsaw.tasks.tcr.store.setup import Setup

SHARED = Path(os.environ.get("GANGSAW_SHARED", Path(__file__).parents[3] / "shared"))
FOLDER = SHARED / "data" / "tcr"
# olga's models lack human TRBV21-1 and mouse TRBV19*03, which the sets have
GERMLINE = FOLDER / "germline" / "germline_cdr3_parts.tsv"
MOUSE_COLUMNS = (
    ("junction", "cdr3_b_nucseq"),
    ("v", "v_b_gene"),
    ("j", "j_b_gene"),
    ("copies", "count"),
    ("sample", "subject"),
)
WHOLE = "full_"  # begins the name of a donor's second sample
SEED = 1
PGEN = 1000  # nucleotypes whose probability of generation is computed
SPEARMAN = 0.056  # of path count with frequency, in the source's two mice
NEXT_TO_NOTHING = 0.1  # a correlation below it
ALL_FRAMES = Limits(keep_out_of_frame=True, keep_unproductive=True)


@dataclass(frozen=True)
class Set:
    """Repertoires that are counted together.

    Attributes
    ----------
    name : what rows call it
    files : of the shared data folder
    columns : where a file does not have its format's
    """

    name: str
    species: str
    files: tuple[Path, ...]
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Counted:
    """A set, its store, and a table that joins the samples of a donor."""

    of: Set
    store: str
    donors: Path | None
    folder: Path

    def shared(self, name: str, **how: object) -> tuple[Shared, Path]:
        """Write a table of what is shared."""
        table = self.folder / f"{name}.parquet"
        found = share([self.store], table, **{"table": self.donors, **how})  # type: ignore[arg-type]
        return found, table


def rows() -> Iterator[Row]:
    """Yield the figures of both sets; none without the shared data folder."""
    human = tuple(sorted((FOLDER / "human_TRB").glob("*.txt.gz")))
    mouse = Set("mouse TRB", "mouse", (FOLDER / "mouse" / "dash.csv",), MOUSE_COLUMNS)
    for each in (Set("human TRB", "human", human), mouse):
        if not all(path.is_file() for path in (GERMLINE, *each.files)) or not each.files:
            say(f"{each.name}: no files in {FOLDER}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            yield from _rows(each, Path(folder))


def _rows(of: Set, folder: Path) -> Iterator[Row]:
    say(f"{of.name}: count, share, associate")
    counted, dropped, n_rows = _count(of, folder, Limits())
    yield Row(f"{of.name}, rows read", n_rows / 1000, "thousand", note=dropped)
    yield from _what_was_read(of, counted.store)
    shared, table = counted.shared("all")
    yield from _pairs(of.name, shared)
    yield from _amino_acids(of.name, counted)
    if of.columns:  # each mouse has some 20 cells: drawn down to the fewest nothing would be left
        found = associate([counted.store], table, extras=Extras(True, PGEN, SEED, of.species))
        yield from _all(of.name, shared, found)
        return
    found = associate([counted.store], table)
    yield from _all(of.name, shared, found)
    equal, table = counted.shared("equal", rarefy=Rarefaction(0, SEED))
    name = f"{of.name} at equal depth"
    found = associate([counted.store], table, extras=Extras(True, PGEN, SEED, of.species))
    yield from _all(name, equal, found)
    yield from _limits(name, associate([counted.store], table, nu=()))
    yield from _samples_apart(counted)
    yield from _frames(of, folder)


def _count(of: Set, folder: Path, limits: Limits) -> tuple[Counted, str, int]:
    """Count a set; return it with the words on dropped rows, and the rows."""
    store = str(folder / f"paths-{limits.keep_out_of_frame}.zarr")
    model = Model("both")
    germline = open_germline(GERMLINE, locus="TRB", species=of.species).checked(model.max_p)
    setup = Setup(germline, model, limits, columns=of.columns)
    found = count_repertoires(open_inputs(of.files), store, setup)
    dropped = ", ".join(f"{reason} {n:,}" for reason, n in found.dropped.items())
    words = f"{found.kept:,} kept; dropped: {dropped or 'none'}"
    return Counted(of, store, _donors(of, folder), folder), words, found.rows


def _what_was_read(of: Set, store: str) -> Iterator[Row]:
    """Yield how large samples are, how long CDR3s, and the rows of genes that olga lacks."""
    opened = open_counts(store)
    rows = range(opened.rows)
    names, where = opened.names["sample"], opened.index("sample_index", rows)
    copies = np.bincount(where, np.asarray(opened.read("copies", rows), float), len(names))
    few, most = int(copies.argmin()), int(copies.argmax())
    note = f"median of {len(names)}: {names[few]} {copies[few]:,.0f}"
    note = f"{note} to {names[most]} {copies[most]:,.0f}"
    yield Row(f"{of.name}, copies of a sample", float(np.median(copies)), "", note=note)
    length = np.asarray(opened.read("length", rows))
    note = f"longest {length.max()}; thesis: 36 on average, 60 the longest, in mice"
    yield Row(f"{of.name}, mean length of CDR3", float(length.mean()), "nt", note=note)
    genes, own = opened.names["v_gene"], opened.index("v_index", rows)
    olga = open_germline("olga", locus="TRB", species=of.species)
    n_rows = np.bincount(own, minlength=len(genes))
    theirs = {part.name for part in olga.v}
    lacked = [i for i, gene in enumerate(genes) if gene not in theirs and n_rows[i]]
    note = ", ".join(f"{genes[i]} {n_rows[i]:,}" for i in lacked) or "none"
    what = f"{of.name}, rows of V alleles that olga's model lacks"
    yield Row(what, float(n_rows[lacked].sum()), "", note=note)


def _donors(of: Set, folder: Path) -> Path | None:
    """Join the two samples of a donor; of the mouse set each sample is a subject."""
    if of.columns:
        return None
    names = [path.name.removesuffix(".txt.gz") for path in of.files]
    lines = [f"{name}\t{name.removeprefix(WHOLE)}" for name in names]
    (folder / "donors.tsv").write_text("\n".join(["sample\tindividual", *lines]) + "\n")
    return folder / "donors.tsv"


def _all(name: str, shared: Shared, found: Association) -> Iterator[Row]:
    depth = "" if shared.depth is None else f", {shared.depth:,} copies of each"
    note = f"{shared.shared:,} of them of two or more of {shared.individuals} individuals{depth}"
    yield Row(f"{name}, nucleotypes", shared.nucleotypes / 1000, "thousand", note=note)
    share_of = 100 * shared.shared / shared.nucleotypes
    note = "thesis: 1.2 % of 101,822 of two mice, 6.7 % of 3,418,373 of five"
    yield Row(f"{name}, nucleotypes that are shared", share_of, "%", note=note)
    none = 100 * found.without_path / found.nucleotypes
    yield Row(f"{name}, nucleotypes without a path", none, "%", note=f"{found.without_path:,}")
    yield from _areas(name, found)
    yield from (_decile(name, each) for each in found.deciles)
    yield from _odds(f"{name}, odds of sharing", found.odds)
    yield from _beside_pgen(name, found)
    yield from _thesis(name, found)
    yield from (_difference(name, each) for each in found.differences)
    yield from _kept(name, found.lasso)
    yield _heaviest(f"{name}, most of the variance of the AUC by one individual", found.aucs[0])
    if found.odds is not None:
        paths = found.odds.coefficients[0]
        yield _heaviest(f"{name}, most of the variance of the odds by one individual", paths)


def _areas(name: str, found: Association) -> Iterator[Row]:
    for each in found.aucs:
        within = f" within {each.within}" if each.within else ""
        yield _area(f"{name}, AUC of {each.column}{within}", each)


def _heaviest(what: str, each: Auc | Coefficient) -> Row:
    return Row(what, 100 * each.weight, "%", note=f"number {each.heaviest} of the table's list")


def _area(what: str, each: Auc) -> Row:
    note = f"95 % CI {each.low:.3f} to {each.high:.3f}, P {_p(each.p)}, q {_p(each.q)}"
    return Row(what, each.auc, "", note=note if math.isfinite(each.low) else "no interval")


def _decile(name: str, each: Decile) -> Row:
    which = "without a path" if not each.number else f"of tenth {each.number} of path counts"
    interval = f"95 % CI {100 * each.low:.3g} to {100 * each.high:.3g}"
    words = interval if math.isfinite(each.low) else "no interval"
    paths = f"{each.lowest:,} to {each.highest:,} paths"
    note = f"{each.shared} of {each.nucleotypes:,}, {words}; {paths}"
    return Row(f"{name}, shared {which}", 100 * each.share, "%", note=note)


def _odds(what: str, found: Regression | None) -> Iterator[Row]:
    if found is None:
        return
    for each in found.coefficients:
        yield Row(f"{what} by {each.predictor}", each.odds_ratio, "ratio", note=_ratio(each))
    note = f"{found.shared} events; {found.steps} steps; {'; '.join(found.notes) or 'no notes'}"
    yield Row(f"{what}, events per parameter", found.events_per_parameter, "", note=note)


def _ratio(each: Coefficient) -> str:
    per = f"per {each.unit}, " if each.unit else ""
    interval = f"95 % CI {each.low:.3g} to {each.high:.3g}, P {_p(each.p)}"
    return f"{per}{interval}, VIF {each.vif:.1f}"


def _beside_pgen(name: str, found: Association) -> Iterator[Row]:
    if (beside := found.generation) is None:
        return
    for each in beside.aucs:
        yield _area(f"{name}, sample of {beside.model}: AUC of {each.column}", each)
    missing = ", ".join(f"{reason} {n}" for reason, n in beside.missing.items())
    note = f"unshared ones; {beside.nucleotypes} of {beside.sampled} sampled; {missing}"
    yield Row(f"{name}, Spearman of Pgen with paths", beside.rho, "", note=note)
    yield from _odds(f"{name}, odds of sharing, Pgen and paths side by side", beside.odds)


def _thesis(name: str, found: Association) -> Iterator[Row]:
    """Yield what the source says, and whether it holds here."""
    total = found.paths
    rho = {each.outcome: each for each in found.correlations if each.paths == total}
    for outcome in ("frequency", "copies"):
        most = rho[outcome].most
        held = "reproduced" if abs(rho[outcome].rho) < NEXT_TO_NOTHING else "contradicted"
        said = f"thesis: {SPEARMAN}, next to nothing, in two mice"
        note = f"{said}; here: {held}; ties allow {most:.2f}"
        yield Row(f"{name}, Spearman of {total} with {outcome}", rho[outcome].rho, "", note=note)
    sharing = rho["individuals"]
    note = f"ties allow at most {sharing.most:.3f}: see the AUC instead"
    yield Row(f"{name}, Spearman of {total} with sharing", sharing.rho, "", note=note)
    yield from _convergence(name, found.odds)
    said = "thesis: path counts have no effect; here: "
    auc = found.aucs[0]
    verdict = _verdict(auc.low - 0.5, auc.high - 0.5, 1, "contradicted")
    note = f"{said}{verdict} of AUC - 0.5"
    yield Row(f"{name}, path counts rise with sharing", auc.auc, "AUC", note=note)
    for each in (group for group in found.by_sharing if group.column == total):
        people = f"{each.individuals} individual{'s' if each.individuals > 1 else ''}"
        middle = each.quantiles[len(each.quantiles) // 2]
        what = f"{name}, median path count of nucleotypes of {people}"
        yield Row(what, middle / 1e6, "million", note=f"n = {each.n:,}")
    by_call = {each.call: each for each in found.differences}
    for call, sign in (
        ("n2", -1),
        ("share of C in n2", -1),
        ("share of A in n2", 1),
        ("share of T in n2", 1),
    ):
        each, way = by_call[call], "falls" if sign < 0 else "rises"
        verdict = _verdict(each.low, each.high, sign, "reproduced")
        note = f"thesis: {way} with sharing; here: {verdict} (q {_p(each.q)})"
        yield Row(f"{name}, {call} of shared less others", each.difference, "", note=note)


def _convergence(name: str, odds: Regression | None) -> Iterator[Row]:
    """Yield whether the regression on paths has a maximum, where there is one."""
    if odds is None:
        return
    held = "contradicted, it converged" if odds.converged else "reproduced"
    note = f"thesis: path counts did not converge; here: {held}"
    yield Row(f"{name}, steps of the regression on path counts", odds.steps, "", note=note)


def _verdict(low: float, high: float, sign: int, agreed: str) -> str:
    interval = f"95 % CI {low:.3f} to {high:.3f}"
    if not math.isfinite(low) or low <= 0 <= high:
        return f"not shown, {interval}"
    return f"{agreed if (low > 0) == (sign > 0) else 'the reverse'}, {interval}"


def _difference(name: str, each: Difference) -> Row:
    means = f"{each.mean_shared:.3f} of {each.shared:,} shared, {each.mean_unshared:.3f} of others"
    interval = f"95 % CI {each.low:.3f} to {each.high:.3f}, q {_p(each.q)}"
    what = f"{name}, shared less others: {each.call}"
    return Row(what, each.difference, "", note=f"{means}; {interval}")


def _kept(name: str, found: Regression | None) -> Iterator[Row]:
    if found is None:
        return
    for each in found.coefficients:
        kept = "kept" if each.kept else "dropped"
        what = f"{name}, LASSO by BIC of events: {each.predictor}"
        yield Row(what, each.odds_ratio, "ratio", note=f"{kept}; unpenalised: {_ratio(each)}")


def _limits(name: str, found: Association) -> Iterator[Row]:
    """Yield areas and rho of the total for each nu: they rank them differently."""
    rho = {e.paths: e.rho for e in found.correlations if e.outcome == "individuals"}
    for nu in range(11):
        column = f"all nu={nu} pi=4"
        (each,) = (auc for auc in found.aucs if (auc.column, auc.within) == (column, ""))
        row = _area(f"{name}, AUC of paths with at most {nu} n-nucleotides a junction", each)
        yield Row(row.what, row.value, "", note=f"{row.note}; rho {rho[column]:.3f}")


def _pairs(name: str, shared: Shared) -> Iterator[Row]:
    first = shared.overlaps[0]
    far = sum(each.far for each in shared.overlaps)
    note = (
        f"{first.one} and {first.other}, {first.expected:.3g} expected; "
        f"{far} of {len(shared.overlaps):,} pairs share far more than the rest; the median pair "
        f"shares {np.median([each.shared for each in shared.overlaps]):.0f}"
    )
    what = f"{name}, nucleotypes that the most distant pair shares"
    yield Row(what, first.shared, "", note=note)


def _samples_apart(counted: Counted) -> Iterator[Row]:
    """Yield the pairs where one donor's two samples count as two individuals."""
    shared, _ = counted.shared("apart", table=None)
    yield from _pairs("human TRB, 22 samples as 22 individuals", shared)


def _amino_acids(name: str, counted: Counted) -> Iterator[Row]:
    for by in ("aa-v", "aa"):
        shared, table = counted.shared(by, by=by)
        frame = pq.read_table(table, columns=["individuals", "variants", "paths"]).to_pandas()
        what = f"{name}, amino-acid clonotypes{' with V' if by == 'aa-v' else ''}"
        note = f"{shared.shared:,} of two individuals or more"
        yield Row(what, shared.nucleotypes / 1000, "thousand", note=note)
        for people, low, high in (("1", 1, 1), ("2", 2, 2), ("3 or more", 3, 10**9)):
            own = frame[frame["individuals"].between(low, high)]
            note = f"n = {len(own):,}; median of summed paths {own['paths'].median():.3g}"
            mean = own["variants"].mean()
            yield Row(f"{what}, variants of those of {people}", mean, "", note=note)


def _frames(of: Set, folder: Path) -> Iterator[Row]:
    """Yield the areas in and out of frame, of all rows: no selection saw what is out of frame."""
    counted, _, _ = _count(of, folder, ALL_FRAMES)
    _, table = counted.shared("frames")
    for each in associate([counted.store], table).aucs:
        if "frame" in each.within:
            what = f"{of.name} with out-of-frame rows, AUC of {each.column}, {each.within}"
            row, n = _area(what, each), each.shared + each.unshared
            yield Row(what, row.value, "", note=f"{each.shared} of {n:,} shared; {row.note}")


def _p(p: float) -> str:
    return f"{p:.1e}" if p < 1e-3 else f"{p:.3f}"
