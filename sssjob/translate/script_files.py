"""Scripts of targets that run programs only: a file of the job, ready to be run."""

from __future__ import annotations

from typing import NamedTuple

from sssjob.executable import DEFAULT_SHELL, ExecutableKind, executable
from sssjob.translate.requests import JobRequest
from sssjob.translate.translator import Settings


class ScriptFile(NamedTuple):
    """A file of a job, by its id, with the line that names what reads it."""

    id: str
    content: bytes


def script(asked: JobRequest, settings: Settings) -> ScriptFile | None:
    """The script that the program of a job is; None for another program."""
    named = executable(asked.said("Executable"))
    if named.kind is not ExecutableKind.FILE or named.target not in settings.files:
        return None
    content = settings.files[named.target]
    first = b"" if content.startswith(b"#!") else f"#!{DEFAULT_SHELL}\n".encode()
    return ScriptFile(named.target, first + content)


def beside(asked: JobRequest, settings: Settings) -> str:
    """Let a script stand beside the text: the path of that file.

    "" for another program, and where there is no place for files. Whoever takes the program
    tells of it.
    """
    found = script(asked, settings)
    if found is None or not settings.beside:
        return ""
    name = f"{settings.beside}.sh"
    asked.files[name] = found.content
    return f"./{name}"
