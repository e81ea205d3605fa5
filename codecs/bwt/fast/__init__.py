"""Effort fast: static tables of ranks and runs, interleaved lanes."""
