"""Slurm: its accounting records, its queues, and what it has given to a job."""
