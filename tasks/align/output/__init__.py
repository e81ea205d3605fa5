"""Hits as text: PAF, SAM and the table of BLAST."""
