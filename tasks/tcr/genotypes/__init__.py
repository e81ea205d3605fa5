"""Which alleles each donor has."""
