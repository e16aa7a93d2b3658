"""Bodies to messages: liberal in what peers are known to send, strict in what it means."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from lxml import etree
from lxml.etree import _Element as Element

from sssjob import units
from sssjob.document.places import inside_of, split
from sssjob.errors import InvalidValue, Refused, quoted
from sssjob.rmap import codes
from sssjob.rmap.envelope import elements, local, named, text
from sssjob.rmap.message import (
    Conj,
    Data,
    DataDocument,
    File,
    Get,
    Item,
    Object,
    Op,
    Option,
    Request,
    Response,
    Row,
    Set,
    Status,
    Where,
)
from sssjob.suggestions import question

_DEEPEST = 100  # parentheses within each other
_shown = partial(quoted, most=20)  # what a peer wrote
_DIGITS = 18  # of a number that is still believed

# Slurm's plugin knows G and L; what differs in case only is meant.
_OPS = {str(op).upper(): op for op in Op} | {"G": Op.GT, "L": Op.LT, "": Op.EQ}
# Gold joins with And whatever it does not know, "or" and "and" included. decision 147
_CONJS = {str(conj): conj for conj in Conj} | {
    "": Conj.AND, "and": Conj.AND, "or": Conj.AND, "Nand": Conj.AND_NOT, "Nor": Conj.OR_NOT,
}  # fmt: skip


# Parts of a Request that are a text, each with the code that refuses what is none.
_TEXTS = {
    "Object": "311", "Get": "318", "Set": "316", "Where": "318", "Option": "318", "Count": "302",
}  # fmt: skip
_PARTS = (*_TEXTS, "Data", "File")
_SPELLED = frozenset(name.lower() for name in _PARTS)
_ASKING = tuple(f"{{*}}{name}" for name in ("Where", "Set", "Option", "Get"))


class RequestHead(NamedTuple):
    """What has to be known of a request before it is proven: who sends it."""

    element: Element
    action: str
    actor: str


def head(body: Element) -> RequestHead:
    """The one Request of a Body. Raises ``Refused`` (302) if there is none, or another."""
    found = [child for _, child in named(body, "Request")]
    if len(found) != 1:
        many = "more than one Request" if found else "no Request"
        raise Refused("302", f"The Body holds {many}")
    request = found[0]
    # Very old clients have the actor on Body.
    actor = request.get("actor") or body.get("actor") or ""
    return RequestHead(request, request.get("action") or "", actor)


def read_request(body: Element, said: RequestHead | None = None) -> Request:
    """The request of a Body; ``said`` is its head, where that was read.

    Raises ``Refused``: 302 for an element that is no part of a request, 311 without an object, 312
    without action or actor, 316 for a Set without a name, 317 for an option that is no time and is
    called one, 318 for a condition that is none and for groups that do not balance, 240 for two
    Data elements.
    """
    element, action, actor = said or head(body)
    parts = _parts(element)
    objects = tuple(_object(child) for child in parts.get("Object", ()))
    if not objects and (named := element.get("object")):  # very old clients
        objects = (Object(named),)
    if not objects:
        raise Refused("311", "No object specified in the request")
    if not action or not actor:
        raise Refused("312", "No action or no actor specified in the request")
    wheres = tuple(_where(child) for child in parts.get("Where", ()))
    _check_groups(wheres)
    chunking = element.get("chunking") or body.get("chunking") or ""
    return Request(
        action,
        actor,
        objects,
        tuple(_get(child) for child in parts.get("Get", ())),
        tuple(_set(child) for child in parts.get("Set", ())),
        wheres,
        tuple(_option(child) for child in parts.get("Option", ())),
        _data(parts.get("Data", [])),
        tuple(map(_file, parts.get("File", ()))),
        chunking.lower() == "true",
        _whole(element.get("chunkSize")) or 0,
        element.get("id", ""),
        element.get("nonce", ""),
        _whole(element.get("time")),
    )


def read_response(body: Element) -> Response:
    """The response of a Body. Raises ``Refused``: 246 without one, 321 and 322 without status."""
    found = next((child for name, child in elements(body) if name == "Response"), None)
    if found is None:
        raise Refused("246", "The reply holds no Response")
    parts: dict[str, list[Element]] = {}
    for name, child in elements(found):
        parts.setdefault(name, []).append(child)
    if "Status" not in parts:
        raise Refused("321", "The reply holds no Status")
    said = {name: text(child) for name, child in elements(parts["Status"][0])}
    if "Code" not in said:
        raise Refused("322", "The reply holds no Code")
    code = said["Code"].strip()
    value = said.get("Value", "").strip()
    known = value in list(codes.Value)
    counted = parts.get("Count")
    return Response(
        Status(code, said.get("Message", ""),
               codes.Value(value) if known else codes.code(code).value),
        _integer(text(counted[0])) if counted else None,
        _data(parts.get("Data", [])),
        tuple(map(_file, parts.get("File", ()))),
        found.get("actor", ""),
        _integer(found.get("chunkNum")),
        _integer(found.get("chunkMax")),
        found.get("nonce", ""),
    )  # fmt: skip


def item(element: Element) -> Item:
    """An element of Data: a row if it is flat, or else the document that it is."""
    fields = []
    flat = not element.attrib and not (element.text or "").strip() and element.prefix is None
    for child in element if flat else ():
        name = local(child)
        if not name or child.attrib or len(child) or child.prefix or (child.tail or "").strip():
            flat = False
            break
        fields.append((name, child.text or ""))
    if flat and local(element):
        return Row(local(element), tuple(fields))
    return DataDocument(etree.tostring(element, encoding="UTF-8", with_tail=False))


def _object(element: Element) -> Object:
    name = text(element).strip()
    if not name:
        raise Refused("311", "An Object of the request has no name")
    return Object(name, element.get("alias", ""), element.get("join", ""))


def _get(element: Element) -> Get:
    path = text(element).strip()
    name = element.get("name", "")
    if not name and not path:
        raise Refused("318", "A Get has neither a name nor an expression")
    return Get(
        name, element.get("op", ""), element.get("object", ""), element.get("alias", ""), path
    )


def _set(element: Element) -> Set:
    _require_spelled(element, "316", "name", "op", "units")
    return Set(_name(element, "Set", "316"), text(element), element.get("op") or "Assign")


def _where(element: Element) -> Where:
    # ``groups`` is what Slurm says for group. Gold passes it, as its groups never were any.
    _require_spelled(element, "318", "name", "op", "conj", "group", "groups", "object", "subject")
    name = _name(element, "Where", "318")
    op = element.get("op", "")
    conj = element.get("conj", "")
    if op.upper() not in _OPS:
        raise Refused("318", f"{_shown(op)} is no comparison; there are {', '.join(Op)}")
    if conj not in _CONJS:
        raise Refused("318", f"{_shown(conj)} joins no conditions; there are {', '.join(Conj)}")
    written = element.get("group", "").strip() or "0"
    group = _integer(written)
    if group is None:
        raise Refused("318", f"{_shown(written)} is no number of groups that begin (or end, -1)")
    return Where(
        name, text(element), _OPS[op.upper()], _CONJS[conj], group,
        element.get("object", ""), element.get("subject", ""),
    )  # fmt: skip


def _check_groups(wheres: tuple[Where, ...]) -> None:
    """Parentheses that do not match would say something else than was meant."""
    depth = 0
    for where in wheres:
        depth += where.group
        if not 0 <= depth <= _DEEPEST:
            break
    if depth:
        raise Refused("318", "The groups of the conditions do not balance")


def _option(element: Element) -> Option:
    name, value = _name(element, "Option", "318"), text(element)
    if name.endswith("Time"):
        try:
            value = str(units.time(value))
        except InvalidValue as error:
            told = f"in seconds since 1970 or ISO 8601 with a zone, found {_shown(value)}"
            raise Refused("317", f"The option {_shown(name)} is a time, {told}") from error
    return Option(name, value, element.get("op", ""))


# decision 901
def _parts(request: Element) -> dict[str, list[Element]]:
    """The parts of a request, by their names.

    Raises ``Refused`` for what may be meant as one of them and would be passed, so that more is
    done than was asked: only an element of another namespace is an extension.
    """
    parts: dict[str, list[Element]] = {}
    for child in request.iterchildren("*"):
        name = local(child)
        if name in _PARTS:
            parts.setdefault(name, []).append(child)
        elif name:
            advice = question(name, _PARTS)
            raise Refused("302", f"{_shown(name)} is no part of a Request{advice}")
        elif _is_meant(child):
            raise Refused("302", "A part of the Request is of another namespace, or inside of it")
    for name, code in _TEXTS.items():
        for child in parts.get(name, ()):
            if len(child) and next(child.iterchildren("*"), None) is not None:
                raise Refused(code, f"What is in {name} is a text, and no element")
    found = [("Data", each.iterchildren(*_ASKING)) for each in parts.get("Data", ())]
    found += [("File", each.iter(*_ASKING)) for each in parts.get("File", ())]
    for name, inside in found:
        if next(inside, None) is not None:
            raise Refused("302", f"What is in {name} is no part of the Request")
    return parts


def _is_meant(element: Element) -> bool:
    """Whether an element of another namespace is called as a part, or has one inside."""
    called = split(str(element.tag))[1].lower()
    return called in _SPELLED or next(element.iter(*_ASKING), None) is not None


def _require_spelled(element: Element, code: str, *names: str) -> None:
    """Refuse other attributes: more would be found than was meant.

    Those of other namespaces are extensions, but for one that is called as one of ours.
    """
    for written in map(str, element.attrib):
        name = written.rpartition("}")[2]
        if written not in names and (name == written or name.lower() in names):
            raise Refused(
                code, f"{_shown(written)} is not an attribute here{question(name, names)}"
            )


def _name(element: Element, kind: str, code: str) -> str:
    name = element.get("name", "")
    if not name:
        raise Refused(code, f"The {kind} has no name")
    return name


def _file(element: Element) -> File:
    return File(inside_of(element), element.get("name", ""), element.get("id", ""))


def _data(found: list[Element]) -> Data | None:
    if len(found) > 1:
        raise Refused("240", "There is more than one Data")
    if not found:
        return None
    items = tuple(item(child) for child in found[0] if isinstance(child.tag, str))
    return Data(items, found[0].get("name", ""), found[0].get("type", ""))


def _integer(written: str | None) -> int | None:
    """A number, perhaps with a sign; None for anything else, as Gold reads it."""
    digits = (written or "").strip()
    unsigned = digits[1:] if digits[:1] in ("+", "-") else digits
    whole = unsigned.isascii() and unsigned.isdigit() and len(unsigned) <= _DIGITS
    return int(digits) if whole else None


def _whole(written: str | None) -> int | None:
    number = _integer(written)
    return number if number is not None and number >= 0 else None
