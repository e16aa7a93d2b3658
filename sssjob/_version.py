"""The version, said once: the build, the command and `sssjob.__version__` read it here."""

__version__ = "0.1.0"
