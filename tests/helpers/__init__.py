"""What tests share: data, set-ups and tools; no tests."""
