"""What the columns of a store say of a plan, document by document, to be held against the truth."""

import random
from itertools import groupby
from operator import itemgetter

from sssjob.store.access_paths import StoreMoment
from sssjob.store.rows import number
from sssjob.store.sql import POSTGRESQL

_FEWER = 4  # PostgreSQL is asked fewer: what columns say is the same there, only its SQL is another


def filled(kept, truth):
    """Put the documents of a truth into a store instead of all that it has; their numbers."""
    with kept.engine.transaction():
        for table in ("job", "document", "former"):
            kept.engine.fetch(f"DELETE FROM {table}")
    kept.load(b"\n".join(truth.given))
    numbers = kept.engine.fetch("SELECT number FROM document ORDER BY number")
    assert len(numbers) == len(truth.given)
    return [number_ for (number_,) in numbers]


def said_of(reader, dialect, how, *, effective=False):
    """What columns say, by the number of the document: texts, numbers or how many; None: unsure.

    A document that is not in it has nothing that is found. None where all documents are read.
    """
    way = StoreMoment(reader, dialect).access(how, effective=effective)
    if way.reads_all:
        return None
    statement = way.statement(how.texts or how.numbers or "")
    found = {}
    for document, rows in groupby(reader.fetch(*statement), itemgetter(0)):
        told = list(rows)
        if not all(row[1] for row in told):
            found[document] = None
        elif how.texts:
            found[document] = [text for row in told for text in _split(row[2])]
        else:
            found[document] = [row[2] for row in told]
    return found


def agree(said, true):
    """Whether what columns say of a document is true."""
    if said and isinstance(said[0], float):
        return said == [number(each) for each in true]
    return said == true if said and said[0] is not None else len(said) == len(true)


def _split(text):
    return text[1:-1].split("\x1f") if text.startswith("\x1f") else [text]


def some(kept, path, predicates, share):
    """Some of the questions about a path, one in ``share``: the same ones each time."""
    asked = [f"//Job[{each}]/Id" for each in predicates]
    fewer = _FEWER if kept.engine.dialect is POSTGRESQL else 1
    return random.Random(path).sample(asked, len(asked) // share // fewer)
