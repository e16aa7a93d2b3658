"""What a file is that holds neither job objects nor records, told by its first bytes."""

from __future__ import annotations

import re
from typing import NamedTuple

from sssjob.database_files import OTHER, STORE, database
from sssjob.errors import UnreadableDocument, finding

HEAD = 512  # bytes that tell


class Kind(NamedTuple):
    """What a file is, and what to do."""

    what: str
    advice: str = ""


_PICTURE = rb"\x89PNG\r\n|\xff\xd8\xff|GIF8[79]a|II\*\0|MM\0\*|RIFF....WEBP"
_TIME = rb"\d\d:\d\d:\d\d(?:[.,]\d+)?"
_DAY = rb"\d{4}-\d\d-\d\dT"
_WHO = rb" \S+ [^\s:]+: "
_LEVEL = rb"\S* +\[?(?i:trace|debug|info|notice|warn|error|fatal)"
_ZIP = Kind("a zip archive or an office document", "unpack it")
_ARCHIVE = Kind("an archive", "unpack it")
_REPORT = Kind("what qacct -j prints for people", "take the file accounting, which qacct reads")
_LOG = Kind("a log of a server", "take what the accounting of the batch system writes")

# fmt: off
_ROWS = (
    (rb"%PDF-",                                                Kind("a PDF document")),
    (_PICTURE,                                                 Kind("a picture")),
    (rb"PK(?:\x03\x04|\x05\x06)",                              _ZIP),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|.{257}ustar",          _ARCHIVE),
    (rb"!<arch>\n|\xed\xab\xee\xdb",                           Kind("a package or a library")),
    (rb"\x7fELF",                                              Kind("a program in machine code")),
    (rb"PAR1",                                                 Kind("a table of Parquet")),
    (rb"\x89HDF\r\n",                                          Kind("a file of HDF5")),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",                     Kind("an office document")),
    (rb"(?i:\s*<!doctype\s+html)",                             Kind("a page of HTML")),
    (rb"={40,}\r?\nqname +\S",                                  _REPORT),
    # Logs with times in brackets, in the American form, of syslog, journalctl and web servers.
    (rb"\[" + _DAY + _TIME + rb"\] ",                          _LOG),
    (rb"\d\d/\d\d/\d\d(?:\d\d)? " + _TIME + rb"(?: |\|)",      _LOG),
    (rb"[A-Z][a-z]{2} [ \d]\d " + _TIME + _WHO,                _LOG),
    (_DAY + _TIME + rb"(?:Z|[-+]\d\d:\d\d)" + _WHO,            _LOG),
    (rb"\d{4}-\d\d-\d\d[T ]" + _TIME + _LEVEL,                _LOG),
    (rb"\S+ \S+ \S+ \[\d\d/[A-Z][a-z]{2}/\d{4}:" + _TIME,      _LOG),
)
# fmt: on
_KINDS = tuple((re.compile(pattern, re.DOTALL), kind) for pattern, kind in _ROWS)
_A_STORE = f"{STORE} is no document"
_EXPORT = "sssjob store export prints those in it"


def wrong(head: bytes) -> UnreadableDocument | None:
    """Why what begins so cannot be read; None for all else, such as what is not known."""
    written = database(head)
    if written == STORE:
        return UnreadableDocument(finding("E-XML", _A_STORE, suggestion=_EXPORT))
    found = Kind(OTHER) if written else _known(head)
    if found is None:
        return None
    text = f"this is {found.what}: neither job objects nor records are in it"
    return UnreadableDocument(finding("E-XML", text, suggestion=found.advice))


def _known(head: bytes) -> Kind | None:
    return next((kind for pattern, kind in _KINDS if pattern.match(head)), None)
