"""What the file of a gateway says: where it listens, whom it believes, and how much it takes."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from sssjob import settings
from sssjob.client import GOLD, Client, transport
from sssjob.client.dialect import DIALECTS
from sssjob.client.transports import REPLY_LIMIT, missing
from sssjob.errors import BadKeyFile
from sssjob.gateway.answer_memory import AnswerRoom
from sssjob.gateway.figures import available
from sssjob.gateway.forwarding import ForwardingPlan
from sssjob.gateway.jobs import StoreJobs, jobs
from sssjob.gateway.pages import PagesPlan, pages
from sssjob.gateway.upstream import Behind
from sssjob.rmap.address import PORT, Address, address
from sssjob.rmap.keys import Algorithm, Key, Ring, read_key
from sssjob.rmap.responder import Policy
from sssjob.settings import SettingsTable

_WAIT = 60.0  # seconds for which a job that has ended waits for its Charge
_QUEUE = "forward.db"  # beside the configuration


@dataclass(frozen=True, slots=True)
class GatewayLimits:
    """How much a gateway takes.

    ``message`` is in bytes, ``memory`` too: what all connections together may hold of messages
    and of what it takes to answer them. ``arrival`` and ``idle`` are in seconds: for a request to
    come whole and for the next to begin; ``grace`` is for those being answered at the end.
    ``pending`` counts requests that wait for an answer, ``workers`` those that get it at once.
    All of it is for each of the ``processes``.
    """

    message: int = 16 << 20
    memory: int = 640 << 20  # enough for one message of the largest size
    connections: int = 512
    pending: int = 256
    workers: int = 4
    arrival: float = 20.0
    idle: float = 60.0
    grace: float = 30.0
    processes: int = 1


@dataclass(frozen=True, slots=True)
class TLS:
    """Files of TLS; who has no certificate by ``clients`` is not let in, if that is given."""

    listen: tuple[Address, ...]
    certificate: Path
    key: Path
    clients: Path | None = None

    def context(self) -> ssl.SSLContext:
        """What a server needs. Raises OSError (ssl.SSLError) for files that do not fit."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(self.certificate, self.key)
        if self.clients:
            context.load_verify_locations(self.clients)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


@dataclass(frozen=True, slots=True)
class GatewayConfig:
    """Everything that the file of a gateway says. ``observe`` is None on the same ports.

    ``window`` is in seconds: how far the clock of a client may be off that sends a nonce.
    """

    listen: tuple[Address, ...] = (Address("127.0.0.1"),)
    limits: GatewayLimits = field(default_factory=GatewayLimits)
    policy: Policy = field(default_factory=Policy)
    ring: Ring = field(default_factory=Ring)
    tls: TLS | None = None
    observe: Address | None = None
    window: int = 300
    nonce: bool = False
    jobs: StoreJobs = field(default_factory=StoreJobs)
    forward: ForwardingPlan = field(
        default_factory=lambda: ForwardingPlan(Client([]), Path(_QUEUE))
    )
    behind: Behind | None = None
    web: PagesPlan | None = None


def load(path: Path) -> GatewayConfig:
    """The configuration in a TOML file. Paths in it are relative to its directory.

    Raises ``BadSettings`` with every problem of the file and of the keys that it names, and
    OSError if the file cannot be read.
    """
    given = settings.read(path)
    root = given.root
    security = root.table("security")
    limits = _limits(root.table("limits"))
    config = GatewayConfig(
        _addresses(root, "listen", (Address("127.0.0.1"),)),
        limits,
        _policy(root),
        _ring(root),
        _tls(root),
        _observe(root.table("observe")),
        security.integer("window", 300, least=1, most=86_400),
        security.flag("nonce"),
        jobs(root, path.parent),
        _forward(root.table("forward"), path),
        _behind(root.table("behind"), limits),
        pages(root),
    )
    ring = config.ring
    if not given.problems and not (
        ring.shared or ring.own or ring.passwords or config.policy.unsigned
    ):
        security.problem("key", "no key that proves anybody", "a key here or in [actors.NAME]")
    if config.forward.client.transports and not config.jobs.store:
        root.table("forward").problem("to", "no store", "[store] address, where jobs are kept")
    if config.limits.processes > 1 and root.table("observe").flag("metrics"):
        root.table("observe").problem("metrics", "several processes", "one: [limits] processes = 1")
    if config.web is not None and not config.jobs.store:
        root.table("web").problem("listen", "no store", "[store] address, where jobs are kept")
    behind = config.behind
    if behind is not None and (behind.funds or behind.shadow) and not config.jobs.store:
        root.table("behind").problem("to", "no store", "[store] address, where jobs are kept")
    if behind is not None and behind.shadow and (behind.funds or config.forward.client.transports):
        said = (
            "no shadow together with funds or [forward], which also send jobs to the other server"
        )
        root.table("behind").problem("shadow", "a shadow", said)
    given.finish()
    return config


def forwarded(config: GatewayConfig, to: str) -> GatewayConfig:
    """A configuration that sends finished jobs to an address, as ``--forward`` says.

    Raises ValueError for what is no address, and beside a shadow.
    """
    if config.behind is not None and config.behind.shadow:
        raise ValueError(
            "--forward cannot be used with a shadow, which also sends jobs to the other server"
        )
    client = replace(config.forward.client, transports=[transport(to)])
    return replace(config, forward=replace(config.forward, client=client))


def _forward(table: SettingsTable, path: Path) -> ForwardingPlan:
    """What the file says of forwarding; without an address that is for ``--forward`` only."""
    client = _client(table)
    usual = ForwardingPlan(client, path)
    return ForwardingPlan(
        client,
        table.file("queue") or path.parent / _QUEUE,
        table.text("actor", usual.actor),
        table.seconds("every", usual.every, least=0.01),
        table.flag("charge"),
        table.number("give_up", usual.give_up),
        table.seconds("wait", _WAIT, least=0.0),
    )


def _behind(table: SettingsTable, limits: GatewayLimits) -> Behind | None:
    """The server behind, and what actors are called there.

    Its answers may take half as much memory as messages do, beside it, and each as many bytes as a
    message.
    """
    client, actors = _client(table, limits.message), table.table("actors")
    found = Behind(
        client, MappingProxyType({name: actors.text(name) for name in actors.names}),
        table.flag("funds"), table.flag("shadow"), room=AnswerRoom(limits.memory // 2),
    )  # fmt: skip
    if not client.transports:
        return None
    if client.key is None:
        table.problem("key", "nothing", "a file with the key that the server behind knows")
    return found


def _client(table: SettingsTable, limit: int = REPLY_LIMIT) -> Client:
    """What asks the server of a table; without an address it can ask nobody.

    ``limit`` is in bytes of an answer.
    """
    to = table.text("to")
    try:
        ways = [transport(to, limit=limit)] if to else []
    except ValueError:
        table.problem("to", repr(to), 'an address such as "gold.example.org:7112", or a URL')
        ways = []
    for advice in filter(None, map(missing, ways)):
        table.problem("to", "no library for HTTP", advice)
    dialect = DIALECTS[table.text("dialect", GOLD.name, among=DIALECTS)]
    return Client(ways, _key(table, "key", ""), dialect, tries=1)


def _limits(table: SettingsTable) -> GatewayLimits:
    usual = GatewayLimits()
    return GatewayLimits(
        table.integer("message", usual.message, least=1024, most=1 << 30),
        table.integer("memory", usual.memory, least=1024),
        table.integer("connections", usual.connections, least=1, most=100_000),
        table.integer("pending", usual.pending, least=1, most=100_000),
        table.integer("workers", usual.workers, least=1, most=1000),
        table.seconds("arrival", usual.arrival, least=0.05),
        table.seconds("idle", usual.idle, least=0.05),
        table.seconds("grace", usual.grace),
        table.integer("processes", usual.processes, least=1, most=256),
    )


def _policy(root: SettingsTable) -> Policy:
    usual, limits, security = Policy(), root.table("limits"), root.table("security")
    if security.flag("triple_des") and find_spec("cryptography") is None:
        security.problem("triple_des", "no library for it", "pip install 'sssjob[gold]'")
    return Policy(
        name=root.text("name", usual.name),
        rows=limits.integer("rows", usual.rows, least=1),
        reply_limit=limits.integer("reply", usual.reply_limit, least=1024),
        message_limit=limits.integer("message", usual.message_limit, least=1024, most=1 << 30),
        unsigned=security.flag("unsigned"),
        triple_des=security.flag("triple_des"),
    )


def _ring(root: SettingsTable) -> Ring:
    shared = _key(root.table("security"), "key", "")
    own, passwords, revoked = {}, {}, set()
    for name, actor in root.tables("actors"):
        if (key := _key(actor, "key", name)) is not None:
            own[name] = key
        if (password := _key(actor, "password", name)) is not None:
            passwords[name] = password
        if actor.flag("revoked"):
            revoked.add(name)
    return Ring(shared, MappingProxyType(own), MappingProxyType(passwords), frozenset(revoked))


def _key(table: SettingsTable, name: str, owner: str) -> Key | None:
    usual = (str(Algorithm.HMAC_SHA1),)
    chosen = table.texts("algorithms", usual, among=map(str, Algorithm)) or usual
    path = table.file(name)
    if path is None:
        return None
    try:
        secret = read_key(path)
    except OSError as error:
        table.problem(name, f"{path}: {error.strerror}", "a file with a key")
    except BadKeyFile as error:
        table.problem(name, str(error), "a file with a key that only its owner reads")
    else:
        return Key(secret, tuple(Algorithm(text) for text in chosen), owner)
    return None


def _tls(root: SettingsTable) -> TLS | None:
    if "tls" not in root:
        root.table("tls")
        return None
    table = root.table("tls")
    listen = _addresses(table, "listen", ())
    certificate, key, clients = table.file("certificate"), table.file("key"), table.file("clients")
    if not listen:
        table.problem("listen", "nothing", "a list of addresses")
    if certificate is None or key is None:
        table.problem("certificate", "only a part", "both certificate and key")
        return None
    tls = TLS(listen, certificate, key, clients)
    try:
        mode = key.stat().st_mode
        tls.context()
    except OSError as error:
        table.problem("certificate", str(error), "files of a certificate and its key")
    else:
        if mode & 0o077:
            table.problem("key", f"mode {mode & 0o777:04o}", "0600: only its owner may read a key")
    return tls


def _observe(table: SettingsTable) -> Address | None:
    if table.flag("metrics") and not available():
        table.problem("metrics", "no library for it", "pip install 'sssjob[gateway]'")
    text = table.text("listen")
    return _address(table, "listen", text) if text else None


def _addresses(table: SettingsTable, name: str, usual: tuple[Address, ...]) -> tuple[Address, ...]:
    if name not in table:
        table.texts(name)
        return usual
    found = (_address(table, name, text) for text in table.texts(name))
    return tuple(address for address in found if address)


def _address(table: SettingsTable, name: str, text: str) -> Address | None:
    try:
        return address(text)
    except ValueError:
        table.problem(name, repr(text), f'an address such as "127.0.0.1:{PORT}" or "[::1]:{PORT}"')
        return None
