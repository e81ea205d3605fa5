"""Progress, counters, failures and dry runs of a job."""
