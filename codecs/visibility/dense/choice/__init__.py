"""Encoder choices for a `dense` block, made from samples of its words."""
