"""Groups of commands whose modules are imported when they are called, not before."""

from __future__ import annotations

import signal
from collections.abc import Collection, Iterable, Mapping
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

import click

from sssjob.cli.signals import Terminated

_WIDE = 80  # columns, from which on click's own help fits
_EXAMPLES = ("Example", "sssjob ")  # how lines begin that are copied, up to an empty one
_HEAD = "Error: "  # what click writes before a message
_HELP_ASKED = getattr(click.exceptions, "NoArgsIsHelpError", ())  # which older ones do not have
_NO_FAMILIES: Mapping[str, Collection[str]] = {}


# What takes --svg FILE, for who asks another command for a picture.
DRAW = (
    "graph", "place", "report", "ledger report", "lcginfo backtest", "lcginfo estimate",
)  # fmt: skip


# What other programs call what commands here do.
SAME: Mapping[str, Collection[str]] = {
    name: ("import", "ingest") for name in ("add", "load", "import", "ingest")
} | {"rm": ("delete",), "remove": ("delete",), "version": ("--version",)}


def _told(error: click.NoSuchOption) -> click.NoSuchOption:
    """The same, with the option that is probably meant, or the commands that have it."""
    if error.option_name == "--svg":
        told = f"No such option '--svg': this draws no picture. --svg FILE is of {', '.join(DRAW)}."
        return click.NoSuchOption(error.option_name, told, ctx=error.ctx)
    if error.option_name == "--json" and error.ctx is not None:
        from sssjob.verbs.shapes import WITHOUT  # which a right command does not need

        if reason := WITHOUT.get(error.ctx.command_path.partition(" ")[2]):
            told = f"This command has no --json: {reason}."
            return click.NoSuchOption(error.option_name, told, ctx=error.ctx)
    return click.NoSuchOption(error.option_name, possibilities=_meant(error), ctx=error.ctx)


def _meant(error: click.NoSuchOption) -> list[str]:
    """The options that are probably meant by one that there is not: click names farther ones."""
    from sssjob.suggestions import nearest  # slow to import for what few need

    found = nearest(error.option_name, error.possibilities or ())
    return [found] if found else []


def _folded(error: click.UsageError) -> click.UsageError:
    """The same with lines that fit where ``COLUMNS`` says what room there is."""
    from sssjob.cli.common import columns_named
    from sssjob.drawing.columns import folded_at_blanks  # which few commands need

    if not columns_named() or isinstance(error, _HELP_ASKED):
        return error
    lines = f"{_HEAD}{error.format_message()}".split("\n")
    parts = (folded_at_blanks(line, columns_named()) for line in lines)
    message = "\n".join(part for each in parts for part in each).removeprefix(_HEAD)
    return click.UsageError(message, error.ctx)


class Help(click.HelpFormatter):
    """The help of a command, which fits a narrow terminal, but for examples: they are copied."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        import shutil  # which few commands need

        columns = shutil.get_terminal_size().columns
        self._room = columns if columns < _WIDE else 0
        if self._room:
            self.width = self._room - 2

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Names with their texts, which leave the names a third of a narrow line."""
        super().write_dl(
            rows, min(col_max, self.width // 3) if self._room else col_max, col_spacing
        )

    def getvalue(self) -> str:
        """All that was written, with its long lines folded."""
        text = super().getvalue()
        if not self._room:
            return text
        from sssjob.drawing.columns import folded  # which few commands need

        lines: list[str] = []
        is_copied = False
        for line in text.split("\n"):
            is_copied = bool(line) and (is_copied or line.lstrip().startswith(_EXAMPLES))
            lines += [line] if is_copied else folded(line, self._room)
        return "\n".join(lines)


class CommandContext(click.Context):
    """The context of a command whose help fits narrow terminals."""

    formatter_class = Help


class Commands(click.Group):
    """Commands by name, with what each does, in ``sections`` of the help; modules below ``home``.

    A command is ``command`` in the module of its name. Commands of one family share a module, in
    which each has its own name: ``families`` holds those modules with the commands in each.
    """

    context_class = CommandContext

    def __init__(
        self, *args: Any, home: str, sections: Mapping[str, Mapping[str, str]],
        families: Mapping[str, Collection[str]] = _NO_FAMILIES, **options: Any,
    ) -> None:  # fmt: skip
        super().__init__(*args, **options)
        self.home = home
        self.sections = sections
        self.helps = {name: text for rows in sections.values() for name, text in rows.items()}
        self.families = {name: module for module, names in families.items() for name in names}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Every name, in the order of the table."""
        return list(self.helps)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, imported now."""
        if cmd_name not in self.helps:
            return None
        # Nothing can be called like a word of Python, nor have a hyphen in its name.
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name.replace("-", "_")
        family = self.families.get(cmd_name)
        module = import_module(f"{self.home}.{family or name}")
        command = getattr(module, name if family else "command")
        assert isinstance(command, click.Command)
        command.context_class = CommandContext
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run what was called.

        Ctrl-C, and a reader that closes the pipe, end it as other signals do: click would end it
        with 1, which means that nothing was found.
        """
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise _folded(_told(error)) from None
        except click.UsageError as error:
            raise _folded(error) from None
        except KeyboardInterrupt:
            raise Terminated(signal.SIGINT) from None
        except BrokenPipeError:
            raise Terminated(signal.SIGPIPE) from None

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Understand the arguments; ``--help`` and ``--version`` print here already."""
        try:
            return super().make_context(*args, **extra)
        except BrokenPipeError:
            raise Terminated(signal.SIGPIPE) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The lists of commands, without importing any; their texts begin in one column."""
        longest = max(map(len, self.helps))
        for title, rows in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(longest), text) for name, text in rows.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that ``args`` begin with; fails with advice where it is misspelt.

        Its options have the defaults that a configuration file gives them. ``help COMMAND`` is what
        many programs take, and means ``COMMAND --help``.
        """
        if args[0] == "help":
            args = [*args[1:], "--help"]
            if len(args) == 1:
                from sssjob.cli.common import data

                data(ctx.get_help())
                ctx.exit()
        self.advise(ctx, args[0])
        name, command, rest = super().resolve_command(ctx, args)
        if name and command and not isinstance(command, click.Group):
            from sssjob.cli import defaults

            ctx.default_map = {name: defaults.of(ctx, command)}
        if name and command and "" in rest:
            _refuse_empty(click.Context(command, ctx, name), rest)
        return name, command, rest

    def advise(self, ctx: click.Context, name: str) -> None:
        """Fail with advice if a name is nearly that of a command."""
        if name in self.helps or name.startswith("-"):
            return
        from sssjob.suggestions import nearest  # which is imported when there is an error

        options = {option for each in ctx.command.params for option in each.opts}
        same = [each for each in SAME.get(name, ()) if each in self.helps or each in options]
        if meant := same[0] if same else nearest(name, self.helps):
            raise click.UsageError(f"No such command {name!r}. Did you mean {meant!r}?", ctx)


MAY_BE_EMPTY = {"value", "arguments"}  # what is set, and what a batch system calls a script with


def _refuse_empty(ctx: click.Context, args: list[str]) -> None:
    """Fail where an argument is empty, as of a variable that is not set.

    Python would take it for the current directory, and the command all that is in there.
    """
    if isinstance(ctx.command, click.Group):
        return
    values, _, _ = ctx.command.make_parser(ctx).parse_args([*args])
    for each in ctx.command.params:
        if isinstance(each, click.Argument) and each.name not in MAY_BE_EMPTY:
            value = values.get(each.name)
            if value == "" or (isinstance(value, list | tuple) and "" in value):
                raise click.UsageError(f"{each.make_metavar(ctx)} is empty.", ctx)


class CommandsOrDefault(Commands):
    """Commands of which one may go unnamed: it takes all arguments that begin with no command."""

    def __init__(self, *args: Any, default: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Set the default command in front, unless a command is named or help is asked for.

        Fails with advice where a name is no file and nearly that of a command.
        """
        if args and not Path(args[0]).exists():
            self.advise(ctx, args[0])
        if args and args[0] not in self.helps and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
