"""Why bytes are no XML, in words that name the cause: the parser's own often name a consequence."""

from __future__ import annotations

import re

from sssjob import spec
from sssjob.document.encodings import UTF8, beginning, by_mark
from sssjob.errors import UnreadableDocument, finding, quoted
from sssjob.units import XML_SPACE

DOCTYPE = "a document type declaration (DTD) is not accepted"
DOCTYPE_ADVICE = "remove <!DOCTYPE ...>"

MARK = "\ufeff"
LATE_MARK = "a byte order mark (U+FEFF), which may only be the first character of a source"
LATE_MARK_ADVICE = "remove it"
EMPTY = "Document is empty"  # what the parser says where the first byte is a NUL, too
NO_TAG = re.compile(f"Start tag expected|{EMPTY}")  # what it says of what is no XML
NO_XML = "this is text, and a document in XML begins with '<'"
EMPTY_SAID = "the document is empty"
NO_ELEMENT = "the document has no element"
LATE_DECLARATION = "blanks or a byte order mark before <?xml, which has to come first"
LATE_DECLARATION_SAID = "XML declaration allowed only at the start"  # by the parser
ENDS_INSIDE = "the document ends inside an element"
NO_XML_ADVICE = "if it holds records, name their format with --from"
SCRIPT = "#!"
SCRIPT_SAID = "this is a script, and neither a document nor records"
SCRIPT_ADVICE = "sssjob translate reads the requests of job scripts"
BINARY_SAID = "these are bytes of no known kind, and neither XML nor text"
NO_MARK = "this is UTF-16 without a byte order mark"
NO_MARK_ADVICE = "write the mark, or UTF-8"
JSON_SAID = "this is JSON, and a document is XML"
JSON_ADVICE = "what a batch system printed is read by sssjob convert, report or status"

_BEGIN = 512  # characters that tell
_JSON = re.compile(r"\s*(?:\{\s*(?:[\"}]|\Z)|\[\s*(?:[\[{\"\]]|\Z))")
_NO_TEXT = re.compile("[\0-\x08\x0e-\x1a\x7f-\x9f\ufffd]")
FIRST = 2  # the last column in which a NUL is half of the first character
_HALVED = "\0<"  # as a document begins in UTF-16 of high bytes first
_LIMITS = re.compile(
    r"Resource limit|Excessive depth|[Hh]uge|too (?:big|long|many)|amplification|exceeded"
)
_LIFTED = re.compile(r",? (?:try|use) XML_PARSE_HUGE(?: option)?")
_PLACE = re.compile(r", line \d+, column \d+$")
_OPENED = re.compile(  # counted in its document
    r"(mismatch: \S+ line |in tag \S+ line |Start Tag \S+ line )(\d{1,18})"
)
_CHARACTER = re.compile(
    r"(?:0x([0-9A-F]{1,400}) out|(?:value|Char) ([0-9]{1,400})\b"
    r"|&#(?:x([0-9a-fA-F]{1,400})|([0-9]{1,400}));)"
)
_QUOTES = dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"') | dict.fromkeys(
    "\u2018\u2019\u201a", "'"
)
_IN_TAGS = re.compile("AttValue|attribute|attributes construct|Start Tag")

# What hides signs of XML: how it begins, how it ends, and what it is called.
SPANS = (
    ("<!--", "-->", "comment"),
    ("<![CDATA[", "]]>", "CDATA section"),
    ("<?", "?>", "instruction"),
)
# What the parser says of each that does not end.
_OPEN_SPANS = (
    (re.compile("Comment not terminated"), *SPANS[0][1:]),
    (re.compile("CData section not finished"), *SPANS[1][1:]),
    (re.compile("PI: PI \\S+ never end"), *SPANS[2][1:]),
)
_MISMATCH = re.compile(r"Opening and ending tag mismatch: (\S+) line (\d{1,18}) and (\S+)")
_OPEN_TAG = re.compile("Couldn't find end of Start Tag (\\S+)")

# fmt: off
_PLAINER = (
    # what the parser says,                     what is meant,                        what to do
    (re.compile("EntityRef: expecting|xmlParseEntityRef"), "a bare & in text", "write &amp;"),
    (re.compile("Unsupported encoding: latin-?1", re.I), "", "write ISO-8859-1"),
    (re.compile("Extra content at the end"), "text after the end of the document", ""),
    (re.compile("Premature end of data in tag (\\S+)"), ENDS_INSIDE, ""),
    (re.compile("Unescaped '<'"), "a bare < in the value of an attribute", "write &lt;"),
    (re.compile("invalid element name"), "a < that begins no tag", "write &lt;"),
    (re.compile("Specification mandates value"), "an attribute without a value", 'write ="value"'),
    (re.compile("AttValue: .* expected"), "a value of an attribute has no quotes", 'write "'),
    (re.compile(LATE_DECLARATION_SAID), "<?xml, which has to come first", "remove what is before"),
)
# Limits of the parser, which tells how to lift them: nobody who reads strangers' input should.
_LIMITED = (
    (re.compile("Excessive depth"), "elements nested more than 256 deep"),
    (re.compile("Text node too long|huge text node"), "a text of more than 10 MB"),
    (re.compile("AttValue length too long"), "an attribute of more than 10 MB"),
    (re.compile("amplification"), "entities that grow without bounds"),
)
# fmt: on


def unreadable(
    said: str, line: int, column: int, context: str = "", offset: int = 0
) -> UnreadableDocument:
    """What a parser says, with its cause.

    ``context`` holds the characters about the place; ``offset`` is the number of lines before what
    the parser was given.
    """
    # What stands in the document is behind the first line.
    said = _PLACE.sub("", said).strip().partition("\n")[0]
    if opened := _OPENED.search(said):
        said = _OPENED.sub(rf"\g<1>{int(opened[2]) + offset}", said)
    code = "E-LIMIT" if _LIMITS.search(said) else "E-XML"
    message, advice = _cause(said, context, is_first=line == 1 and column <= FIRST)
    return UnreadableDocument(
        finding(
            code, message, line=max(line, 0), column=max(column, 0) if line > 0 else 0,
            suggestion=advice,
        )
    )  # fmt: skip


def invalid_byte(
    byte: int, encoding: str, place: int, line: int, column: int
) -> UnreadableDocument:
    """A byte that the encoding of its document does not have there."""
    text = f"byte 0x{byte:02X} at offset {place} is not {encoding.upper().removeprefix('US-')}"
    # Word processors write their quotes and dashes there, where Latin 1 has nothing.
    meant = "windows-1252" if 0x80 <= byte < 0xA0 else "ISO-8859-1"
    advice = f'name the encoding: <?xml version="1.0" encoding="{meant}"?>'
    advice = advice if encoding == UTF8 else ""
    said = finding("E-XML", text, line=line, column=column, suggestion=advice)
    return UnreadableDocument(said)


def mislabelled(name: str, line: int, column: int) -> UnreadableDocument:
    """A declaration that names an encoding in which it could not stand as it does."""
    text = f"the document is declared as {name.upper()}, and its bytes are not"
    advice = 'write encoding="UTF-8", or what it is in'
    return UnreadableDocument(finding("E-XML", text, line=line, column=column, suggestion=advice))


def doctype(line: int, column: int) -> UnreadableDocument:
    """SSS documents have no document type; what declares one is an attack or a mistake."""
    said = finding("E-XML", DOCTYPE, line=line, column=column, suggestion=DOCTYPE_ADVICE)
    return UnreadableDocument(said)


def foreign(name: str, namespace: str, line: int) -> UnreadableDocument:
    """What has the name of a job object, in a namespace that is not the standard's."""
    text = f"<{name}> of the namespace {quoted(namespace, 80)} is no job object"
    advice = f"write it without a namespace, or in {spec.NAMESPACE}"
    return UnreadableDocument(
        finding(
            "E-UNKNOWN", text, line=line, path=f"/{name}", section="SSS 9.0", suggestion=advice
        )
    )  # fmt: skip


def empty() -> UnreadableDocument:
    """Nothing at all, or blanks."""
    return UnreadableDocument(finding("E-XML", EMPTY_SAID))


# decision 1030
def begins_document(head: bytes) -> bool:
    """Whether what nobody recognises is a document by its first bytes, so that its reader says what
    is wrong with it. Raises ``UnreadableDocument`` for nothing at all, and for no text.
    """
    start = beginning(head)
    if not start:
        raise empty()
    if is_binary(head[:_BEGIN].decode(by_mark(head) or UTF8, "replace")):
        raise UnreadableDocument(finding("E-XML", BINARY_SAID, line=1, column=1))
    return start.startswith((b"<", _HALVED.encode()))


def open_span(what: str, end: str) -> tuple[str, str]:
    """What is wrong with a comment or the like without an end, and what to do."""
    return f"a {what} that does not end", f"write {end}"


def open_tag(name: str, *, is_cut: bool = True) -> tuple[str, str]:
    """What is wrong with a tag without an end, and what to do.

    ``is_cut`` if the document ends in it, and no other tag begins there.
    """
    shown = name.rpartition(":")[2]
    end = "?>" if shown.startswith("?") else ">"
    where = "" if is_cut else " before the next <"
    return f"the tag <{shown} does not end{where}", f"write {end}"


def less_than(name: str, element: str) -> tuple[str, str]:
    """What is wrong with a < in the value of an attribute, and what to do."""
    return f"a bare < in the value of {name} on {element}", "write &lt;"


def not_closed(name: str, line: int, before: str) -> str:
    """What is wrong with an element that began in a line and has no end before something."""
    return f"<{name}> (line {line}) is not closed before {before}"


def no_xml(text: str) -> tuple[str, str]:
    """What a text that begins so is instead of a document, and what to do."""
    if text.startswith(SCRIPT):
        return SCRIPT_SAID, SCRIPT_ADVICE
    if text.startswith(_HALVED):
        return NO_MARK, NO_MARK_ADVICE
    if is_binary(text):
        return BINARY_SAID, ""
    if text.lstrip(XML_SPACE + MARK).startswith("<"):  # comments, or instructions
        return NO_ELEMENT, ""
    return (JSON_SAID, JSON_ADVICE) if _JSON.match(text) else (NO_XML, NO_XML_ADVICE)


def is_binary(text: str) -> bool:
    """Whether what was decoded to this, with U+FFFD for what is none, begins like no text.

    One character in eight may be none, as those of another encoding.
    """
    begin = text[:_BEGIN]
    return not begin.lstrip(XML_SPACE + MARK).startswith(("<", _HALVED)) and (
        len(_NO_TEXT.findall(begin)) * 8 > len(begin)
    )


def no_character(number: int, *, is_first: bool) -> tuple[str, str]:
    """What is wrong with a character that XML does not have, and what to do.

    A NUL that ``is_first`` of a document, or stands behind its first byte, is half of a character.
    """
    if number == 0 and is_first:
        return NO_MARK, NO_MARK_ADVICE
    return f"U+{number:04X} is not a character of XML 1.0", "remove it"


def _cause(said: str, context: str, *, is_first: bool) -> tuple[str, str]:
    if found := _CHARACTER.search(said):
        hexadecimal, decimal = found[1] or found[3], found[2] or found[4]
        number = int(hexadecimal, 16) if hexadecimal else int(decimal)
        return no_character(number, is_first=is_first)
    for pattern, end, what in _OPEN_SPANS:
        if pattern.search(said):
            return open_span(what, end)
    if found := _OPEN_TAG.search(said):
        return open_tag(found[1])
    if found := _MISMATCH.search(said):
        return not_closed(found[1], int(found[2]), f"</{found[3]}>"), ""
    if (found := NO_TAG.search(said)) and (context or found[0] != EMPTY):
        return no_xml(context)
    if _IN_TAGS.search(said):
        for character in context:
            if quote := _QUOTES.get(character):
                text = f"typographic quote U+{ord(character):04X} instead of {quote} in a tag"
                return text, f"write {quote}"
            if character == "\u00a0":
                return "no-break space U+00A0 in a tag", "write a blank"
    for pattern, limit in _LIMITED:
        if pattern.search(said):
            return limit, ""
    for pattern, meant, advice in _PLAINER:
        if pattern.search(said):
            return f"{meant}: {said}" if meant else said, advice
    return _LIFTED.sub("", said), ""
