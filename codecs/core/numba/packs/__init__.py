"""Cache of compiled kernels: instruction levels, portable packs, locks, messages."""
