"""Codec of floats that are scaled integers, by an inner codec of integers; see SPEC.md."""

from __future__ import annotations

# defined here, without NumPy, as help texts use them
INNER, FLOATS = "gangsaw.ccsds123", "gangsaw.visibility"
FORMS = ("quotient", "product")
PRECISIONS = ("array", "double")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32")
