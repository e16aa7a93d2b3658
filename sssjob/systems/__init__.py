"""Batch systems: each has a folder for what it prints, what it accepts, and what its words mean."""
