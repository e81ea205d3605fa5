"""Export of visibility stores to files, and the losses between formats."""
