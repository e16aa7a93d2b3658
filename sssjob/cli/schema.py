"""``sssjob schema``: what a command prints with ``--json``, as a JSON Schema."""

from __future__ import annotations

import json

import click

from sssjob.cli import common


def _words(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """What a shell completes to: the next word of a command that has a schema."""
    from sssjob.verbs.shapes import SHAPES

    before = list(ctx.params.get("words") or ())
    known = (name.split() for name in SHAPES)
    words = (name[len(before)] for name in known if name[: len(before)] == before != name)
    return [word for word in dict.fromkeys(words) if word.startswith(incomplete)]


@click.command(
    epilog="""\b
Examples:
  sssjob schema
  sssjob schema report
  sssjob schema ledger
  sssjob schema store stats > stats.schema.json

Exit code: 0 done, 2 there is no such command, or it has no --json."""
)
@click.argument("words", nargs=-1, metavar="[COMMAND]...", shell_complete=_words)
def command(words: tuple[str, ...]) -> None:
    """Print the JSON Schema of what a command prints with --json.

    If the command prints one JSON text on each line, the schema describes one line. The
    commands that have one are listed without COMMAND, and those of a group by its name. Later
    versions may add members to objects; they remove none, and do not change their types.
    """
    from sssjob.verbs.shapes import SHAPES, WITHOUT, schema

    name = " ".join(words)
    if name in SHAPES:
        common.data(json.dumps(schema(name, SHAPES[name]), indent=2))
        return
    listed = [known for known in SHAPES if not name or known.startswith(f"{name} ")]
    for known in listed:
        common.fitted(f"{known:18}  {'JSON lines' if SHAPES[known].lines else 'one JSON text'}")
    if listed:
        return
    if name in WITHOUT:
        common.fail(f"sssjob {name} has no --json: {WITHOUT[name]}")
    from sssjob.suggestions import nearest

    meant = nearest(name, SHAPES)
    advice = f"; did you mean {meant}?" if meant else "; sssjob schema lists those with --json"
    common.fail(f"there is no command {name!r}{advice}")
