"""A tokenizer that goes on: the tags of a text that may be broken, and what is wrong inside them.

Every character is looked at a bounded number of times, so time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from sssjob.document import cause
from sssjob.legality import ILLEGAL
from sssjob.units import XML_SPACE

FAULTS = 1000  # that cannot be repaired; nobody reads more
EDITS = 1 << 18
TAGS = 1 << 20
NEAR = 1000  # characters of a value in which a < is looked for
LIMIT = "limit"  # the kind of fault that is no mistake but too much of something

NO_BREAK_SPACE = "\u00a0"
# Rule by rule what may stand for a quote in a tag, and never in text.
QUOTES = dict.fromkeys("\u201c\u201d\u201e\u2033", '"') | dict.fromkeys("\u2018\u2019", "'")
# Quotes in other languages, which no rule repairs.
_LOOK_ALIKES = dict.fromkeys("\u00ab\u00bb", '"') | dict.fromkeys("\u201a\u2032\u2039\u203a`", "'")

_BLANKS = XML_SPACE + NO_BREAK_SPACE
# No name has control characters, or those that turn the direction of writing.
_STEERING = r"\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NAME = rf"[^{_STEERING}\s<>/=&\"'!?\u201c\u201d\u201e\u2033\u2018\u2019]++"
_TAG = re.compile(
    rf"<({_NAME})((?:[{XML_SPACE}]++{_NAME}[{XML_SPACE}]*+=[{XML_SPACE}]*+(?:\"[^\"<]*+\"|'[^'<]*+')|(?!))*+)"
    rf"[{XML_SPACE}]*+(/?)>"
)
_END = re.compile(rf"</({_NAME})([{_BLANKS}]*+)>")
_GROUP = re.compile(rf"[{XML_SPACE}]group[{XML_SPACE}]*+=[{XML_SPACE}]*+([\"'])([^\"']*+)\1")
_START = re.compile(rf"<({_NAME})")
_WORD = re.compile(_NAME)
_UNQUOTED = re.compile(rf"[^{_BLANKS}<>]*+")
_STRAY = re.compile(r"&(?!(?:#[0-9]{1,7}|#x[0-9A-Fa-f]{1,6}|[A-Za-z_:][A-Za-z0-9._:-]{0,60});)")
_FAMILIES = {
    plain: re.compile(
        "[" + plain + "".join(q for q, meant in QUOTES.items() if meant == plain) + "]"
    )
    for plain in ("'", '"')
}
# A value with a < in it, up to its quote; behind a > the quote would be that of another tag.
_WITH_LESS_THAN = {plain: re.compile(rf"[^{plain}>]{{0,{NEAR}}}+{plain}") for plain in ("'", '"')}
_AFTER_VALUE = tuple(f"{_BLANKS}/>?")
_DECLARATION = re.compile(r"<\?xml[ \t\r\n\u00a0]")


class Edit(NamedTuple):
    """A replacement of a stretch of the text; ``rule`` names the repair."""

    start: int
    end: int
    new: str
    rule: str


@dataclass(slots=True)
class Mistake:
    """What is wrong at an index; without ``edits`` there is no repair, or no single one.

    Faults of one ``kind`` are told once, with their number.
    """

    start: int
    message: str
    suggestion: str = ""
    edits: tuple[Edit, ...] = ()
    kind: str = ""
    path: str | None = None


class TagKind(Enum):
    """What a tag does."""

    OPEN = "open"
    CLOSE = "close"
    EMPTY = "empty"


class Tag(NamedTuple):
    """A tag and its place; ``attributes`` is the text between its name and its end."""

    kind: TagKind
    name: str
    start: int
    end: int
    attributes: str = ""

    @property
    def group(self) -> tuple[int, int, str] | None:
        """Where the value of its group attribute begins and ends, and the value."""
        found = _GROUP.search(self.attributes)
        if found is None:
            return None
        before = self.start + 1 + len(self.name)
        return before + found.start(2), before + found.end(2), found[2]


@dataclass
class Scanner:
    """The tags of a text; what is wrong with them and between them is in ``faults`` afterwards."""

    text: str
    faults: list[Mistake] = field(default_factory=list)
    stopped: str = ""  # why the rest of the text was not looked at
    serious: int = 0  # faults without a repair
    _hidden: list[tuple[int, int]] = field(default_factory=list)

    def tags(self) -> Iterator[Tag]:
        """Every tag in order; broken ones as they were meant."""
        text, place, count = self.text, self._head(), 0
        while (place := text.find("<", place)) >= 0:
            if self.is_full or count >= TAGS:
                self.stopped = "more than is looked at"
                return
            count += 1
            if found := _TAG.match(text, place):
                kind = TagKind.EMPTY if found[3] else TagKind.OPEN
                yield Tag(kind, found[1], place, found.end(), found[2])
                place = found.end()
            elif found := _END.match(text, place):
                self._blanks(found.start(2), found.end(2))
                yield Tag(TagKind.CLOSE, found[1], place, found.end())
                place = found.end()
            elif (after := self._span(place)) is not None:
                if after < 0:
                    return
                place = after
            elif found := _START.match(text, place):
                tag = self._start_tag(found[1], place)
                yield tag
                place = tag.end
            else:
                self._other(place)
                place += 1
        self._characters()

    @property
    def is_full(self) -> bool:
        """Whether there is more wrong than anybody wants to know."""
        return self.serious >= FAULTS or len(self.faults) >= EDITS

    def add(self, fault: Mistake) -> None:
        """Say what is wrong."""
        self.faults.append(fault)
        self.serious += not fault.edits

    @property
    def has_late_declaration(self) -> bool:
        """Whether blanks or marks stand before a declaration, which has to come first."""
        blank = self.blank
        return blank > 0 and _DECLARATION.match(self.text, blank) is not None

    @property
    def blank(self) -> int:
        """How many blanks and byte order marks stand before all else."""
        return len(self.text) - len(self.text.lstrip(_BLANKS + "\ufeff"))

    def _head(self) -> int:
        blank = self.blank
        if self.has_late_declaration:
            remove = (Edit(0, blank, "", "f"),)
            self.add(Mistake(0, cause.LATE_DECLARATION, "remove them", remove, path=""))
            return blank
        return 0

    def _span(self, place: int) -> int | None:
        """Where a comment, a CDATA section or an instruction ends; None if none begins here."""
        if self.text.startswith("<!DOCTYPE", place):
            self.add(Mistake(place, cause.DOCTYPE, cause.DOCTYPE_ADVICE))
            self.stopped = "a document type"
            return -1
        for start, end, what in cause.SPANS:
            if not self.text.startswith(start, place):
                continue
            if _DECLARATION.match(self.text, place):
                return self._start_tag("?xml", place).end
            after = self.text.find(end, place + len(start))
            if after < 0:
                self.add(Mistake(place, *cause.open_span(what, end)))
                self.stopped = "the end is missing"
                return -1
            self._hidden.append((place, after))
            return after + len(end)
        return None

    def _other(self, place: int) -> None:
        """What begins with < and is no tag."""
        if self.text.startswith("</", place):
            message, advice = "an end tag without its end", "write >"
        else:
            message, advice = "a bare < in text", "write &lt;"
        self.add(Mistake(place, message, advice))

    def _start_tag(self, name: str, place: int) -> Tag:
        """A start tag that is not quite one, with a fault for each thing that is wrong."""
        text = self.text
        at = start = place + 1 + len(name)
        limit = self._next_tag(start)
        shown = "?xml" if name == "?xml" else name.rpartition(":")[2]
        while at < limit and not self.is_full:
            gap = at
            while at < limit and text[at] in _BLANKS:
                at += 1
            self._blanks(gap, at)
            if text.startswith((">", "/>", "?>"), at):
                size = 1 if text[at] == ">" else 2
                kind = TagKind.EMPTY if size == 2 else TagKind.OPEN
                return Tag(kind, name, place, at + size, text[start:at])
            if at < limit:
                at = self._attribute(shown, at, limit)
            if at > limit:  # a < was in a value
                limit = self._next_tag(at)
        # Right before the next tag begins, if not even a > is there.
        is_cut = limit == len(text)
        if is_cut:
            self.stopped = "the end is missing"
        self.add(Mistake(place, *cause.open_tag(name, is_cut=is_cut)))
        return Tag(TagKind.OPEN, name, place, limit, text[start:limit])

    def _next_tag(self, start: int) -> int:
        """The index of the next <, or of the end of the text."""
        found = self.text.find("<", start)
        return len(self.text) if found < 0 else found

    def _attribute(self, element: str, at: int, limit: int) -> int:
        """Look at one attribute, and give the index behind it."""
        text = self.text
        word = _WORD.match(text, at, limit)
        if word is None:
            self._junk(element, at)
            return at + 1
        name, at = word[0], word.end()
        gap = at
        while at < limit and text[at] in _BLANKS:
            at += 1
        if not text.startswith("=", at) or at >= limit:
            self.add(Mistake(word.start(), f"{name} in <{element}> has no value", ""))
            return gap
        self._blanks(gap, at)
        gap = at = at + 1
        while at < limit and text[at] in _BLANKS:
            at += 1
        self._blanks(gap, at)
        return self._value(element, name, at, limit)

    def _value(self, element: str, name: str, at: int, limit: int) -> int:
        """Look at the quotes about a value, and give the index behind them."""
        text = self.text
        plain = QUOTES.get(text[at : at + 1], text[at : at + 1])
        if plain not in ("'", '"') or at >= limit:
            if at >= limit or text[at] in "<>/?":
                self.add(Mistake(min(at, len(text) - 1), f"{name} in <{element}> has no value"))
                return at
            said, advice = f"the value of {name} on {element} has no quotes", 'write "'
            if text[at] in _LOOK_ALIKES:
                advice = f"write {_LOOK_ALIKES[text[at]]}"
                said = f"U+{ord(text[at]):04X} is no quote around the value of {name} on {element}"
            self.add(Mistake(at, said, advice))
            value = _UNQUOTED.match(text, at, limit)
            assert value is not None
            return max(value.end() - (text[value.end() - 1] == "/"), at + 1)
        end = self._closing(at, plain, limit)
        if end < 0 and (end := self._behind_less_than(at, plain)) >= 0:
            first = text.find("<", at)
            self.add(Mistake(first, *cause.less_than(name, element), kind="less-than"))
        if end < 0:
            said = f"it cannot be told where the value of {name} on {element} ends"
            self.add(Mistake(at, said, f"write {plain} around it"))
            after = text.find(">", at, limit)
            return limit if after < 0 else after
        for quote in (at, end):
            if text[quote] != plain:
                self._quote(quote, plain, element, name)
        return end + 1

    def _closing(self, at: int, plain: str, limit: int) -> int:
        """The index of the quote that ends a value, or -1 if that is not certain."""
        text = self.text
        if text[at] == plain:
            # As it is meant, if what comes next is the rest of a tag: others inside are data.
            end = text.find(plain, at + 1, limit)
            if end >= 0 and text[end + 1 : end + 2] in _AFTER_VALUE:
                return end
        return self._if_sure(_FAMILIES[plain].search(text, at + 1, limit))

    def _behind_less_than(self, at: int, plain: str) -> int:
        """The same of a value with a < in it, in quotes as they are meant."""
        if self.text[at] != plain:
            return -1
        return self._if_sure(_WITH_LESS_THAN[plain].match(self.text, at + 1))

    def _if_sure(self, found: re.Match[str] | None) -> int:
        """The index of a quote that was found last, or -1 where no rest of a tag follows it."""
        if found is None or self.text[found.end() : found.end() + 1] not in _AFTER_VALUE:
            return -1
        return found.end() - 1

    def _quote(self, at: int, plain: str, element: str, name: str) -> None:
        said = f"typographic quote U+{ord(self.text[at]):04X} instead of {plain}"
        self.add(Mistake(
            at, f"{said} around the value of {name} on {element}", f"write {plain}",
            (Edit(at, at + 1, plain, "a"),), "quote",
        ))  # fmt: skip

    def _blanks(self, start: int, end: int) -> None:
        for at in range(start, end):
            if self.text[at] == NO_BREAK_SPACE and not self.is_full:
                said = "no-break space U+00A0 in a tag"
                edit = Edit(at, at + 1, " ", "d")
                self.add(Mistake(at, said, "write a blank", (edit,), "blank"))

    def _junk(self, element: str, at: int) -> None:
        shown = self.text[at]
        if ILLEGAL.match(shown):
            return  # which is said of every such character
        said = f"U+{ord(shown):04X} is out of place in the tag <{element}>"
        self.add(Mistake(at, said, "", (), "junk"))

    def _characters(self) -> None:
        """What XML does not have at all, and each & that is none."""
        for found in ILLEGAL.finditer(self.text):
            number, is_first = ord(found[0]), found.start() < cause.FIRST
            said, advice = cause.no_character(number, is_first=is_first)
            self.add(Mistake(found.start(), said, advice, (), f"U+{number:04X}"))
            if self.is_full:
                self.stopped = "more than is looked at"
                return
        for found in _STRAY.finditer(self.text):
            if self._is_hidden(found.start()):
                continue
            edit = Edit(found.start(), found.end(), "&amp;", "e")
            said = "a bare & that begins no entity"
            self.add(Mistake(found.start(), said, "write &amp;", (edit,), "ampersand"))
            if self.is_full:
                self.stopped = "more than is looked at"
                return

    def _is_hidden(self, at: int) -> bool:
        """Whether an index is in a comment, a CDATA section or an instruction."""
        index = bisect_right(self._hidden, (at, len(self.text)))
        return index > 0 and at < self._hidden[index - 1][1]
