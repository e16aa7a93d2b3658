"""Shells that take the scripts that we write."""

from __future__ import annotations

import os

SHELLS = ("sh", "ash", "bash", "dash", "ksh", "mksh", "zsh")


def shell_name(interpreter: str) -> str:
    """The name of what the first line of a script names, also where ``env`` looks for it.

    >>> shell_name("/usr/bin/env -S bash -e"), shell_name("/bin/sh"), shell_name("")
    ('bash', 'sh', '')
    """
    words = interpreter.split()
    name = os.path.basename(words[0]) if words else ""
    if name == "env":
        name = next((each for each in words[1:] if each[0] != "-" and "=" not in each), name)
    return os.path.basename(name)
