"""What is aligned with a genome: queries, and how files and stores give them, in batches."""
