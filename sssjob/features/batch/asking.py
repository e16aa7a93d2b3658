"""Asking the batch system: a command without a shell, within a time, up to a size."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from sssjob.errors import SSSJobError

SECONDS = 10.0
LONGEST = 16 << 20  # bytes

_PLACES = ("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/opt/pbs/bin")


class NotAnswered(SSSJobError, RuntimeError):
    """A command of the batch system that is not there, takes too long, or fails."""


def ask(command: Sequence[str], environment: Mapping[str, str], *, seconds: float = SECONDS) -> str:
    """What a command prints, in an environment. Raises ``NotAnswered``.

    A prolog seldom has a search path, so that the usual directories are looked into, too.
    """
    path = os.pathsep.join(filter(None, (environment.get("PATH"), *_PLACES)))
    program = shutil.which(command[0], path=path)
    if program is None:
        raise NotAnswered(f"{command[0]} is not in {path}")
    name = " ".join(command)
    try:
        done = subprocess.run(
            [program, *command[1:]], env={**environment, "PATH": path}, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise NotAnswered(f"{name}: no answer within {seconds:g} s") from None
    except OSError as error:
        raise NotAnswered(f"{name}: {error.strerror}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()[:1]
        raise NotAnswered(f"{name} returned {done.returncode}{f': {said[0]}' if said else ''}")
    if len(done.stdout) > LONGEST:
        raise NotAnswered(f"{name} printed more than {LONGEST >> 20} MiB")
    return done.stdout.decode("utf-8", "replace")
