"""The job ads of HTCondor's histories, whatever they are written in, as named texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from operator import itemgetter
from typing import Any, BinaryIO

from sssjob.classads import forms, long
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Unparsed
from sssjob.document.files import looked_at
from sssjob.errors import InvalidValue, UnusableInput
from sssjob.integers import DIGITS
from sssjob.records import json_objects, json_parts
from sssjob.records.cuts import Parted, cut_short
from sssjob.records.cutting import Cutter, Front, LineCutter, OpenStream, Part, PartStream
from sssjob.records.layout import Piece
from sssjob.records.lines import LINE_LIMIT, TOO_LONG, TWO_RECORDS, Blocks, clean
from sssjob.records.record import Bad, Noted, Options, Skipped
from sssjob.records.values import is_nearly, is_whole, number
from sssjob.systems.condor.accounting.table import NAMES, REQUESTS, TEXTS, is_of_any_site
from sssjob.systems.condor.accounting.values import (
    COMPLETED,
    NUMBERS,
    as_it_stands,
    told,
    worked_out,
)
from sssjob.systems.condor.names import is_of_schedd

_HEAD = 1 << 14  # bytes that tell the form
_BANNER_BEGIN = 64  # bytes of a line that tell whether it ends an ad
# Behind the first bracket: what begins no attribute.
_OF_JSON = re.compile(rb'[]{}"0-9-]|(?:null|true|false)\s*+[],]')
JSON, XML, NEW, LONG, TEXT = "JSON", "XML", "new", "long", "text"
_SCALED = "scaled text"  # with a factor of the node behind the other fields

_READ = (*NAMES, "MyType")
_AT = {name.lower(): place for place, name in enumerate(_READ)}
_REQUESTS = _AT.pop(REQUESTS.lower())  # no attribute is called so
_GLOBAL_ID = _AT["globaljobid"]
_QUEUED, _START, _END = (_AT[name] for name in ("qdate", "jobstartdate", "enteredcurrentstatus"))
# Texts in which a number, or a truth value, means nothing.
_TEXTUAL = (
    *(name for _, name in TEXTS if name in NAMES), "AccountingGroup", "AcctGroupUser",
    "AssignedGPUs", "ConcurrencyLimits", "Err", "In", "LastRemoteHost", "Out", "ProjectName",
    "RemoteHost",
)  # fmt: skip
_TEXTS = frozenset((str, type(None)))
_texts = itemgetter(*(_AT[name.lower()] for name in _TEXTUAL))
_NOTHING: list[Any] = [None] * len(_READ)
_LINE = re.compile(r"\s*+([A-Za-z_][\w.]*+)\s*+=(?!=)", re.ASCII)
_BANNER = re.compile(r"\*\*\*\s*+([A-Za-z]\w*+)(?!\s*+=)")  # one that names a kind of its own
# What the one behind an ad says of it; of what the ad had not, the words of schedds and of Quill.
_SAID = re.compile(r'([A-Za-z_]\w*+)\s*+=\s*+(?:"((?:[^"\\]|\\.)*+)"|(-?[0-9]{1,18}+)(?!\S))')
_UNSAID = ("-1", "?", "NULL", "0", "")
_BEHIND = "in the banner behind it: what stood between is lost"
# What a script for APEL prints of an ad; each field is ended by a |.
_COLUMNS = (
    "GlobalJobId", "Owner", "RemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu",
    "JobStartDate", "EnteredCurrentStatus", "ResidentSetSize_RAW", "ImageSize_RAW", "RequestCpus",
)  # fmt: skip
_PLACES = [(_AT[name.lower()], name in NUMBERS) for name in _COLUMNS]
_OWNER, _WALL, _USER, _SYSTEM, _RESIDENT, _IMAGE, _CPUS = (
    _AT[name.lower()] for name in (*_COLUMNS[1:5], *_COLUMNS[7:])
)
_OF_TEXT = _NOTHING.copy()
_OF_TEXT[_AT["jobstatus"]] = COMPLETED  # such scripts select jobs that ended
_TEXTS_OF_TEXT = ["" if value is None else str(value) for value in _OF_TEXT[:-1]]
_NUMBERS_OF_TEXT = [place for place, _ in _PLACES[2:]]
# A line in which all numbers are whole and known, as nearly all are: its numbers from the time of
# submission on. What else may stand there is looked at part by part, to the same end.
_USUAL = re.compile(
    r"([^|#\s]+#[0-9]+\.[0-9]+#([0-9]{1,15}))\|([^|#]*)" + r"\|(0|[1-9][0-9]{0,14})" * 8 + r"\|?"
)
_NULL = ("undefined", "error", "")
_HASHES = 2  # of a GlobalJobId
_FACTORS = 10  # a node is not so many times as fast as the reference of its site


def form_of(head: bytes) -> str:
    """What the ads that begin so are written in, or "" for what cannot be ads of jobs."""
    begin = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if begin.startswith(b"<"):
        return XML if b"<classads" in head or b"<c>" in head else ""
    if begin.startswith((b"[", b"{")):
        rest = begin[1:].lstrip()
        return JSON if _OF_JSON.match(rest) or begin[:1] == rest[:1] == b"[" else NEW
    return _form_of_line(begin.split(b"\n", 1)[0])


def _form_of_line(octets: bytes) -> str:
    line = clean(octets)
    if line.count("|") >= len(_COLUMNS) - 1 and "#" in line.partition("|")[0]:
        return TEXT
    return LONG if _LINE.match(line) or line.startswith("***") else ""


def _form_within(head: bytes) -> str:
    """The form of ads of which the first line may be damaged, as of any other one."""
    lines = head.split(b"\n")
    form = form_of(head) or next(filter(None, map(_form_of_line, lines)), "")
    return _SCALED if form == TEXT and _are_scaled(lines) else form


def _are_scaled(lines: Iterable[bytes]) -> bool:
    """Whether most lines have a field behind those that APEL asks for: a script prints the same
    ones of each job.
    """
    widths = [len(_parts_of(text)) for text in map(clean, lines) if _form_of_line(text.encode())]
    return 2 * widths.count(len(_COLUMNS) + 1) > len(widths)


def pieces(stream: BinaryIO, first: int) -> Iterator[Piece]:
    """The values of every ad of a stream, in the form that its first bytes tell.

    Raises ``UnusableInput`` where it is in none.
    """
    head, again = looked_at(stream, _HEAD)
    form = _form_within(head)
    if form == JSON:
        yield from _of_json(json_objects.read(again, "", first))
    elif form in (NEW, XML):
        yield from _of_others(again, forms.XML if form == XML else forms.NEW, first)
    elif form:
        yield from _of_blocks(again, first, form)
    elif head.strip():
        raise UnusableInput(
            "no ClassAds: neither long form nor JSON nor XML, nor the ten fields of APEL", 1
        )


def _no_member(head: bytes) -> str:
    """Ads stand in no array that is a member."""
    return ""


_JSON = json_parts.parted(_no_member)


class _AdCutter:
    """Cuts behind a line that ends an ad in long form: a banner, or an empty one."""

    def __init__(self, options: Options, front: Front) -> None:
        self.options, self.front = options, front

    def cut(self, data: bytes, line: int, *, final: bool) -> tuple[Part | None, int]:
        """The ads that end in the data."""
        size = len(data) if final else _last_end(data)
        return (Part(data[:size], line, self.options, self.front) if size else None), size


def _last_end(data: bytes) -> int:
    """How many bytes there are up to the end of the last line that ends an ad."""
    end = data.rfind(b"\n") + 1
    while end:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        text = data[begin:end]
        if not clean(text).strip() or clean(text[:_BANNER_BEGIN]).startswith(("***", "-----")):
            return end
        end = begin
    return 0


def _cutter(head: bytes, front: bytes) -> Callable[[Options, Front], Cutter] | None:
    """What cuts ads of a form; None for those that are found bracket by bracket."""
    form = _form(head, front)
    if form == JSON:
        return _JSON.cutter(head, front)
    tag = ((1, form.encode()),)
    if form == LONG:
        return lambda options, lines: _AdCutter(options, tag)
    return (lambda options, lines: LineCutter(options, tag)) if form in (TEXT, _SCALED) else None


def _behind(front: bytes, stream: PartStream, first: int) -> Iterator[Piece]:
    form = _form(stream.head, front)
    if form == JSON:
        return _of_json(_JSON.behind(front, stream, first))
    return _of_blocks(stream, first, form) if form in _FORMS.values() else pieces(stream, first)


def _form(head: bytes, front: bytes) -> str:
    """The form that the front of a part tells, or the first bytes of a stream."""
    return _FORMS.get(front) or (JSON if front else _form_within(head))


def _rest(front: bytes, stream: OpenStream, first: int) -> Iterator[Piece]:
    return _of_json(_JSON.rest(front, stream, first))


_FORMS = {form.encode(): form for form in (LONG, TEXT, _SCALED)}  # by the front of parts
PARTED = Parted(_cutter, _behind, _rest)


def _of_blocks(stream: BinaryIO, first: int, form: str) -> Iterator[Piece]:
    blocks = Blocks(stream, first)
    if form == LONG:
        yield from _of_lines(blocks.lines())
    else:
        yield from _of_text(blocks.lines(), is_scaled=form == _SCALED)
    yield from cut_short(blocks.cut_short)


def _of_json(objects: Iterable[json_objects.Found | Bad | Noted]) -> Iterator[Piece]:
    seen: set[str] = set()
    requests: list[str] = []  # of resources that sites declare
    others: dict[str, int] = {}  # names in other cases of letters, and what they stand for
    for found in objects:
        if isinstance(found, Bad | Noted):
            yield found
            continue
        line, ad = found
        if not ad.keys() <= seen:
            new = ad.keys() - seen
            seen |= new
            others |= {name: _AT[name.lower()] for name in new if name.lower() in _AT}
            others = {name: place for name, place in others.items() if _READ[place] != name}
            requests += sorted(filter(is_of_any_site, new))
        values = list(map(ad.get, _READ))
        values[_REQUESTS] = None
        for name in requests:
            _ask(values, name, ad.get(name))
        wrong = ""
        for name, place in others.items():
            if values[place] is None:
                values[place] = ad.get(name)
            elif ad.get(name) not in (None, values[place]):
                wrong = _unended(line, name)
        yield Bad(line, wrong) if wrong else (line, values)


def fields_of(line: int, values: list[Any]) -> list[str] | Skipped | Bad:
    """The texts of NAMES and of WORKED_OUT, if the ad of these values is that of a job.

    Raises ``InvalidValue``.
    """
    if type(values) is _UsualLine:
        return [*values.texts, *worked_out(values)]
    fields = [
        ""
        if value is None
        else value
        if (kind := type(value)) is str
        and value[:1] != "/"
        and value.isprintable()
        and not value.isspace()
        else str(value)
        if kind is int
        else told(value)
        for value in values
    ]
    if values[_REQUESTS] is not None:
        fields[_REQUESTS] = json.dumps(values[_REQUESTS])
    if (of := fields.pop()) not in ("", "Job") and of.lower() != "job":
        if is_nearly(of.lower(), "job") and values[0] is not None:
            return Bad(line, f"MyType is {of!r}: a letter of Job is damaged")
        return Skipped(line, f"{of} ad")
    fields += worked_out(values)
    if not _TEXTS.issuperset(map(type, _texts(values))):
        _leave_numbers(fields, values)
    if values[0] is None and not fields[_GLOBAL_ID]:
        return Bad(line, "no ClusterId")
    return fields


def _leave_numbers(fields: list[str], values: list[Any]) -> None:
    """Take what is no text for nothing where one is expected; it is kept by its name."""
    odd = json.loads(fields[-1] or "{}")
    for name in _TEXTUAL:
        place = _AT[name.lower()]
        if type(values[place]) not in _TEXTS:
            odd[name], fields[place] = as_it_stands(values[place]), ""
    fields[-1] = json.dumps(odd)


def _of_others(stream: BinaryIO, form: str, first: int) -> Iterator[Piece]:
    wrong: list[BadAd] = []
    for ad in forms.read(stream, form, on_error=wrong.append):
        yield from _faults(wrong, first)
        if ad.again:
            yield Bad(ad.line + first - 1, _unended(ad.line + first - 1, ad.again))
            continue
        values = _NOTHING.copy()
        for name, value in ad.items():
            if (place := _AT.get(name.lower(), -1)) >= 0:
                values[place] = _plain(value)
            elif is_of_any_site(name):
                _ask(values, name, value)
        yield ad.line + first - 1, values
    yield from _faults(wrong, first)


def _plain(value: Any) -> Any:
    """A value that is a number or a text; what is an expression, a list or an ad is none."""
    return value if isinstance(value, (str, int, float)) else None


def _faults(wrong: list[BadAd], first: int) -> Iterable[Bad]:
    found = [Bad(error.line + first - 1, error.reason) for error in wrong]
    wrong.clear()
    return found


def _of_lines(lines: Iterable[tuple[int, str]]) -> Iterator[Piece]:
    """Lines of the long form; an empty line or a banner ends an ad."""
    values: list[Any] | None = None
    begun, wrong, head = 0, "", ""
    for line, text in lines:
        if not text.strip() or text.startswith(("***", "-----")):
            if values is not None:
                yield _ended(begun, values, wrong, text)
            values, wrong = None, ""
            continue
        if values is None:
            values, begun, head = _NOTHING.copy(), line, ""
        if len(text) > LINE_LIMIT:
            wrong = wrong or f"line {line} is {TOO_LONG}"
            continue
        found = _LINE.match(text)
        if found is None:
            wrong = wrong or f"line {line} is no attribute: {text[:40]!r}"
            continue
        if not head:
            head = found[0].lower()
        elif text[: len(head)].lower() == head:
            wrong = wrong or _unended(line, found[1])
        # Where a line end is lost, another attribute stands behind a value, whichever it is.
        if text.count(" = ") > 1 and (reason := _fault(text)):
            wrong = wrong or f"line {line}: {reason}"
            continue
        if (place := _AT.get(found[1].lower(), -1)) >= 0:
            try:
                said = long.attribute(text, lazy=True)[1]
            except BadAd as error:
                wrong = wrong or f"line {line}: {error.reason}"
                continue
            if isinstance(said, Unparsed) and (reason := _fault(text)):
                wrong = wrong or f"line {line}: {reason}"
            value = _plain(said)
            if values[place] not in (None, value):
                wrong = wrong or _unended(line, found[1])
            values[place] = value
        elif is_of_any_site(found[1]):
            with suppress(BadAd):
                _ask(values, found[1], long.attribute(text, lazy=True)[1])
    if values is not None:
        yield _ended(begun, values, wrong, "")


@lru_cache(1024)
def _fault(text: str) -> str:
    """Why a line is no attribute with an expression, or ""; many ads have the same ones."""
    try:
        long.attribute(text)
    except BadAd as error:
        return error.reason
    return ""


def _ask(values: list[Any], name: str, value: Any) -> None:
    """Keep an amount of a resource of the site beside others of its kind."""
    if amount := told(_plain(value)):
        values[_REQUESTS] = {**(values[_REQUESTS] or {}), name: amount}


def _unended(line: int, name: str) -> str:
    """Why an ad is bad that has an attribute twice: of which of two ads the others are, nobody
    knows. The one without an end may have been cut before its ids.
    """
    return f"line {line}: {name} again: an ad before it has no end"


def _ended(begun: int, values: list[Any], wrong: str, text: str) -> Piece:
    banner = _BANNER.match(text)
    if banner:
        return Skipped(begun, f"{banner[1]} of a job")
    wrong = wrong or _of_another(values, text)
    return Bad(begun, wrong) if wrong else (begun, values)


def _of_another(values: list[Any], banner: str) -> str:
    """Why a banner is that of another ad than the one before it, or "": what was between is lost.

    It is printed of its ad, so that all that it says stands in there. # decision 859
    """
    says = {
        name: text.replace('\\"', '"') or number for name, text, number in _SAID.findall(banner)
    }
    for name, said in says.items():
        place = _AT.get(name.lower(), -1)
        if place < 0 or (values[place] is None and said in _UNSAID):
            continue
        value = values[place]
        if (value if isinstance(value, str) else told(value)) != said:
            return f"{name} is {told(value)[:60] or 'missing'}, and {said[:60]} {_BEHIND}"
    everywhere = told(values[_GLOBAL_ID])
    if is_of_schedd(everywhere) and "ClusterId" in says and "ProcId" in says:
        number, of_banner = everywhere.split("#")[1], f"{says['ClusterId']}.{says['ProcId']}"
        if number != of_banner:
            return f"GlobalJobId is {everywhere[:90]}, and the job {of_banner} {_BEHIND}"
    return ""


def _of_text(lines: Iterable[tuple[int, str]], *, is_scaled: bool) -> Iterator[Piece]:
    """Lines of the fields that APEL asks for, each of them with a factor behind these or none."""
    width = len(_COLUMNS) + is_scaled
    for line, text in lines:
        if not is_scaled and (usual := _usual(text)) is not None:
            yield line, usual
            continue
        if not text.strip():
            continue
        if text.count("#") > _HASHES:
            yield Bad(line, TWO_RECORDS)
            continue
        parts = _parts_of(text)
        # No number of processors has a point, so that one with it is a factor. # decision 950
        has_factor = len(parts) == len(_COLUMNS) + 1 and "." in parts[-1]
        if len(parts) != width and not has_factor:
            yield Bad(line, f"{len(parts)} fields where there are {width}")
            continue
        values = _OF_TEXT.copy()
        for (place, is_number), part in zip(_PLACES, parts, strict=False):
            values[place] = _number(part) if is_number else part
        everywhere = parts[0].strip()
        if is_of_schedd(everywhere):  # which tells when the job was submitted # decision 672
            values[_AT["qdate"]] = everywhere.rpartition("#")[2]
        if wrong := _shifted(values, parts):
            yield Bad(line, wrong)
            continue
        yield line, values


class _UsualLine(list[Any]):
    """The values of such a line, with their texts."""

    __slots__ = ("texts",)
    texts: list[str]


def _usual(text: str) -> _UsualLine | None:
    """The values of a line with whole numbers and with times in their order; None for others."""
    found = _USUAL.fullmatch(text)
    if found is None:
        return None
    everywhere, queued, owner, *texts = found.groups()
    wall, user, system, start, end, resident, image = map(int, texts[:-1])
    if not 0 < int(queued) <= start <= end or owner[:1] == "/" or not text.isprintable():
        return None
    values = _UsualLine(_OF_TEXT)
    values[_GLOBAL_ID], values[_OWNER], values[_QUEUED] = everywhere, owner, queued
    values[_WALL], values[_USER], values[_SYSTEM] = wall, user, system
    values[_START], values[_END], values[_CPUS] = start, end, texts[-1]
    values[_RESIDENT], values[_IMAGE] = resident, image
    values.texts = told = _TEXTS_OF_TEXT.copy()
    told[_GLOBAL_ID], told[_OWNER], told[_QUEUED] = everywhere, owner, queued
    for place, each in zip(_NUMBERS_OF_TEXT, texts, strict=True):
        told[place] = each
    return values


def _shifted(values: list[Any], parts: list[str]) -> str:
    """Why a line is no record, or "": one delimiter too many, or too few, moves all behind it.

    Both may give the number of fields that a line has. # decision 754
    """
    if len(parts) > len(_COLUMNS):
        if "" in map(str.strip, parts):
            return "an empty field where nothing is missing: a delimiter too many"
        factor = _number(parts[-1].strip())
        if factor is not None and not (isinstance(factor, int | float) and 0 < factor < _FACTORS):
            return f"no factor of a node behind the other fields: {parts[-1][:40]!r}"
    queued, start, end = values[_QUEUED], values[_START], values[_END]
    is_told = len(str(queued)) <= DIGITS  # of a schedd's own id there may be any number
    if type(start) is type(end) is int and is_told and 0 < int(queued or 0) <= start <= end:
        return ""
    known = [int(each) for each in (queued, start, end) if each and is_whole(str(each))]
    if known != sorted(known):
        return "times that do not follow each other: a delimiter too many or too few"
    return ""


def _parts_of(text: str) -> list[str]:
    """The fields of a line: each is ended by a |, and the last one not everywhere."""
    return text.strip().removesuffix("|").split("|")


def _number(text: str) -> Any:
    """A number, if it is one; None for the words that say that nothing is known."""
    if text.isdecimal() and text.isascii() and len(text) < 16:
        return int(text)
    if text.lower() in _NULL:
        return None
    try:
        return float(number(text))
    except InvalidValue:
        return text
