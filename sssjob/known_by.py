"""By what a job is known, and a run of it, whichever record or document tells of them: one rule.

Reports, ledgers, stores, audits and delivery ask here, so that one run is one run for all of them.
A job is known by its Id on its machine. A GlobalJobId of HTCondor holds for one job everywhere, as
two schedds count their jobs alike: where there is one, as the GlobalId or as the Id, no machine is
asked for. What scripts for APEL print has it as the Id, and the history has ``41.0``, the second
part of it. # decisions 672, 780
"""

from __future__ import annotations

import re
from typing import NamedTuple

OF_ONE = r"[^#]+#[0-9]+\.[0-9]+#[0-9]+"
_OF_ONE = re.compile(OF_ONE)


def of_one(id_: str, global_id: str) -> str:
    """The id among these that holds for one job everywhere, or "".

    >>> of_one("7.0", "schedd.example.org#7.0#1800000000"), of_one("7", "c/7/1800000000")
    ('schedd.example.org#7.0#1800000000', '')
    """
    for text in (global_id, id_):
        if "#" in text and _OF_ONE.fullmatch(text):
            return text
    return ""


def of_one_sql(id_: str, global_id: str) -> str:
    """The same of two columns; NULL is none."""
    return "CASE {} END".format(
        " ".join(
            f"WHEN contains({name}, '#') AND regexp_full_match({name}, '{OF_ONE}') THEN {name}"
            for name in (global_id, id_)
        )
    )


class KnownJob(NamedTuple):
    """A job: its id on its machine, and the one that holds everywhere; "" is not stated.

    Of two records of a job nothing differs that both state.
    """

    machine: str
    id: str
    one: str = ""


def job_of(machine: str, id_: str, global_id: str) -> KnownJob:
    """What tells a job from all others.

    >>> [*job_of("c", "7", "c/7/18")], [*job_of("site", "s#7.0#18", "")]
    (['c', '7', ''], ['', '7.0', 's#7.0#18'])
    """
    one = of_one(id_, global_id)
    return KnownJob("", one.split("#")[1], one) if one else KnownJob(machine, id_)


def job_sql(machine: str, id_: str, global_id: str, names: tuple[str, str, str]) -> str:
    """The same of columns, as columns with these names; NULL is not stated."""
    one = of_one_sql(id_, global_id)
    told = (
        f"CASE WHEN {one} IS NULL THEN {machine} END",
        f"coalesce(split_part({one}, '#', 2), {id_})",
        one,
    )
    return ", ".join(f"{text} AS {name}" for text, name in zip(told, names, strict=True))


def other_ids(id_: str, global_id: str) -> frozenset[str]:
    """The Ids by which other records tell of the same job.

    A document with another Id than these stays by itself, whatever GlobalId it states: so users who
    report of one job have a document each. # decision 777

    >>> sorted(other_ids("s#7.0#18", "")), sorted(other_ids("7.0", "s#7.0#18"))
    (['7.0'], ['s#7.0#18'])
    >>> other_ids("7.0@amy", "s#7.0#18")
    frozenset()
    """
    one = of_one(id_, global_id)
    known = frozenset((one, one.split("#")[1])) if one else frozenset()
    return known - {id_} if id_ in known else frozenset()
