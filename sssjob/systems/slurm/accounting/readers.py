"""Readers of what Slurm prints in its columns: texts in, properties out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial

from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.model import Property
from sssjob.records.readers import any_of, extension, is_one_name, listed
from sssjob.records.record import Found, Instead, in_bulk, varied
from sssjob.records.texts import BulkColumn, Coded, Plain, SideBySide, WholeNumbers
from sssjob.records.values import is_whole
from sssjob.resource_names import LICENSE
from sssjob.systems.slurm import states, words
from sssjob.systems.slurm.accounting import values
from sssjob.systems.slurm.unset import NO_VALUE
from sssjob.systems.slurm.words import constraint, expand, is_range, is_sound_range

TYPE = "Slurm"  # of Extensions


noted = partial(extension, TYPE)  # the attributes of what the standard has no property for


def _global_ids(column: BulkColumn) -> Plain | None:
    """``global_id`` of columns of which none has an empty text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, SideBySide):
        return None
    cluster, raw, id, submitted = column.columns
    told = raw if isinstance(raw, Plain) else id
    if not (
        isinstance(cluster, Coded)
        and isinstance(told, Plain)
        and isinstance(submitted, WholeNumbers)
        and "" not in cluster.values
        and told.sizes().min() > 0
        and (raw is told or (isinstance(raw, Coded) and raw.values == [""]))
    ):
        return None
    number = told.array
    if told is raw:
        if not isinstance(id, Plain):
            return None
        number = pc.if_else(pc.utf8_is_decimal(id.array), id.array, number)
    machine = pa.array(cluster.values, pa.string()).take(pa.array(cluster.codes))
    times = pa.array(submitted.numbers).cast(pa.string())
    return Plain(pc.binary_join_element_wise(machine, number, times, "/"))


@in_bulk(_global_ids)
def global_id(cluster: str, raw: str, id: str, submitted: str) -> Found:
    """cluster/number/time of submission: ids begin anew, and a requeued job is submitted anew.

    An id that is a number is that of the job, whatever JobIDRaw says, which may be cut short.

    >>> global_id("c", "410", "4102", "100"), global_id("c", "4102", "4100_2", "100")
    ('c/4102/100', 'c/4102/100')
    """
    if not cluster:
        return None
    number = id if id.isdecimal() else raw or id
    return "/".join(filter(None, (cluster, number, submitted)))


def _raw_ids(column: BulkColumn) -> BulkColumn | None:
    """``raw_id`` of columns of which none has an empty text; "" is none."""
    import pyarrow.compute as pc

    raw, id = column.columns if isinstance(column, SideBySide) else (None, None)
    if not (isinstance(raw, Plain) and isinstance(id, Plain) and id.sizes().min() > 0):
        return None
    return Plain(pc.if_else(pc.equal(raw.array, id.array), "", raw.array))


@in_bulk(_raw_ids)
def raw_id(raw: str, id: str) -> Found:
    """The plain number of a job, where its id is another."""
    return raw if raw and id and raw != id else None


ENDED, BEGUN = "ended", "begun"  # how far a job is; "" for one that was not started


def state(text: str, reason: str, progress: str) -> Found:
    """A state in the standard's words; a reason tells why a job waits."""
    if not text:
        raise Instead(text, "a known state", (), "the job has none")
    standard, word = states.state(text)
    found = tuple(_state(text, reason, _standard(standard, progress)))
    if not standard:
        raise Instead(word, "a known state", found, f"taken for {found[0].text}")
    return found


def _standard(known: str, progress: str) -> str:
    """The standard's word; of a word that nobody knows how far the job is tells it."""
    if progress == ENDED:
        return "Completed"
    return known or ("Running" if progress == BEGUN else "Idle")


def _state(text: str, reason: str, standard: str) -> Iterator[Property]:
    standard = states.held(standard, reason)
    yield Property("State", standard)
    if standard == "Hold":
        yield Property("Hold", "System" if "Admin" in reason else "User")
    if standard in ("Idle", "Hold") and reason not in NO_VALUE:
        yield Property("StatusMessage", reason)
    elif standard == "Completed" and (word := states.state(text).word) != "COMPLETED":
        yield Property("StatusMessage", word)  # whoever cancelled it stands in the Extension


def exit_code(text: str, over: str) -> Found:
    """The code; 0:0 of what has not run to an end is no code."""
    found = values.exit_code(text)
    return None if found is None or (found == (0, 0) and not over) else str(found[0])


def signal(text: str) -> Found:
    """The signal beside the code."""
    found = values.exit_code(text)
    return str(found[1]) if found and found[1] else None


def worded(text: str) -> Found:
    """Text, unless it is one of the words for no value."""
    return None if text in NO_VALUE else text


def nodes(text: str) -> Found:
    """One name, a Range where the list is one ``prefix[..]``, else a List of every name."""
    if text in NO_VALUE:
        return None
    if text.isalnum():
        return text
    found = (Property("Node", text, {"aggregation": "Range"}),)
    if is_sound_range(text):
        return found
    names = expand(text, values.NODE_LIMIT)  # which refuses what is none
    if is_range(text):
        return found
    return listed(names) if names else None


def unwanted_nodes(text: str) -> Found:
    """The same nodes, of which none may be given."""
    found = nodes(text)
    if found is None:
        return None
    items = (Property("Node", found),) if isinstance(found, str) else found
    return tuple(item.having(op="NE") for item in items)


def too_long(text: str) -> Found:
    """A list of more than ``NODE_LIMIT`` names, as it was printed."""
    if "[" not in text and text.count(",") < values.NODE_LIMIT:
        return None
    return text if not is_range(text) and expand(text, values.NODE_LIMIT) is None else None


def features(text: str) -> Found:
    """Features that are all needed and choices among some; nothing for any other expression."""
    parts = constraint(text)
    if not parts:
        return None
    if all(len(part) == 1 for part in parts):
        return listed([name for (name,) in parts], "Feature")
    return tuple(found for part in parts for found in any_of("Feature", part))


def constraints(text: str) -> Found:
    """An expression that is no list of features and choices, in its own words."""
    return text if constraint(text) is None else None


def requested_memory(text: str, *counts: str) -> Found:
    """MB for the whole job; what was requested for a CPU or a node, times their number.

    ``counts`` are texts of that number, three of CPUs and three of nodes: the first one above 0
    counts, so that what was requested comes before what was given. An odd one costs itself.
    """
    return _in_all(values.requested_memory(text), counts)


def flagged_memory(text: str, *counts: str) -> Found:
    """The same of sacct, which may have left the flag of memory for each CPU in the number."""
    return _in_all(values.requested_memory(text, flagged=True), counts)


# Where the counts of a record stand.
COUNTS = ("ReqCPUS", "NCPUS", "AllocCPUS", "ReqNodes", "NNodes", "AllocNodes")


def _in_all(found: values.PerUnit | None, counts: tuple[str, ...]) -> Found:
    if found is None:
        return None
    told = {"c": counts[:3], "n": counts[3:], "": ("1",)}[found.per]
    times = int(next(filter(None, map(_count, told)), "0"))
    return units.decimal(found.megabytes * times) if times else None


def _count(text: str) -> str | None:
    """A count; one that cannot be read is told by its own row and counts nothing here.

    Each of ``COUNTS`` has a row, or stands behind one that counts or refuses the record.
    """
    try:
        return values.count(text)
    except InvalidValue:
        return None


def per_unit(text: str) -> Found:
    """Memory that was requested for each CPU or node, as it was printed."""
    found = values.requested_memory(text)
    return text if found and found.per else None


def flagged_per_unit(text: str) -> Found:
    """The same of sacct."""
    found = values.requested_memory(text, flagged=True)
    return text if found and found.per else None


def devices(text: str) -> Found:
    """The resources of a TRES list that have no property of their own, energy left out."""
    return _resources(values.resources(text))


def allocated(text: str, *measured: str) -> Found:
    """The resources of a TRES list, energy included, unless a ``measured`` text tells that.

    ConsumedEnergyRaw and ConsumedEnergy do; they are empty or 0 where they do not know it.
    """
    joules = None if any(map(_told, measured)) else values.tres(text).get("energy")
    found = _resources(values.resources(text))
    return (*found, *_energy(joules)) if joules else found


def _told(measured: str) -> bool:
    return measured not in NO_VALUE and measured.strip("0.KMGT") != ""


def allocated_processors(text: str) -> Found:
    """The processors of a TRES list; one that cannot be read is told with its resources."""
    return values.in_all("cpu", text)


def allocated_nodes(text: str) -> Found:
    """The nodes likewise."""
    return values.in_all("node", text)


_LOST = "part of the record may be lost"


# decision 794
def as_given(text: str, processors: str, nodes: str) -> Found:
    """Nothing. Raises ``Instead`` for a TRES list with other processors or nodes than are told.

    >>> as_given("cpu=16,node=2", "16", "2"), as_given("cpu=16", "", "Unknown")
    (None, None)
    """
    given = f",{text},"
    for name, told in (("cpu", processors), ("node", nodes)):
        if f",{name}={told}," in given:  # as nearly always
            continue
        if is_whole(told) and values.in_all(name, text) not in (None, told):
            raise Instead(text, f"resources with {name}={told}, as others tell", (), _LOST)
    return None


@varied
def as_long(text: str, elapsed: str, processors: str) -> Found:
    """Nothing. Raises ``Instead`` for processor seconds that are not the product of these two.

    >>> as_long("400", "100", "4"), as_long("400", "00:01:40", "4"), as_long("400", "", "4")
    (None, None, None)
    """
    try:
        seconds = elapsed if is_whole(elapsed) else values.clock_seconds(elapsed) or ""
    except InvalidValue:  # which is told
        return None
    if all(map(is_whole, (text, seconds, processors))) and (
        int(text) != (product := int(seconds) * int(processors))
    ):
        raise Instead(text, f"{product}, the elapsed time of {processors} CPUs", (), _LOST)
    return None


def listed_megabytes(text: str) -> Found:
    """The memory of a TRES list in MB."""
    try:
        value = values.tres(text).get("mem")
    except InvalidValue:  # told with its resources
        return None
    return units.decimal(Fraction(value) / (1 << 20)) if value else None


def total_memory(text: str) -> Found:
    """The sum over the tasks of a step of what each had at most, in KB."""
    value = values.tres(text).get("mem")
    return None if value is None else values.in_kilobytes(value)


def generic(text: str) -> Found:
    """The resources of the columns that versions before 20.11 had."""
    return _resources(values.generic_resources(text))


def licenses(text: str) -> Found:
    """``name:count`` or ``name``, separated by commas."""
    found = None if text in NO_VALUE else words.licences(text)
    return _resources((LICENSE, name, number) for name, number in found) if found else None


def other_licenses(text: str) -> Found:
    """Anything else, as it is: a choice of licenses, for example."""
    return text if text not in NO_VALUE and words.licences(text) is None else None


def reservation(text: str) -> Found:
    """The name of one reservation."""
    return text if text not in NO_VALUE and is_one_name(text) else None


def reservations(text: str) -> Found:
    """Several of which any will do, as they are, and what is no name."""
    return text if text not in NO_VALUE and not is_one_name(text) else None


def energy(text: str) -> Found:
    """Joules; 0 is what sacct prints where nothing measures them. K is 1000 here."""
    if text in NO_VALUE:
        return None
    number, power = text.rstrip("KMGT"), "KMGT".find(text[-1]) + 1
    value = words.size(number)
    return _energy(value * 1000**power) if value else None


def derived(text: str) -> Found:
    """The worst exit code of any step, where one failed."""
    return None if values.exit_code(text) in (None, (0, 0)) else text


@varied
def opened_file(text: str, job: str, raw: str, name: str, user: str) -> Found:
    """The name of a file, which sacct has as it was submitted, as Slurm opens it.

    >>> opened_file("/d/%A_%a-%j.out", "25_3", "28", "n", "amy")
    '/d/25_3-28.out'
    """
    if "%" not in text and "\\" not in text:
        return text or None
    array, mark, task = job.partition("_")
    own = raw or job
    known = {
        "j": own if own.isdecimal() else "", "A": array if array.isdecimal() else "",
        "a": task if mark and task.isdecimal() else "", "x": name, "u": user,
    }  # fmt: skip
    return words.opened_name(text, known)


def restarts(text: str) -> Found:
    """The number of starts: one more than of restarts."""
    value = values.integer(text)
    return None if value is None else str(int(value) + 1)


def _energy(joules: words.Amount) -> tuple[Property, ...]:
    if joules >= _UNSET:
        return ()
    amount = str(units.rounded(joules))
    return (Property("Resource", amount, {"name": "Energy", "units": "J"}),)


def _resources(found: Iterable[tuple[str, str, str]]) -> tuple[Property, ...]:
    return tuple(Property("Resource", amount, _named(name, kind)) for name, kind, amount in found)


def _named(name: str, kind: str) -> dict[str, str]:
    return {"name": name, "type": kind} if kind else {"name": name}


_UNSET = 1 << 63  # sacct prints an unset counter as 2^64 - 2
