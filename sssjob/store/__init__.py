"""The store: documents kept as they were read, and beside them a row of columns for each job."""
