"""Repertoires that olga draws, of one V gene and one J gene, so that few cells share some."""

from __future__ import annotations

from pathlib import Path
from warnings import catch_warnings, simplefilter

import numpy as np


def write_donors(folder: Path, n: int, cells: int) -> list[Path]:
    """Write a table in AIRR's format for each donor."""
    import olga
    from olga.load_model import GenerativeModelVDJ, GenomicDataVDJ
    from olga.sequence_generation import SequenceGenerationVDJ

    home = Path(olga.__file__).parent / "default_models" / "mouse_T_beta"
    model, genes = GenerativeModelVDJ(), GenomicDataVDJ()
    anchors = [str(home / f"{gene}_gene_CDR3_anchors.csv") for gene in "VJ"]
    with catch_warnings():
        simplefilter("ignore", ResourceWarning)  # olga leaves files open
        model.load_and_process_igor_model(str(home / "model_marginals.txt"))
        genes.load_igor_genomic_data(str(home / "model_params.txt"), *anchors)
    v, j = [gene[0] for gene in genes.genV], [gene[0] for gene in genes.genJ]
    model.PV *= np.array(v) == "TRBV19*01"
    model.PDJ *= np.array(j) == "TRBJ2-7*01"
    model.PV /= model.PV.sum()
    model.PDJ /= model.PDJ.sum()
    drawer = SequenceGenerationVDJ(model, genes)
    np.random.seed(7)  # olga draws from NumPy's global generator
    return [_write(folder / f"donor{i}.tsv", drawer, v, j, cells) for i in range(n)]


def _write(path: Path, drawer: object, v: list[str], j: list[str], cells: int) -> Path:
    drawn = [drawer.gen_rnd_prod_CDR3() for _ in range(cells)]  # type: ignore[attr-defined]
    rows = [f"{cell[0]}\t{v[cell[2]]}\t{j[cell[3]]}" for cell in drawn]
    path.write_text("\n".join(["junction\tv_call\tj_call", *rows]) + "\n")
    return path
