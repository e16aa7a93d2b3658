"""LSF: its accounting records."""
