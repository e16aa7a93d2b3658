"""What the file of a gateway says of its pages: where they are, and who is let in how."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from sssjob.errors import BadKeyFile
from sssjob.features.answers import token_digest
from sssjob.rmap.address import Address, address
from sssjob.rmap.keys import read_key
from sssjob.settings import SettingsTable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_STANDARD = frozenset(("authorization", "cookie", "host", "origin", "content-type", "accept"))
_SHORTEST = 16  # characters of a token


@dataclass(frozen=True, slots=True)
class PagesPlan:
    """The pages of a gateway: on which address, and by which ``names`` they are asked.

    ``header`` is what a reverse proxy at one of the ``proxies`` tells the name of its user by.
    ``tokens`` are those of programs, each by its digest, with the actor that it is for.
    An actor may ask ``rate`` times a minute. ``queues`` is a directory of queue states, to show.
    """

    listen: Address
    names: tuple[str, ...]
    title: str = "jobs"
    header: str = ""
    proxies: tuple[Network, ...] = ()
    tokens: Mapping[bytes, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    rate: int = 600
    queues: Path | None = None

    def at(self, port: int) -> PagesPlan:
        """The same where it listens: a free port, where any was wanted, is in its own name."""
        if self.listen.port or self.names != (str(self.listen),):
            return self
        listen = replace(self.listen, port=port)
        return replace(self, listen=listen, names=(str(listen),))


def pages(root: SettingsTable) -> PagesPlan | None:
    """What the table web says; None without one. Tokens stand with the actors."""
    tokens = _tokens(root)
    table = root.table("web")
    text = table.text("listen")
    names = table.texts("names")
    header, networks = table.text("header"), table.texts("proxies")
    queues = table.file("queues")
    title, rate = table.text("title", "jobs"), table.integer("rate", 600, least=1, most=1_000_000)
    if "web" not in root:
        return None
    if not text:
        table.problem("listen", "nothing", 'an address such as "127.0.0.1:8080"')
        return None
    try:
        listen = address(text)
    except ValueError:
        table.problem("listen", repr(text), 'an address such as "127.0.0.1:8080"')
        return None
    found = (_network(table, each) for each in networks)
    proxies = tuple(each for each in found if each is not None)
    if header and (not _HEADER.fullmatch(header) or header.lower() in _STANDARD):
        table.problem("header", repr(header), "a header of the proxy alone, such as X-Remote-User")
    if bool(header) != bool(networks):
        said = "both header and proxies: whoever else sends the header is not believed"
        table.problem("header" if header else "proxies", "only one of them", said)
    if not header and not tokens:
        said = "header and proxies, or a token in [actors.NAME]"
        table.problem("header", "no way to be let in", said)
    return PagesPlan(
        listen, names or (str(listen),), title, header, proxies, MappingProxyType(tokens), rate,
        queues,
    )  # fmt: skip


def _tokens(root: SettingsTable) -> dict[bytes, str]:
    tokens: dict[bytes, str] = {}
    for name, actor in root.tables("actors"):
        path = actor.file("token")
        if path is None:
            continue
        try:
            text = read_key(path).decode()
        except OSError as error:
            actor.problem("token", f"{path}: {error.strerror}", "a file with a token")
        except UnicodeDecodeError as error:
            found = f"{path}: byte {error.start + 1} is no UTF-8"
            actor.problem("token", found, "a file with a token that only its owner reads")
        except BadKeyFile as error:
            actor.problem("token", str(error), "a file with a token that only its owner reads")
        else:
            if len(text) < _SHORTEST:
                actor.problem("token", f"{len(text)} characters", f"at least {_SHORTEST}")
            elif token_digest(text) in tokens:
                actor.problem("token", "that of another actor", "a token of its own")
            tokens[token_digest(text)] = name
    return tokens


def _network(table: SettingsTable, text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        table.problem("proxies", repr(text), 'addresses such as "127.0.0.1" or "192.0.2.0/28"')
        return None
