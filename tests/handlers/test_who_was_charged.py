"""A job that becomes another user's stays charged to the one who was, which is told."""

from fractions import Fraction

import pytest
from job_service import job_service

from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

ACCOUNTING = Accounting(ChargeRates({"Processors": Fraction(1)}))
START = 1_700_000_000
AROUND = {"alone": "{}", "in a group": "<JobGroup><Id>g</Id>{}</JobGroup>"}
FORMS = {
    "flat": (
        "<Job><JobId>7</JobId>{0}<Processors>2</Processors><WallDuration>60</WallDuration></Job>"
    ),
    "whole": (
        "<Job><Id>7</Id>{0}<Delivered>{0}<Processors>2</Processors><Duration>60</Duration>"
        "</Delivered></Job>"
    ),
}
KNOWN = {
    "its own": "{}", "requested": "<Requested>{}</Requested>",
    "delivered": f"<StartTime>{START}</StartTime><Delivered>{{}}</Delivered>",
}  # fmt: skip
TOLD = "User of job 7 is amy now, and 120 credits stay charged to bob"


def job(user, more=""):
    return f"<Job><Id>7</Id><User>{user}</User><StartTime>{START}</StartTime>{more}</Job>"


def used(user):
    amounts = "<Processors>2</Processors><WallDuration>60</WallDuration>"
    return f"<Job><JobId>7</JobId><UserId>{user}</UserId>{amounts}</Job>"


class Site:
    """A job of bob, who was charged for it; each change gives what is said of it."""

    def __init__(self, jobs, around):
        self.jobs, self.around = jobs, around

    def change(self, user):
        """By a newer file."""
        said = []
        ended = f"<EndTime>{START + 60}</EndTime><State>Completed</State>"
        document = self.around.format(job(user, ended)).encode()
        with self.jobs.service.stores.use() as kept:
            kept.load(document, on_warning=said.append)
        return [each.message for each in said]

    def deliver(self, user):
        head = "JobID|User|State|ExitCode|Start|End|NCPUS"
        times = "2023-11-14T22:13:20|2023-11-14T22:14:20"
        record = f"{head}\n7|{user}|COMPLETED|0:0|{times}|2\n"
        return [each.message.removeprefix("r:2: ") for each in self.jobs.deliver_log(record)]

    def modify(self, user):
        return self.asked("Modify", sets=[("User", user)], wheres=[("Id", "EQ", "7")])

    def create(self, user):
        """Of a job that was deleted, which shows it again."""
        assert self.jobs.code("Delete", wheres=[("Id", "EQ", "7")]) == "000"
        return self.asked("Create", data=[job(user, "<Charge>120</Charge>")])

    def charge(self, user):
        return self.asked("Charge", data=[used(user)])

    def asked(self, action, **what):
        answer, _ = self.jobs.answer(action, **what)
        assert answer.code == ("100" if TOLD in answer.message else "000")
        return answer.message.split("\n")


WAYS = [
    (does, around)
    for does in ("change", "deliver", "modify", "create", "charge")
    for around in AROUND
    if (does, around) != ("create", "in a group")
]


@pytest.mark.parametrize(("does", "around"), WAYS)
@pytest.mark.parametrize("user", ["amy", "bob"])
def test_whoever_makes_a_charged_job_another_user_s_is_told(address, does, around, user):
    with job_service(address, accounting=ACCOUNTING) as jobs:
        site = Site(jobs, AROUND[around])
        with jobs.service.stores.use() as kept:
            kept.load(site.around.format(job("bob")).encode())
        assert jobs.code("Charge", data=[used("bob")]) == "000"
        said = getattr(site, does)(user)
        assert (TOLD in said) == (user == "amy")
        entries = jobs.ask("Query", object="Transaction", gets=["User", "Amount"])
        assert entries[0] == {"User": "bob", "Amount": "120"}
        shown = jobs.ask("Query", gets=["User", "Charge"])
        assert shown == [{"User": user, "Charge": "240" if does == "charge" else "120"}]
        assert jobs.code("Reserve", data=[used(user)]) == "000"  # it is so already


def test_a_project_that_was_charged_is_told_too_and_one_that_was_not_is_no_news(address):
    with job_service(address, accounting=ACCOUNTING) as jobs:
        assert jobs.code("Charge", data=[used("bob")]) == "000"
        wheres = [("Id", "EQ", "7")]
        assert jobs.code("Modify", sets=[("Project", "a")], wheres=wheres) == "000"
        assert jobs.code("Charge", data=[used("bob")]) == "000"
        said = jobs.said("Modify", sets=[("Project", "b")], wheres=wheres)
        assert said == "Project of job 7 is b now, and 120 credits stay charged to a"
        assert jobs.code("Refund", options={"JobId": "7"}) == "000"
        assert jobs.code("Modify", sets=[("Project", "c")], wheres=wheres) == "000"


def test_what_is_given_back_by_the_same_change_stays_charged_to_nobody(address):
    with job_service(address, accounting=ACCOUNTING) as jobs:
        assert jobs.code("Charge", data=[used("bob")]) == "000"
        assert (
            jobs.said(
                "Modify",
                sets=[("User", "amy"), ("Charge", "20", "Dec")],
                wheres=[("Id", "EQ", "7")],
            )
            == "User of job 7 is amy now, and 100 credits stay charged to bob"
        )
        assert (
            jobs.code("Modify", sets=[("User", "eve"), ("Charge", "0")], wheres=[("Id", "EQ", "7")])
            == "000"
        )


@pytest.mark.parametrize("known", KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("around", AROUND.values(), ids=AROUND)
@pytest.mark.parametrize("blank", ["<{}/>", "<{}> </{}>"], ids=["empty", "of blanks"])
def test_a_name_that_a_charge_leaves_blank_is_as_it_was(address, known, form, around, blank):
    rates = ChargeRates({"Processors": Fraction(1)}, {"QualityOfService": {"gold": Fraction(2)}})
    names = ("User", "Project", "Machine")
    said = known.format("".join(f"<{name}>one</{name}>" for name in names))
    job = f"<Job><Id>7</Id><QualityOfService>gold</QualityOfService>{said}</Job>"
    with job_service(address, accounting=Accounting(rates)) as jobs:
        with jobs.service.stores.use() as kept:
            kept.load(around.format(job).encode())
        blanks = "".join(blank.format(name, name) for name in (*names, "QualityOfService"))
        assert jobs.said("Charge", data=[form.format(blanks)]) == (
            "Successfully charged job 7 for 240 credits"
        )
        entry = jobs.ask("Query", object="Transaction", gets=[*names, "Amount"])
        assert entry == [dict.fromkeys(names, "one") | {"Amount": "240"}]
        assert jobs.ask("Query", gets=names) == [dict.fromkeys(names, "one")]
