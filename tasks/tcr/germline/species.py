"""Species names, common and Latin."""

from __future__ import annotations

import re

_LATIN = {
    "human": "homo sapiens",
    "mouse": "mus musculus",
    "rat": "rattus norvegicus",
    "rhesus": "macaca mulatta",
}


def is_species(text: str) -> bool:
    """Return True if a header field names a species: two words, or a common name."""
    return text.lower() in _LATIN or re.match(r"[A-Z][a-z]+[ _][a-z]{3,}", text) is not None


def latin(label: str) -> str:
    """Return genus and species in lower case: "mus musculus" of "Mus musculus_C57BL/6", "mouse"."""
    words = re.split(r"[ _]+", label.strip().lower())
    return _LATIN.get(" ".join(words), " ".join(words[:2]))
