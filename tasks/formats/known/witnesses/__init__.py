"""What libraries of each field read of a source: `verify` holds stores against it."""
