"""Plan, history, counters and resume of a job."""
