"""Compiled kernels that are kept: levels of instructions, packs that travel, turns, messages."""
