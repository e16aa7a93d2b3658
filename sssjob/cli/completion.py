"""``sssjob completion``: what a shell needs to complete commands, options and values."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click
from click.shell_completion import get_completion_class

from sssjob import outputs
from sssjob.cli import common
from sssjob.users import at_home


class _CompletionPlace(NamedTuple):
    """Where a shell looks for what others complete: below a variable's directory or the default."""

    variable: str
    default: str
    name: str
    advice: str = ""


_PLACES = {
    "bash": _CompletionPlace("XDG_DATA_HOME", ".local/share", "bash-completion/completions/sssjob"),
    "zsh": _CompletionPlace(
        "XDG_DATA_HOME", ".local/share", "zsh/site-functions/_sssjob",
        "zsh finds it if ~/.zshrc has this line before compinit: fpath+=({folder})",
    ),
    "fish": _CompletionPlace("XDG_CONFIG_HOME", ".config", "fish/completions/sssjob.fish"),
}  # fmt: skip


@click.command(
    epilog="""\b
Examples:
  sssjob completion --install
  sssjob completion zsh --install
  sssjob completion bash > /etc/bash_completion.d/sssjob

Exit code: 0 it is printed or written, 2 no shell is known or the file cannot be written."""
)
@click.argument("shell", metavar="[SHELL]", required=False, type=click.Choice(list(_PLACES)))
@click.option("--install", is_flag=True, help="Write it to where your shell looks for it.")
def command(shell: str | None, install: bool) -> None:
    """Print what SHELL needs to complete commands, options and values: bash, zsh or fish.

    Without SHELL, the environment variable SHELL names it. An installed completion works in shells
    that start afterwards.
    """
    shell = shell or _own()
    text = _script(shell)
    if not install:
        common.data(text, nl=False)
        return
    place = _PLACES[shell]
    try:
        folder = os.environ.get(place.variable) or at_home(f"~/{place.default}")
        path = Path(folder) / place.name
        path.parent.mkdir(parents=True, exist_ok=True)
        with outputs.writing(path) as stream:
            stream.write(text.encode())
    except OSError as error:
        common.fail(common.reason(error))
    common.say(f"written to {common.name_of(path)}")
    if place.advice:
        common.say(place.advice.format(folder=common.name_of(path.parent)))


def _own() -> str:
    """The caller's shell; one that is not known ends the command."""
    name = os.path.basename(os.environ.get("SHELL", ""))
    if name not in _PLACES:
        common.fail(f"which shell? One of {', '.join(_PLACES)}; the variable SHELL says {name!r}")
    return name


def _script(shell: str) -> str:
    made = get_completion_class(shell)
    assert made is not None
    root = click.get_current_context().find_root()
    text: str = made(root.command, {}, "sssjob", "_SSSJOB_COMPLETE").source()
    # In click's own, fish loses what stands behind a comma of a value.
    text = text.replace('(string split "," ', '(string split --max 1 "," ')
    return text.rstrip("\n") + "\n"
