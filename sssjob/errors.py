"""Findings, and every exception that sssjob raises."""

from __future__ import annotations

import errno
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import UnionType
from typing import Any, NamedTuple, TypeVar, get_args

from sssjob.dotted import NOTEBOOK, loaded

E = TypeVar("E", bound=Exception)


class Severity(StrEnum):
    """How much a finding weighs: only an error makes a document not valid."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class AwarenessPolicy(StrEnum):
    """What is to be done about what is not understood (9.0)."""

    REJECT = "Reject"
    WARN = "Warn"
    IGNORE = "Ignore"

    @property
    def severity(self) -> Severity | None:
        """How much it weighs that something is not understood; None: nothing is told."""
        return _WEIGHTS[self]

    @classmethod
    def holding(cls, stated: str | None, around: AwarenessPolicy) -> AwarenessPolicy:
        """The policy that holds on an element: its own, else the one around it (9.0).

        A stated one that is none does not count; it is a value that is not understood.
        """
        return _POLICIES.get(stated.strip(" \t\r\n"), around) if stated else around

    @classmethod
    def at(cls, attributes: Mapping[str, str], around: AwarenessPolicy) -> AwarenessPolicy:
        """The policy that holds on an element with these attributes, as ``holding`` has it."""
        return cls.holding(attributes.get("awarenessPolicy"), around)


class Code(NamedTuple):
    """One kind of finding; the first letter of its name is the severity it has by default.

    ``otherwise`` has every other severity that one has, and where.
    """

    name: str
    meaning: str
    otherwise: tuple[tuple[Severity, str], ...] = ()

    @property
    def severity(self) -> Severity:
        """E is an error, W a warning, I a notice."""
        return _SEVERITIES[self.name[0]]

    @property
    def severities(self) -> frozenset[Severity]:
        """All that findings of this kind can have."""
        return frozenset((self.severity, *(each for each, _ in self.otherwise)))

    @property
    def weighs(self) -> str:
        """The severities as a sentence for people."""
        return "; ".join((self.severity, *(f"{each} {where}" for each, where in self.otherwise)))


_POLICIES = {policy.value: policy for policy in AwarenessPolicy}
_WEIGHTS = {
    AwarenessPolicy.REJECT: Severity.ERROR,
    AwarenessPolicy.WARN: Severity.WARNING,
    AwarenessPolicy.IGNORE: None,
}
_SEVERITIES = {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.NOTICE}

_WIDTH = 72  # characters of an expression that are shown around a place in it

_ERROR, _WARNING, _NOTICE = Severity

# fmt: off
CODES: tuple[Code, ...] = (
    Code("E-XML",      "not well-formed, not readable, or a document type declaration"),
    Code("E-LIMIT",    "larger, deeper or longer than is read",
         ((_WARNING, "where the rest is read all the same"),)),
    Code("E-TYPE",     "text that is not of the element's or attribute's data type"),
    Code("E-CARD",     "a defaults element appears more often than it may"),
    Code("E-DUP",      "a property or an identifier that may appear once appears again",
         ((_WARNING, "of a File, where the first one is taken"),)),
    Code("E-MISSING",  "a required element, property or attribute is absent"),
    Code("E-GROUP",    "group attributes of one Requested element are not balanced"),
    Code("E-OP",       "an operation that has no meaning for this value"),
    Code("E-CYCLE",    "jobs depend on each other in a circle"),
    Code("E-REF",      "a reference to something that is not there, though all of it has to be",
         ((_WARNING, "where a job is submitted without it"),)),
    Code("E-COUNTS",   "counts of tasks, nodes and processors that contradict each other",
         ((_WARNING, "where another way to meet the request holds"),)),
    Code("E-UNSAT",    "a request that nothing satisfies",
         ((_WARNING, "where another way to meet the request holds"),)),
    Code("E-FILE",     "an executable that names no file of the message, or no path at all",
         ((_WARNING, "where the job is written or kept without it"),)),
    Code("E-CATEGORY", "a property that cannot be requested, or delivered"),
    Code("E-MIXED",    "text beside child elements"),
    Code("E-EMPTY",    "a container with neither properties nor a reference"),
    Code("E-REGEX-LIMIT", "a regular expression that takes too long",
         ((_WARNING, "where only some nodes were not tried"),)),
    Code("E-UNKNOWN",  "an element, attribute or value that is not understood",
         ((_WARNING, "where its awarenessPolicy is Warn"),)),
    Code("E-LOSS",     "a value that a target of translation has no place for, or not as it is",
         ((_WARNING, "where its awarenessPolicy is Warn, or none is stated (sssjob translate)"),
          (_NOTICE, "where it asks for nothing, or where only its number differs in the target"))),
    Code("W-TYPE",     "a spelling of a value that is accepted but not written"),
    Code("W-RANGE",    "a number outside the range of its data type"),
    Code("W-CATEGORY", "a property in a category that the tables do not give it"),
    Code("W-OVERLAP",  "two limits of which one hides the other"),
    Code("W-USELESS",  "a property or attribute that has no effect here",
         ((_NOTICE, "where that is so on purpose"),)),
    Code("W-NEVER",    "a job that can never run: its dependencies contradict each other"),
    Code("W-EXIT",     "a job that has ended without saying how, on which another depends"),
    Code("W-COUNTS",   "a count that another one overrides"),
    Code("W-TEMPLATE", "a default that gives every job or group the same name, groups or tasks"),
    Code("W-NOT-SCOPE", "a negation that some readers take to reach further than others"),
    Code("W-GROUP-SWAP", "unbalanced groups that balance if every sign is reversed"),
    Code("W-MIXED",    "And and Or at one level, which some readers take from left to right"),
    Code("W-UNSAT",    "a request that nothing can satisfy"),
    Code("W-ANCHOR",   "a pattern that means other nodes to a reader that matches parts of names"),
    Code("W-SHELL",    "a script that names no interpreter, in a job that names no shell"),
    Code("W-UNKNOWN",  "something that is not known here, and is kept as it is or passed over"),
    Code("W-DISAGREE", "two sources give different values for one property",
         ((_ERROR, "where they name different jobs"),)),
    Code("I-ALIAS",    "an older name that is read and written by its present name"),
    Code("I-UNIT",     "an amount without a unit, read in the default unit"),
    Code("I-MISSING",  "a recommended property is absent"),
    Code("I-REFERENCE", "a reference to something outside this document"),
    Code("I-FILE",     "a file of the message that no executable names"),
)
# fmt: on
CODE = {code.name: code for code in CODES}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or worth knowing, where it is, and by which paragraph.

    ``line`` and ``column`` count from 1 and are 0 where they are not known.
    ``severity`` is one of those of the code (``Code.severities``). ``excerpt`` is
    the line of a document that cannot be read, with a caret below the column.
    """

    code: str
    message: str
    file: str = ""
    line: int = 0
    column: int = 0
    path: str = ""
    section: str = ""
    suggestion: str = ""
    severity: Severity = Severity.ERROR
    excerpt: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        """One line as compilers print it: ``job.xml:3:9: error: ... at /Job/Phase (SSS 9.0)``."""
        from sssjob.visible import visible  # few findings are printed

        place = ":".join(str(part) for part in (visible(self.file), self.line, self.column) if part)
        head = f"{place}: " if place else ""
        return f"{head}{self.severity}: {self.words} [{self.code}]"

    @property
    def words(self) -> str:
        """The message with its path, what to do, and the section."""
        at = f" at {self.path}" if self.path else ""
        section = f" ({self.section})" if self.section else ""
        advice = f"; {self.suggestion}" if self.suggestion else ""
        return f"{self.message}{at}{advice}{section}"

    def _repr_html_(self) -> str:
        """The finding for a notebook."""
        return Findings((self,))._repr_html_()

    def in_file(self, file: str) -> Finding:
        """The same finding, placed in ``file``."""
        return replace(self, file=file)

    def as_dict(self) -> dict[str, Any]:
        """The finding as the JSON contract has it; an unknown place is null."""
        return {
            "file": self.file,
            "line": self.line or None,
            "column": self.column or None,
            "code": self.code,
            "severity": self.severity.value,
            "message": self.message,
            "path": self.path,
            "section": self.section,
            "suggestion": self.suggestion,
        }


def unheard(found: object) -> None:
    """Take what is told and do nothing, where no caller asked to hear of it."""


def finding(
    code: str,
    message: str,
    *,
    line: int = 0,
    column: int = 0,
    path: str = "",
    section: str = "",
    suggestion: str = "",
    file: str = "",
    severity: Severity | None = None,
) -> Finding:
    """A finding with the severity of its code, unless ``severity`` says otherwise."""
    return Finding(
        code, message, file, line, column, path, section, suggestion,
        severity or CODE[code].severity,
    )  # fmt: skip


class Findings(tuple[Finding, ...]):
    """Findings together."""

    __slots__ = ()

    def __repr__(self) -> str:
        numbers = Counter(str(found.severity) for found in self)
        told = ", ".join(f"{number} {name}{'s' * (number > 1)}" for name, number in numbers.items())
        return f"<Findings: {told or 'none'}>"

    def _repr_html_(self) -> str:
        """The findings for a notebook."""
        return str(loaded(f"{NOTEBOOK}:findings")(self))


class SSSJobError(Exception):
    """Whatever sssjob raises on purpose."""


class Window(NamedTuple):
    """The bytes about an error, in UTF-8: what its cause, its advice and its excerpt come from.

    They begin at an offset, a line and a column of their source, between the tags ``before`` and
    ``after``, which stand around them.
    """

    data: bytes
    start: int = 0
    line: int = 1
    column: int = 1
    before: bytes = b""
    after: bytes = b""


# The codes of what is no document that can be read; others tell of one that was read.
UNREAD = frozenset(("E-XML", "E-LIMIT", "E-UNKNOWN"))


class UnreadableDocument(SSSJobError, ValueError):
    """Bytes that cannot be read as XML within the limits; ``finding`` says where and why."""

    def __init__(self, finding: Finding, window: Window | None = None) -> None:
        super().__init__(finding)
        self.finding = finding
        self.window = window

    def __str__(self) -> str:
        return str(self.finding)


class InvalidJob(SSSJobError, ValueError):
    """A document with errors; ``findings`` holds all of them, warnings and notices included."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        of_kind(findings, Iterable, "findings")
        self.findings = tuple(findings)
        super().__init__(self.findings)

    def __str__(self) -> str:
        return "\n".join(str(finding) for finding in self.findings)


class NoSuchProperty(SSSJobError, KeyError):
    """A property that a block does not have itself; ``elsewhere`` are blocks in it that do."""

    def __init__(
        self, name: str, block: str, elsewhere: Iterable[str] = (), meant: str = ""
    ) -> None:
        of_kind(elsewhere, Iterable, "names of blocks")
        self.name, self.block = name, block
        self.elsewhere, self.meant = tuple(elsewhere), meant
        super().__init__(name, block, self.elsewhere, meant)

    def __str__(self) -> str:
        text = f"no {self.name} among the properties of the {self.block} itself"
        if self.elsewhere:
            text += f"; its {' and its '.join(self.elsewhere)} has one"
        return f"{text}; did you mean {self.meant}?" if self.meant else text


class UnknownName(SSSJobError, TypeError):
    """A misspelt name, where a property of a block is made by name."""

    def __init__(self, name: str, block: str, advice: str) -> None:
        super().__init__(name, block, advice)
        self.name, self.block, self.advice = name, block, advice

    def __str__(self) -> str:
        return f"{self.name} is no property of {self.block}; {self.advice}"


class InvalidValue(SSSJobError, ValueError):
    """Text that is not a value of the type that was expected."""

    def __init__(self, text: str, expected: str) -> None:
        super().__init__(text, expected)
        self.text = text
        self.expected = expected

    def __str__(self) -> str:
        return f"{quoted(self.text)} is not {self.expected}"


class WrongKind(InvalidValue, TypeError):
    """An argument of a kind that a function does not take: None, or a number for a name."""


class UnbalancedGroup(SSSJobError, ValueError):
    """A Requested block whose group attributes do not balance; ``index`` is the item to blame."""

    def __init__(self, index: int, name: str, closes: int, open_: int) -> None:
        super().__init__(index, name, closes, open_)
        self.index, self.name, self.closes, self.open = index, name, closes, open_

    def __str__(self) -> str:
        if self.closes:
            return (
                f"{self.name} (item {self.index + 1}) closes {_levels(self.closes)} "
                f"but only {self.open} {'is' if self.open == 1 else 'are'} open"
            )
        return f"{self.name} (item {self.index + 1}) leaves {_levels(self.open)} open"


class LimitExceeded(SSSJobError, ValueError):
    """Input that is larger or deeper than is worked on."""

    def __init__(self, what: str, limit: float) -> None:
        super().__init__(what, limit)
        self.what, self.limit = what, limit

    def __str__(self) -> str:
        return f"more than {self.limit} {self.what}"


class InheritedTooMuch(LimitExceeded, UnreadableDocument):
    """A job object whose jobs inherit more than is worked out; ``finding`` says where it stands.

    Whoever goes on behind a document that cannot be read goes on behind this one.
    """

    def __init__(self, what: str, limit: float, line: int = 0) -> None:
        LimitExceeded.__init__(self, what, limit)
        UnreadableDocument.__init__(
            self, finding("E-LIMIT", LimitExceeded.__str__(self), line=line)
        )
        self.args = (what, limit, line)

    def __str__(self) -> str:
        return str(self.finding)


class NotFetched(SSSJobError, ValueError):
    """An address that is not fetched, because nobody allowed it or because it did not come."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(uri, reason)
        self.uri, self.reason = uri, reason

    def __str__(self) -> str:
        return f"{self.uri!r} is not fetched: {self.reason}"


class WrongAtLine(SSSJobError, ValueError):
    """What is wrong, and in which line of a text; ``line`` is 0 if not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason, self.line = reason, line

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


class UnusableInput(WrongAtLine):
    """Input of which no record can be read at all: no header line, or an unknown option."""


class Unprotected(SSSJobError, PermissionError):
    """A directory in which others can lead whoever works there: ``place`` is why, of ``path``."""

    def __init__(self, place: str, why: str, path: str) -> None:
        super().__init__(
            errno.EACCES,
            f"{place} {why}; name a directory on the way to which, and in which, only root or you "
            "can write, without links, such as /run/mjf",
            path,
        )
        self.place, self.why, self.path = place, why, path

    def __reduce__(self) -> tuple[type[Unprotected], tuple[str, str, str]]:
        return type(self), (self.place, self.why, self.path)

    def __str__(self) -> str:
        return f"{self.path}: {self.strerror}"


class LostWorker(SSSJobError, RuntimeError):
    """A process that ended before the part that it worked on was done.

    ``place`` is where that part begins; ``status`` is negative for the signal that ended it.
    """

    def __init__(self, place: str, status: int) -> None:
        super().__init__(place, status)
        self.place, self.status = place, status

    def __str__(self) -> str:
        how = f"by signal {-self.status}" if self.status < 0 else f"with status {self.status}"
        return f"{self.place}: the process that worked on what begins there was ended {how}"


class UnusableCluster(SSSJobError, RuntimeError):
    """A cluster of workers that cannot be started or reached, or that lost what it was given."""

    def __init__(self, cluster: str, reason: str) -> None:
        super().__init__(cluster, reason)
        self.cluster, self.reason = cluster, reason

    def __str__(self) -> str:
        return f"cluster {self.cluster}: {self.reason}"


class WorkFailed(SSSJobError, RuntimeError):
    """What a process raised while it worked on a part; that exception cannot be sent from there."""


class NotAQuery(SSSJobError, ValueError):
    """An expression that is not XPath 1.0, or that asks for what is not offered here.

    ``position`` counts characters from 0; ``expected`` may be empty.
    """

    def __init__(self, expression: str, position: int, message: str, expected: str = "") -> None:
        super().__init__(expression, position, message, expected)
        self.expression = expression
        self.position = position
        self.message = message
        self.expected = expected

    def __str__(self) -> str:
        said = f"{self.message}; expected {self.expected}" if self.expected else self.message
        return f"{said}\n{picture(self.expression, self.position)}"


class BadSheet(SSSJobError, ValueError):
    """A sheet that is unknown, broken, stopped by itself, or does what it may not.

    ``line`` is 0 where it is not known.
    """

    def __init__(self, sheet: str, reason: str, line: int = 0) -> None:
        super().__init__(sheet, reason, line)
        self.sheet, self.reason, self.line = sheet, reason, line

    def __str__(self) -> str:
        place = f"{self.sheet}:{self.line}" if self.line else self.sheet
        return f"{place}: {self.reason}"


class UnusableStore(SSSJobError, ValueError):
    """A store that cannot be opened, read or written; ``store`` says which, without a password."""

    def __init__(self, store: str, reason: str) -> None:
        super().__init__(store, reason)
        self.store, self.reason = store, reason

    def __str__(self) -> str:
        return f"{self.store}: {self.reason}"


class BusyStore(UnusableStore):
    """A store that others kept locked for longer than was waited; trying again may do."""


class FullStore(UnusableStore):
    """A store with no room left for what was written; what was committed before stays."""


class OtherStore(UnusableStore):
    """A store of another version of sssjob; ``can_upgrade`` tells if this one can bring it up."""

    def __init__(self, store: str, reason: str, *, can_upgrade: bool = False) -> None:
        super().__init__(store, reason)
        self.can_upgrade = can_upgrade


class DamagedStore(UnusableStore):
    """A store, or one document in it, whose bytes are not what was written.

    ``version`` is 0 unless it is one document: the version of ``run`` of the ``name`` (Job or
    JobGroup) of an ``id``.
    """

    def __init__(
        self, store: str, reason: str, name: str = "", id: str = "", run: int = 0, version: int = 0
    ) -> None:
        super().__init__(store, reason)
        self.name, self.id, self.run, self.version = name, id, run, version


class TakenId(SSSJobError, ValueError):
    """A job cannot stand where its Id is taken; ``taken_by`` is the document that has it.

    That is "" where the document itself would have two jobs of the Id.
    """

    def __init__(self, id: str, taken_by: str = "") -> None:
        super().__init__(id, taken_by)
        self.id, self.taken_by = id, taken_by

    def __str__(self) -> str:
        if self.taken_by:
            return f"Job {self.id} is there already, in {self.taken_by}"
        return f"two jobs have the Id {self.id}"


class Refused(SSSJobError, ValueError):
    """A message that is answered with a failure, or a reply that is one.

    ``code`` is one of the status codes of SSSRMAP; ``message`` is told to the peer.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code, self.message = code, message

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class UnknownOutcome(Refused):
    """Nobody knows whether another server has made a change that it was told of (700)."""

    def __init__(self, message: str) -> None:
        super().__init__("700", message)
        self.args = (message,)


class BadFraming(Refused):
    """Bytes that are no request or reply of HTTP; ``http`` is the status that says so there."""

    def __init__(self, message: str, http: int = 400) -> None:
        super().__init__("242", message)
        self.http = http
        self.args = (message, http)


class NoReply(Refused):
    """A server that could not be asked, or did not answer; the code is of the client's side.

    ``asked`` tells whether the request may have reached it, so that it may have been done.
    """

    def __init__(self, code: str, message: str, asked: bool = True) -> None:
        super().__init__(code, message)
        self.asked = asked
        self.args = (code, message, asked)


class BadKeyFile(SSSJobError, ValueError):
    """A file that no key is taken from, because others can read it or it holds none."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Problem(NamedTuple):
    """One thing that is wrong in a file of settings; ``line`` is 0 where it is not known."""

    file: str
    line: int
    key: str
    found: str
    expected: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        key = f"{self.key}: " if self.key else ""
        return f"{place}: error: {key}found {shortened(self.found)}, expected {self.expected}"


class BadSettings(SSSJobError, ValueError):
    """A file of settings that cannot be used; ``problems`` holds everything that is wrong."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def of_kind(value: object, kinds: type | UnionType, expected: str) -> None:
    """Refuse an argument that is of none of these kinds. Raises ``WrongKind``."""
    if not isinstance(value, kinds):
        raise WrongKind(shown(value), expected)


def shown(value: object) -> str:
    """A value as messages name it. Python does not write numbers of some thousand digits."""
    try:
        return repr(value)
    except ValueError:
        return f"<{type(value).__name__} of too many digits to be shown>"


def shortened(text: str, most: int = 200) -> str:
    """A text as messages have it: of a long one so many characters, the last three of them dots.

    >>> shortened("abcdefgh", 8), shortened("abcdefghi", 8)
    ('abcdefgh', 'abcde...')
    """
    return text if len(text) <= most else f"{text[: most - 3]}..."


def quoted(text: str, most: int = 60) -> str:
    """A text in quotes, as messages have what was written in a wrong place.

    >>> quoted("abcdefghi", 8)
    "'abcde...'"
    """
    return repr(shortened(text, most))


def hand_over(error: E, on_error: Callable[[E], object] | None) -> None:
    """Raise an error, or hand it to ``on_error`` where there is somebody who takes it."""
    if on_error is None:
        raise error
    on_error(error)


def one_of(value: object, words: object, expected: str) -> None:
    """Refuse an argument that is none of the words of a ``Literal``. Raises ``InvalidValue``."""
    of_kind(value, str, expected)
    if value not in get_args(words):
        raise InvalidValue(str(value), f"{expected}: {', '.join(get_args(words))}")


def picture(expression: str, position: int) -> str:
    """The line of the expression that holds the position, and a caret under it.

    >>> print(picture("//Job[", 6))
        //Job[
              ^
    """
    start = expression.rfind("\n", 0, position) + 1
    end = expression.find("\n", position)
    line = expression[start : end if end >= 0 else len(expression)]
    at = position - start
    cut = max(0, at - _WIDTH + 12) if len(line) > _WIDTH else 0
    shown = "".join(letter if letter.isprintable() else " " for letter in line[cut : cut + _WIDTH])
    return f"    {shown}\n    {' ' * (at - cut)}^"


def _levels(count: int) -> str:
    return f"{count} level{'' if count == 1 else 's'}"
