"""Addresses of servers, as people write them."""

from __future__ import annotations

from dataclasses import dataclass

from sssjob.addresses import is_host

PORT = 7112  # that SSSRMAP has by default


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, or is. Port 0 listens on one that is free."""

    host: str
    port: int = PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address(text: str) -> Address:
    """An address from ``host``, ``host:port`` or ``[v6]:port``. Raises ValueError.

    >>> address("[::1]:7113"), address("gold.example.org").port
    (Address(host='::1', port=7113), 7112)
    """
    host, colon, port = text.rpartition(":")
    if text.startswith("[") and text.endswith("]"):
        host, colon, port = text, "", ""
    elif not colon:
        host = text
    if host.startswith("["):
        if not host.endswith("]"):
            raise ValueError(text)
        host = host[1:-1]
    elif ":" in host:
        raise ValueError(text)
    if not is_host(host) or (colon and not (port.isascii() and port.isdigit() and len(port) < 6)):
        raise ValueError(text)
    if colon and int(port) > 65535:
        raise ValueError(text)
    return Address(host, int(port) if colon else PORT)
