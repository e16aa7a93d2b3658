"""The commands of a program, as they are called."""

import click


def commands(group, above=()):
    """Each command with the words that call it, without the name of the program."""
    for name in group.list_commands(None):
        found = group.get_command(None, name)
        if isinstance(found, click.Group):
            yield from commands(found, (*above, name))
        else:
            yield (*above, name), found
