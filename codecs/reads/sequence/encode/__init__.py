"""Encoder of sequences: pieces of a layout, in order, as tokens."""
