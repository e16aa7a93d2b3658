"""Documents that are not well-formed: advice always, and repair for who asks.

``advise`` names the causes, each once and in its place, where a parser names the first of their
consequences. ``repair`` turns few and common mistakes, those of word processors and of fingers
above all, and tells of each; it refuses when anything else is wrong or two repairs are possible.

Strategy. A parser stops where a document cannot go on, which is often far behind the mistake, and
its own recovery silently drops what it does not understand. A repair must not guess: a job with
a limit that nobody wrote is worse than one that is refused.

The idea is to read the text with a scanner that goes on behind a mistake (``scan``), and to go
through its tags with the tables of the standard (``nesting``), which say what may stand in what.
Each mistake becomes a fault with its place, and with edits only where one rule of ``RULES``
explains it and there is one place for the repair. All edits are applied at once, and a strict
parser reads the result.

Why it is right: a document is repaired only if every fault has its edits and the parser accepts
what they make; otherwise nothing is changed. A document that can be read as it is gets no advice,
but for blanks before its declaration. Faults, edits and tags are counted and bounded, and each
character is looked at a bounded number of times.

>>> broken = "<Job><Id>1</Id><Memory units=”GB”>2<Memory></Job>"
>>> repair(broken.encode()).data
b'<Job><Id>1</Id><Memory units="GB">2</Memory></Job>'
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from sssjob import expression
from sssjob.document import tree
from sssjob.document.cause import ENDS_INSIDE, LATE_DECLARATION_SAID
from sssjob.document.parsing import SourcePlace
from sssjob.document.repair.nesting import Nesting, place_characters
from sssjob.document.repair.scan import LIMIT as TOO_MUCH
from sssjob.document.repair.scan import Edit, Mistake, Scanner, Tag, TagKind
from sssjob.document.repair.source import Source
from sssjob.errors import (
    Finding,
    InvalidValue,
    SSSJobError,
    UnreadableDocument,
    Window,
    finding,
)
from sssjob.model import Property
from sssjob.spec import REQUESTED
from sssjob.units import integer

__all__ = [
    "LIMIT",
    "AppliedRepair",
    "NotRepairable",
    "Repaired",
    "advise",
    "advise_window",
    "at_its_place",
    "excerpt",
    "lines_of",
    "repair",
]

LIMIT = 16 << 20  # bytes; people do not write more by hand

# fmt: off
RULES = {
    "a": "typographic quote in a tag",
    "b": "start tag where an end tag was meant",
    "c": "end tag missing",
    "d": "no-break space in a tag",
    "e": "bare &",
    "f": "blanks before the declaration",
    "g": "group with its sign turned",
}
# fmt: on
_TAG_NAME = re.compile("<([^\\s<>/?!]+)")
_AT_THE_END = "before the end of the document"
_DOES_IT = "sssjob repair does it"


class AppliedRepair(NamedTuple):
    """One replacement that a repair made; line and column are those of the broken document."""

    rule: str
    line: int
    column: int
    before: str
    after: str

    @property
    def what(self) -> str:
        """The mistake, in words."""
        return RULES[self.rule]


class Repaired(NamedTuple):
    """A well-formed document, and what was changed to make it one."""

    data: bytes
    changes: tuple[AppliedRepair, ...]

    @property
    def text(self) -> str:
        """The document as text, whatever its encoding."""
        return Source(self.data).text


class NotRepairable(SSSJobError, ValueError):
    """A document in which something is wrong that no rule repairs, or two do; see ``findings``.

    ``placed`` are the same, one of them at the place that every command tells (``at_its_place``).
    """

    def __init__(self, findings: Iterable[Finding], placed: Iterable[Finding] = ()) -> None:
        self.findings = tuple(findings)
        self.placed = tuple(placed) or self.findings
        super().__init__(self.findings, self.placed)

    def __str__(self) -> str:
        return "\n".join(str(found) for found in self.findings)


def advise(data: bytes) -> Iterator[Finding]:
    """What keeps a document from being read: each cause once, in its place, with what to write.

    Nothing if the document, or each of several one after the other, can be read. Of more than
    ``LIMIT`` bytes only the parser's own word is given.
    """
    if len(data) > LIMIT:
        said = _strict(data)
        yield from () if said is None else (said,)
        return
    diagnosis = _diagnose(data)
    if diagnosis is not None:
        yield from diagnosis.findings()


def advise_window(error: UnreadableDocument) -> Iterator[Finding]:
    """The same of what an error tells, by the bytes about it; else its own word, with the line."""
    said, window = error.finding, error.window
    if window is None:
        yield said
        return
    source = Source(window.data, SourcePlace(window.start, window.line, window.column))
    found: list[Finding] = []
    if len(window.data) <= LIMIT:
        diagnosis = _diagnosed(source, said, window)
        above = "".join(f"/{name}" for name in _TAG_NAME.findall(window.before.decode()))
        found = [replace(each, path=above + each.path) for each in diagnosis.findings()]
    if not any(each.code == said.code for each in found):
        # Advice did not come to it, as in what is nested too deeply.
        yield replace(said, excerpt=source.excerpt(said.line, said.column))
    yield from at_its_place(found, said, source)


def at_its_place(found: list[Finding], said: Finding, source: Source) -> Iterator[Finding]:
    """The causes, one of them at the place that each command tells of these bytes. # decision 680

    It is the first of that line, or an element that is open at the end, where its end tag is to be
    written. If all are to be mended in lines before, it is the first, which says in which line.
    What stands only behind that place is no cause of it: there it is what is told.
    """
    causes = [each for each in found if each.code == said.code and _may_cause(each, said)]
    of_line = (each for each in causes if _is_there(each, said))
    chosen = next(of_line, causes[0] if causes else None)
    if chosen is None and said.column:
        found = [chosen := said, *found]
    for each in found:
        if each is chosen and said.column:
            there = "" if _is_there(each, said) else f"in line {each.line} "
            excerpt = source.excerpt(said.line, said.column)
            each = replace(
                each, message=there + each.message, line=said.line, column=said.column,
                excerpt=excerpt,
            )  # fmt: skip
        yield each


def _may_cause(cause: Finding, said: Finding) -> bool:
    return cause.line <= said.line or _is_there(cause, said)


def _is_there(cause: Finding, said: Finding) -> bool:
    is_of_end = cause.message.endswith(_AT_THE_END) and said.message.startswith(ENDS_INSIDE)
    is_late = LATE_DECLARATION_SAID in said.message  # then nothing behind it was read
    return is_of_end or (cause.line == said.line and not is_late)


def repair(data: bytes, *, groups: bool = False) -> Repaired:
    """The document made well-formed, with every change that was needed; nothing if it is.

    ``groups`` also turns the signs of the group attributes of a Requested element where they do
    not balance and would then. Raises ``NotRepairable``.
    """
    if len(data) > LIMIT:
        text = f"documents of more than {LIMIT >> 20} MiB are not repaired"
        raise NotRepairable((finding("E-LIMIT", text),))
    diagnosis = _diagnose(data)
    changes: list[AppliedRepair] = []
    edits: tuple[Edit, ...] = ()
    if diagnosis is not None:
        if diagnosis.refused:
            found, said = list(diagnosis.findings()), diagnosis.said
            placed = () if said is None else at_its_place(found, said, diagnosis.source)
            raise NotRepairable(found, placed)
        edits = diagnosis.edits
        changes = [_change(diagnosis.source, edit, edit.start) for edit in edits]
        data = diagnosis.source.encode(diagnosis.text)
    if groups:
        whole = Source(data)
        source = whole if diagnosis is None else diagnosis.source
        turned = tuple(_turned_groups(whole.text))
        changes += [_change(source, edit, _before(edits, edit.start)) for edit in turned]
        changes.sort(key=lambda change: (change.line, change.column))
        data = whole.encode(_applied(whole.text, turned))
    return Repaired(data, tuple(changes))


def lines_of(data: bytes) -> list[str]:
    """The lines of a document, whatever its encoding."""
    return Source(data).text.split("\n")


@dataclass(frozen=True)
class _Diagnosis:
    """What is wrong with a document: faults with or without repair, and what remains after it."""

    source: Source
    faults: tuple[Mistake, ...]
    text: str  # with every repair that there is
    rest: Finding | None  # what is wrong with that
    said: Finding | None = None  # by the parser, of the whole as it is

    @property
    def edits(self) -> tuple[Edit, ...]:
        found = [edit for fault in self.faults for edit in fault.edits]
        return tuple(sorted(found, key=lambda edit: (edit.start, edit.end)))

    @property
    def refused(self) -> bool:
        return (
            self.source.fault is not None
            or self.rest is not None
            or not all(fault.edits for fault in self.faults)
        )

    def findings(self) -> Iterator[Finding]:
        """Each fault as a finding, in order; those of a kind once, with their number."""
        counts = Counter(fault.kind for fault in self.faults)
        said: set[str] = set()
        found = [] if self.source.fault is None else [self.source.fault]
        for fault in self.faults:
            if fault.kind and fault.kind in said:
                continue
            said.add(fault.kind)
            found.append(self._finding(fault, counts[fault.kind] if fault.kind else 1))
        found += [] if self.rest is None else [self.rest]
        for each in sorted(found, key=lambda each: (each.line, each.column)):
            yield replace(each, excerpt=self.source.excerpt(each.line, each.column))

    def _finding(self, fault: Mistake, count: int) -> Finding:
        line, column = self.source.place(fault.start)
        message = fault.message + (f" ({count} in this document)" if count > 1 else "")
        does_it = "" if self.refused else _DOES_IT
        suggestion = "; ".join(part for part in (fault.suggestion, does_it) if part)
        code = "E-LIMIT" if fault.kind == TOO_MUCH else "E-XML"
        return finding(
            code, message, line=line, column=column, path=fault.path or "", suggestion=suggestion
        )


def _diagnose(data: bytes) -> _Diagnosis | None:
    """What is wrong with a document of limited size, or None if nothing is."""
    said = _strict(data)
    source = Source(data)
    if said is None and not Scanner(source.text).has_late_declaration:
        return None
    return replace(_diagnosed(source, said, Window(b"")), said=said)


def _diagnosed(source: Source, said: Finding | None, around: Window) -> _Diagnosis:
    """What is wrong with a text of which a parser said something, between the tags around it."""
    scanner = Scanner(source.text)
    if not source.text.strip():
        return _Diagnosis(source, (), source.text, said)
    Nesting(source, scanner).run()
    place_characters(source.text, scanner.faults)
    faults = tuple(sorted(scanner.faults, key=lambda fault: fault.start))
    plain = _Diagnosis(source, faults, source.text, None)
    if plain.refused:
        return plain
    if not faults:
        return replace(plain, rest=said)
    if scanner.stopped:
        text = "there are more errors than are looked for"
        return replace(plain, rest=finding("E-LIMIT", text))
    edits = plain.edits
    text = _applied(source.text, edits)
    rest = _strict(around.before + source.encode(text) + around.after)
    if rest is not None:
        rest = _moved_back(source, text, edits, rest)
    return replace(plain, text=text, rest=rest)


def _strict(data: bytes) -> Finding | None:
    """Why the documents cannot be read, or None."""
    try:
        for _ in tree.documents(data, on_error=_unless_foreign, wanted=tree.Wanted.DOCUMENTS):
            pass
    except UnreadableDocument as error:
        return error.finding
    return None


def _unless_foreign(error: UnreadableDocument) -> None:
    """Raise an error; but job objects of other namespaces are well-formed, too."""
    if error.finding.code != "E-UNKNOWN":
        raise error


def _moved_back(source: Source, text: str, edits: Sequence[Edit], found: Finding) -> Finding:
    """A finding about the repaired text, placed in the broken one."""
    if not found.line:
        return found
    there = Source(text.encode())
    line, column = source.place(_before(edits, there.index(found.line, found.column)))
    return replace(found, line=line, column=column if found.column else 0)


def _before(edits: Sequence[Edit], index: int) -> int:
    """Where an index of the repaired text is in the broken one."""
    shifts = []
    shift = 0
    for edit in edits:
        shifts.append((edit.start + shift, shift))
        shift += len(edit.new) - (edit.end - edit.start)
    # Behind an edit its whole shift counts.
    found = bisect_right(shifts, (index, -1 << 62))
    if not found:
        return index
    last = edits[found - 1]
    behind = shifts[found - 1][1] + len(last.new) - (last.end - last.start)
    return max(index - behind, last.start)


def _applied(text: str, edits: Sequence[Edit]) -> str:
    pieces = []
    at = 0
    for edit in edits:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join((*pieces, text[at:]))


def _change(source: Source, edit: Edit, start: int) -> AppliedRepair:
    line, column = source.place(start)
    # A group's sign is turned in the repaired text, which has the same value there.
    before = source.text[start : start + edit.end - edit.start]
    return AppliedRepair(edit.rule, line, column, before, edit.new)


def _turned_groups(text: str) -> Iterator[Edit]:
    """The edits that turn the signs of all groups of each Requested where that balances them."""
    stack: list[list[Tag] | None] = []
    for tag in Scanner(text).tags():
        if tag.kind is TagKind.CLOSE:
            inside = stack.pop()
            if inside:
                yield from _turned(inside)
            continue
        if stack and (parent := stack[-1]) is not None:
            parent.append(tag)
        if tag.kind is TagKind.OPEN:
            stack.append([] if tag.name.rpartition(":")[2] == REQUESTED else None)


def _turned(tags: Sequence[Tag]) -> Iterator[Edit]:
    groups = [tag.group for tag in tags]
    items = [
        Property(tag.name, "", {"group": group[2]} if group else {})
        for tag, group in zip(tags, groups, strict=True)
    ]
    if not expression.swap_balances(items):
        return
    for group in groups:
        if group is None:
            continue
        start, end, value = group
        try:
            number = integer(value)
        except InvalidValue:
            continue
        if number:
            yield Edit(start, end, str(-number), "g")
