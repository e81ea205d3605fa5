"""Germline of the models in the installed package `olga`."""

from __future__ import annotations

from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from gangsaw.codecs.core.errors import BadParams
from gangsaw.codecs.core.plugins.options import none_of
from gangsaw.tasks.tcr.germline.names import gene_name
from gangsaw.tasks.tcr.germline.parts import Record
from gangsaw.tasks.tcr.germline.species import latin
from gangsaw.tasks.tcr.germline.table import read_anchors
from gangsaw.tasks.tcr.germline.text import read_decompressed_text

_SPECIES = {"homo sapiens": "human", "mus musculus": "mouse"}
_MODELS = {
    "TRA": "T_alpha",
    "TRB": "T_beta",
    "IGH": "B_heavy",
    "IGK": "B_kappa",
    "IGL": "B_lambda",
}


def read_olga(locus: str, species: str | None) -> tuple[str, list[Record]]:
    """Return the name and version of an olga model, and its genes.

    Source: files model_params.txt (sections "#GeneChoice", lines "%name;sequence;number") and
    V_ and J_gene_CDR3_anchors.csv (gene, anchor_index, function) of Sethna et al., Bioinformatics
    35, 2974 (2019). The files are parsed here, because olga's own loader drops all pseudogenes.

    Raises
    ------
    BadParams : olga is not installed, or has no model of this locus and species
    """
    folder = model_folder(locus, species)
    anchors = read_anchors([folder / f"{x}_gene_CDR3_anchors.csv" for x in "VJ"])
    return f"olga {version('olga')} {folder.name}", _genes(folder / "model_params.txt", anchors)


def model_folder(locus: str, species: str | None) -> Path:
    """Return the folder of an olga model; raise `BadParams` if there is none."""
    if species is None:
        raise BadParams("olga's germline is of several species: pass --species human or mouse")
    if latin(species) not in _SPECIES:
        raise none_of("the species of olga's germline", ("human", "mouse"), species)
    if locus not in _MODELS:
        raise BadParams(f"olga has no model of {locus}, only of {', '.join(_MODELS)}: give a FASTA")
    return _models() / f"{_SPECIES[latin(species)]}_{_MODELS[locus]}"


def _models() -> Path:
    spec = find_spec("olga")
    if spec is None or not spec.submodule_search_locations:
        raise BadParams('olga is not installed: pip install "gangsaw[tcr]", or give a FASTA')
    return Path(spec.submodule_search_locations[0]) / "default_models"


def _genes(path: Path, anchors: dict[str, int]) -> list[Record]:
    found = list[Record]()
    for number, line in enumerate(read_decompressed_text(path).split("\n"), 1):
        name, sequence, *_ = [*line.removeprefix("%").split(";"), ""]
        gene = gene_name(name) if line.startswith("%") else None
        if gene is not None:
            letters, where = sequence.strip().upper(), f"{path}, line {number}"
            at = anchors.get(name.strip())
            found.append(Record(name.strip(), gene, letters, where, anchor=at))
    return found
