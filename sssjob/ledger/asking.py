"""Which runs of a ledger an XPath may find something in, by their columns.

Strategy. A job object of each of 10^8 rows, asked one by one, takes an hour; a comparison of two
columns takes seconds. A store has the same trouble, and its ``pushdown`` turns XPath into bounds on
its columns. It should not be written a second time.

The idea is that a ledger shows the columns of a store: those of the job object that ``jobs`` makes
of a row, as SQL over the columns of the row. So the plan of a store is a plan of a ledger. Only
what may hold is asked of the columns; the rows that are left become job objects, and the query is
asked of these.

Where a query wants an Id, the filters of ids (``ids``) tell the rows; of others nothing is read.

Why it is right: a plan leaves out only rows in which nothing can be found, of all that are not
``odd``. A row whose job object has more than such columns tell (fractions, numbers that no double
holds) is odd here, too. A test holds that queries find what they find in the documents of all rows.

# decision 433
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from sssjob import spec
from sssjob.ledger import damage, engine, jobs, lookup
from sssjob.ledger.columns import EXACT, SUMMED, USED_GPUS
from sssjob.ledger.ledger import Ledger
from sssjob.ledger.manifest import DataFile, Manifest, together
from sssjob.query import Query, Question, attributes, elements, reaches
from sssjob.query.hints import attribute_names
from sssjob.store import columns
from sssjob.store.columns import ODD, READING, SEPARATOR, ColumnType, Says
from sssjob.store.condition import And, Compare, Condition, Op, Or, Prefix
from sssjob.store.condition import columns as asked_columns
from sssjob.store.pushdown import plan
from sssjob.store.sql import SqlDialect, quoted, sql

if TYPE_CHECKING:
    from sssjob.model import Job

_ROWS = 2_000_000  # of files that are asked at once
_EXACT = 2**53  # whole numbers up to here are doubles
_DUCKDB = SqlDialect(
    "?", "strpos({0}, {1})", "{0} LIKE {1} ESCAPE '!'",
    (("!", "!!"), ("%", "!%"), ("_", "!_"), ("*", "%"), ("?", "_")),
    "{0} = trunc({0})", "strftime(make_timestamp({0} * 1000000), '%Y-%m')", "floor({0})",
)  # fmt: skip

_WALL, _NODES = SUMMED["wall"], SUMMED["nodes"]
_SPREAD = f"({_WALL} <> 0 AND {_NODES} IS NOT NULL)"
_AMOUNTS = {
    "CpuDuration": SUMMED["cpu"],
    **{f"Requested/{name}": column for name, column in jobs.REQUESTED.items()},
    "Requested/Memory": SUMMED["asked"],
    "Delivered/Duration": _WALL,
    "Delivered/Processors": SUMMED["processors"],
    "Delivered/NodeCount": f"CASE WHEN {_SPREAD} THEN {_NODES} // {_WALL} ELSE used_nodes END",
    "Delivered/Memory": SUMMED["memory"],
}
# The memory of a job object: its unit, and its attributes.
_MEMORY = {
    "Requested/Memory": (jobs.ASKED_UNIT, jobs.ASKED_MEMORY),
    "Delivered/Memory": (jobs.USED_UNIT, jobs.USED_MEMORY),
}
_OF_BLOCK = {
    "Requested": [*jobs.REQUESTED.values(), SUMMED["asked"], SUMMED["asked_gpus"]],
    "Delivered": [_WALL, SUMMED["processors"], _NODES, "used_nodes",
                  SUMMED["memory"], SUMMED["gpus"], USED_GPUS, SUMMED["energy"]],
}  # fmt: skip
_NUMBERS = [
    *(name for name, path in jobs.OWN.items() if columns.is_number(path)),
    SUMMED["cpu"],
    *dict.fromkeys(name for block in _OF_BLOCK.values() for name in block),
]
_QUEUE = f'CASE WHEN {jobs.NEVER} THEN NULL ELSE "{jobs.QUEUE}" END'
_OF_BLOCK["Delivered"] += [_QUEUE, *(f'"{name}"' for name in jobs.GIVEN if name != jobs.QUEUE)]
# What a row has that its columns, as a store has them, do not tell.
_IS_ODD = (
    f"{EXACT} IS NOT NULL OR ({_SPREAD} AND {_NODES} % {_WALL} <> 0) OR "
    f"greatest({', '.join(f'abs({name}::HUGEINT)' for name in _NUMBERS)}) > {_EXACT}"
)


def _shown() -> dict[str, str]:
    """The columns of a store, as SQL over those of a ledger; NULL where no job has such a value."""
    own = {
        **{path: f'"{name}"' for name, path in jobs.OWN.items()},
        **{f"Delivered/{element}": f'"{name}"' for name, element in jobs.GIVEN.items()},
        "Delivered/Queue": _QUEUE, "Queue": f'CASE WHEN {jobs.NEVER} THEN "{jobs.QUEUE}" END',
    }  # fmt: skip
    found = {column.name: "NULL" for column in columns.COLUMNS}
    for column in columns.COLUMNS:
        name = own.get(column.path) or _AMOUNTS.get(column.path)
        if name and column.says is Says.TEXT:
            found[column.name] = f"({name})::VARCHAR"
        elif name and column.says in (Says.LOW, Says.BYTES):
            unit, _ = _MEMORY.get(column.path, (1, {}))
            found[column.name] = f"({name})::DOUBLE"
            if column.says is Says.LOW and unit > 1:
                found[column.name] += f" / {unit}"  # exact: a power of 2
        elif column.says is Says.COUNT:
            given = " OR ".join(f"{each} IS NOT NULL" for each in _OF_BLOCK.get(column.path, ()))
            found[column.name] = f"(CASE WHEN {given} THEN 1 ELSE 0 END)" if given else "0"
        elif (memory := column.path.rpartition("/@"))[0] in _MEMORY:
            told = _MEMORY[memory[0]][1].get(memory[2])
            if told is not None:
                amount = _AMOUNTS[memory[0]]
                found[column.name] = f"(CASE WHEN {amount} IS NOT NULL THEN '{told}' END)"
        if found[column.name] == "NULL":
            kind = {ColumnType.TEXT: "VARCHAR", ColumnType.NUMBER: "DOUBLE"}.get(column.kind)
            found[column.name] = f"NULL::{kind or 'BIGINT'}"
    return {
        **found,
        columns.PLACE: "0", columns.KIND: f"'{columns.JOB}'", READING: "0",
        ODD: f"(CASE WHEN {_IS_ODD} THEN {columns.ALL} ELSE 0 END)",
    }  # fmt: skip


SHOWN = _shown()


# What the job object of a row may have.
_TOLD = frozenset((
    "Jobs", "Job", *_OF_BLOCK, *jobs.OWN.values(), *jobs.GIVEN.values(), "Resource",
    *(path.rpartition("/")[2] for path in _AMOUNTS),
))  # fmt: skip


_ATTRIBUTES = chain(jobs.ENERGY, *jobs.LIMIT.values(), *(told for _, told in _MEMORY.values()))
_UNTOLD = attribute_names() - {*_ATTRIBUTES}


def untold(question: Question) -> list[str]:
    """What a question asks for of which no run of a ledger says anything.

    Names of the standard, and what may have any name, as ``*`` does.
    """
    known = spec.names()
    found = [name for name in elements(question) if name in known and name not in _TOLD]
    found += (f"@{name}" for name in attributes(question) if name in _UNTOLD)
    return [*found, *(["other values than those for reports"] if reaches(question) else ())]


def narrows(question: Question) -> bool:
    """Whether columns leave out rows in which a question finds nothing.

    One that has one answer for all documents is asked of all of them.
    """
    if not isinstance(question, Query) and question.has_one_answer:
        return False
    return not asked_columns(plan(question).bounds.maybe) <= {columns.KIND, columns.PLACE}


def found(ledger: Ledger, question: Question) -> Iterator[Job]:
    """The job objects of the runs in which a question may find something, in their order.

    Where there is none it is the first run, since a source without a job is refused. Raises
    ``UnusableStore``, and ``DamagedStore`` for a file that is torn, gone or changed.
    """
    now = ledger.manifest()
    whole, faults = ledger.present(now)
    if faults:
        raise faults[0]
    planned = plan(question)
    wanted = ids_of(planned.bounds.maybe)
    if wanted is not None:
        told = lookup.with_ids(ledger.home, now, whole, sorted(wanted))
        answers = _jobs_at(ledger, now, told)
    else:
        condition = planned.candidates(effective=False)
        answers = chain.from_iterable(
            _of_files(ledger, now, some, condition) for some in together(whole, _ROWS)
        )
    first = next(answers, None)
    yield from islice(jobs.jobs(ledger), 1) if first is None else chain((first,), answers)


def _of_files(
    ledger: Ledger, now: Manifest, files: Sequence[DataFile], condition: Condition
) -> Iterator[Job]:
    asked = sql(condition, _DUCKDB)
    shown = ", ".join(f"{SHOWN[name]} AS {quoted(name)}" for name in asked_columns(condition))
    text = f"SELECT file, row FROM (SELECT file, row, {shown} FROM live) WHERE {asked.text}"
    damage.refuse(ledger.home, files)
    with ledger.connected(now, files) as connection:
        places = engine.rows_of(connection, text, [*asked.values])
    yield from _jobs_at(ledger, now, places)


def _jobs_at(ledger: Ledger, now: Manifest, places: Iterable[tuple[str, int]]) -> Iterator[Job]:
    return (jobs.job(tuple(row.values())) for row in lookup.rows_at(ledger.home, now, places))


def ids_of(condition: Condition) -> frozenset[str] | None:
    """The ids of which a row has one where a condition holds; None where it may have any.

    The Id of a job object is what its row has, also of an odd row. An id that stands for several,
    as those of stores do, is none of a row.
    """
    match condition:
        case Compare("id", Op.EQ, str(text)):
            return frozenset((text,))
        case Prefix("id", text) if text == SEPARATOR:
            return frozenset()
        case And(parts):
            found = [some for part in parts if (some := ids_of(part)) is not None]
            return min(found, key=len) if found else None
        case Or(parts):
            every = [ids_of(part) for part in parts]
            known = [some for some in every if some is not None]
            return frozenset().union(*known) if len(known) == len(every) else None
    return None
