"""The configuration file of lcg-info-dynamic-scheduler, and of the programs that came after it.

The table lists every option; reading, defaults and ``sssjob lcginfo check`` ask its rows. What
is wrong with a file is reported, and what cannot be worked with ends in ``BadConfig``.
"""

from __future__ import annotations

import configparser
import io
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from sssjob import units
from sssjob.commands import OUTPUT_LIMIT, TIME_LIMIT, CommandLimits
from sssjob.errors import InvalidValue, SSSJobError, unheard
from sssjob.integers import LARGEST, whole
from sssjob.lcginfo.names import VOMap, vomap
from sssjob.lcginfo.snapshot import Remark, Report
from sssjob.library_words import config_fault, shell_fault
from sssjob.suggestions import nearest

SIZE_LIMIT = 1 << 20
DAY = 86400.0

SAMPLE_DIR = "/var/tmp/info-dynamic-scheduler-generic"  # made when it is needed
MAIN, LRMS, SCHEDULER = "Main", "LRMS", "Scheduler"
IGNORED = "(nothing)"
_ANY = "any section"

# How the programs before named their estimators: by the class at the end of a module's path.
_ESTIMATORS = {"basicestimator": "basic", "waittimeestimator": "waittime"}
_LOGGING = ("loggers", "handlers", "formatters", "logger_", "handler_", "formatter_")

# Attributes of the schemas that the deployed programs do not print, and that can be known here.
FURTHER = (
    "GlueCEStateFreeCPUs",
    "GLUE2ComputingShareUsedSlots",
    "GLUE2ComputingShareRequestedSlots",
    "GlueCEStateStatus",
    "GLUE2ComputingShareServingState",
    "GLUE2ComputingShareMaxRunningJobs",
    "GLUE2ComputingShareMaxWallTime",
    "GLUE2ComputingShareDefaultWallTime",
    "GLUE2ComputingManagerTotalSlots",
    "GLUE2ComputingManagerSlotsUsedByGridJobs",
    "GLUE2ComputingManagerSlotsUsedByLocalJobs",
)


@dataclass(frozen=True, slots=True)
class Config:
    """What a configuration file says; a value that it does not say is the default.

    Commands are argument lists. ``usage`` is the part of its time limit that a job is expected
    to run; None takes it from the finished jobs of the snapshot, where there are enough.
    """

    static_ldif_file: str = ""
    static_share_file: str = ""
    static_manager_file: str = ""
    bdii_config_file: str = "/etc/bdii/bdii.conf"
    output_format: str = "both"
    vomap: VOMap = field(default_factory=VOMap)
    lrms_backend_cmd: tuple[str, ...] = ()
    vo_max_jobs_cmd: tuple[str, ...] = ()
    cycle_time: float | None = None
    estimator: str = "simulate"
    sample_number: int = 1000
    sample_dir: str = SAMPLE_DIR
    usage: float | None = None
    default_walltime: float = DAY
    access_rule: str = "last"
    unknown: str = "peer"
    count: str = "jobs"
    attributes: tuple[str, ...] = ()
    command_timeout: float = TIME_LIMIT
    command_output: int = OUTPUT_LIMIT
    stated: frozenset[str] = frozenset()

    @property
    def limits(self) -> CommandLimits:
        """What the commands are held to."""
        return CommandLimits(self.command_timeout, self.command_output)


class BadConfig(SSSJobError, ValueError):
    """A configuration that cannot be worked with: exit code 3 of the program."""


@contextmanager
def about_file(path: str | Path) -> Iterator[None]:
    """What is said in the block not to do as a configuration is said of the one in this file."""
    try:
        yield
    except BadConfig as error:
        raise BadConfig(f"{path}: {error}") from error


class Option(NamedTuple):
    """One row: an option, how it is read, and the field it sets if that has another name."""

    section: str
    name: str
    read: Callable[[str], Any]
    meaning: str
    sets: str = ""

    @property
    def field(self) -> str:
        """The field of a ``Config``; "" if the option is read and ignored."""
        return "" if self.sets == IGNORED else self.sets or self.name


def one_of(*words: str) -> Callable[[str], str]:
    """A reader of one of these words, in any case."""

    def read(text: str) -> str:
        if text.lower() not in words:
            raise ValueError(f"{text!r} is not one of {', '.join(words)}")
        return text.lower()

    return read


def command(text: str) -> tuple[str, ...]:
    """A command line as arguments, split as a shell splits it; there is no shell."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ValueError(f"{shell_fault(error)}: {text[:60]}") from None


def seconds(text: str) -> float:
    """A time that is not negative, as a Duration or with a fraction; 0 is possible."""
    value: int | Fraction
    try:
        value = units.duration(text)
    except InvalidValue:
        value = units.number(text)
    if not 0 <= value <= LARGEST:
        raise ValueError(f"{text!r} is no number of seconds")
    return float(value)


def part(text: str) -> float:
    """A part of a whole, above 0 and up to 1."""
    value = units.number(text)
    if not 0 < value <= 1:
        raise ValueError(f"{text!r} is no part of a time limit, such as 0.5")
    return float(value)


def positive(text: str) -> int:
    """A whole number above 0."""
    value = whole(text)
    if not value:
        raise InvalidValue(text, "a whole number above 0")
    return value


def further(text: str) -> tuple[str, ...]:
    """Names of ``FURTHER``, in any case, between blanks or commas."""
    known = {name.lower(): name for name in FURTHER}
    names = text.replace(",", " ").split()
    for name in names:
        if name.lower() not in known:
            raise ValueError(f"{name!r} is not one of {', '.join(FURTHER)}")
    return tuple(known[name.lower()] for name in names)


def estimator(text: str) -> str:
    """The name of an estimator; that of a class of the older programs is understood."""
    return _ESTIMATORS.get(text.rpartition(":")[2].rpartition(".")[2].lower(), text)


_FORMS = one_of("glue1", "glue2", "both")
_RULES = one_of("first", "last")
_ABSENT = one_of("peer", "omit", "placeholder")
_COUNTED = one_of("jobs", "slots")
_SHARES = "static_glue2_ldif_file_computingshare"
_MANAGERS = "static_glue2_ldif_file_computingmanager"

# fmt: off
OPTIONS: tuple[Option, ...] = (
    Option(MAIN,      "static_ldif_file",   str,       "static GLUE1 entries"),
    Option(MAIN,      _SHARES,              str,       "static GLUE2 shares", "static_share_file"),
    Option(MAIN,      _MANAGERS,            str,       "static managers", "static_manager_file"),
    Option(MAIN,      "bdii-configfile",    str,       "of the BDII", "bdii_config_file"),
    Option(MAIN,      "outputformat",       _FORMS,    "what is printed", "output_format"),
    Option(MAIN,      "vomap",              str,       "unix groups as VOs or FQANs"),
    Option(MAIN,      "estimator",          estimator, "estimates response times"),
    Option(MAIN,      "sample_number",      positive,  "how many samples basic keeps"),
    Option(MAIN,      "sample_dir",         str,       "where basic keeps its samples"),
    Option(MAIN,      "usage_factor",       part,      "what a job runs of its limit", "usage"),
    Option(MAIN,      "default_walltime",   seconds,   "of a job without a limit"),
    Option(MAIN,      "acbr",               _RULES,    "a view's rule that counts", "access_rule"),
    Option(MAIN,      "unknown",            _ABSENT,   "what stands for no estimate"),
    Option(MAIN,      "count",              _COUNTED,  "what counts against a cap"),
    Option(MAIN,      "attributes",         further,   "published beside the usual six"),
    Option(MAIN,      "command_timeout",    seconds,   "seconds that a command may take"),
    Option(MAIN,      "command_output",     positive,  "bytes that a command may print"),
    Option(MAIN,      "cream_prefix",       str,       "a prefix of the versions of 2012", IGNORED),
    Option(MAIN,      "es_prefix",          str,       "a prefix of the versions of 2012", IGNORED),
    Option(MAIN,      "module_search_path", str,       "no modules are loaded by path", IGNORED),
    Option(LRMS,      "lrms_backend_cmd",   command,   "prints the jobs as lrmsinfo"),
    Option(SCHEDULER, "vo_max_jobs_cmd",    command,   "prints the caps"),
    Option(SCHEDULER, "cycle_time",         seconds,   "seconds between scheduling passes"),
)
# fmt: on
_OPTION = {(option.section.lower(), option.name): option for option in OPTIONS}


def load(path: str | Path, report: Report = unheard) -> Config:
    """Read a configuration file. Raises ``BadConfig``, also when it cannot be opened."""
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}") from error
    if len(data) > SIZE_LIMIT:
        raise BadConfig(f"{path}: more than {SIZE_LIMIT} bytes")
    with about_file(path):
        return parse(data.decode("utf-8-sig", "replace"), report)


def parse(text: str, report: Report = unheard) -> Config:
    """The configuration that a text holds; what it says in vain goes to ``report``.

    Raises ``BadConfig``.

    >>> parse("[Main]\\nvomap :\\n  atlsgm : atlas\\n").vomap("atlsgm")
    'atlas'
    """
    refuse_nul(text)
    values: dict[str, Any] = {}
    for option, value in _stated(_sections(text), report):
        try:
            values[option.field] = (
                vomap(value.splitlines(), report)
                if option.name == "vomap"
                else option.read(value.strip())
            )
        except ValueError as error:
            raise BadConfig(f"[{option.section}] {option.name}: {error}") from error
    return Config(**values, stated=frozenset(values))


def refuse_nul(text: str, where: str = "") -> None:
    """Raise ``BadConfig`` for a text with a NUL, which no name of a file or command can have.

    ``where`` stands before the line in the message.
    """
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise BadConfig(f"{where}line {line}: a NUL stands there, where text is expected")


def _sections(text: str) -> configparser.RawConfigParser:
    line = 0

    def lines(before: str = "") -> Iterator[str]:
        nonlocal line
        yield from (before,) if before else ()
        line = 0
        for each in io.StringIO(text):
            line += 1
            yield each

    parser = configparser.RawConfigParser(
        strict=False, allow_no_value=True, inline_comment_prefixes=("#", ";"), default_section=""
    )
    try:
        try:
            parser.read_file(lines())
        except configparser.MissingSectionHeaderError:
            # The text shows its options without sections: their names tell where they belong.
            parser.read_file(lines(f"[{_ANY}]\n"))
    except AttributeError as error:
        # Python's own, until 3.13: there is no value to which the line could be added.
        told = f"line {line}: it continues an option that has no = or : behind it"
        raise BadConfig(told) from error
    except configparser.Error as error:
        raise BadConfig(config_fault(error)) from error
    return parser


def _stated(parser: configparser.RawConfigParser, report: Report) -> list[tuple[Option, str]]:
    """The options of a file that are known and used, each with its text."""
    found = []
    logging = ""
    for section in parser.sections():
        if section.lower().startswith(_LOGGING):
            # Python would evaluate what stands there.
            logging = logging or section
            continue
        for name, value in parser.items(section):
            option = _known(section, name)
            if option is None:
                _report_unknown(section, name, report)
            elif not option.field:
                report(Remark(0, f"[{section}] {name} is ignored: {option.meaning}"))
            elif value:
                found.append((option, value))
    if logging:
        report(Remark(0, f"[{logging}] is not followed: the log goes to standard error"))
    return found


def _known(section: str, name: str) -> Option | None:
    if section == _ANY:
        return next((option for option in OPTIONS if option.name == name), None)
    return _OPTION.get((section.lower(), name))


def _report_unknown(section: str, name: str, report: Report) -> None:
    elsewhere = next((option for option in OPTIONS if option.name == name), None)
    if elsewhere is not None:
        advice = f"; it belongs to [{elsewhere.section}]"
    else:
        meant = nearest(name, [option.name for option in OPTIONS])
        advice = f"; was {meant} meant?" if meant else ""
    report(Remark(0, f"[{section}] {name} is not known{advice}"))
