"""Code shared by sequence domains: possibly compressed text, letters, two-bit words."""
