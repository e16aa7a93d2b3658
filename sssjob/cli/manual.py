"""The help of every command as pages for man: python -m sssjob.cli.manual DIR."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

import click

from sssjob import outputs
from sssjob._version import __version__
from sssjob.cli import sssjob

_EXAMPLES = re.compile(r"([A-Z][\w ]*):")
_EXIT = "Exit code:"


def pages(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """The name and the text of the page of a command, and of each command in it."""
    yield f"{context.command_path.replace(' ', '-')}.1", _page(command, context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from pages(inner, click.Context(inner, context, name))


def write(directory: Path) -> int:
    """Write all pages into a directory; how many there are."""
    directory.mkdir(parents=True, exist_ok=True)
    count = 0
    for name, text in pages(sssjob, click.Context(sssjob, info_name="sssjob")):
        with outputs.writing(directory / name) as stream:
            stream.write(text.encode())
        count += 1
    return count


def _page(command: click.Command, context: click.Context) -> str:
    path = context.command_path
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{path.replace(" ", "-").upper()}" 1 "" "sssjob {__version__}" "sssjob"',
        ".SH NAME", f"{_roff(path.replace(' ', '-'))} \\- {_roff(_short(command))}",
        ".SH SYNOPSIS", f".B {_roff(path)}", _roff(usage),
        ".SH DESCRIPTION", *_text(command.help or ""),
    ]  # fmt: skip
    options = [
        record
        for parameter in command.get_params(context)
        if (record := parameter.get_help_record(context)) is not None and record[1]
    ]
    if options:
        lines.append(".SH OPTIONS")
        for names, meaning in options:
            lines += [".TP", f".B {_roff(names)}", _roff(meaning)]
    if isinstance(command, click.Group):
        lines.append(".SH COMMANDS")
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            lines += [".TP", f".BR {path.replace(' ', '-')}-{name} (1)", _roff(_short(inner))]
    lines += _text(command.epilog or "")
    above = context.parent
    if above is not None:
        lines += [".SH SEE ALSO", f".BR {above.command_path.replace(' ', '-')} (1)"]
    return "\n".join(lines) + "\n"


def _short(command: click.Command) -> str:
    return command.get_short_help_str(limit=200).rstrip(".")


def _text(text: str) -> Iterator[str]:
    """Paragraphs; those that click keeps as they stand are examples, with headings of their own."""
    for paragraph in re.split(r"\n\s*\n", cleandoc(text).replace("\b\n", "\n\b")):
        kept = paragraph.lstrip().startswith("\b")
        lines = paragraph.replace("\b", "").strip("\n").splitlines()
        if kept and lines and (found := _EXAMPLES.fullmatch(lines[0])):
            yield f".SH {found[1].upper()}"
            lines = lines[1:]
        elif lines and lines[0].startswith(_EXIT):
            yield ".SH EXIT STATUS"
            lines[0] = lines[0].removeprefix(_EXIT).lstrip()
        else:
            yield ".PP"
        yield from (".nf", *map(_roff, lines), ".fi") if kept else map(_roff, lines)


def _roff(text: str) -> str:
    """A line in which nothing is a request or an escape, and hyphens are those of commands."""
    made = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{made}" if made.startswith((".", "'")) else made


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("Usage: python -m sssjob.cli.manual DIRECTORY", file=sys.stderr)
        sys.exit(2)
    print(f"{write(Path(sys.argv[1]))} pages in {sys.argv[1]}")
