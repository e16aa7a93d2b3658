"""What Slurm says of the jobs that it has: squeue and scontrol, as JSON and as text."""
