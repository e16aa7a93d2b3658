"""What is forced to disk, as a test sees it."""

import os
import stat


def forced(monkeypatch):
    """The kinds of what is forced to disk from now on (``stat.S_IFMT``), in a list that grows."""
    kinds = []
    genuine = os.fsync

    def fsync(handle):
        kinds.append(stat.S_IFMT(os.fstat(handle).st_mode))
        genuine(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return kinds
