"""Commands of sequencing reads."""
