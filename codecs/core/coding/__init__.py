"""Codings: what a codec says of its blocks, and all that is the same around them."""
