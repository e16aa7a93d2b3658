"""From the bytes of a request to the bytes of its answer: what a server does, without its sockets.

A handler does what was asked. It gets a request whose sender is proven and gives rows, as many
as there are; how they are cut into parts, written, signed and encrypted is done here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, NamedTuple, Protocol

from sssjob.errors import Refused
from sssjob.integers import whole
from sssjob.rmap import encryption, gate
from sssjob.rmap.envelope import Encrypted, Signature, opened, signed_body
from sssjob.rmap.keys import Algorithm, Key, Keys
from sssjob.rmap.message import Data, Item, Request, Response, Row, Status
from sssjob.rmap.reading import head, read_request
from sssjob.rmap.replay import Nonces
from sssjob.rmap.signature import is_digest, promised, sign, unproven, verify
from sssjob.rmap.writing import (
    DECLARATION,
    encrypted_envelope,
    envelope,
    signed,
    write_response,
)

TRUNCATED = "146"


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request, who is proven to have sent it, and from where.

    ``proven`` is False only where unsigned requests are let in: then the actor is what somebody
    claims. ``mark`` is the digest
    that was signed where nothing else tells a request from its copy, or "". ``flat`` tells that a
    program of Gold asks, which reads a row of properties and nothing else. ``single`` tells that an
    id is for one request only, as over HTTP: other words with it are refused. Nothing of what a
    ``rehearsal`` does stays: it tells whether a change would be refused.
    """

    request: Request
    actor: str
    origin: str = ""
    proven: bool = True
    now: float = 0.0
    mark: str = ""
    flat: bool = False
    single: bool = False
    rehearsal: bool = False


@dataclass(frozen=True, slots=True)
class HandlerAnswer:
    """What a handler answers. Rows may be drawn from a generator, which is closed at the end.

    ``count`` is an amount, or None where there is none to tell; without it, rows are counted.
    ``again`` tells that the same was answered before, and nothing was done now.
    """

    rows: Iterable[Item] = ()
    code: str = "000"
    message: str = ""
    count: int | Literal["rows"] | None = "rows"
    again: bool = False


class Handler(Protocol):
    """What answers requests. It may be called by several threads at once."""

    def __call__(self, call: ReceivedRequest) -> HandlerAnswer:
        """Do what was asked. Raises ``Refused`` where the answer is a failure; so may its rows."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a responder asks for and gives.

    ``rows`` are those of one part at most, ``reply_limit`` the bytes of Data of a whole answer
    and ``message_limit`` those of a decrypted request, and ``markup_limit`` the tags and attributes
    of any. ``triple_des`` lets encrypted requests in.
    """

    name: str = "sssjob"
    rows: int = 10_000
    reply_limit: int = 64 << 20
    message_limit: int = 16 << 20
    markup_limit: int = 2 << 20
    unsigned: bool = False
    triple_des: bool = False


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """An answer: its documents, and what a log may say of it."""

    parts: tuple[bytes, ...] = field(repr=False)
    code: str
    message: str = ""
    actor: str = ""
    action: str = ""
    object: str = ""
    id: str = ""
    rows: int = 0


@dataclass(frozen=True, slots=True)
class CheckedMessage:
    """A message whose bytes were looked at: what it takes to answer it, or why it is refused.

    ``cost`` is in bytes, those of the message included. What was encrypted is not any more.
    """

    message: bytes = field(default=b"", repr=False)
    cost: int = 0
    refused: Refused | None = None
    hidden: tuple[Encrypted, Key] | None = None


class ReadMessage(NamedTuple):
    """What a message says, and how a key has signed it; None where it is not signed."""

    request: Request
    actor: str
    signature: Signature | None
    key: Key | None
    algorithm: Algorithm | None


Reads = Callable[[bytes, Key | None], ReadMessage]


def read(message: bytes, key_of: gate.KeyOf, *, unsigned: bool) -> ReadMessage:
    """What a message says, if its actor has signed it, or need not have. Raises ``Refused``."""
    voucher = gate.vouched(message, key_of)
    if voucher is not None:
        # The very bytes that were signed become the tree that is acted upon.
        body = signed_body(voucher.body)
        said = head(body)
        if said.actor == voucher.actor:
            request = read_request(body, said)
            return ReadMessage(
                request, said.actor, voucher.signature, voucher.key, voucher.algorithm
            )
    sealed = gate.apart(lambda: opened(message))
    if sealed.body is None:
        raise Refused("434", "The message cannot be decrypted")
    said = head(sealed.body)
    signature, key, algorithm = sealed.signature, None, None
    if signature is not None:
        key = key_of(signature, said.actor)
        algorithm = verify(sealed, key)
    elif not unsigned:
        raise Refused("424", "The message is not signed")
    return ReadMessage(read_request(sealed.body, said), said.actor, signature, key, algorithm)


@dataclass(frozen=True, slots=True)
class OpenedMessage:
    """A message that was opened: the call that it is, or why it is refused.

    The rest is how it came, so that its answer goes back in the same way.
    """

    call: ReceivedRequest | None = None
    refused: Refused | None = None
    key: Key | None = None
    algorithm: Algorithm | None = None
    hidden: tuple[Encrypted, Key] | None = None


class Responder:
    """Answers messages: looks at them, opens, verifies, asks the handler, writes.

    ``quick`` tells of a request whether its answer comes at once, so that a server need not
    change to another thread for it; what may wait for a disk or a network is not. ``slow`` tells
    which may take so long that nothing else should wait behind it. ``reads_large`` reads a message
    of more than ``gate.FORMS`` bytes that a key has signed, as far as its bytes tell.
    """

    def __init__(
        self,
        handler: Handler,
        keys: Keys,
        policy: Policy | None = None,
        *,
        nonces: Nonces | None = None,
        clock: Callable[[], float] = time.time,
        quick: Callable[[Request], bool] = lambda request: False,
        slow: Callable[[Request], bool] = lambda request: False,
        reads_large: Reads | None = None,
    ) -> None:
        self.handler, self.keys, self.policy, self.clock = handler, keys, policy or Policy(), clock
        self.nonces = Nonces(since=clock()) if nonces is None else nonces
        self.quick, self.slow, self.reads_large = quick, slow, reads_large

    def respond(self, message: bytes, origin: str = "", *, legacy: bool = False) -> LoggedAnswer:
        """The answer to a message. A failure is an answer, too."""
        return self.answer(self.take(self.look(message), origin, legacy=legacy))

    def look(self, message: bytes) -> CheckedMessage:
        """Look at the bytes of a message, so that nobody without a key costs more than these.

        No tree is made of a large message; it comes through if a key has signed its Body.
        """
        hidden, outside = None, 0
        try:
            encrypted = partial(self._encrypted, message)
            if gate.is_encrypted(message) and (asked := gate.apart(encrypted)) is not None:
                key = self._decryption_key(asked)
                outside, message = len(message), self._decrypted(asked, key)
                hidden = asked, key  # what fails before this is answered in the clear
            if len(message) > gate.SMALL:
                gate.apart(partial(self._require_proof, message))
            cost = outside + gate.weight(message, self.policy.markup_limit)
            return CheckedMessage(message, cost, None, hidden)
        except Refused as error:
            return CheckedMessage(refused=_alone(error), hidden=hidden)

    def take(
        self, seen: CheckedMessage, origin: str = "", *, legacy: bool = False
    ) -> OpenedMessage:
        """Open a message and verify who sent it. This asks no handler, and never waits.

        ``legacy`` is whether it was framed as peers of Gold do.
        """
        if seen.refused is not None:
            return OpenedMessage(refused=seen.refused, hidden=seen.hidden)
        try:
            return self._proven(seen.message, origin, legacy, seen.hidden)
        except Refused as error:
            return OpenedMessage(refused=_alone(error), hidden=seen.hidden)

    def is_quick(self, taken: OpenedMessage) -> bool:
        """Whether ``answer`` comes at once."""
        return taken.call is None or self.quick(taken.call.request)

    def is_slow(self, taken: OpenedMessage) -> bool:
        """Whether nothing else should wait behind ``answer``."""
        return taken.call is not None and self.slow(taken.call.request)

    def answer(self, taken: OpenedMessage) -> LoggedAnswer:
        """The answer to what was taken, as the handler gives it."""
        if taken.refused is not None:
            responses = [self._failure(taken.refused)]
        else:
            assert taken.call is not None
            try:
                responses = self.responses(taken.call)
            except Refused as error:
                responses = [self._failure(error)]
        request = taken.call.request if taken.call else None
        if request and request.nonce:
            responses = [replace(part, nonce=request.nonce) for part in responses]
        status = responses[-1].status
        return LoggedAnswer(
            tuple([self._sealed(part, taken) for part in responses]),
            status.code,
            status.message,
            request.actor if request else "",
            request.action if request else "",
            request.object if request else "",
            request.id if request else "",
            sum(len(part.rows) for part in responses),
        )

    def failure(self, code: str, message: str) -> LoggedAnswer:
        """The answer to what is no message at all, or cannot be taken now."""
        return self.answer(OpenedMessage(refused=Refused(code, message)))

    def _proven(
        self, message: bytes, origin: str, legacy: bool, hidden: tuple[Encrypted, Key] | None
    ) -> OpenedMessage:
        """The request of a message, if its actor has signed it."""
        request, actor, signature, key, algorithm = self._read(message)
        now = self.clock()
        if key is not None:
            self.nonces.admit(request, now)
        mark = signature.digest if signature is not None and not request.nonce else ""
        # Programs of ours may frame like Gold's; they send nonces, which nobody else does.
        flat = legacy and not request.nonce
        call = ReceivedRequest(request, actor, origin, key is not None, now, mark, flat)
        return OpenedMessage(call, None, key, algorithm, hidden)

    def _read(self, message: bytes) -> ReadMessage:
        if self.reads_large is None or len(message) <= gate.FORMS:
            return read(message, self._key, unsigned=self.policy.unsigned)
        claims = gate.claims(message)
        claimed = claims.signature
        found = self.reads_large(message, claimed and self._key(claimed, claims.actor))
        if found.signature is None and not self.policy.unsigned:
            raise Refused("424", "The message is not signed")
        # It was verified with the key of who seemed to have sent it.
        if found.signature is not None and self._key(found.signature, found.actor) != found.key:
            raise unproven()
        return found

    def _key(self, signature: Signature, actor: str) -> Key:
        key = self.keys.find(signature.token, signature.name, actor)
        if key is None:
            raise unproven()
        return key

    def _require_proof(self, message: bytes) -> None:
        """Refuse (424) a large message that no key has signed, as far as its bytes tell."""
        claims = gate.claims(message)
        if claims.signature is None:
            if not self.policy.unsigned:
                raise Refused("424", "The message is not signed")
            return
        algorithm = promised(claims.signature, self._key(claims.signature, claims.actor))
        if len(claims.body) > gate.FORMS and not is_digest(
            claims.signature, claims.body, algorithm
        ):
            raise Refused("424", "The signature is not about the Body as it came")

    def _encrypted(self, message: bytes) -> Encrypted | None:
        """What is encrypted in a message, if anything is."""
        if len(message) > gate.SMALL:
            asked = gate.encrypted(message)
            encryption.opens(asked, self._decryption_key(asked).secret)
        return opened(message).encrypted

    def _decryption_key(self, encrypted: Encrypted) -> Key:
        key = self.keys.find(encrypted.token, encrypted.name, encrypted.name)
        if not self.policy.triple_des or key is None:
            raise Refused("434", "The message cannot be decrypted")
        return key

    def _decrypted(self, encrypted: Encrypted, key: Key) -> bytes:
        plain = encryption.decrypt(encrypted, key.secret, limit=self.policy.message_limit)
        return b"".join([DECLARATION, b"<Envelope>", plain, b"</Envelope>"])

    def responses(self, call: ReceivedRequest) -> list[Response]:
        """The parts of the answer of the handler. Raises ``Refused``."""
        answer = self.handler(call)
        status = Status.of(answer.code, answer.message)
        with closing(_drawn(answer.rows)) as rows:
            parts = list(self._parts(call.request, status, rows))
        if answer.count != "rows":
            parts = [replace(part, count=answer.count) for part in parts]
        return parts

    def _parts(self, request: Request, status: Status, rows: Iterator[Item]) -> Iterator[Response]:
        """Rows in parts that the peer can take; the last part says that it is the last."""
        size = min(request.chunk_size or self.policy.rows, self.policy.rows)
        limit = request.option("Limit") or ""
        asked = whole(limit) or 0
        if asked:  # it comes before chunking, as in Gold
            size = min(asked, self.policy.rows)
        budget = self.policy.reply_limit
        chunked = request.chunking and not asked
        number, following = 0, next(rows, None)
        while True:
            taken: list[Item] = []
            while following is not None and len(taken) < size and budget >= 0:
                taken.append(following)
                budget -= _bytes(following)
                following = next(rows, None)
            number += 1
            more = chunked and following is not None and budget >= 0
            if following is not None and not more:
                status = Status.of(TRUNCATED, _TRUNCATED_MESSAGE)
            several = more or number > 1
            yield Response(
                status, len(taken), Data(tuple(taken)) if taken else None, (), self.policy.name,
                number if several else None, (-1 if more else 0) if several else None,
            )  # fmt: skip
            if not more:
                return

    def _failure(self, error: Refused) -> Response:
        return Response(Status.of(error.code, error.message), actor=self.policy.name)

    def _sealed(self, response: Response, taken: OpenedMessage) -> bytes:
        """The document of a response: encrypted if the request was, signed if the key is ours."""
        body = write_response(response).encode()
        signature = None
        # Gold's peers get no signature: its C library would take it for the answer.
        if taken.key is not None and taken.algorithm is Algorithm.HMAC_SHA256:
            signature = sign(body, taken.key, algorithm=taken.algorithm)
        if taken.hidden is None:
            return envelope(body, signature)
        asked, key = taken.hidden
        plain = body + signed(signature)
        return encrypted_envelope(
            encryption.encrypt(plain, key.secret, token=asked.token, name=asked.name)
        )


_TRUNCATED_MESSAGE = "There are more rows than one reply may hold; ask for them in chunks"


def _drawn(rows: Iterable[Item]) -> Generator[Item, None, None]:
    """The rows, as a generator, so that what gives them is closed with it."""
    yield from rows


def _alone(error: Refused) -> Refused:
    """The same refusal, that holds no more of the message than it says."""
    return Refused(error.code, error.message)


def _bytes(item: Item) -> int:
    if isinstance(item, Row):
        return sum(2 * len(name) + len(value) + 5 for name, value in item.fields)
    return len(item.xml)
