"""Waiting for what comes, however long a busy machine takes: only what hangs is given up."""

import time

HANG = 600  # seconds


def until(condition, *, going=lambda: True, seconds=HANG):
    """Wait for a condition; gives what it gave at last.

    Nobody waits for what no longer can come: ``going`` says whether it can.
    """
    end = time.monotonic() + seconds
    while not (found := condition()):
        if not going():
            return condition()
        if time.monotonic() > end:
            return found
        time.sleep(0.05)
    return found


def growing(seconds):
    """Limits for what is ended by one: each is for where it had not even begun by the last."""
    while seconds < HANG:
        yield seconds
        seconds *= 10


def runs(pid):
    """Whether a process runs, and is not only waited for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(") ")[2][:1] != "Z"
    except OSError:
        return False
