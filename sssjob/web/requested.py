"""Requests of SSSRMAP as JSON: answered by the handlers of the gateway, as those in XML are."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from http import HTTPStatus
from typing import Any

from lxml import etree
from starlette.exceptions import HTTPException
from starlette.responses import Response

from sssjob.client import terms
from sssjob.client.json_requests import CODE
from sssjob.document import tree
from sssjob.errors import InvalidValue, Refused, UnreadableDocument
from sssjob.json_text import each_once, why
from sssjob.rmap import gate
from sssjob.rmap.message import READING, Data, DataDocument, Get, Object, Option, Request
from sssjob.rmap.responder import ReceivedRequest
from sssjob.rmap.writing import plain
from sssjob.web import pages, views
from sssjob.web.problems import of_refusal

_LONGEST = 200  # characters of a key
_MOST = 1 << 31  # the largest limit that may be asked for
KEY: dict[str, object] = {"type": "string", "maxLength": _LONGEST}
_TEXTS = {"type": "array", "items": {"type": "string"}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "examples": ["Query", "Create", "Modify", "Submit"]},
        "object": {"type": "string", "default": "Job"},
        "get": _TEXTS, "path": _TEXTS, "where": _TEXTS, "set": _TEXTS, "option": _TEXTS,
        "data": {"type": "string", "description": "Job objects in XML."},
        "limit": {"type": "integer", "minimum": 1},
    },
    "required": ["action"],
    "additionalProperties": False,
}  # fmt: skip
_KINDS = {
    str: "a text", int: "a number", float: "a number", bool: "true or false", list: "a list",
    type(None): "null",
}  # fmt: skip
_LISTS = ("get", "path", "where", "set", "option")


def answer(asked: views.PageRequest) -> Response:
    """What the gateway answers to who asks."""
    responder = asked.site.responder
    assert responder is not None
    request = _request(asked, responder.policy.markup_limit)
    actor = asked.reader.name
    call = ReceivedRequest(request, actor, asked.origin, True, time.time(), single=True)
    try:
        with asked.site.keys.held(actor, request.id) if request.id else nullcontext():
            [part] = responder.responses(call)
    except Refused as error:
        raise _refusal(error) from None
    if part.status.code[:1] not in "01":
        raise _refusal(Refused(part.status.code, part.status.message))
    return pages.json({
        "code": part.status.code, "message": part.status.message, "count": part.count,
        "rows": [*map(plain, part.rows)],
    })  # fmt: skip


def _refusal(error: Refused) -> HTTPException:
    status, detail = of_refusal(error)
    return HTTPException(status, detail, {CODE: error.code})


def _request(asked: views.PageRequest, most: int) -> Request:
    """The request that a body is. Raises ``InvalidValue``, and 400 where a key is missing."""
    told = _body(asked.body)
    action = told["action"]
    if len(asked.keys) > 1:
        raise HTTPException(HTTPStatus.BAD_REQUEST, "Idempotency-Key is there more than once.")
    key = "".join(asked.keys)
    if not key and action not in READING:
        detail = "What changes something needs the header Idempotency-Key: it is done once for it."
        raise HTTPException(HTTPStatus.BAD_REQUEST, detail)
    if len(key) > _LONGEST or not key.isprintable():
        raise InvalidValue(key, f"at most {_LONGEST} characters, for Idempotency-Key")
    options = [*map(terms.option, told["option"])]
    if told["limit"]:
        options.append(Option("Limit", str(told["limit"])))
    return Request(
        action, asked.reader.name, (Object(told["object"]),),
        (*map(terms.get, told["get"]), *(Get("", path=each) for each in told["path"])),
        tuple(map(terms.change, told["set"])), terms.wheres(told["where"]), tuple(options),
        _data(told["data"], most),
        id="" if action in READING else key,
    )  # fmt: skip


def _body(body: bytes) -> dict[str, Any]:
    """What was sent, with what is absent as it is usual."""
    try:
        told = json.loads(body, object_pairs_hook=each_once)
    except (ValueError, RecursionError) as error:
        raise HTTPException(HTTPStatus.BAD_REQUEST, f"The body is not JSON: {why(error)}") from None
    if not isinstance(told, dict):
        said = f"The body is not an object of JSON, but {_KINDS[type(told)]}."
        raise HTTPException(HTTPStatus.BAD_REQUEST, said)
    for name in told:
        if name not in SCHEMA["properties"]:
            raise InvalidValue(name, f"one of {', '.join(SCHEMA['properties'])}")
    found: dict[str, Any] = {"action": "", "object": "Job", "data": "", "limit": 0}
    found |= {name: [] for name in _LISTS}
    for name, value in told.items():
        usual = found[name]
        is_right = type(value) is type(usual)
        if is_right and name in _LISTS:
            is_right = all(type(each) is str for each in value)
        if not is_right or (name == "limit" and not 0 < value <= _MOST):
            kinds = {
                str: "a text",
                int: f"a whole number above 0, up to {_MOST}",
                list: "a list of texts",
            }
            raise InvalidValue(str(value)[:100], f"{kinds[type(usual)]}, for {name}")
        found[name] = value
    if not found["action"]:
        raise InvalidValue("", "an action such as Query, for action")
    return found


def _data(text: str, most: int) -> Data | None:
    """Job objects, of ``most`` tags and attributes."""
    if not text:
        return None
    try:
        gate.weight(text.encode(), most)
        items = tuple(
            DataDocument(etree.tostring(element, encoding="UTF-8", with_tail=False))
            for element in tree.units(text.encode())
        )
    except Refused as error:
        raise _refusal(error) from None
    except UnreadableDocument as error:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    if not items:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, "data has no job object.")
    return Data(items)
