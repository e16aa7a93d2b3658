"""What a job used is what its Charges said, however often it is quoted and reserved."""

import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from job_service import job_service

from sssjob import spec
from sssjob.document import loads
from sssjob.gateway.forwarding import finished
from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates
from sssjob.handlers.view import only
from sssjob.model import Property

RATES = ChargeRates({"Processors": Fraction(1)})


@dataclass
class Book:
    """What should be known of a job: ``charge`` is the property, ``entries`` the ledger."""

    asked: dict = field(default_factory=dict)
    used: dict = field(default_factory=dict)
    charge: int | None = None
    entries: list = field(default_factory=list)
    corrected: bool = False

    @property
    def stage(self):
        kinds = [kind for kind, _ in self.entries]
        return next((kind for kind in ("Charge", "Reserve", "Quote") if kind in kinds), "")

    @property
    def balance(self):
        signs = {"Charge": 1, "Refund": -1}
        return sum(signs.get(kind, 0) * amount for kind, amount in self.entries)


def amounts(processors, seconds):
    return {"Processors": str(processors), "Duration": str(seconds)}


def credits(values):
    return int(values["Processors"]) * int(values["Duration"])


def elements(values):
    return "".join(f"<{name}>{value}</{name}>" for name, value in values.items())


def flat(id_, values):
    return f"<Job><JobId>{id_}</JobId><UserId>ann</UserId>{elements(values)}</Job>"


def whole(id_, block, values):
    return f"<Job><Id>{id_}</Id><User>ann</User><{block}>{elements(values)}</{block}></Job>"


class Office:
    """Does one thing after the other, with a gateway's handlers and in the books."""

    def __init__(self, jobs):
        self.jobs, self.books = jobs, {}

    def create(self, id_, values, _):
        code = self.jobs.code("Create", data=[whole(id_, "Requested", values)])
        assert code == ("740" if id_ in self.books else "000")
        if code == "000":
            self.books[id_] = Book(asked=values)

    def modify(self, id_, values, _):
        book = self.books.get(id_, Book())
        name, value = "Processors", values["Processors"]
        self.jobs.answer("Modify", sets=[("Priority", value)], wheres=[("Id", "EQ", id_)])
        # Only where somebody says so in as many words: as a correction.
        for place in (book.used, book.asked):
            if name in place:
                self.jobs.answer("Modify", sets=[(name, value)], wheres=[("Id", "EQ", id_)])
                place[name] = value
                return

    def correct(self, id_, values, is_set):
        """Who writes a Charge into a job charges it, or gives back."""
        charge = int(values["Processors"]) if is_set else None
        sets = [("Charge", "NULL" if charge is None else str(charge))]
        self.jobs.answer("Modify", sets=sets, wheres=[("Id", "EQ", id_)])
        if id_ in self.books:
            book = self.books[id_]
            if more := (charge or 0) - (book.charge or 0):
                book.entries.append(("Charge" if more > 0 else "Refund", abs(more)))
            book.charge, book.corrected = charge, True

    def quote(self, id_, values, is_flat):
        data = flat(id_, values) if is_flat else whole(id_, "Delivered", values)
        self.jobs.answer("Quote", data=[data], options={"Guarantee": "True"})
        if id_ in self.books:
            self.books[id_].entries.append(("Quote", credits(values)))

    def reserve(self, id_, values, is_flat):
        data = flat(id_, values) if is_flat else whole(id_, "Delivered", values)
        self.jobs.answer("Reserve", data=[data])
        book = self.books.setdefault(id_, Book(asked=values if is_flat else {}))
        book.entries.append(("Reserve", credits(values)))

    def charge(self, id_, values, is_flat):
        if is_flat:
            self.jobs.answer("Charge", data=[flat(id_, values)])
        else:
            self.jobs.answer("Charge", data=[whole(id_, "Delivered", values)])
        book = self.books.setdefault(id_, Book())
        book.used = values if not is_flat else book.used | values
        book.charge = (book.charge or 0) + credits(values)
        book.entries.append(("Charge", credits(values)))

    def refund(self, id_, values, is_all):
        book = self.books.get(id_)
        back = (book.charge or 0) if book and is_all else int(values["Duration"])
        code = self.jobs.code("Refund", options={"JobId": id_, "Amount": back})
        if book is None or not book.charge or back > book.charge:
            assert code == "740"
        else:
            book.charge = (book.charge or 0) - back
            book.entries.append(("Refund", back))

    def check(self):
        for id_, book in self.books.items():
            job = loads(self.jobs.stored(id_).document)
            assert {each.name: each.text for each in job.delivered} == book.used
            assert {each.name: each.text for each in job.requested} == book.asked
            assert not spec.AMOUNTS & set(job.properties.names())
            assert job.get("Charge") == ("" if book.charge is None else str(book.charge))
            assert book.balance == (book.charge or 0)
            self.check_ledger(id_, book)
            self.check_forwarded(job, book)
        where = [("Stage", "EQ", "Charge")]
        said = self.jobs.ask("Query", gets=["Id", "Stage", "Charge"])
        assert {row["Id"]: row["Stage"] for row in said} == {
            id_: book.stage for id_, book in self.books.items()
        }
        charged = [book for book in self.books.values() if book.stage == "Charge"]
        for name, found in (
            ("Charge", [book.charge for book in charged if book.charge is not None]),
            ("WallDuration", [int(book.used["Duration"]) for book in charged if book.used]),
        ):
            [row] = self.jobs.ask("Query", gets=[(name, "Sum")], wheres=where)
            assert row[name] == (str(sum(found)) if found else "")
        [row] = self.jobs.ask("Query", object="Transaction", gets=[("Delta", "Sum")])
        assert -int(row["Delta"] or 0) == sum(book.balance for book in self.books.values())

    def check_ledger(self, id_, book):
        gets, where = ["Action", "Amount"], [("JobId", "EQ", id_)]
        said = self.jobs.ask("Query", object="Transaction", gets=gets, wheres=where)
        # A quote for a job that nobody knew is in the ledger, and about none.
        known = [(row["Action"], int(row["Amount"])) for row in said]
        assert [each for each in known if each[0] != "Quote"] == [
            each for each in book.entries if each[0] != "Quote"
        ]
        held = self.jobs.ask("Query", object="Reservation", wheres=[("Job", "EQ", id_)])
        kinds = [kind for kind, _ in book.entries]
        last = max((place for place, kind in enumerate(kinds) if kind == "Charge"), default=-1)
        if not book.corrected:
            assert len(held) == kinds[last + 1 :].count("Reserve")

    def check_forwarded(self, job, book):
        sent = dict(finished(only(job.setting(Property("State", "Completed"))), charge=True))
        sent.pop("QuoteId", None)
        expected = {}
        if book.used:
            expected = {"JobId": job.id, "UserId": "ann", "Processors": book.used["Processors"],
                        "WallDuration": book.used["Duration"]}  # fmt: skip
        if book.used and book.charge is not None:
            expected["Charge"] = str(book.charge)
        assert sent == expected


steps = st.tuples(
    st.sampled_from(["create", "modify", "quote", "reserve", "charge", "refund", "correct"]),
    st.sampled_from(["a", "b"]),
    st.builds(amounts, st.integers(0, 4), st.integers(1, 50)),
    st.booleans(),
)


@examples(30)
@given(st.lists(steps, min_size=1, max_size=9))
def test_only_charges_say_what_was_used_and_everything_agrees_with_them(steps):
    with (
        tempfile.TemporaryDirectory() as directory,
        job_service(str(Path(directory) / "jobs.db"), accounting=Accounting(RATES)) as jobs,
    ):
        office = Office(jobs)
        for do, id_, values, choice in steps:
            getattr(office, do)(id_, dict(values), choice)
            office.check()
