"""What the CPU does with references: ends, matches, both counts, calls, and its working memory."""
