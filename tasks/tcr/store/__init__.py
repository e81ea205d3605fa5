"""Stores of counts: written from repertoires by a job with a journal, read, and exported."""
