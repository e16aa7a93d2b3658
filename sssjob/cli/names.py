"""Names of batch systems, formats and targets as options take them: those of others, too.

The entry points of other distributions are looked at for a name that is none of ours, for help and
for completion only: that takes time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import click

from sssjob import registry
from sssjob.cli import options
from sssjob.cli.options import Command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

DOCUMENTS = "sss"  # documents and stores, among formats of records
AUTO = "auto"  # what is recognised by its first bytes
Thing = Literal[
    "formats", "queue", "caps", "script", "installation", "submission", "listed", "site_tests"
]
Names = Callable[[], Iterable[str]]
Has = Callable[[registry.System], object]


class SystemName(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.2
    """A batch system of which a thing is known, or another word that stands for one."""

    name = "choice"

    def __init__(self, thing: Thing, *words: str) -> None:
        self._thing, self._words = thing, words

    def _choice(self, rows: Mapping[str, registry.System]) -> click.Choice[str]:
        known = (name for name, row in rows.items() if getattr(row, self._thing))
        return click.Choice(tuple(dict.fromkeys((*known, *self._words))))

    def _all(self) -> click.Choice[str]:
        return self._choice(registry.all_systems())

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name, in whatever letter case. Fails as any choice does, with all words for it."""
        value = value if value in self._words else value.lower()
        if value not in self._words and (row := registry.called(value)):
            value = row.name
        if value in self._choice(registry.systems()).choices:
            return value
        known = self._all().choices
        if value not in known:
            told = registry.listed(known, lambda row: getattr(row, self._thing))
            self.fail(f"{value!r} is not one of {told}", param, ctx)
        return value

    def get_metavar(self, *context: Any, **more: Any) -> str | None:
        """``[NAME|NAME|...]``."""
        return self._all().get_metavar(*context, **more)

    def get_missing_message(self, *context: Any, **more: Any) -> str | None:
        """What to choose from."""
        return self._all().get_missing_message(*context, **more)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        return self._all().shell_complete(ctx, param, incomplete)


class NameArgument(click.ParamType):  # type: ignore[type-arg]  # as above
    """A name that a verb looks up, in whatever letter case; completion offers those there are.

    A verb takes another word for a batch system, too, where this has what ``has`` asks for. Words
    for records are among them where something is read.
    """

    name = "text"

    def __init__(self, names: Names, has: Has) -> None:
        self.names, self.has = names, has
        self.reads = names not in _WRITTEN

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is known; one that is not known is left to the verb."""
        small = value.lower()
        if small == value or value in self.names():
            return value
        return small if small in self.names() or registry.called(small) else value

    def get_missing_message(self, *context: Any, **more: Any) -> str | None:
        """What to choose from."""
        return f"Choose from: {self.listed()}"

    def listed(self, without: Collection[str] = ()) -> str:
        """All names but some, and the other words."""
        known = [name for name in self.names() if name not in without]
        return registry.listed(known, self.has, records=self.reads)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin so."""
        from click.shell_completion import CompletionItem  # slow to import for what few ask

        return [CompletionItem(each) for each in self.names() if each.startswith(incomplete)]


class NameOption(click.Option):
    """An option with a ``NameArgument``: ``{names}`` in its help are those that there are.

    ``{records}`` are those of records alone.
    """

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The line of the help."""
        record = super().get_help_record(ctx)
        if record is None or not isinstance(self.type, NameArgument):
            return record
        told = record[1].replace("{names}", self.type.listed())
        return record[0], told.replace("{records}", self.type.listed(without=(AUTO, DOCUMENTS)))


def option(*declarations: str, names: Names, **more: Any) -> Callable[[Any], Any]:
    """An option that takes one of some names."""
    kind = NameArgument(names, _HAS[names])
    return click.option(*declarations, cls=NameOption, type=kind, **more)


def formats() -> Iterable[str]:
    """What records can be in, ``auto`` among them."""
    from sssjob import records

    return records.formats()


def statuses() -> Iterable[str]:
    """The batch systems that can be asked for their jobs, then the formats of what they print."""
    return dict.fromkeys((*registry.all_statuses(), *registry.all_status_formats()))


def controlled() -> Iterable[str]:
    """The batch systems that take jobs."""
    return (name for name, row in registry.all_systems().items() if row.control)


def targets() -> Iterable[str]:
    """What jobs are translated to."""
    return (name for name, row in registry.all_targets().items() if row.writes)


def sources() -> Iterable[str]:
    """What jobs are translated from."""
    read = (name for name, row in registry.all_targets().items() if row.reads)
    return dict.fromkeys((*read, *registry.all_status_formats()))


# What a batch system has to have, so that a word for it stands for one of these names.
_HAS: Mapping[Names, Has] = {
    formats: lambda row: row.formats,
    statuses: lambda row: row.status,
    controlled: lambda row: row.control,
    targets: lambda row: row.targets,
    sources: lambda row: row.targets,
}

_WRITTEN = frozenset((controlled, targets))  # those that nothing is read from

DOCUMENTS_OR_RECORDS = option(
    "--from", "format_name", names=formats, metavar="FORMAT", default=AUTO, show_default=True,
    help=f"What the FILEs are: documents and stores ({DOCUMENTS}), or records: {{records}}. "
         f"With {AUTO} each is recognised.",
)  # fmt: skip
_KEPT_FORMAT = option(
    "--from", "format_name", names=formats, metavar="FORMAT", default=AUTO, show_default=True,
    help=f"What each FILE is: documents ({DOCUMENTS}), or records: {{records}}. "
         f"With {AUTO} it is recognised.", **options.KEPT,
)  # fmt: skip
_RECORDS: tuple[Callable[[Any], Any], ...] = (
    _KEPT_FORMAT, options.KEPT_ZONE, options.ALL_FINDINGS,
)  # fmt: skip
_TABLE = (
    _KEPT_FORMAT, options.KEPT_ZONE, options.KEPT_COLUMNS, options.KEPT_DELIMITER,
    options.ALL_FINDINGS,
)  # fmt: skip


def records(command: Command) -> Command:
    """The options that say how a command reads records: ``records.reading`` has their values."""
    return options.together(command, _TABLE)


def records_without_columns(command: Command) -> Command:
    """The same for a command whose ``--columns`` are of what it prints."""
    return options.together(command, _RECORDS)
