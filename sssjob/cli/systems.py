"""The names of batch systems as an option takes them: those of other distributions, too."""

from __future__ import annotations

from typing import Literal

import click

from sssjob import registry

Thing = Literal["formats", "queue", "script", "installation", "submission"]


class SystemName(click.Choice):  # type: ignore[type-arg]  # it has no type argument before 8.2
    """A batch system of which a thing is known, or another word that stands for one.

    The entry points of other distributions are looked at for a name that is none of ours only.
    """

    def __init__(self, thing: Thing, *words: str) -> None:
        ours = [name for name, row in registry.systems().items() if getattr(row, thing)]
        super().__init__((*ours, *words))
        self._thing = thing

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name. Fails as any choice does."""
        if value not in self.choices:
            row = registry.all_systems().get(value)
            if row is not None and getattr(row, self._thing):
                return value
        return str(super().convert(value, param, ctx))
