"""Requests to the pages of a gateway, as JSON over HTTP: for programs that sign nothing.

A token says who asks (``[actors.NAME] token`` of the gateway). What changes something has a key,
by which the gateway knows it when it comes again, so that it may be sent again.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from sssjob.client.transports import TIMEOUT
from sssjob.errors import NoReply, Refused
from sssjob.rmap.message import READING, Data, DataDocument, Item, Response, Row, Status

PATH = "requests.json"
CODE = "sssjob-code"  # the header with the code of a failure
_LARGEST = 256 << 20  # bytes of one answer
_PIECE = 64 << 10
_WAIT = 0.2  # seconds before the second try, twice as long before each next one
_LONGEST = 61.0  # seconds that a server may ask to wait: a minute of its rate is over then
_AGAIN = (  # 409: the first try is still being answered
    HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.CONFLICT,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JSONClient:
    """Asks the pages of a gateway at a URL such as ``https://jobs.example.org/``.

    >>> asking = JSONClient("https://jobs.example.org/", "secret")
    >>> asking.body("Query", where=("State=Idle",), get=("Id",))
    {'action': 'Query', 'object': 'Job', 'get': ['Id'], 'where': ['State=Idle']}
    """

    url: str
    token: str = field(repr=False)
    timeout: float = TIMEOUT
    tries: int = 3
    sleep: Callable[[float], None] = time.sleep

    def body(
        self, action: str, object: str = "Job", *, get: Sequence[str] = (),
        path: Sequence[str] = (), where: Sequence[str] = (), set: Sequence[str] = (),
        option: Sequence[str] = (), data: str = "", limit: int | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """What is sent: texts are those of ``sssjob request``, ``data`` job objects in XML."""
        lists = {"get": get, "path": path, "where": where, "set": set, "option": option}
        told: dict[str, Any] = {"action": action, "object": object}
        told |= {name: [*texts] for name, texts in lists.items() if texts}
        return told | ({"data": data} if data else {}) | ({"limit": limit} if limit else {})

    def call(self, body: dict[str, Any], key: str = "") -> Response:
        """The answer to a body, with the ``key`` of a change, or with one of its own.

        Raises ``Refused`` for a failure, and ``NoReply`` where nobody answers.
        """
        if not key and body["action"] not in READING:
            key = secrets.token_hex(16)
        for tried in range(1, self.tries + 1):
            wait = _WAIT * 2 ** (tried - 1)
            try:
                status, headers, told = self._sent(body, key)
            except NoReply:
                if tried == self.tries:
                    raise
            else:
                if status not in _AGAIN or tried == self.tries:
                    return _answer(body, status, headers, told, self.url)
                asked = headers.get("retry-after", "")
                if asked.isascii() and asked.isdecimal():
                    wait = max(wait, min(float(asked[:9]), _LONGEST))
            self.sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _sent(self, body: dict[str, Any], key: str) -> tuple[int, dict[str, str], Any]:
        """The status, the headers and the JSON of one answer."""
        import requests

        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        end = time.monotonic() + 10 * self.timeout
        found = bytearray()
        try:
            with requests.post(
                f"{self.url.rstrip('/')}/{PATH}", json=body, headers=headers, timeout=self.timeout,
                stream=True, allow_redirects=False,
            ) as answer:  # fmt: skip
                for piece in answer.iter_content(_PIECE):
                    found += piece
                    if len(found) > _LARGEST or time.monotonic() > end:
                        raise NoReply("232", f"{self.url} sends too much, or too slowly")
                told = dict(answer.headers.lower_items())
                return answer.status_code, told, _read(bytes(found), self.url)
        except requests.exceptions.Timeout:
            raise NoReply("232", f"{self.url} is silent for {self.timeout:g} seconds") from None
        except requests.exceptions.RequestException as error:
            raise NoReply("222", f"cannot reach {self.url}: {error}") from None


def _read(text: bytes, url: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NoReply("242", f"{url} answers with what is no JSON") from None


def _answer(
    body: dict[str, Any], status: int, headers: dict[str, str], told: Any, url: str
) -> Response:
    """An answer as the value that one of SSSRMAP is."""
    if status != HTTPStatus.OK:
        detail = str(told.get("detail", "")) if isinstance(told, dict) else ""
        code = headers.get(CODE, "")
        said = detail.removesuffix(f" ({code})") or f"{url} answers with status {status} of HTTP"
        raise Refused(code or ("730" if status in _AGAIN else "242"), said)
    try:
        rows = tuple(_item(body["object"], each) for each in told["rows"])
        return Response(
            Status.of(told["code"], told["message"]), told["count"], Data(rows) if rows else None
        )
    except (KeyError, TypeError, AttributeError):
        raise NoReply("242", f"{url} answers with what is no answer to a request") from None


def _item(kind: str, told: dict[str, Any]) -> Item:
    if "xml" in told and "object" not in told:
        return DataDocument(told["xml"].encode())
    fields: list[tuple[str, str]] = []
    for name, value in told.items():
        if name != "object":
            fields += [(name, each) for each in (value if isinstance(value, list) else [value])]
    return Row(str(told.get("object", kind)), tuple(fields))
