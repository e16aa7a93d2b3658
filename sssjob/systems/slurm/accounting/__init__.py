"""Slurm: what ``sacct`` prints as text and as JSON, and the log of completed jobs."""
