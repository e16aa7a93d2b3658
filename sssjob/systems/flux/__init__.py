"""Flux: what ``flux jobs`` prints of its jobs."""
