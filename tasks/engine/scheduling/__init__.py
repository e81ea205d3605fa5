"""Batches, memory bounds and pools of workers."""
