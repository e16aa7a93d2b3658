"""``sssjob examples``: the examples of the documentation, copied to where they can be tried."""

from __future__ import annotations

import os

import click

from sssjob import directory_trees, outputs, resources
from sssjob.cli import common
from sssjob.cli.signals import terminable


@click.command(
    epilog="""\b
Examples:
  sssjob examples
  sssjob examples examples
  sssjob examples /tmp/try && cd /tmp/try && sssjob convert slurm/sacct.txt

Exit code: 0 all is shown or written, 2 the directory cannot be written."""
)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
def command(directory: str | None) -> None:
    """List the examples, or write them into DIR, which is new or empty.

    The commands of the README and of the pages in docs/ expect a directory called examples in the
    current directory.
    """
    if directory is None:
        for line in (resources.examples() / "README.md").read_text("utf-8").splitlines():
            common.fitted(line)
        return
    common.say(f"{copy(directory)} examples written to {common.name_of(directory)}")


def copy(directory: str | os.PathLike[str]) -> int:
    """Write every example below a directory that is new or empty; how many there are.

    Ends the command where that cannot be done.
    """
    given = resources.examples()
    files = sorted(path for path in given.rglob("*") if path.is_file())
    try:
        with terminable(), directory_trees.whole(directory) as home:
            for file in files:
                place = home / file.relative_to(given)
                place.parent.mkdir(exist_ok=True)
                with outputs.writing(place) as stream:
                    stream.write(file.read_bytes())
    except OSError as error:
        common.fail(common.reason(error))
    return len(files)
