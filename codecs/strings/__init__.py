"""Codec of strings of any length, behind the serializers that Zarr has for them; see SPEC.md."""
