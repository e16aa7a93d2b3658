"""Finding documents in a store, and making them out of the rows of its tables."""

from __future__ import annotations

from sssjob.errors import DamagedStore
from sssjob.store.engine import Engine, Row
from sssjob.store.identity import Identity
from sssjob.store.packing import NotUnpacked, Packing
from sssjob.store.stored import Stored

# The columns of a document's version, with who made it.
_VERSION = (
    'd.number, d.name, d.id, d.run, {0}.version, c.at, c."by", c.source, c.reason, '
    "{0}.deleted, {0}.dictionary, {0}.data"
)
PRESENT = (
    f"SELECT {_VERSION.format('d')} FROM document AS d JOIN change AS c ON c.number = d.change "
)
FORMER = (
    f"SELECT {_VERSION.format('f')} FROM former AS f JOIN document AS d ON d.number = f.document "
    "JOIN change AS c ON c.number = f.change "
)


def find(engine: Engine, identity: Identity | str, ending: str = "") -> Row | None:
    """The present version of a document; a text is an Id, see ``Store.get``."""
    if isinstance(identity, Identity):
        condition = "WHERE d.id = ? AND d.name = ? AND (d.run = ? OR ? IS NULL) "
        values: tuple[object, ...] = (identity.id, identity.name, identity.run, identity.run)
    else:
        condition, values = "WHERE d.id = ? ", (identity,)
    order = f"ORDER BY d.name, d.run DESC LIMIT 1{ending}"
    found = engine.fetch(PRESENT + condition + order, values)
    if not found and not isinstance(identity, Identity):
        of_job = "SELECT document FROM job WHERE id = ? ORDER BY document DESC LIMIT 1"
        numbers = engine.fetch(of_job, (identity,))
        found = [row for (number,) in numbers if (row := by_number(engine, number, ending))]
    return found[0] if found else None


def by_number(engine: Engine, number: int, ending: str = "") -> Row | None:
    """The present version of a document, by its number in the store."""
    found = engine.fetch(f"{PRESENT}WHERE d.number = ?{ending}", (number,))
    return found[0] if found else None


def stored(row: Row, packing: Packing, address: str) -> Stored:
    """A document of a row as ``PRESENT`` and ``FORMER`` give it. Raises ``DamagedStore``."""
    number, name, id_, run, version, at, by, source, reason, deleted, dictionary, data = row
    identity = Identity(name, id_, run)
    try:
        document = packing.unpack(dictionary, bytes(data))
    except NotUnpacked as error:
        said = f"{identity}, version {version}, is damaged: {error}"
        raise DamagedStore(address, said) from error
    return Stored(number, identity, document, version, at, by, source, reason, bool(deleted))
