"""The table of faults: what was done to jobs, how often, and what came of it."""
