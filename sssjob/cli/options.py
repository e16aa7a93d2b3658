"""Options that several commands have, each told once."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from sssjob import registry
from sssjob.cli.common import ALL_FINDINGS as ALL_FOUND
from sssjob.cli.common import say
from sssjob.cli.ranges import NumberRange, WholeNumber

if TYPE_CHECKING:
    from datetime import tzinfo


Command = TypeVar("Command", bound=Callable[..., Any])


def together(command: Command, every: Sequence[Callable[[Any], Any]]) -> Command:
    """A command with several options, which its help lists in this order."""
    for option in reversed(every):
        command = option(command)
    return command


class Renamed(click.Option):
    """An option that had another name, the ``former`` one: it still works, and a notice says so."""

    def __init__(self, *args: Any, former: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.former = former

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have both names understood; help and completion know the new one only."""
        super().add_to_parser(parser, ctx)
        parser.add_option(obj=self, opts=[self.former], dest=self.former, action="store", nargs=1)

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Take what was given by the former name, unless there is a value by the new one."""
        assert self.name is not None
        if self.former in opts:
            if not ctx.resilient_parsing:
                say(f"sssjob: notice: {self.former} is called {self.opts[0]} now")
            opts = {self.name: opts[self.former], **opts}
        return super().handle_parse_result(ctx, opts, args)


_TIME = "time such as 1795003200, 2026-11-18T12:00, yesterday or now-7days"


class _MomentType(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.2
    """A time: seconds since 1970, or as people write it, in UTC where it states no zone."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The seconds since 1970."""
        from sssjob.errors import InvalidValue

        try:
            return seconds(str(value))
        except InvalidValue:
            self.fail(f"{value!r} is no {_TIME}", param, ctx)


def seconds(text: str, zone: tzinfo | None = None) -> int:
    """A time that a user names, in seconds since 1970: that number, ISO 8601, or a word such as
    ``yesterday`` or ``now-7days``.

    Where it states no zone it is in ``zone``, or in UTC. Raises ``InvalidValue``.
    """
    from datetime import UTC, datetime

    from sssjob import units
    from sssjob.errors import InvalidValue

    place = zone or UTC
    try:
        stated = _said(text, place)
        if not stated.strip().isdecimal():
            found = datetime.fromisoformat(stated)
            stated = (found if found.tzinfo else found.replace(tzinfo=place)).isoformat()
        value = units.time(stated)
        datetime.fromtimestamp(value, place)
    except (InvalidValue, ValueError, OverflowError, OSError):  # the others: it has no such date
        raise InvalidValue(text, f"a {_TIME}") from None
    return value


def _said(text: str, zone: tzinfo) -> str:
    """What a word for a time stands for, in seconds since 1970; any other text is itself.

    The words are those of Slurm: a unit is a number of seconds, so that a day has 24 hours, and
    ``yesterday`` begins at midnight in the zone.
    """
    from datetime import datetime, timedelta
    from time import time

    if found := re.fullmatch(_RELATIVE, text):
        sign, count, unit = found.groups()
        span = int(count) * _SECONDS[unit or "second"] if count else 0
        return str(int(time()) + (-span if sign == "-" else span))
    if text not in _DAYS:
        return text
    today = datetime.fromtimestamp(time(), zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return str(int((today + timedelta(days=_DAYS[text])).timestamp()))


_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_RELATIVE = rf"now(?:([+-])([0-9]{{1,12}})(?:({'|'.join(_SECONDS)})s?)?)?"
_DAYS = {"yesterday": -1, "today": 0, "midnight": 0, "tomorrow": 1}
MOMENT = _MomentType()
_HEAD = 256  # bytes that tell a picture
Option = Callable[[Callable[..., Any]], Callable[..., Any]]
WORKERS = click.option(
    "--workers",
    "processes",
    cls=Renamed,
    former="--jobs",
    metavar="N",
    type=WholeNumber(0),
    default=1,
    show_default=True,
    help="How many processes work; 0: one for each core. The output is the same.",
)
SELECT = click.option(
    "--select", metavar="XPATH|ID", help="Only these jobs or task groups: an Id, or an XPath."
)
TIMEOUT = click.option(
    "--timeout", metavar="SECONDS", type=NumberRange(0.1), default=120, show_default=True,
    help="How long a command of the system may take.",
)  # fmt: skip
JSON_OBJECT = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
JSON_LINES = click.option(
    "--json", "--jsonl", "as_json", is_flag=True, help="Print a JSON object on each line."
)
JSON_JOBS = click.option(
    "--json", "--jsonl", "as_json", is_flag=True, help="Print a JSON object for each job."
)
OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write to FILE, whole or not at all.",
)
OUTPUT_OF_TEXTS = click.option(
    "-o", "--output", metavar="FILE", help="Write there instead of standard output."
)
NOW = click.option(
    "--now",
    metavar="TIME",
    type=MOMENT,
    help="What time it is: seconds since 1970, or such as 2026-11-30T12:00 or now-2hours.",
)
EFFECTIVE = click.option(
    "--effective", is_flag=True, help="Apply JobDefaults, TaskGroupDefaults and TaskDefaults first."
)
LINES = click.option("--lines", is_flag=True, help="One job object on each line, not indented.")
RAW = click.option(
    "--raw",
    is_flag=True,
    help="Write values of CSV as they are. Without it, those that a spreadsheet would take for "
    "formulas get an apostrophe.",
)
MATCHING = click.option(
    "--match",
    "matching",
    type=click.Choice(["full", "search", "glob"]),
    default="full",
    show_default=True,
    help="How patterns match names: as regular expressions of the whole name (full) or of a part "
    "of it (search), or with * and ? (glob).",
)


def completes(names: Callable[[], Iterable[str]], *, several: bool = False) -> Any:
    """What a shell completes a value to: ``names``; of ``several`` with commas, the last one."""

    def completed(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        head, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        there = head.split(",")
        return [
            f"{head}{comma}{name}"
            for name in names()
            if name.lower().startswith(last.lower()) and name not in there
        ]

    return completed


def zones() -> Iterable[str]:
    """The names of time zones on this machine."""
    import zoneinfo  # which few commands need

    return sorted(zoneinfo.available_timezones())


def _zone(**more: Any) -> Option:
    return click.option(
        "--tz",
        "zone",
        metavar="ZONE",
        default="",
        shell_complete=completes(zones),
        help="The zone of times that state none, such as Europe/London. Default: UTC.",
        **more,
    )


def _columns(**more: Any) -> Option:
    return click.option(
        "--columns",
        metavar="NAMES",
        default="",
        help="The columns of records without a header line: JobID,User,State,...",
        **more,
    )


def _delimiter(**more: Any) -> Option:
    return click.option(
        "--delimiter",
        metavar="TEXT",
        default="",
        help="What separates fields, where the header does not tell; \\x1f and \\t are understood.",
        **more,
    )


ZONE, COLUMNS, DELIMITER = _zone(), _columns(), _delimiter()
OF_RECORDS = f"{__name__}.of_records"  # where ``_keep`` puts values


def _keep(ctx: click.Context, param: click.Parameter, value: str) -> str:
    ctx.meta.setdefault(OF_RECORDS, {})[param.name] = value
    return value


# No argument of a function: it stands where what reads records finds it (``records.reading``).
KEPT: dict[str, Any] = {"expose_value": False, "callback": _keep}
KEPT_ZONE, KEPT_COLUMNS, KEPT_DELIMITER = _zone(**KEPT), _columns(**KEPT), _delimiter(**KEPT)
ENDED_ONLY = click.option("--ended-only", is_flag=True, help="Skip jobs that have not ended.")
MEMORY_SCOPE = click.option(
    "--memory-scope",
    type=click.Choice(("job", "task", "node")),
    default="job",
    show_default=True,
    help="What the Memory of a job is for: the whole job, each task, or each node.",
)
PARALLEL = click.option(
    "--pe",
    "parallel",
    metavar="NAME",
    default="smp",
    show_default=True,
    help="Grid Engine's parallel environment.",
)
OUTPUT_DIRECTORY = click.option(
    "--output-dir",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write each job to a file of its own in DIR, named by its Id.",
)
SITE = click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(),
    help="The site's configuration (TOML): ratings, notice, shutdown.",
)
NODE = click.option("--node", metavar="NAME", help="Which node is meant; without it, this machine.")
HOST = click.option(
    "--host/--no-host",
    default=True,
    show_default=True,
    help="Ask this machine how many processors and cores it has.",
)
QUEUE = click.option(
    "--queue", metavar="NAME", default="", help="The queue of jobs that name none."
)


def _every(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    ctx.meta[ALL_FOUND] = value
    return value


# No argument of a function: ``common.told`` asks whether it was given.
ALL_FINDINGS = click.option(
    "--all-findings",
    is_flag=True,
    expose_value=False,
    callback=_every,
    help="Print every message, not only the first twenty of each kind about a file. JSON always "
    "has all of them.",
)


if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:
    _Choice = click.Choice  # the oldest click that is taken has no parameter there


class DocumentForm(_Choice):
    """A form of documents or records: none of them is a table for a spreadsheet."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The form; who asks for CSV, or for what a batch system reads, is told what prints it."""
        if value.lower() in ("csv", "tsv"):
            told = (
                "no form of jobs is a table of text: sssjob report --csv prints sums, "
                "sssjob query --csv --columns NAMES a row for each job, "
                "sssjob ledger export --to csv a row for each run"
            )
            self.fail(told, param, ctx)
        if value not in self.choices and (system := registry.called(value)):
            told = f"{value!r} is no form of documents"
            if registry.of_records(value):
                told += f": records of {system.title} are read (--from {value}) and not written"
            elif system.targets:
                told += f": sssjob translate --to {value} writes scripts"
            self.fail(f"{told}. The forms are {', '.join(self.choices)}", param, ctx)
        return super().convert(value, param, ctx)


def _picture(ctx: click.Context, param: click.Parameter, path: str | None) -> str | None:
    """Where a picture goes; not over a document, which a command line of before may name here."""
    if path is not None and path != "-":
        if path.startswith("-"):
            raise click.BadParameter(f"{path} is no FILE; - is standard output", ctx, param)
        if os.path.isfile(path):
            with contextlib.suppress(OSError), open(path, "rb") as stream:
                head = stream.read(_HEAD)
                if head and b"<svg" not in head:
                    why = f"{path} is there already, and is no picture; - is standard output"
                    raise click.BadParameter(why, ctx, param)
    return path


def picture(text: str) -> Option:
    """The option ``--svg FILE``."""
    return click.option("--svg", metavar="FILE", callback=_picture, help=text)


def drawn(form: str | None, svg: str | None, output: str | None) -> tuple[str | None, str | None]:
    """The form of what a command writes, and where it goes, where a picture is one of the forms."""
    if svg is None:
        return form, output
    if form or output:
        raise click.UsageError("--svg FILE cannot be used with --output or another form of output")
    return "svg", svg


PLOT = picture("Write that plot to FILE.")
CONFIGURATION = click.option("-c", "--config", "path", metavar="FILE", help="The configuration.")


def _estimators() -> Iterable[str]:
    from sssjob.lcginfo import estimators

    return estimators.names()


ESTIMATOR = click.option(
    "--estimator", metavar="NAME", default="", shell_complete=completes(_estimators),
    help="Use this estimator.",
)  # fmt: skip
ESTIMATORS = click.option(
    "--estimator", "names", metavar="NAME", multiple=True, shell_complete=completes(_estimators),
    help="Ask this estimator; may be repeated. Default: all that are known.",
)  # fmt: skip
REASON = click.option("--reason", metavar="TEXT", default="", help="Why, for the history.")
