"""The encryption of old peers: triple DES around a compressed Body and its signature.

It is here to read what such peers send, and off unless somebody turns it on: triple DES is
retired, and nothing but the signature inside protects a message against changes. TLS is the way
to hide messages. decision 149
"""

from __future__ import annotations

import gzip
import hashlib
import hmac
import secrets
import zlib
from typing import TYPE_CHECKING

from sssjob.errors import Refused
from sssjob.rmap.envelope import SYMMETRIC, Encrypted, base64_bytes, base64_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

_KEY, _BLOCK = 24, 8  # bytes
_WRAP_IV = bytes.fromhex("4adda22c79e82105")  # RFC 3217, 3.1
_WRAPPED = 40  # bytes of a wrapped key
_GZIP = 16 + zlib.MAX_WBITS


def encrypt(plain: bytes, secret: bytes, *, token: str = SYMMETRIC, name: str = "") -> Encrypted:
    """Hide a Signature and a Body, as they follow each other, under a key."""
    session, start = _session_key(), _drawn_without_trap()
    packed = gzip.compress(plain, mtime=0)
    padding = _BLOCK - len(packed) % _BLOCK
    vector = secrets.token_bytes(_BLOCK)
    value = vector + _encrypted(packed + bytes([padding]) * padding, session, vector)
    return Encrypted(
        base64_text(_wrapped(session, _padded(secret), start)), base64_text(value), token, name
    )


def decrypt(encrypted: Encrypted, secret: bytes, *, limit: int) -> bytes:
    """What stands below the Envelope of an encrypted message.

    Raises ``Refused`` (434), without telling why, for what this key cannot open, and for what
    would have more than ``limit`` bytes.
    """
    session = opens(encrypted, secret)
    try:
        value = base64_bytes(encrypted.value)
        if len(value) < 2 * _BLOCK or len(value) % _BLOCK:
            raise _undecryptable()
        padded = _decrypted(value[_BLOCK:], session, value[:_BLOCK])
        count = padded[-1]
        if not 0 < count <= _BLOCK or padded[-count:] != bytes([count]) * count:
            raise _undecryptable()
        opener = zlib.decompressobj(_GZIP)
        plain = opener.decompress(padded[:-count], limit + 1)
    except (ValueError, zlib.error):
        raise _undecryptable() from None
    if len(plain) > limit or not opener.eof:
        raise _undecryptable()
    return plain


def opens(encrypted: Encrypted, secret: bytes) -> bytes:
    """The session key of an encrypted message. Raises ``Refused`` (434) if this key is not for it.

    It says so itself, so that nothing else is looked at for those who do not have the key.
    """
    try:
        return _unwrapped(base64_bytes(encrypted.key), _padded(secret))
    except ValueError:
        raise _undecryptable() from None


def _undecryptable() -> Refused:
    return Refused("434", "The message cannot be decrypted")


def _wrapped(session: bytes, key: bytes, start: bytes) -> bytes:
    """The key wrap of RFC 3217, 3.1. Parity bits are left as they are, as Gold does."""
    inner = _encrypted(session + _checksum(session), key, start)
    return _encrypted((start + inner)[::-1], key, _WRAP_IV)


def _unwrapped(wrapped: bytes, key: bytes) -> bytes:
    if len(wrapped) != _WRAPPED:
        raise _undecryptable()
    turned = _decrypted(wrapped, key, _WRAP_IV)[::-1]
    inner = _decrypted(turned[_BLOCK:], key, turned[:_BLOCK])
    session, checksum = inner[:_KEY], inner[_KEY:]
    if not hmac.compare_digest(_checksum(session), checksum):
        raise _undecryptable()
    return session


def _checksum(session: bytes) -> bytes:
    return hashlib.sha1(session).digest()[:_BLOCK]


def _session_key() -> bytes:
    """Gold drops zeros at the end of what it unwraps: such a checksum it could not open."""
    while _checksum(key := secrets.token_bytes(_KEY)).endswith(b"\0"):
        pass
    return key


def _drawn_without_trap() -> bytes:
    """A vector that does not begin with a zero, which stands at the end of what Gold unwraps."""
    while (vector := secrets.token_bytes(_BLOCK)).startswith(b"\0"):
        pass
    return vector


def _padded(secret: bytes) -> bytes:
    return secret[:_KEY].ljust(_KEY, b"\0")


def _encrypted(data: bytes, key: bytes, vector: bytes) -> bytes:
    encryptor = _cipher(key, vector).encryptor()
    return encryptor.update(data) + encryptor.finalize()


def _decrypted(data: bytes, key: bytes, vector: bytes) -> bytes:
    decryptor = _cipher(key, vector).decryptor()
    return decryptor.update(data) + decryptor.finalize()


def _cipher(key: bytes, vector: bytes) -> Cipher[CBC]:
    from cryptography.hazmat.decrepit.ciphers.algorithms import TripleDES
    from cryptography.hazmat.primitives.ciphers import Cipher
    from cryptography.hazmat.primitives.ciphers.modes import CBC

    return Cipher(TripleDES(key), CBC(vector))
