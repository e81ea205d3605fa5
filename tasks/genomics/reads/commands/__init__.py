"""Commands for sequencing reads."""
