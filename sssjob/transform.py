"""Sheets (XSLT 1.0) applied to job objects: those that come with the package, or a user's own.

A sheet runs shut in: it may not read files beyond those it includes, use the network, or write.
One that says so works on a source of any size, job object by job object, in flat memory:

    <sheet:about xmlns:sheet="urn:sssjob:sheet" stream="yes">what it does</sheet:about>

Its result for many objects is then the results for each, in UTF-8, between the texts of the
attributes ``before`` and ``after`` if it has them, and it is told by ``streamed="yes"`` if it
declares that parameter. Any other sheet gets each document as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import SupportsBytes, cast

from lxml import etree

from sssjob import resources
from sssjob.document import cause, tree
from sssjob.document.files import Source
from sssjob.errors import BadSheet
from sssjob.legality import ILLEGAL, no_letter

Element = etree._Element

_XSL = "http://www.w3.org/1999/XSL/Transform"
_INCLUDES = (f"{{{_XSL}}}include", f"{{{_XSL}}}import")
_ABOUT = "{urn:sssjob:sheet}about"
STREAMED = "streamed"  # the parameter by which a sheet is told that it works object by object

# What libxslt says, and what it means to the author of the sheet. The first that fits counts.
_REFUSED = (
    (re.compile(r"Local file read for (.*) refused"), "a sheet may not read files: {}"),
    (re.compile(r"Network file read for (.*) refused"), "a sheet may not use the network: {}"),
    (re.compile(r"(?:File|Network) write for (.*) refused"), "a sheet may not write files: {}"),
    (re.compile(r".*infinite template recursion"), "its templates call each other without end"),
)
_CONTEXT = re.compile(r"(?:runtime|compilation) error(?::|, element '(.*)')")
_FUNCTION = re.compile(r"xslt\w+ ?: ")  # in libxslt, of no use to the author of a sheet
_EMPTY_WORDS = ("unknown error", "XPath evaluation returned no result.", "Invalid expression")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A compiled sheet: its name, what it does, its parameters, and how it takes many jobs."""

    name: str
    about: str
    parameters: tuple[str, ...]
    stream: bool
    before: str
    after: str
    closed: bool  # whether ``parameters`` are all there are: it includes no other sheet
    run: etree.XSLT

    @classmethod
    def load(cls, sheet: str | PathLike[str]) -> Sheet:
        """Compile a sheet given by the name of one of ours, or by its path. Raises ``BadSheet``."""
        path = _find(sheet)
        shown = path.stem if path in resources.sheets() else str(path)
        try:
            document = etree.parse(path, _parser())
            run = etree.XSLT(document, access_control=etree.XSLTAccessControl.DENY_ALL)
        except etree.XMLSyntaxError as error:
            said = cause.unreadable(error.msg or "", *error.position).finding
            raise BadSheet(shown, f"not well-formed: {said.message}", said.line) from error
        except etree.XSLTParseError as error:
            raise _bad_sheet(shown, error.error_log, error) from error
        except OSError as error:
            raise BadSheet(shown, error.strerror or "cannot be read") from error
        if any("unknown xsl:" in entry.message for entry in run.error_log):
            # libxslt would go on and do nothing there.
            raise _bad_sheet(shown, run.error_log)
        root = document.getroot()
        about = root.find(_ABOUT)
        facts = {} if about is None else dict(about.attrib)
        text = "" if about is None else " ".join((about.text or "").split())
        return cls(
            name=shown,
            about=text,
            parameters=tuple(node.get("name", "") for node in root.iterfind(f"{{{_XSL}}}param")),
            stream=facts.get("stream") == "yes",
            before=facts.get("before", ""),
            after=facts.get("after", ""),
            closed=next(root.iterchildren(*_INCLUDES), None) is None,
            run=run,
        )


def sheets() -> tuple[Sheet, ...]:
    """The sheets that come with the package, by name."""
    return tuple(Sheet.load(path) for path in resources.sheets())


def transform(
    sheet: Sheet | str | PathLike[str],
    source: Source,
    /,
    *,
    on_message: Callable[[str], None] | None = None,
    on_error: tree.OnError | None = None,
    **parameters: str,
) -> Iterator[bytes]:
    """What a sheet makes of a source, piece by piece: joined, the pieces are the result.

    Parameters are text and reach the sheet as text, whatever characters they hold.
    ``on_message`` gets what the sheet says by ``xsl:message``. Raises ``BadSheet``, and
    ``UnreadableDocument`` for the source, or hands it to ``on_error`` where the rest can go on.
    """
    compiled = sheet if isinstance(sheet, Sheet) else Sheet.load(sheet)
    _know(compiled, parameters)
    if not compiled.stream:
        for document, _ in tree.documents(source, on_error=on_error, wanted=tree.Wanted.DOCUMENTS):
            yield from _apply(compiled, document, parameters, on_message)
        return
    if STREAMED in compiled.parameters:
        parameters = {STREAMED: "yes", **parameters}
    yield from _line(compiled.before)
    for element in tree.units(source, on_error=on_error):
        yield from _apply(compiled, _whole(element), parameters, on_message)
    yield from _line(compiled.after)


def _whole(element: Element) -> Element:
    """A job object as libxslt can work on it: of jobs in another one keys are only known in what
    is a document."""
    is_part = element.getparent() is not None
    has_jobs = is_part and next(element.iterdescendants("{*}Job"), None) is not None
    return deepcopy(element) if has_jobs else element


def _apply(
    sheet: Sheet,
    element: Element,
    parameters: dict[str, str],
    on_message: Callable[[str], None] | None,
) -> Iterator[bytes]:
    """The result for one document, ending with a line end, and its messages."""
    # A parameter is an XPath expression to libxslt; strparam makes it text that cannot escape.
    texts = {name: etree.XSLT.strparam(value) for name, value in parameters.items()}
    try:
        result = sheet.run(element, **texts)  # type: ignore[arg-type]  # profile_run is a bool
    except etree.XSLTApplyError as error:
        raise _bad_sheet(sheet.name, error.error_log, error) from error
    if on_message is not None:
        for entry in sheet.run.error_log:
            on_message(entry.message.strip())
    octets = bytes(cast(SupportsBytes, result))
    if octets.strip():
        yield octets if octets.endswith(b"\n") else octets + b"\n"


def _parser() -> etree.XMLParser:
    """Reads sheets: what they include lies beside them, nothing comes from the network."""
    return etree.XMLParser(no_network=True, load_dtd=False, resolve_entities="internal")


def _line(text: str) -> Iterator[bytes]:
    if text:
        yield text.encode() + b"\n"


def _find(sheet: str | PathLike[str]) -> Path:
    """A sheet by the name of one of ours, else by its path."""
    names = [path.stem for path in resources.sheets()]
    path = Path(sheet)
    if str(sheet) in names:
        return resources.sheet(str(sheet))
    if path.is_file():
        return path
    if path.suffix and path.parent != Path():
        raise BadSheet(str(sheet), "there is no such file")
    near = get_close_matches(path.stem, names, n=1, cutoff=0.5)
    advice = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    raise BadSheet(str(sheet), f"neither a sheet of sssjob nor a file; {advice}")


def _know(sheet: Sheet, parameters: dict[str, str]) -> None:
    """Refuse a parameter that the sheet does not declare, which would have no effect, and one that
    is no text of XML."""
    for name, value in parameters.items():
        if unfit := ILLEGAL.search(f"{name}{value}"):
            raise BadSheet(sheet.name, f"parameter {name}: {no_letter(unfit)}")
    for name in parameters if sheet.closed else ():
        if name not in sheet.parameters:
            near = get_close_matches(name, sheet.parameters, n=1)
            known = ", ".join(name for name in sheet.parameters if name != STREAMED) or "none"
            advice = f"did you mean {near[0]}?" if near else f"its parameters: {known}"
            raise BadSheet(sheet.name, f"there is no parameter {name}; {advice}")


def _bad_sheet(
    sheet: str, log: etree._ListErrorLog, error: etree.XSLTError | None = None
) -> BadSheet:
    """The first fault that libxslt logged, in a sentence, with its line where it is known."""
    line, reason = 0, ""
    for entry in log:
        if _CONTEXT.match(entry.message):
            line = line or entry.line  # where it happens comes apart from what happens
        elif entry.message not in _EMPTY_WORDS and not reason:
            reason = entry.message
    reason = reason or str(error)
    for pattern, sentence in _REFUSED:
        if found := pattern.match(reason):
            return BadSheet(sheet, sentence.format(*found.groups()), line)
    return BadSheet(sheet, " ".join(_FUNCTION.sub("", reason).split()), line)
