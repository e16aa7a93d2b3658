"""Messages to bytes, in the form that every peer reads: on one line, each element with an end tag.

Slurm's plugin finds values by searching for text, Gold's C library expects no white space, its
Java client reads ASCII. So elements of replies have no prefixes and no needless attributes, `>`
is always escaped, and what is not ASCII is a character reference.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sssjob.errors import InvalidValue
from sssjob.legality import ILLEGAL
from sssjob.rmap.envelope import SYMMETRIC, Encrypted, Signature
from sssjob.rmap.message import Conj, Data, File, Item, Request, Response, Row

DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'


def write_request(request: Request) -> str:
    """The Body of a request, children in the order that Gold's Perl client has."""
    parts = [
        f"<Body><Request{_attribute('action', request.action)}{_attribute('actor', request.actor)}",
        _attribute("id", request.id),
        _attribute("nonce", request.nonce),
        _attribute("time", "" if request.time is None else str(request.time)),
        ' chunking="True"' if request.chunking else "",
        _attribute("chunkSize", str(request.chunk_size or "")),
        ">",
    ]
    for thing in request.objects:
        parts.append(_element("Object", thing.name, alias=thing.alias, join=thing.join))
    for get in request.gets:
        parts.append(_element(
            "Get", get.path, object=get.object, name=get.name, op=get.op, alias=get.alias
        ))  # fmt: skip
    for change in request.sets:
        op = "" if change.op == "Assign" else change.op
        parts.append(_element("Set", change.value, name=change.name, op=op))
    for place, where in enumerate(request.wheres):
        conj = "" if where.conj is Conj.AND and not place else str(where.conj)
        parts.append(_element(
            "Where", where.value, conj=conj, group=str(where.group or ""), object=where.object,
            name=where.name, op=str(where.op), subject=where.subject,
        ))  # fmt: skip
    for option in request.options:
        parts.append(_element("Option", option.value, name=option.name, op=option.op))
    parts += _data(request.data)
    parts += _files(request.files)
    parts.append("</Request></Body>")
    return "".join(parts)


def write_response(response: Response) -> str:
    """The Body of a response."""
    chunk = (
        f' chunkNum="{response.chunk_num}" chunkMax="{response.chunk_max}"'
        if response.chunk_num is not None
        else ""
    )
    status = response.status
    parts = [
        f"<Body><Response{chunk}{_attribute('actor', response.actor)}",
        _attribute("nonce", response.nonce),
        f"><Status><Value>{status.value}</Value><Code>{_text(status.code)}</Code>",
        f"<Message>{_text(status.message)}</Message>" if status.message else "",
        "</Status>",
        f"<Count>{response.count}</Count>" if response.count is not None else "",
        *_data(response.data),
        *_files(response.files),
        "</Response></Body>",
    ]
    return "".join(parts)


def envelope(body: bytes, signature: Signature | None = None) -> bytes:
    """The whole message around a Body: the declaration, one line, a line break."""
    return b"".join([
        DECLARATION, b"<Envelope>", body, signed(signature), b"</Envelope>\n",
    ])  # fmt: skip


def encrypted_envelope(encrypted: Encrypted) -> bytes:
    """The whole message around what only the holder of a key can read."""
    hidden = (
        f"<EncryptedData><EncryptedKey>{encrypted.key}</EncryptedKey>"
        f"<CipherValue>{encrypted.value}</CipherValue>"
        f"{_token(encrypted.token, encrypted.name)}</EncryptedData>"
    )
    return b"".join([DECLARATION, b"<Envelope>", hidden.encode("ascii"), b"</Envelope>\n"])


def signed(signature: Signature | None) -> bytes:
    """The Signature element; nothing if there is none."""
    if signature is None:
        return b""
    return (
        f"<Signature><DigestValue>{signature.digest}</DigestValue>"
        f"<SignatureValue>{signature.value}</SignatureValue>"
        f"{_token(signature.token, signature.name)}</Signature>"
    ).encode()


def written(item: Item) -> str:
    """One element of Data."""
    if not isinstance(item, Row):
        return item.xml.decode()
    inside = [f"<{name}>{_text(value)}</{name}>" for name, value in item.fields]
    return f"<{item.object}>{''.join(inside)}</{item.object}>"


def plain(item: Item) -> dict[str, Any]:
    """One element of Data for JSON: a row by its names, or ``xml``.

    Each name has its text, or all of them where there are several.
    """
    if not isinstance(item, Row):
        return {"xml": item.xml.decode()}
    values: dict[str, Any] = {"object": item.object}
    for name, value in item.fields:
        if name not in values or name == "object":
            values[name] = value
        else:
            before = values[name]
            values[name] = [*(before if isinstance(before, list) else [before]), value]
    return values


def _token(kind: str, name: str) -> str:
    return _element("SecurityToken", "", type=kind or SYMMETRIC, name=name)


def _data(data: Data | None) -> list[str]:
    # Data without rows would be a row of nothing to some clients.
    if data is None or not data.items:
        return []
    head = f"<Data{_attribute('name', data.name)}{_attribute('type', data.type)}>"
    return [head, *map(written, data.items), "</Data>"]


def _files(files: Iterable[File]) -> list[str]:
    return [_element("File", file.text, name=file.name, id=file.id) for file in files]


def _element(tag: str, text: str, **attributes: str) -> str:
    written = "".join(_attribute(name, value) for name, value in attributes.items() if value)
    return f"<{tag}{written}>{_text(text)}</{tag}>"


def _attribute(name: str, value: str) -> str:
    if not value:
        return ""
    escaped = _text(value).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")
    return f' {name}="{escaped}"'


def _text(text: str) -> str:
    if text.isalnum() and text.isascii():
        return text
    if not text.isprintable() and (illegal := ILLEGAL.search(text)):
        raise InvalidValue(text, f"text that XML can hold: {illegal[0]!r} is not in XML 1.0")
    escaped = (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\r", "&#13;")
    )
    if escaped.isascii():
        return escaped
    return escaped.encode("ascii", "xmlcharrefreplace").decode()
