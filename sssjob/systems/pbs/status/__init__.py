"""What PBS says of the jobs that it has: ``qstat``, of TORQUE as XML and of OpenPBS as JSON."""
