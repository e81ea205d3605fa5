"""What a format says that an array holds: the attribute, and its words, which codecs look for.

A codec of another distribution may know words of its own.
"""

from __future__ import annotations

CONTENT = "gangsaw_content"  # the attribute
NUCLEOTIDES = "nucleotides"
KNOWN_NUCLEOTIDES = "known nucleotides"  # of which a few are read alone
READ_SEQUENCES, READ_QUALITIES, READ_NAMES = "read sequences", "read qualities", "read names"
LINE_OFFSETS = "line offsets"
TEXT = "plain text"
INTEGER_ROWS = "rows of integers"
# no codec looks for these: the array is none of the others, whatever its samples are
RECORD_PLACES, LINE_ENDS = "places", "line ends"
