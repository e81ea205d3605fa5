"""Hits as text: PAF, SAM, BAM and the table of BLAST."""
