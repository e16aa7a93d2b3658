"""What Slurm keeps of jobs: ``sacct`` as text and as JSON, and its completion log."""
