"""Stages of the CPU kernels: ends, matches, both counts, calls, and working memory."""
