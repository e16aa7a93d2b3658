"""What PBS says of the jobs that it has: ``qstat -f``, as JSON, as XML and as text."""
