"""``sssjob config show``: each default of the configuration files, and where it comes from."""

from __future__ import annotations

import json

import click

from sssjob.cli import common, defaults, options


@click.command(
    epilog="""\b
Examples:
  sssjob config show
  sssjob --config site/config.toml config show --json

Exit code: 0 there is a value, 1 there is none, 2 a file cannot be read."""
)
@options.JSON_OBJECT
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show each default, and the file that it comes from."""
    found = defaults.values(context)
    if as_json:
        rows = {
            name: {"value": found[name].text, "file": found[name].file} if name in found else None
            for name in defaults.KEYS
        }
        common.data(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        for name, key in defaults.KEYS.items():
            value = found.get(name)
            shown = f"{value.text}  ({value.file})" if value else "not set"
            common.fitted(f"{name:7}  {key.of:9}  {shown}")
        if not found:
            common.say(f"no file: {', '.join(map(str, defaults.places()))}")
    context.exit(common.FOUND if found else common.NOTHING)
