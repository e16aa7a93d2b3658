"""PBS Professional, OpenPBS and TORQUE."""
