"""From reads to receptors: V, J and CDR3 of each read, and how often each nucleotype is read."""
