"""Output tables of `gangsaw tcr associate`, each within 80 columns."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gangsaw.tasks.console.output import clock, print_table

if TYPE_CHECKING:
    from gangsaw.tasks.tcr.statistics.associate import Association
    from gangsaw.tasks.tcr.statistics.auc import Auc
    from gangsaw.tasks.tcr.statistics.deciles import Decile
    from gangsaw.tasks.tcr.statistics.fits.regression import Coefficient, Regression
    from gangsaw.tasks.tcr.statistics.generation import Generation

SHOWN = 9  # numbers of individuals in the table; --json has all
AUC_HEADERS = ("column", "AUC", "95 % interval", "P", "q")
TENTHS = ("paths", "to", "nucleotypes", "shared", "percent", "95 % interval")
ODDS = ("term", "per", "odds ratio", "95 % interval", "P", "VIF")
CALLS = ("call", "shared", "others", "difference", "95 % interval", "q")
COMPOSITION = re.compile("_[atcg]$")  # counts of each base: the table has their shares instead


def print_association(found: Association) -> None:
    """Print all tables of an association of path counts with sharing."""
    n, k = found.nucleotypes, found.shared
    print_table(
        f"{found.table}: {n:,} nucleotypes",
        [
            ("shared", f"{k:,} ({k / n:.2%}) of {found.individuals:,} individuals"),
            ("no path", f"{found.without_path:,} ({found.without_path / n:.2%})"),
            ("total paths", found.paths),
            ("seconds", clock(found.seconds)),
            *(("note", note) for note in found.notes),
        ],
    )
    common = _common(found)
    title = " ".join(["AUC of each column for sharing (0.5 is chance):", *common])
    print_table(title, [_auc(each, common) for each in found.aucs], AUC_HEADERS)
    print_table("sharing by deciles of total paths", list(map(_decile, found.deciles)), TENTHS)
    if found.odds is not None:
        _write_odds("odds of being shared, adjusted", found.odds)
    if found.lasso is not None:
        _write_odds("odds of being shared, all calls; * by the LASSO", found.lasso)
    if found.generation is not None:
        _write_generation(found.generation, common)
    print_table("means of calls", _differences(found), CALLS)
    headers = ("paths", "copies", "frequency", "individuals", "at most")
    print_table("Spearman's rho, and the most that ties allow", _rhos(found, common), headers)
    print_table("means by sharing", *_by_sharing(found, common))


def p_text(p: float) -> str:
    """Return a P value as text of one or two digits; below 0.001 in scientific notation."""
    if math.isnan(p):
        return ""
    if p < 1e-99:
        return "<1e-99"
    return f"{p:.0e}" if p < 1e-3 else f"{p:.2g}"


def number(value: float) -> str:
    """Return a number as text of three significant digits."""
    if not math.isfinite(value):
        return "inf" if value > 0 else ""
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 or not value else f"{value:.1e}"


def interval(low: float, high: float) -> str:
    """Return an interval as text, or "" for NaN."""
    return "" if math.isnan(low) else f"{number(low)} to {number(high)}"


def _common(found: Association) -> list[str]:
    """Return the limits that all columns of path counts share, such as "nu=10", to print once."""
    limits = {part for each in found.correlations for part in each.paths.split() if "=" in part}
    each_once = len(limits) == len({part.split("=")[0] for part in limits})
    return sorted(limits) if each_once else []


def _without(common: Sequence[str], name: str) -> str:
    return " ".join(part for part in name.split() if part not in common)


def _auc(each: Auc, common: Sequence[str]) -> tuple[str, ...]:
    name = _without(common, each.column)
    what = f"  {each.within}" if each.within else name
    return (
        what,
        format_fraction(each.auc),
        _fixed(each.low, each.high),
        p_text(each.p),
        p_text(each.q),
    )


def format_fraction(value: float, how: str = ".3f") -> str:
    """Return a number between 0 and 1 as text, or "" for NaN."""
    return "" if math.isnan(value) else format(value, how)


def _fixed(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def _decile(each: Decile) -> tuple[str, ...]:
    return (
        "none" if not each.number else number(each.lowest),
        "" if not each.number else number(each.highest),
        f"{each.nucleotypes:,}",
        f"{each.shared:,}",
        number(100 * each.share),
        interval(100 * each.low, 100 * each.high),
    )


def _write_odds(title: str, found: Regression) -> None:
    rows = [_odds(each) for each in found.coefficients]
    of = f"{found.shared:,} of {found.nucleotypes:,}"
    print_table(f"{title} ({of}, logistic)", rows, ODDS)
    fit = f"{found.log_likelihood:.1f}, of the intercept alone {found.null_log_likelihood:.1f}"
    print_table(
        "the fit",
        [
            ("steps", f"{found.steps}, {'converged' if found.converged else 'not converged'}"),
            ("likelihood", fit),
            ("events per parameter", f"{found.events_per_parameter:.1f}"),
            *(("note", note) for note in found.notes),
        ],
    )


def _odds(each: Coefficient) -> tuple[str, ...]:
    return (
        f"{each.predictor}{' *' if each.kept else ''}",
        each.unit,
        number(each.odds_ratio),
        interval(each.low, each.high),
        p_text(each.p),
        f"{each.vif:.1f}",
    )


def _write_generation(found: Generation, common: Sequence[str]) -> None:
    title = f"compared with olga's {found.model}: {found.shared:,} of {found.nucleotypes:,} shared"
    print_table(title, [_auc(each, common) for each in found.aucs], AUC_HEADERS)
    print_table(
        "the sample",
        [
            ("sampled", f"{found.sampled:,}"),
            *((reason, f"{n:,} left out") for reason, n in found.missing.items()),
            (
                "Spearman's rho",
                f"{format_fraction(found.rho)} of Pgen with paths, of unshared ones",
            ),
        ],
    )
    if found.odds is not None:
        _write_odds("odds of being shared, both side by side", found.odds)


def _differences(found: Association) -> list[tuple[str, ...]]:
    return [
        (
            each.call,
            number(each.mean_shared),
            number(each.mean_unshared),
            number(each.difference),
            interval(each.low, each.high),
            p_text(each.q),
        )
        for each in found.differences
    ]


def _rhos(found: Association, common: Sequence[str]) -> list[list[str]]:
    rows: dict[str, list[str]] = {}
    for each in found.correlations:
        row = rows.setdefault(each.paths, [_without(common, each.paths)])
        row.append(format_fraction(each.rho, "+.3f"))
        if each.outcome == "individuals":
            row.append(format_fraction(each.most))
    return list(rows.values())


def _by_sharing(
    found: Association, common: Sequence[str]
) -> tuple[list[list[str]], tuple[str, ...]]:
    people = sorted({each.individuals for each in found.by_sharing})[:SHOWN]
    rows: dict[str, list[str]] = {}
    for each in found.by_sharing:
        if each.individuals in people and not COMPOSITION.search(each.column):
            row = rows.setdefault(each.column, [_without(common, each.column)])
            row.append(f"{each.mean:.3g}".replace("e+0", "e"))
    return list(rows.values()), ("individuals", *map(str, people))
