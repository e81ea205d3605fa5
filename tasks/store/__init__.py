"""What a job leaves: chunks, their journal, and the manifest of a finished store."""
