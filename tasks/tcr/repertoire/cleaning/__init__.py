"""Row filter of repertoires: the rows that are counted, and reasons for the others."""
