"""Slurm: the records that its commands print."""
