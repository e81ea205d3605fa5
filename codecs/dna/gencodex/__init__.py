"""Mode gencodex: runs of packed bytes."""
