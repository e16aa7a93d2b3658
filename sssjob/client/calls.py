"""Calls to a server: signed, tried again where that is safe, and their answers checked."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sssjob.client.dialect import SSSJOB, Dialect
from sssjob.client.transports import Transport
from sssjob.errors import NoReply, Refused
from sssjob.rmap import codes, encryption
from sssjob.rmap.envelope import PASSWORD, SYMMETRIC, Envelope, opened
from sssjob.rmap.keys import Algorithm, Key
from sssjob.rmap.message import READING, Item, Request, Response
from sssjob.rmap.reading import read_response
from sssjob.rmap.signature import sign, verify
from sssjob.rmap.writing import (
    encrypted_envelope,
    envelope,
    signed,
    write_request,
)

_WAIT = 0.2  # seconds before the second try, twice as long before each next one
_REPLY_LIMIT = 256 << 20  # bytes of a decrypted answer


@dataclass(frozen=True, slots=True)
class Client:
    """Asks one server, or the next one where the first does not answer.

    Without a ``key`` messages are not signed. ``password`` says that the key is the actor's
    password. ``tries`` counts attempts at requests that may be sent again: those that change
    nothing, those that reached nobody, and those that the server does only once.
    """

    transports: Sequence[Transport]
    key: Key | None = None
    dialect: Dialect = SSSJOB
    password: bool = False
    encrypted: bool = False
    tries: int = 3
    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep

    def rows(self, request: Request) -> Iterator[Item]:
        """What a request finds, over all parts of the answer. Raises ``Refused`` for a failure."""
        for part in self.call(request):
            if part.status.value is codes.Value.FAILURE:
                raise Refused(part.status.code, part.status.message)
            yield from part.rows

    def call(self, request: Request) -> Iterator[Response]:
        """The parts of the answer as they come; a failure of the server is one, too.

        Raises ``NoReply`` where no server answers, ``Refused`` for an answer that is none, and
        ``InvalidValue`` for a request that this kind of server would misunderstand.
        """
        request = self._prepared(request)
        for tried in range(1, self.tries + 1):
            parts = self._asked(request, self.transports[(tried - 1) % len(self.transports)])
            last = tried == self.tries
            try:
                first = next(parts)
            except NoReply as error:
                if last or not self._may_repeat(request, error.asked):
                    raise
            else:
                if last or not codes.code(first.status.code).safe:
                    yield first
                    yield from parts
                    return
            self.sleep(_WAIT * 2 ** (tried - 1))

    def message(self, request: Request) -> bytes:
        """The bytes of a request as it is sent, but for the nonce that each attempt has."""
        request = self.dialect.spoken(request)
        body = write_request(request)
        if self.key is None:
            return envelope(body.encode())
        token = PASSWORD if self.password else SYMMETRIC
        name = request.actor if self.password or self.key.owner else ""
        signature = sign(self.dialect.digested(body), self.key, token=token, name=name)
        if not self.encrypted:
            return envelope(body.encode(), signature)
        plain = signed(signature) + body.encode()
        return encrypted_envelope(
            encryption.encrypt(plain, self.key.secret, token=token, name=name)
        )

    def _prepared(self, request: Request) -> Request:
        """A request that changes something has an id, by which it is known when it comes again."""
        if self.dialect.once and request.action not in READING and not request.id:
            return replace(request, id=secrets.token_hex(16))
        return request

    def _may_repeat(self, request: Request, asked: bool) -> bool:
        return not asked or request.action in READING or request.action in self.dialect.once

    def _asked(self, request: Request, transport: Transport) -> Iterator[Response]:
        nonce = ""
        if self.dialect.fresh:
            nonce = secrets.token_hex(16)
            request = replace(request, nonce=nonce, time=int(self.clock()))
        number = 0
        for document in transport.exchange(self.message(request)):
            part = self._answer(document, nonce)
            if part.chunk_num is not None and part.chunk_num != number + 1:
                raise Refused(
                    "226", "The server sends parts of its answer again, or leaves some out"
                )
            number += 1
            yield part
            if part.is_last:
                return
        raise NoReply("246", f"{transport} ended its answer after {number} parts, before the last")

    def _answer(self, document: bytes, nonce: str) -> Response:
        sealed = opened(document)
        if sealed.encrypted is not None:
            if self.key is None:
                raise Refused("434", "The answer is encrypted, and there is no key to open it")
            plain = encryption.decrypt(sealed.encrypted, self.key.secret, limit=_REPLY_LIMIT)
            sealed = opened(b"<Envelope>" + plain + b"</Envelope>")
        if sealed.body is None:
            raise Refused("434", "The answer is encrypted twice")
        part = read_response(sealed.body)
        self._check(sealed, part, nonce)
        return part

    def _check(self, sealed: Envelope, part: Response, nonce: str) -> None:
        """An answer to HMAC-SHA256 has to be signed, and to be about this request.

        A failure need not be: who could not prove itself to the server gets it unsigned.
        """
        if self.key is None or self.key.algorithms[0] is not Algorithm.HMAC_SHA256:
            return
        if sealed.signature is None and part.status.value is codes.Value.FAILURE:
            return
        verify(sealed, self.key)
        if part.nonce != nonce:
            raise Refused("424", "The answer is about another request")
