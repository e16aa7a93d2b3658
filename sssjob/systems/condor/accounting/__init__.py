"""The job ads of HTCondor: its table, the values it is made of, and how files are read."""
