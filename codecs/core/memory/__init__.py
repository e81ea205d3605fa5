"""Host memory that is aligned and reused, and the threads that share it."""
