"""From repertoires to a store of counts, by a job with a journal, and back."""
