"""What files of sequences are called."""

from __future__ import annotations

FASTA_NAMES = (".fasta", ".fa", ".fna", ".fas", ".faa", ".ffn", ".frn", ".fsa", ".mfa")
FASTQ_NAMES = (".fastq", ".fq")
PACKED = (".gz", ".bgz", ".bz2", ".xz", ".zst")


def is_called(path: str, names: tuple[str, ...], ends: tuple[str, ...] = ("", *PACKED)) -> bool:
    """Say whether a path ends with one of these suffixes, and one of those of compression."""
    return path.lower().endswith(tuple(f"{name}{end}" for name in names for end in ends))
