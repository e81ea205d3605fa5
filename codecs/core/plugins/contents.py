"""Content of an array as its format declares it: the attribute and its values, for codecs.

A codec of another distribution may use other values.
"""

from __future__ import annotations

CONTENT = "gangsaw_content"  # name of the attribute
NUCLEOTIDES = "nucleotides"
KNOWN_NUCLEOTIDES = "known nucleotides"  # nucleotides that can be read in small ranges
READ_SEQUENCES, READ_QUALITIES, READ_NAMES = "read sequences", "read qualities", "read names"
LINE_OFFSETS = "line offsets"
TEXT = "plain text"
INTEGER_ROWS = "rows of integers"
# no codec uses these; they exclude all other contents, whatever the samples are
RECORD_PLACES, LINE_ENDS = "places", "line ends"
