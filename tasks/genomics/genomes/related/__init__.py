"""Related genomes as reference bases, and edits of each genome relative to them."""
