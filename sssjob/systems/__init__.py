"""A wing for each batch system: what it prints and calls a thing, read in one place for all."""
