"""Indexes of one text: building, packing into bytes, and opening of untrusted bytes."""
