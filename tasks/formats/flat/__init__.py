"""Arrays in one file or in memory."""
