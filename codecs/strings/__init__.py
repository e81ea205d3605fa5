"""Codec of variable-length strings, after Zarr's serializers for them; see SPEC.md."""
