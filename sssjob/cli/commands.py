"""Groups of commands whose modules are imported when they are called, not before."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click


class Commands(click.Group):
    """Commands by name, each ``command`` in a module of ``home``; ``helps`` says what it does."""

    def __init__(self, *args: Any, home: str, helps: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.home = home
        self.helps = helps

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the table."""
        return list(self.helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if cmd_name not in self.helps:
            return None
        # A module cannot be called like a word of Python, nor have a hyphen in its name.
        module = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        command = import_module(f"{self.home}.{module}").command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.helps.items()))


class CommandsOrDefault(Commands):
    """Commands of which one may go unnamed: it takes all arguments that begin with no command."""

    def __init__(self, *args: Any, default: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the default command in front, unless a command is named or help is asked for."""
        if args and args[0] not in self.helps and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
