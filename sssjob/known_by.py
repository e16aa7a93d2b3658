"""By what a job is known, and a run of it, whichever record or document tells of them: one rule.

Reports, ledgers, stores, audits and delivery ask here, so that one run is one run for all of them.
A job is known by its Id on its machine. A GlobalJobId of HTCondor holds for one job everywhere, as
two schedds count their jobs alike: where there is one, as the GlobalId or as the Id, no machine is
asked for. What scripts for APEL print has it as the Id, and the history has ``41.0``, the second
part of it. # decisions 672, 780

Of which user a job of HTCondor is counts, too, where two records tell it by names: anybody may
leave a report of such a job, and what one user leaves about the job of another is another run,
whatever ids it states. Of other systems a record with another user is a later one. That a job is
one of HTCondor is told by a GlobalJobId in one of the two: tasks of an array of Grid Engine have
Ids such as ``7.1``, too. # decisions 820, 826, 1200
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PART = r"[0-9]+\.[0-9]+"
OF_ONE = rf"[^#]+#{_PART}#[0-9]+"
_OF_ONE = re.compile(OF_ONE)
_IS_PART = re.compile(_PART)
_NUMBER = re.compile("[0-9]+")


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


# A record is compared with so many runs of one id and start, one after the other.
APART = 64
# What programs print where they know no user.
_NO_USER = "unknown", "none", "null"


def whose(user: str) -> str:
    """The user of a job as records can be compared; "" where others may tell the same otherwise.

    A number, the name of a certificate or a Kerberos instance is another word for a name that is
    not known here. Domains are left out, and so is the case of letters: some records have them.

    >>> whose("amy"), whose("Amy@example.org"), whose("EXAMPLE" + chr(92) + "amy")
    ('amy', 'amy', 'amy')
    >>> whose("1000"), whose("/DC=org/CN=Amy"), whose("CN=Amy,DC=org"), whose("None"), whose("")
    ('', '', '', '', '')
    """
    if "/" in user or "=" in user:
        return ""
    name = user.rpartition("\\")[2].partition("@")[0].strip(" ").lower()
    return "" if name in _NO_USER or _NUMBER.fullmatch(name) else name


def whose_sql(user: str) -> str:
    """The same of a column; NULL is not told."""
    name = f"lower(trim(split_part(split_part({user}, '\\', -1), '@', 1)))"
    none = ", ".join(f"'{each}'" for each in ("", *_NO_USER))
    return (
        f"CASE WHEN NOT regexp_matches({user}, '[/=]') AND {name} NOT IN ({none})"
        f" AND NOT regexp_full_match({name}, '[0-9]+') THEN {name} END"
    )


def owner(id_: str, global_id: str, user: str) -> str:
    """The user as it may tell the runs of a job apart (``are_of_others``), as of HTCondor.

    >>> owner("7.0", "", "Amy@example.org"), owner("7", "", "amy")
    ('amy', '')
    """
    return whose(user) if may_be_of_schedd(id_, global_id) else ""


def owner_sql(id_: str, global_id: str, user: str) -> str:
    """The same of columns; NULL is not told."""
    is_of_schedd = (
        f"regexp_full_match({id_}, '{_PART}') OR {of_one_sql(id_, global_id)} IS NOT NULL"
    )
    return f"CASE WHEN {is_of_schedd} THEN {whose_sql(user)} END"


# decision 1200
def are_of_others(owned_by: str, other: str, *, is_of_schedd: bool) -> bool:
    """Whether two records of an id and start are of two users (``owner``), who have a run each.

    ``is_of_schedd`` says that one of them has a GlobalJobId (``of_one``), so that the job is one of
    HTCondor, as an Id such as ``7.1`` does not tell: of other systems the user was mended.

    >>> are_of_others("amy", "bob", is_of_schedd=True), are_of_others("amy", "", is_of_schedd=True)
    (True, False)
    >>> are_of_others("amy", "bob", is_of_schedd=False)
    False
    """
    return is_of_schedd and "" != owned_by != other != ""


def may_be_of_schedd(id_: str, global_id: str) -> bool:
    """Whether a job may be one of HTCondor, as far as its ids tell; only a GlobalJobId says so.

    >>> may_be_of_schedd("7.0", ""), may_be_of_schedd("a", "s#7.0#18"), may_be_of_schedd("7", "")
    (True, True, False)
    """
    return is_part(id_) or bool(of_one(id_, global_id))


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


def submission(one: str, submit: str) -> str:
    """When a job was submitted, as it tells runs apart: its GlobalJobId says it.

    >>> submission("s#7.0#18", ""), submission("", "18")
    ('18', '18')
    """
    return one.rpartition("#")[2] or submit


def submission_sql(one: str, submit: str) -> str:
    """The same of columns, in seconds."""
    return f"coalesce(TRY_CAST(split_part({one}, '#', 3) AS BIGINT), {submit})"


def job_sql(machine: str, id_: str, global_id: str, names: tuple[str, str, str]) -> str:
    """The same of columns, as columns with these names; NULL is not stated."""
    one = of_one_sql(id_, global_id)
    told = (
        f"CASE WHEN {one} IS NULL THEN {machine} END",
        f"coalesce(split_part({one}, '#', 2), {id_})",
        one,
    )
    return ", ".join(f"{text} AS {name}" for text, name in zip(told, names, strict=True))


# How much a record tells of its run.
WAITS, BEGAN, ENDED = 1, 2, 3


def telling(
    start: object, end: object, wall: float | None, owned_by: str = ""
) -> tuple[int, float, bool]:
    """How much a record tells of its run: of two, the one with more counts, or else the later one.

    A run that ended may be corrected downwards; of one of which no end is told, more wall time is
    later. Of two alike the one tells more that names its ``owner``. # decisions 614, 670, 827, 1021

    >>> telling(None, None, 9) < telling(5, None, 7) < telling(5, None, 8) < telling(5, 12, 7)
    True
    >>> telling(None, None, None) < telling(None, None, 8) < telling(None, None, 9)
    True
    >>> telling(5, None, 9, "amy") < telling(5, 12, 7) < telling(5, 12, 6, "amy")
    True
    """
    if end is not None:
        return ENDED, -1, bool(owned_by)
    if start is None:
        return WAITS, wall or -1, False
    return BEGAN, -1 if wall is None else wall, bool(owned_by)


def telling_sql(start: str, end: str, wall: str) -> tuple[str, str]:
    """The first two of these of columns, as two of SQL; the third is that an owner is not NULL."""
    kind = f"CASE WHEN {end} IS NOT NULL THEN {ENDED} WHEN {start} IS NOT NULL THEN {BEGAN}"
    told = f"CASE WHEN {start} IS NULL THEN nullif({wall}, 0) ELSE {wall} END"
    return f"{kind} ELSE {WAITS} END", f"coalesce(CASE WHEN {end} IS NULL THEN {told} END, -1)"


def other_ids(id_: str, global_id: str, user: str = "") -> frozenset[str]:
    """The Ids by which other records tell of the same job, of this user (``whose``) if one is told.

    A document with another Id than these stays by itself, whatever GlobalId it states: so users who
    report of one job have a document each. # decision 777

    >>> sorted(other_ids("s#7.0#18", "")), sorted(other_ids("7.0", "s#7.0#18"))
    (['7.0'], ['s#7.0#18'])
    >>> other_ids("7.0@amy", "s#7.0#18"), other_ids("7.0@amy", "s#7.0#18", "bob")
    (frozenset(), frozenset())
    >>> sorted(other_ids("7.0@amy", "s#7.0#18", "amy"))
    ['7.0', 's#7.0#18']
    """
    one = of_one(id_, global_id)
    if not one:
        return frozenset()
    part = one.split("#")[1]
    known = {one, part, f"{part}@{user}"} if user else {one, part}
    return frozenset(known - {id_}) if id_ in known else frozenset()


def is_part(id_: str) -> bool:
    """Whether an Id may be the part of a GlobalJobId that stands for it on its schedd.

    >>> is_part("7.0"), is_part("7"), is_part("s#7.0#18")
    (True, False, False)
    """
    return bool(_IS_PART.fullmatch(id_))
