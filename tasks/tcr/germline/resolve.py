"""Resolver of gene calls: returns a germline part, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal, get_args

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.tcr.germline.names import WILD_ALLELE, GeneName, gene_name, list_gene_names
from gangsaw.tasks.tcr.germline.parts import LEFT_OUT, Part
from gangsaw.tasks.tcr.model import LOCI

MISSING, UNKNOWN, AMBIGUOUS, OTHER_LOCUS = -1, -2, -3, -4
OnAmbiguous = Literal["drop", "first"]
OnUnknownAllele = Literal["drop", "gene"]

_EMPTY = {"", ".", "-", "*", "none", "na", "n/a", "nan", "null", "no data", "unresolved", "unknown"}
_BRACKETS = re.compile(r"\([^()]*\)")
_LONGEST_REASON = 300  # characters of a reason; a damaged table can have calls of any length
_HINTS = 100  # maximum number of names with a hint: every row may have another unknown name
_MOST_CALLS = 1 << 16  # cached calls


@dataclass(frozen=True)
class Found:
    """Result of resolving a call: an index into the parts or a negative code, and the reason.

    `lacked` is True if the call names a part that the donor lacks.
    """

    index: int
    why: str = ""
    lacked: bool = False


class Resolver:
    """Resolver of gene calls in a repertoire to germline parts.

    A gene without an allele means its lowest allele, usually *01. All genes of a tie must have the
    same CDR3 part; the first one is then returned.

    Parameters
    ----------
    parts : all parts of one region (V, D or J)
    locus : "TRB"; by default the common locus of all parts
    notes : notes of a Germline, which name the genes that were left out, and why
    on_ambiguous : "first" accepts the first gene of a tie with different parts
    on_unknown_allele : "gene" replaces an allele that the germline lacks by the gene's lowest
        allele
    lacks : indices of the parts that the donor lacks: they are no result, and do not count in ties
    """

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        locus: str | None = None,
        notes: Iterable[str] = (),
        on_ambiguous: OnAmbiguous = "drop",
        on_unknown_allele: OnUnknownAllele = "drop",
        lacks: Collection[int] = (),
    ) -> None:
        _check("on_ambiguous", on_ambiguous, OnAmbiguous)
        _check("on_unknown_allele", on_unknown_allele, OnUnknownAllele)
        self.parts = tuple(parts)
        self.on_ambiguous, self.on_unknown_allele = on_ambiguous, on_unknown_allele
        names = [parsed(part.name) for part in self.parts]
        self.region = names[0].region if names else ""
        self.locus = locus or _common_locus(names)
        self._genes = alleles_of(names, lacks)
        self._lacked = alleles_of(names, set(range(len(names))) - set(lacks))
        self._left_out = left_out(notes)
        self._found: dict[str, Found] = {}
        self._hints = _HINTS

    def find(self, call: str) -> int:
        """Return the index of the part, or MISSING, UNKNOWN, AMBIGUOUS or OTHER_LOCUS."""
        return self._resolved(call).index

    def detail(self, call: str) -> str:
        """Return the reason why `find` gives no part, as a message; "" if it gives one."""
        return self._resolved(call).why

    def _resolved(self, call: str) -> Found:
        # with MiXCR's scores nearly every call of a file would be distinct
        name = _BRACKETS.sub("", call) if "(" in call else call
        found = self._found.get(name)
        if found is None:
            if len(self._found) >= _MOST_CALLS:
                self._found.clear()
            found = self._resolve(name)
            found = self._found[name] = Found(found.index, _shortened(found.why))
        return found

    def _resolve(self, call: str) -> Found:
        names = list(dict.fromkeys(list_gene_names(call)))
        if not names:
            empty = call.strip().lower() in _EMPTY
            return Found(MISSING) if empty else Found(UNKNOWN, f"{call!r} is no name of a gene")
        each = [self._one(name) for name in names]
        each = [one for one in each if not one.lacked] or each
        known = [one.index for one in each if one.index >= 0]
        if not known:
            return Found(_worst(each), "; ".join(dict.fromkeys(one.why for one in each)))
        same = len(known) == len(each) and self._are_same(known)
        if same or self.on_ambiguous == "first":
            return Found(known[0])
        return Found(AMBIGUOUS, self._differ(each))

    def _one(self, text: str) -> Found:
        """Return the result for one name of a call; genes of a family must have the same part."""
        name = gene_name(text)
        if name is None:
            return Found(UNKNOWN, f"{text} is no name of a gene")
        each = [self._allele(gene, name.allele, text) for gene in self._genes_of(name)]
        known = [one.index for one in each if one.index >= 0]
        if not known:
            if name.allele in self._lacked.get(name.without_allele, {}) or (
                not each and name.without_allele in self._lacked
            ):
                return self._no_such_allele(text, name)
            return each[0] if each else self._no_such_gene(text, name)
        return Found(known[0]) if self._are_same(known) else Found(AMBIGUOUS, self._differ(each))

    def _are_same(self, indices: Sequence[int]) -> bool:
        return len({self.parts[i].sequence for i in indices}) == 1

    def _genes_of(self, name: GeneName) -> list[dict[str, int]]:
        """Return the genes that a name without allele can mean, as dicts of allele indices."""
        if name.without_allele in self._genes:
            return [self._genes[name.without_allele]]
        family = GeneName(name.locus, name.region, name.family)
        if re.fullmatch(r".+-1", name.gene) and family in self._genes:
            return [self._genes[family]]  # immunoSEQ numbers single genes of a family, too
        if name.gene != name.family:
            return []
        members = {
            id(alleles): alleles
            for other, alleles in self._genes.items()
            if (other.locus, other.region, other.family) == (name.locus, name.region, name.gene)
            and "OR" not in other.gene  # orphons are on other chromosomes and do not rearrange
        }
        return list(members.values())

    def _allele(self, alleles: dict[str, int], allele: str, text: str) -> Found:
        if allele in alleles:
            return Found(alleles[allele])
        if allele in ("", WILD_ALLELE) or self.on_unknown_allele == "gene":
            return Found(alleles[min(alleles)])
        known = ", ".join(self.parts[i].name for i in alleles.values())
        return self._unknown(text, f", which has {known}")

    def _no_such_allele(self, text: str, name: GeneName) -> Found:
        """Return the result for an allele that the donor lacks, with the donor's alleles."""
        own = self._genes.get(name.without_allele, {}).values()
        has = f", who has {', '.join(self.parts[i].name for i in own)}" if own else ""
        return Found(UNKNOWN, f"{text} is not in the genotype of the donor{has}", lacked=True)

    def _no_such_gene(self, text: str, name: GeneName) -> Found:
        """Return the result for a gene that is not in the germline, with the reason."""
        if self.locus not in name.loci:
            return Found(OTHER_LOCUS, f"{text} is not of {self.locus}")
        if name.region != self.region:
            return Found(UNKNOWN, f"{text} is no {self.region} gene")
        near = self._near(name)
        return self._unknown(text, f"; near to it: {', '.join(near)}" if near else "")

    def _near(self, name: GeneName) -> list[str]:
        """Return names of similar parts, for a message; none after `_HINTS` such calls."""
        if self._hints == 0:
            return []
        self._hints -= 1
        return get_close_matches(str(name), [part.name.upper() for part in self.parts])

    def _unknown(self, text: str, hint: str) -> Found:
        return Found(UNKNOWN, self._note(text) or f"{text} is not in the germline{hint}")

    def _note(self, text: str) -> str:
        """Return the note on a gene that was left out of the germline, or ""."""
        wanted = gene_name(text)
        for gene, note in self._left_out.items():
            if wanted in (gene, gene.without_allele):
                return note
        return ""

    def _differ(self, each: Sequence[Found]) -> str:
        names = [self.parts[one.index].name for one in each if one.index >= 0]
        others = [one.why for one in each if one.index < 0]
        return "; ".join([f"can be {', '.join(dict.fromkeys(names))}", *others])


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."


def _worst(each: Sequence[Found]) -> int:
    """Return the code (MISSING, UNKNOWN, ...) of a call with several names, none of them usable."""
    codes = {one.index for one in each}
    if AMBIGUOUS in codes:
        return AMBIGUOUS
    return OTHER_LOCUS if codes == {OTHER_LOCUS} else UNKNOWN


def _check(name: str, value: str, choices: object) -> None:
    if value not in get_args(choices):
        raise none_of(name, get_args(choices), value)


def parsed(name: str) -> GeneName:
    """Return the parsed name of a gene; raise `BadParams` for other texts."""
    gene = gene_name(name)
    if gene is None:
        raise BadParams(f"{name!r} is no name of a gene such as TRBV6-2*01")
    return gene


def left_out(notes: Iterable[str]) -> dict[GeneName, str]:
    """Return the genes that notes list as left out of a germline, each with its note."""
    named = ((gene_name(note.partition(" ")[0]), note) for note in notes)
    return {gene: note for gene, note in named if gene and LEFT_OUT in note}


def _common_locus(names: Sequence[GeneName]) -> str:
    """Return the common locus of genes, TRA before TRD; raise `BadParams` without one."""
    common = [locus for locus in LOCI if all(locus in name.loci for name in names)]
    if names and not common:
        raise BadParams(f"parts of several loci, {names[0]} and others: give those of one")
    return common[0] if names else ""


def alleles_of(
    names: Sequence[GeneName], without: Collection[int] = ()
) -> dict[GeneName, dict[str, int]]:
    """Return the alleles of each gene as indices, except those in `without`.

    TRAV29/DV5 is also listed as TRAV29 and as TRDV5.
    """
    genes: dict[GeneName, dict[str, int]] = {}
    for i, name in enumerate(names):
        if i not in without:
            genes.setdefault(name.without_allele, {})[name.allele] = i
    for gene, alleles in list(genes.items()):
        for alias in _halves(gene):
            genes.setdefault(alias, alleles)
    return genes


def _halves(gene: GeneName) -> tuple[GeneName, ...]:
    alpha, dv, delta = gene.gene.partition("DV")
    if gene.locus != "TRA" or not dv:
        return ()
    return GeneName("TRA", "V", alpha), GeneName("TRD", "V", delta)
