"""Compilation of a command's kernels ahead of use, in helper processes, from recorded lists."""
