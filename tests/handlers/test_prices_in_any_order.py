"""What a job costs, and who pays, follows from what was told before its Charge, in any order.

The model is one of its own: it knows what was told, and never what a store made of that.
"""

import io
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob import units
from sssjob.accounting.report import JobProperties
from sssjob.document import dumps
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.record import Options

FACTORS = {
    "User": {"amy": 2, "bob": 3}, "Project": {"p": 5, "q": 7},
    "QualityOfService": {"low": 11, "high": 13},
}  # fmt: skip
SUBMITTED_BY = ("User", "Project")
RATES = ChargeRates(
    {"Processors": Fraction(1)},
    {name: {value: Fraction(rate) for value, rate in rates.items()}
     for name, rates in FACTORS.items()},
)  # fmt: skip
FIRST, SECONDS = 1_700_000_000, 100
AROUND = {
    "alone": "{}", "in a group": "<JobGroup><Id>g</Id>{}<Job><Id>8</Id></Job></JobGroup>",
}  # fmt: skip
HEAD = "JobID|User|Account|QOS|Submit|Start|End|ElapsedRaw|NCPUS|State"


class Told(NamedTuple):
    """What is told of a run, and how: by a record, a file or a Charge; 0 is the job as it waits."""

    how: str
    run: int
    names: dict[str, str]

    @property
    def times(self):
        submitted = FIRST + 1000 * self.run
        return submitted, submitted + 10, submitted + 10 + SECONDS

    @property
    def marks(self):
        names = ("SubmitTime", "StartTime", "EndTime")
        return elements(dict(zip(names, self.times, strict=True)))

    @property
    def log(self):
        """As sacct prints it."""
        times = map(units.iso, self.times)
        names = (self.names.get(name, "") for name in FACTORS)
        row = ("7", *names, *times, str(SECONDS), "1", "COMPLETED")
        return f"{HEAD}\n{'|'.join(row)}\n"


def elements(values):
    return "".join(f"<{name}>{text}</{name}>" for name, text in values.items())


class Site:
    """A store behind a gateway."""

    def __init__(self, jobs, around):
        self.jobs, self.around = jobs, around

    def load(self, document):
        with self.jobs.service.stores.use() as kept:
            kept.load(document.encode())

    def waiting(self, told):
        job = f"<Job><Id>7</Id><State>Idle</State>{elements(told.names)}</Job>"
        self.load(self.around.format(job))

    def wanted(self, told):
        asked = f"<Requested>{elements(told.names)}</Requested>"
        self.load(self.around.format(f"<Job><Id>7</Id><State>Idle</State>{asked}</Job>"))

    def record(self, told):
        self.jobs.deliver_log(told.log)

    def imported(self, told):
        log = io.BytesIO(told.log.encode())
        [found] = read_records(find("slurm"), log, Options(zone="UTC"), OBJECTS)
        self.load(dumps(found.job))

    def file(self, told):
        used = f"<Delivered><Duration>{SECONDS}</Duration></Delivered>"
        names = elements(told.names)
        self.load(f"<Job><Id>7</Id><State>Completed</State>{told.marks}{names}{used}</Job>")

    def charge(self, told):
        """What a Quote of it said, what it cost, and who pays."""
        amounts = f"<Processors>1</Processors><WallDuration>{SECONDS}</WallDuration>"
        data = [f"<Job><Id>7</Id>{told.marks}{elements(told.names)}{amounts}</Job>"]
        quoted = self.jobs.answer("Quote", data=data)[0].count
        cost = self.jobs.answer("Charge", data=data)[0].count
        paid = self.jobs.ask("Query", object="Transaction", gets=[("Id", "Tros"), *SUBMITTED_BY])
        return quoted, cost, [paid[0][name] for name in SUBMITTED_BY]


DELIVERS = ("record", "imported")


class Model:
    """What was told of a job, one after the other; ``is_group`` is where it waits, if it does."""

    def __init__(self, is_group, told):
        self.told, self.is_group = told, is_group

    def at(self, place):
        return Model(self.is_group, self.told[:place])

    def is_inside(self, run):
        """Whether the run stands in the group: the first one is what waits there."""
        return self.is_group and next((each.run for each in self.told if each.run), run) == run

    def charged(self, run, name):
        """What Charges said of the run last."""
        said = [each.names[name] for each in self.told
                if (each.how, each.run) == ("charge", run) and name in each.names]  # fmt: skip
        return said[-1] if said else ""

    def brought(self, place, name):
        """What tells of all runs, by a record or a file that was brought at a place."""
        each = self.told[place]
        if each.how in DELIVERS and name in SUBMITTED_BY and name in each.names:
            return each.names[name]
        if each.how == "file" and name in each.names:
            return each.names[name]
        # In a group what is there and not said anew stays, and is as if the file had said it.
        is_kept = each.how != "record" and self.is_inside(each.run)
        return self.at(place).charged(each.run, name) if is_kept else ""

    def counts(self, charge, name):
        """What counts for a Charge behind all this by a name, "" for nothing."""
        own = [each for each in self.told if each.run == charge.run and name in each.names]
        others = sorted(
            (
                (each.run < charge.run, each.run, self.brought(place, name))
                for place, each in enumerate(self.told)
                if each.run not in (0, charge.run) and each.how != "charge"
            ),
            reverse=True,
        )
        found = (
            *(each.names[name] for each in own if each.how in DELIVERS),
            charge.names.get(name),
            self.charged(charge.run, name),
            *(each.names[name] for each in own if each.how == "file"),
            *(each.names.get(name) for each in self.told if not each.run),
            *(text for *_, text in others),
        )
        return next(filter(None, found), "")

    def price(self, charge):
        cost = SECONDS
        for name, rates in FACTORS.items():
            cost *= rates.get(self.counts(charge, name), 1)
        return cost


NAMES = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(sorted(rates)) for name, rates in FACTORS.items()}
)
RUN = st.sampled_from((1, 2, 3))
WAITS = st.none() | st.builds(Told, st.sampled_from(("waiting", "wanted")), st.just(0), NAMES)
TOLD = st.builds(Told, st.sampled_from(("record", "imported", "file")), RUN, NAMES)
CHARGE = st.builds(Told, st.just("charge"), RUN, st.just({}) | NAMES)


@st.composite
def steps(draw):
    """What is told of runs, each by one who knows it, and Charges, in any order."""
    waits = draw(WAITS)
    told = draw(st.lists(TOLD, min_size=1, max_size=3, unique_by=lambda each: each.run))
    if waits is None:  # of a job that nobody knows a record is delivered to nobody
        told = [each._replace(how="file") if each.how == "record" else each for each in told]
    charges = draw(st.lists(CHARGE, min_size=1, max_size=4))
    return [*([waits] if waits else ()), *draw(st.permutations([*told, *charges]))]


ONLY = {"User": "amy", "Project": "p", "QualityOfService": "high"}
SILENT = Told("charge", 2, {})


@examples(60)
@given(st.sampled_from(sorted(AROUND)), steps())
@example("alone", [Told("waiting", 0, ONLY), Told("imported", 1, {}), Told("charge", 1, {})])
@example(
    "in a group",
    [
        Told("waiting", 0, {}),
        Told("charge", 1, {"Project": "q"}),
        Told("file", 1, {"Project": "p"}),
        Told("charge", 1, {}),
    ],
)
@example("alone", [Told("imported", 1, ONLY), Told("imported", 2, {}), SILENT])
@example("alone", [Told("waiting", 0, {}), Told("file", 1, ONLY), SILENT])
@example(
    "alone",
    [Told("waiting", 0, ONLY), Told("imported", 2, {}), Told("record", 1, {}), SILENT],
)
def test_a_charge_costs_what_was_told_before_it_in_whatever_order(around, told):
    with (
        tempfile.TemporaryDirectory() as directory,
        job_service(Path(directory, "s.db"), accounting=Accounting(RATES)) as jobs,
    ):
        site = Site(jobs, AROUND[around])
        is_group = around != "alone" and not told[0].run
        for place, each in enumerate(told):
            if each.how != "charge":
                getattr(site, each.how)(each)
                continue
            model = Model(is_group, told[:place])
            quoted, cost, paid = site.charge(each)
            assert cost == model.price(each)
            assert paid == [model.counts(each, name) for name in SUBMITTED_BY]
            assert each.names or quoted == cost
        with jobs.service.stores.use() as kept:
            assert list(kept.check()) == []


AMOUNTS = ("2", "3", "0.5", "1.5", "4.0", "1e1", "-1", "")
WHOLE = {"0": 0, "2": 2, "3": 3, "4.0": 4, "1e1": 10}
PLACES = {
    "said": "{}", "said as delivered": "<Delivered>{}</Delivered>", "own": "{}",
    "delivered": "<Delivered>{}</Delivered>", "requested": "<Requested>{}</Requested>",
}  # fmt: skip
ORDER = ("said as delivered", "said", "delivered", "own", "requested")


def document(amounts, *places):
    said = "".join(
        PLACES[place].format(f"<Processors>{amounts[place]}</Processors>")
        for place in places if amounts.get(place)
    )  # fmt: skip
    return f"<Job><Id>7</Id><Duration>{SECONDS}</Duration>{said}</Job>"


@examples(60)
@given(st.fixed_dictionaries({place: st.sampled_from(AMOUNTS) for place in PLACES}))
@example(dict.fromkeys(PLACES, "") | {"requested": "3"})
@example(dict.fromkeys(PLACES, "") | {"requested": "0.5"})
@example(dict.fromkeys(PLACES, "") | {"own": "0.5", "said": "2"})
@example(dict.fromkeys(PLACES, "") | {"delivered": "1.5"})
@example(dict.fromkeys(PLACES, "") | {"delivered": "1e1"})
@example(dict.fromkeys(PLACES, "") | {"said": "4.0"})
def test_an_amount_is_charged_as_reports_count_it_and_quoted_also_as_it_is_requested(amounts):
    """A part of a processor is none, and what was only requested was used by nobody."""

    def counted(*places):
        return next((amounts[each] for each in ORDER if each in places and amounts[each]), "0")

    asked = document(amounts, "said", "said as delivered")
    with (
        tempfile.TemporaryDirectory() as directory,
        job_service(Path(directory, "s.db"), accounting=Accounting(RATES)) as jobs,
    ):
        with jobs.service.stores.use() as kept:
            kept.load(document(amounts, "own", "delivered", "requested").encode())
        for action, text in (
            ("Quote", counted(*ORDER)), ("Charge", counted(*ORDER[:-1])),
        ):  # fmt: skip
            before = jobs.stored("7").document
            if text not in WHOLE:
                assert jobs.code(action, data=[asked]) == "317"
                assert jobs.stored("7").document == before
                continue
            assert jobs.answer(action, data=[asked])[0].count == WHOLE[text] * SECONDS
            if action == "Charge":
                had = JobProperties(jobs.stored("7").block()).given("Processors")
                assert (had or 0) == WHOLE[text]
