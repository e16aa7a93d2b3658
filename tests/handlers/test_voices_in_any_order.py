"""A run costs what all said of its job and of its runs, whoever said it first.

The model is one of its own: it knows who said what, and never when.
"""

import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob import store, units
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

FACTORS = {
    "User": {"amy": 2, "bob": 3, "eve": 17}, "Project": {"p": 5, "q": 7, "r": 19},
    "QualityOfService": {"low": 11, "high": 13, "best": 23},
    "Machine": {"big": 29, "small": 31, "tiny": 37},
}  # fmt: skip
SUBMITTED_BY = ("User", "Project")
RECORDED = (*SUBMITTED_BY, "QualityOfService")  # what a record delivers a run with
RATES = ChargeRates(
    {"Processors": Fraction(1)},
    {name: {value: Fraction(rate) for value, rate in rates.items()}
     for name, rates in FACTORS.items()},
)  # fmt: skip
FIRST, SECONDS, RUNS = 1_700_000_000, 100, (1, 2, 3)
AMOUNTS = f"<Processors>1</Processors><WallDuration>{SECONDS}</WallDuration>"
HEAD = "JobID|User|Account|QOS|Submit|Start|End|ElapsedRaw|NCPUS|State"


class Voice(NamedTuple):
    """Who says something, of which run, and by which names; 0 is the job, and so every run."""

    how: str
    run: int = 0
    names: Mapping[str, str] = MappingProxyType({})


def elements(values):
    return "".join(f"<{name}>{text}</{name}>" for name, text in values.items())


def requested(voice):
    return f"<Requested>{elements(voice.names)}</Requested>"


def marks(run):
    begun = FIRST + 1000 * run
    times = {"SubmitTime": begun, "StartTime": begun + 10, "EndTime": begun + 10 + SECONDS}
    return elements(times)


class Site:
    """A store behind a gateway, of which each voice asks something."""

    def __init__(self, jobs, *, is_group):
        self.jobs, self.is_group = jobs, is_group

    def create(self, voice):
        self._create(elements(voice.names))

    def create_as_requested(self, voice):
        self._create(requested(voice))

    def _create(self, said):
        job = f"<Job><Id>7</Id><State>Idle</State>{said}</Job>"
        if not self.is_group:
            self.jobs.create(job)
            return
        group = f"<JobGroup><Id>g</Id>{job}<Job><Id>8</Id></Job></JobGroup>"
        self.jobs.answer("Create", object="JobGroup", data=[group])

    def reserve(self, voice):
        self._reserve(elements(voice.names))

    def reserve_as_requested(self, voice):
        self._reserve(requested(voice))

    def _reserve(self, said):
        data = [f"<Job><Id>7</Id>{said}{AMOUNTS}</Job>"]
        assert self.jobs.code("Reserve", data=data) in DONE

    def modify(self, voice):
        sets = list(voice.names.items())
        if sets:
            code = self.jobs.code("Modify", sets=sets, wheres=[("Id", "EQ", "7")])
            assert code in DONE

    def deliver(self, voice):
        begun = FIRST + 1000 * voice.run
        times = map(units.iso, (begun, begun + 10, begun + 10 + SECONDS))
        names = (voice.names.get(name, "") for name in RECORDED)
        row = "|".join(("7", *names, *times, str(SECONDS), "1", "COMPLETED"))
        self.jobs.deliver_log(f"{HEAD}\n{row}\n")

    def load(self, voice):
        """A file of the run that says the names of the job itself."""
        used = f"<Delivered><Duration>{SECONDS}</Duration></Delivered>"
        self._load(voice, elements(voice.names) + used)

    def load_as_delivered(self, voice):
        said = f"{elements(voice.names)}<Duration>{SECONDS}</Duration>"
        self._load(voice, f"<Delivered>{said}</Delivered>")

    def _load(self, voice, said):
        job = f"<Job><Id>7</Id><State>Completed</State>{marks(voice.run)}{said}</Job>"
        with self.jobs.service.stores.use() as kept:
            kept.load(job.encode())

    def charge(self, voice):
        return self._charge(voice, elements(voice.names) + AMOUNTS)

    def charge_as_delivered(self, voice):
        return self._charge(voice, f"<Delivered>{elements(voice.names)}{AMOUNTS}</Delivered>")

    def charge_hoping(self, voice):
        """A Charge that only requests the names, which does not tell who used the job."""
        return self._charge(voice, requested(voice) + AMOUNTS)

    def _charge(self, voice, said):
        """What a Quote of it said, what it cost, and who pays."""
        data = [f"<Job><Id>7</Id>{marks(voice.run)}{said}</Job>"]
        quoted = self.jobs.answer("Quote", data=data)[0].count
        cost = self.jobs.answer("Charge", data=data)[0].count
        paid = self.jobs.ask("Query", object="Transaction", gets=[("Id", "Tros"), *SUBMITTED_BY])
        return quoted, cost, [paid[0][name] for name in SUBMITTED_BY]


DONE = "000", "100"
CREATES = ("create", "create_as_requested")
RESERVES = ("reserve", "reserve_as_requested")
REQUESTS = ("modify", *CREATES, *RESERVES)  # the first that says something is asked for
NEEDING = "deliver", "modify"  # a job that somebody knows
FILES = ("load", "load_as_delivered")
DELIVERING = ("load_as_delivered", "deliver")
CHARGES = ("charge", "charge_as_delivered")


def counts(voices, run, name):
    """What counts for a run by a name, after all voices, "" for nothing."""

    def said(how, of):
        return next(
            (each.names[name] for each in voices
             if each.how == how and each.run == of and name in each.names), "",
        )  # fmt: skip

    others = [each for each in sorted(RUNS, reverse=True) if each != run]
    others.sort(key=lambda each: each > run)  # the last one before it first
    found = [
        *(said(how, run) for how in (*DELIVERING, *CHARGES, "load")),
        *(said(how, 0) for how in REQUESTS),
        said("charge_hoping", run),
    ]
    for other in others:
        found += [said(how, other) for how in DELIVERING if name in SUBMITTED_BY]
        found.append(said("load", other))
    return next(filter(None, found), "")


def price(voices, run):
    cost = SECONDS
    for name, rates in FACTORS.items():
        cost *= rates.get(counts(voices, run, name), 1)
    return cost


TEXTS = {name: st.sampled_from(sorted(rates)) for name, rates in FACTORS.items()}
NAMES = st.one_of(st.fixed_dictionaries({}, optional=TEXTS), st.fixed_dictionaries(TEXTS))

SILENT = st.builds(Voice, st.just("charge"), st.sampled_from(RUNS), st.just({}))


@st.composite
def orders(draw):
    """What is said of a job, and in which order: each voice says its word once.

    What a Modify says is then what it says, whatever was said: no other voice but those that ask
    says it, too.
    """
    is_created = draw(st.integers(0, 3))
    asking = [Voice(draw(st.sampled_from(CREATES)), 0, draw(NAMES))] if is_created else []
    if draw(st.booleans()):
        asking.append(Voice(draw(st.sampled_from(RESERVES)), 0, draw(NAMES)))
    modified = draw(NAMES) if draw(st.booleans()) else {}
    if modified:
        asking.append(Voice("modify", 0, modified))
    telling = []
    for run in draw(st.lists(st.sampled_from(RUNS), min_size=1, max_size=3, unique=True)):
        hows = [draw(st.sampled_from(("", "load", "load_as_delivered")))]
        hows += [draw(st.sampled_from(("", "deliver"))), draw(st.sampled_from(("", *CHARGES)))]
        hows += [draw(st.sampled_from(("", "charge_hoping")))]
        for how in filter(None, hows):
            names = {name: text for name, text in draw(NAMES).items() if name not in modified}
            if how == "deliver":
                names = {name: text for name, text in names.items() if name in RECORDED}
            telling.append(Voice(how, run, names))
    silent = draw(st.lists(SILENT, max_size=2))
    if asking and asking[0].how in CREATES:  # whatever is known of a job refuses it
        return [asking.pop(0), *draw(st.permutations([*asking, *telling, *silent]))]
    said = draw(st.permutations([*asking, *telling, *silent]))
    is_known = any(each.how not in NEEDING for each in said)
    return sorted(said, key=lambda each: each.how in NEEDING) if is_known else []


def with_files_first(voices):
    """The same, each Charge of a run that says names behind its files.

    What a Charge said of a job in a group counts as the file's that is imported behind it.
    """
    found = []
    for at, each in enumerate(voices):
        is_early = (
            each.names
            and each.how in CHARGES
            and any((other.how in FILES and other.run == each.run) for other in voices[at:])
        )
        if is_early:
            continue
        found.append(each)
        if each.how in FILES:
            found += (other for other in voices[:at] if other.how in CHARGES and other.names
                      and other.run == each.run)  # fmt: skip
    return found


AMY = {"User": "amy"}


@examples(100)
@given(st.booleans(), orders())
@example(False, [Voice("create"), Voice("reserve", 0, AMY), Voice("charge", 3), Voice("load", 2)])
@example(True, [Voice("create"), Voice("modify", 0, AMY), Voice("load", 3), Voice("load", 2)])
@example(False, [Voice("create"), Voice("charge_as_delivered", 1, AMY), Voice("load", 1)])
@example(
    True,
    [
        Voice("create"), Voice("load", 1, {"Project": "q"}), Voice("charge", 3),
        Voice("load", 2, {"Project": "p"}),
    ],
)  # fmt: skip
@example(False, [Voice("create"), Voice("reserve_as_requested", 0, AMY), Voice("charge", 1)])
@example(
    False, [Voice("create_as_requested", 0, AMY), Voice("charge_hoping", 1, {"User": "bob"})]
)  # fmt: skip
@example(
    False,
    [
        Voice("create_as_requested", 0, {"Machine": "big"}),
        Voice("load", 1, {"User": "bob", "QualityOfService": "low"}),
        Voice("reserve", 0, {"Machine": "tiny", "Project": "p"}),
    ],
)  # fmt: skip
def test_a_run_costs_what_all_said_whoever_said_it_first(is_group, voices):
    with (
        tempfile.TemporaryDirectory() as directory,
        job_service(Path(directory, "s.db"), accounting=Accounting(RATES)) as jobs,
    ):
        order = with_files_first(voices) if is_group else voices
        costs_as_all_said(Site(jobs, is_group=is_group), order)


def costs_as_all_said(site, voices):
    for each in voices:
        getattr(site, each.how)(each)
    for run in RUNS:
        quoted, cost, paid = site.charge(Voice("charge", run))
        assert paid == [counts(voices, run, name) for name in SUBMITTED_BY]
        assert quoted == cost == price(voices, run)
    with site.jobs.service.stores.use() as kept:
        assert list(kept.check()) == []


@pytest.mark.parametrize("is_group", [False, True])
def test_it_is_so_in_every_engine(address, is_group):
    voices = [
        Voice("create"), Voice("charge", 3, {"Project": "r"}), Voice("load", 1, {"Project": "q"}),
        Voice("charge", 2), Voice("load", 3), Voice("reserve", 0, AMY),
        Voice("charge_as_delivered", 1, {"User": "bob"}), Voice("deliver", 1, {"User": "eve"}),
        Voice("deliver", 2, {"QualityOfService": "low"}),
    ]  # fmt: skip
    with job_service(address, accounting=Accounting(RATES)) as jobs:
        costs_as_all_said(Site(jobs, is_group=is_group), voices)


def test_what_charges_said_before_the_ledger_kept_it_is_what_they_changed(address):
    """In a store of version 8, which is upgraded."""
    with job_service(address, accounting=Accounting(RATES)) as jobs:
        site = Site(jobs, is_group=False)
        site.create(Voice("create"))
        site.charge(Voice("charge", 1, AMY))
    with store.open(address) as kept:
        kept.engine.fetch("ALTER TABLE ledger DROP COLUMN said")
        kept.engine.fetch("UPDATE setting SET value = '8' WHERE name = 'version'")
    assert store.upgrade(address)
    with job_service(address, accounting=Accounting(RATES)) as jobs:
        site = Site(jobs, is_group=False)
        site.load(Voice("load", 1))
        assert site.charge(Voice("charge", 1))[2] == ["amy", ""]
        assert site.charge(Voice("charge", 2))[2] == ["", ""]
