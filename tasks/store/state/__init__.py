"""What of a store is finished: journal, manifest, and what stands on them."""
