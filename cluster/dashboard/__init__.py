"""What a scheduler knows of jobs, and how it shows it: a page, JSON, counters."""
