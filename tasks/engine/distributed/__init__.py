"""Tasks in flight: admission of workers, submission and stragglers."""
