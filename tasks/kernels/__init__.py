"""Compiled kernels before anybody waits for them: packs that travel, and caches that are warm."""
