"""Recorded conversations with a real Gold server, and the keys they were signed with."""

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "data" / "gold"
KEY = b"gold-test-key-0123456789"
OTHER_KEYS = {
    "wrongkey": b"some-other-key",
    "v22-auth-wrong-key": b"wrong-key",
    "pw-ok": b"s3cretpass",
}
DOCUMENT = re.compile(rb"<\?xml.*?</Envelope>\s*?\n?", re.DOTALL)


class Recording(NamedTuple):
    name: str
    sent: bytes
    answered: bytes

    @property
    def key(self):
        return OTHER_KEYS.get(self.name, KEY)

    @property
    def message(self):
        """The first message that the client sent."""
        return unchunked(self.sent)


def unchunked(stream):
    """The body of a request, by the plain rules of HTTP chunks, with or without line breaks."""
    head, _, rest = stream.partition(b"\r\n\r\n")
    if b"content-length" in head.lower():
        return rest
    body = b""
    while rest := rest.removeprefix(b"\r\n"):
        line, _, rest = rest.partition(b"\r\n")
        size = int(line, 16)
        if not size:
            break
        body, rest = body + rest[:size], rest[size:]
        if rest.startswith((b"POST", b"HTTP")):
            break
    return body


def recording(name):
    return Recording(
        name,
        (FOLDER / f"{name}.c2s.bin").read_bytes(),
        (FOLDER / f"{name}.s2c.bin").read_bytes(),
    )


RECORDINGS = [recording(path.name[:-8]) for path in sorted(FOLDER.glob("*.c2s.bin"))]
ANSWERED = [each for each in RECORDINGS if each.answered]


def documents(stream):
    """Every document of a stream of replies."""
    return DOCUMENT.findall(stream)


def replaying(call):
    """A handler that answers each recorded request with what Gold answered."""
    from sssjob.errors import Refused
    from sssjob.rmap.envelope import opened
    from sssjob.rmap.reading import read_request, read_response
    from sssjob.rmap.responder import HandlerAnswer

    for each in ANSWERED:
        sent = opened(each.message)
        if sent.body is None or each.name in ("v22-no-object", "v22-bad-uri"):
            continue
        if _alike(read_request(sent.body)) == _alike(call.request):
            replies = [read_response(opened(part).body) for part in documents(each.answered)]
            status = replies[-1].status
            if status.value == "Failure":
                raise Refused(status.code, status.message)
            rows = [row for reply in replies for row in reply.rows]
            counted = replies[0].count == len(replies[0].rows)
            return HandlerAnswer(
                rows, status.code, status.message, "rows" if counted else replies[0].count
            )
    return HandlerAnswer()


def _alike(request):
    """A request without what differs each time."""
    return replace(request, id="", nonce="", time=None)
