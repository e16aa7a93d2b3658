"""Which tags belong together, and where one that is missing can stand.

Strategy. A missing or mistyped end tag shows up only later, at an end tag that does not fit or at
the end of the document, and then often several elements are open at once.

The idea is a stack of open elements, with the children that each has got so far. An end tag that
names one of them closes those inside of it, from the innermost on, each by one of two rules: a
start tag without attributes right inside its like was meant as an end tag (b), or its end tag is
missing (c). A value ends behind its text. For a container the tables give the places between its
children where an end tag can stand: all before it may stand inside, all behind it beside. Where
several are left, indentation chooses, if it agrees with one.

Why it is right: a container gets its end tag only in front of its like, where one place is left
and no text could belong to either. Otherwise the fault names the places, for people to choose.
What the edits make is parsed again by ``repair``, which refuses what is still broken.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sssjob import spec, suggestions
from sssjob.document import cause
from sssjob.document.repair.scan import LIMIT, Edit, Mistake, Scanner, Tag, TagKind
from sssjob.document.repair.source import Source
from sssjob.units import XML_SPACE

DEPTH = 256  # as deep as libxml2 goes
_SHOWN = 5  # places, where one tag could stand in many
_DEEPEST = 16  # names of a path that are shown


@dataclass(slots=True)
class OpenElement:
    """An element that is not closed yet."""

    tag: Tag
    children: list[Tag] = field(default_factory=list)
    own: bool = False  # text before any child
    mixed: bool = False  # text behind one

    @property
    def name(self) -> str:
        """The name as it is written."""
        return self.tag.name

    @property
    def is_leaf(self) -> bool:
        """Whether the standard has it as a property with a value: no element stands in it."""
        return _local(self.name) in _LEAVES


class Nesting:
    """Goes through the tags of a text and adds to its scanner's faults."""

    def __init__(self, source: Source, scanner: Scanner) -> None:
        self.source, self.scanner = source, scanner
        self.stack: list[OpenElement] = []
        self._before = 0  # the end of the last tag
        self._placed = 0  # how many faults know their path
        self._is_lost = False  # whether more that is not closed would be a consequence only

    def run(self) -> None:
        """Find every fault, and the repair where there is one."""
        if self.scanner.has_late_declaration:
            self._before = self.scanner.blank
        for tag in self.scanner.tags():
            self._text(tag.start)
            self._before = tag.end
            self._place_faults(tag)
            if tag.kind is TagKind.CLOSE:
                self._close(tag)
            elif tag.kind is TagKind.EMPTY:
                self._child(tag)
            elif len(self.stack) >= DEPTH:
                self._say(tag.start, f"elements more than {DEPTH} deep", kind=LIMIT)
                self.scanner.stopped = "too deep"
                return
            else:
                self.stack.append(OpenElement(tag))
        if not self.scanner.stopped:
            end = len(self.source.text)
            self._text(end)
            self._unwind(0, end, "the end of the document")

    def _place_faults(self, tag: Tag) -> None:
        """Say of what is wrong in a tag on which element it is."""
        faults = self.scanner.faults
        if self._placed < len(faults):
            path = self._path() + ("" if tag.kind is TagKind.CLOSE else f"/{tag.name}")
            for fault in faults[self._placed :]:
                fault.path = path if fault.path is None else fault.path
            self._placed = len(faults)

    def _path(self) -> str:
        """The way to the innermost element; a value that is not closed holds none."""
        way = [item.name for item in self.stack[:-1] if not item.is_leaf]
        way += [item.name for item in self.stack[-1:]]
        return "".join(f"/{name}" for name in way[:_DEEPEST]) + "/..." * (len(way) > _DEEPEST)

    def _text(self, until: int) -> None:
        """Text between two tags; comments count as none."""
        text = self.source.text
        end = text.find("<", self._before, until)
        if not text[self._before : until if end < 0 else end].strip(XML_SPACE):
            return
        if not self.stack:
            start = len(text) - len(text[self._before :].lstrip(XML_SPACE))
            if text.startswith(cause.MARK, start) and start:
                self._say(start, cause.LATE_MARK, cause.LATE_MARK_ADVICE, kind="outside")
            elif "<" not in text or text.startswith(cause.SCRIPT):
                self._say(start, *cause.no_xml(text), kind="outside")
            else:
                self._say(start, "text outside of any element", kind="outside")
        elif self.stack[-1].children:
            self.stack[-1].mixed = True
        else:
            self.stack[-1].own = True

    def _child(self, tag: Tag) -> None:
        if self.stack:
            self.stack[-1].children.append(tag)

    def _close(self, tag: Tag) -> None:
        names = [item.name for item in self.stack]
        if names and names[-1] == tag.name:
            self._child_of_parent(self.stack.pop())
        elif tag.name in names:
            depth = len(names) - names[::-1].index(tag.name)
            self._unwind(depth, tag.start, f"</{tag.name}>")
            self._child_of_parent(self.stack.pop())
        else:
            self._stray(tag)

    def _child_of_parent(self, closed: OpenElement) -> None:
        self._child(closed.tag)

    def _stray(self, tag: Tag) -> None:
        """An end tag of nothing that is open; it may be the misspelled one of the innermost."""
        message, advice = f"</{tag.name}> closes nothing that is open", ""
        if self.stack:
            inner = self.stack[-1]
            line = self._line(inner.tag.start)
            message = f"</{tag.name}> where <{inner.name}> (line {line}) is open"
            if suggestions.nearest(_local(tag.name), [_local(inner.name)]):
                advice = f"write </{inner.name}>"
        self._say(tag.start, message, advice)
        if advice:
            self._child_of_parent(self.stack.pop())
        else:
            self._is_lost = True

    def _unwind(self, depth: int, end: int, what: str) -> None:
        """Close what is open below a depth, from the innermost on, each by the rule for it."""
        while len(self.stack) > depth:
            top = self.stack[-1]
            above = self.stack[-2] if len(self.stack) > 1 else None
            same = above is not None and above.name == top.name
            if same and not top.tag.attributes.strip(XML_SPACE) and _local(top.name) in _KNOWN:
                assert above is not None
                self._reopened(above, top)
            else:
                self._missing(top, end, what)

    def _reopened(self, above: OpenElement, top: OpenElement) -> None:
        """Rule b: a start tag without attributes right inside its like is a mistyped end tag."""
        line = self._line(above.tag.start)
        name = top.name
        if above.is_leaf and not above.children:
            message = f"<{name}> reopened right after its text"
            advice = f"write </{name}>"
        else:
            message = f"<{name}> opens inside <{name}> (line {line}), which cannot nest"
            advice = "missing '/'?"
        at = top.tag.start
        edits: tuple[Edit, ...] = (Edit(at, top.tag.end, f"</{name}>", "b"),)
        parent = self.stack[-3].name if len(self.stack) > 2 else ""
        if (
            top.own or top.mixed or (above.is_leaf and above.children)
            or not all(_may_stand(child, parent) for child in top.children)
        ):  # fmt: skip
            # What comes behind it has no place in the parent: it may be a second one as well.
            advice = (
                f"write </{name}> instead, or write </{name}> before it and another where it ends"
            )
            edits = ()
        self.stack.pop()
        self._say(at, message, advice, edits)
        self.stack.pop()
        if self.stack:
            self.stack[-1].children += (above.tag, *top.children)

    def _missing(self, top: OpenElement, end: int, what: str) -> None:
        """Rule c: the end tag of a value, or of an element in front of its like, is missing."""
        moved = (
            self._unclosed_value(top, end, what) if top.is_leaf else self._unclosed(top, end, what)
        )
        self.stack.pop()
        if self.stack:
            self.stack[-1].children += (top.tag, *moved)

    def _unclosed_value(self, top: OpenElement, end: int, what: str) -> list[Tag]:
        """A value ends with its text; what stands behind it goes to the parent."""
        children, name = top.children, top.name
        before = children[0].start if children else end
        place = top.tag.end + len(self.source.text[top.tag.end : before].rstrip(XML_SPACE))
        shown = f"<{children[0].name}>" if children else what
        message = cause.not_closed(name, self._line(top.tag.start), shown)
        advice = f"write </{name}>"
        edits: tuple[Edit, ...] = ()
        if not top.own or top.mixed:
            advice += " behind its value, or remove it"
        else:
            edits = (Edit(place, place, f"</{name}>", "c"),)
        self._say(place, message, advice, edits)
        return children

    def _unclosed(self, top: OpenElement, end: int, what: str) -> list[Tag]:
        """A container ends in front of its like, if it can end nowhere else."""
        children, name = top.children, top.name
        again = next((i for i, child in enumerate(children) if child.name == name), -1)
        line = self._line(top.tag.start)
        if again < 0:
            places = self._places(top, len(children))
            message = cause.not_closed(name, line, what)
            if not self._is_lost:
                self._say(top.tag.start, message, self._advice(name, places, what))
            self._is_lost = self._is_lost or end == len(self.source.text)
            return children
        at = children[again].start
        message = f"<{name}> opens inside <{name}> (line {line}), which cannot nest"
        places = self._places(top, again)
        edits: tuple[Edit, ...] = ()
        if len(places) == 1 and not top.own and not top.mixed:
            at = places[0].start
            edits = (Edit(at, at, f"</{name}>", "c"),)
        self._say(at, message, self._advice(name, places), edits)
        return children[again:] if edits else children

    def _line(self, index: int) -> int:
        return self.source.place(index)[0]

    def _places(self, top: OpenElement, until: int) -> list[Tag]:
        """Where among the first children an end tag can stand: the tables tell, or the lines."""
        parent = self.stack[-2].name if len(self.stack) > 1 else ""
        children = top.children[:until]
        first = len(children)
        while first > 1 and _may_stand(children[first - 1], parent):
            first -= 1
        last = 0
        while last < len(children) and _may_stand(children[last], top.name):
            last += 1
        counts = [count for count in range(first, len(children) + 1) if 0 < count <= last]
        if len(counts) > 1:
            counts = self._by_indent(top, until, counts)
        return [top.children[count] for count in counts if count < len(top.children)]

    def _by_indent(self, top: OpenElement, until: int, counts: list[int]) -> list[int]:
        """Those places that agree with the indentation, if each element has a line of its own."""
        outer = self.source.indent(top.tag.start)
        indents = [self.source.indent(child.start) for child in top.children[: until + 1]]
        if outer is None or None in indents or not indents or (indents[0] or 0) <= outer:
            return counts
        deeper = [indent is not None and indent > outer for indent in indents]
        agreed = [count for count in counts if all(deeper[:count]) and not any(deeper[count:])]
        return agreed or counts

    def _advice(self, name: str, places: list[Tag], last: str = "") -> str:
        """Every place in which an end tag can stand, the last of them before ``last``."""
        shown = [f"before <{tag.name}> (line {self._line(tag.start)})" for tag in places]
        shown += [f"before {last}"] if last else []
        if len(shown) > _SHOWN:
            shown[_SHOWN - 1 : -1] = ["..."]
        return f"write </{name}> {' or '.join(shown)}" if shown else ""

    def _say(
        self, at: int, message: str, advice: str = "", edits: tuple[Edit, ...] = (), kind: str = ""
    ) -> None:
        self.scanner.add(Mistake(at, message, advice, edits, kind, self._path()))


def place_characters(text: str, faults: list[Mistake]) -> None:
    """Say of faults in the text between tags on which path they are."""
    pending = [fault for fault in faults if fault.path is None]
    pending.sort(key=lambda fault: -fault.start)
    stack: list[str] = []
    for tag in Scanner(text).tags() if pending else ():
        while pending and pending[-1].start < tag.end:
            pending.pop().path = "".join(f"/{name}" for name in stack[:_DEEPEST])
        if not pending:
            return
        if tag.kind is TagKind.OPEN:
            stack.append(tag.name)
        elif tag.kind is TagKind.CLOSE and stack:
            stack.pop()


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _may_stand(tag: Tag, container: str) -> bool:
    """Whether the tables have an element in a container.

    A document may be any container; a wrapper, which the tables do not have, is around jobs.
    """
    name, container = _local(tag.name), _local(container)
    if not container:
        return name in spec.CONTAINER
    if container not in spec.CONTAINER:
        return name in ("Job", "JobGroup")
    return (
        name in spec.properties(container)
        or name in spec.blocks(container)
        or spec.alias(name, container) is not None
    )


_KNOWN = spec.names() | {row.name for row in spec.ALIASES}
_LEAVES = _KNOWN - frozenset(spec.CONTAINER)
