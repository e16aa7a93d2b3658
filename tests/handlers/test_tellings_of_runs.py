"""Whoever tells of the runs of a job, in whatever order: each is there once, with its Charges."""

import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from job_service import job_service

from sssjob.handlers.charging import Accounting
from sssjob.handlers.rates import ChargeRates

FIRST = 1_700_000_000
LATE = 3600  # seconds by which an end is wrong that is told in another zone
ACCOUNTING = Accounting(ChargeRates({"Processors": Fraction(1)}))
AROUND = {"alone": "{}", "in a group": "<JobGroup><Id>g</Id>{}</JobGroup>"}
TIMES = ("SubmitTime", "StartTime", "EndTime")


class Run(NamedTuple):
    """A run of job 7: it is submitted as soon as the one before it has ended."""

    number: int

    @property
    def submitted(self):
        return FIRST + 3000 * self.number

    @property
    def started(self):
        return self.submitted + 400

    @property
    def used(self):
        return 2599

    @property
    def ended(self):
        return self.started + self.used

    @property
    def global_id(self):
        return f"urn:uuid:00000000-0000-4000-8000-00000000000{self.number}"


class Site:
    """A store behind a gateway, and what its runs were charged."""

    def __init__(self, address):
        self.opened = job_service(address, accounting=ACCOUNTING)
        self.charges = Counter()
        self.around = "{}"

    def __enter__(self):
        self.jobs = self.opened.__enter__()
        return self

    def __exit__(self, *error):
        self.opened.__exit__(*error)

    def load(self, job):
        with self.jobs.service.stores.use() as kept:
            kept.load(self.around.format(f"<Job><Id>7</Id><User>ann</User>{job}</Job>").encode())

    def request(self, told, around):
        """A job that waits, submitted as its first run was."""
        first = Run(0)
        values = {"SubmitTime": first.submitted, "State": "Idle"}
        said = "".join(f"<{name}>{values[name]}</{name}>" for name in told)
        asked = "<Requested><Duration>3600</Duration></Requested>"
        self.around = AROUND[around]
        self.load(said + asked)

    def running(self, run):
        """As a listing says it of a run that goes on."""
        times = f"<SubmitTime>{run.submitted}</SubmitTime><StartTime>{run.started}</StartTime>"
        self.load(f"{times}<GlobalId>{run.global_id}</GlobalId><State>Running</State>")

    def charge(self, run, **told):
        """A Charge that tells so much of its run."""
        said = "".join(f"<{name}>{text}</{name}>" for name, text in told.items())
        job = (
            f"<Job><JobId>7</JobId><UserId>ann</UserId><Processors>2</Processors>"
            f"<WallDuration>{run.used}</WallDuration>{said}</Job>"
        )
        code = self.jobs.code("Charge", data=[job])
        assert code in ("000", "100")
        self.charges[run.number] += 2 * run.used

    def submitted(self, run):
        self.charge(run, SubmitTime=run.submitted)

    def begun(self, run):
        self.charge(run, SubmitTime=run.submitted, StartTime=run.started)

    def ended(self, run):
        times = dict(zip(TIMES, (run.submitted, run.started, run.ended), strict=True))
        self.charge(run, **times)

    def ended_late(self, run):
        times = (run.submitted, run.started, run.ended + LATE)
        self.charge(run, **dict(zip(TIMES, times, strict=True)))

    def named(self, run):
        marks = {"GlobalId": run.global_id, "SubmitTime": run.submitted}
        self.charge(run, **marks, StartTime=run.started)

    def record(self, run):
        self.jobs.deliver("7", run.started, run.ended, run.submitted)

    def whole(self, run):
        """All that its epilog has written of it."""
        values = zip(TIMES, (run.submitted, run.started, run.ended), strict=True)
        times = "".join(f"<{name}>{text}</{name}>" for name, text in values)
        used = f"<Delivered><Duration>{run.used}</Duration></Delivered>"
        return f"{times}<State>Completed</State>{used}"

    def file(self, run):
        self.load(self.whole(run))

    def create(self, run):
        """A peer makes it, by a clock that is a second ahead: not where it is there already."""
        job = self.whole(run).replace(f"{run.started}<", f"{run.started + 1}<")
        job = f"<Job><Id>7</Id><User>ann</User>{job}</Job>"
        began = [row["StartTime"] for row in self.rows()]
        if str(run.started) in began:
            assert self.jobs.code("Create", data=[job]) == "740"

    def rows(self):
        return self.jobs.ask("Query", gets=[*TIMES, "WallDuration", "Charge", "GlobalId"])

    def found(self):
        """What was charged to each run, by its start."""
        rows = self.rows()
        assert len({row["StartTime"] for row in rows}) == len(rows)
        for row in rows:
            run = Run((int(row["StartTime"]) - FIRST) // 3000)
            times = [str(each) for each in (run.submitted, run.started, run.ended)]
            assert [row[name] for name in TIMES] == times
            assert row["WallDuration"] == str(run.used)
            assert row["GlobalId"] in ("", run.global_id)
        return {(int(row["StartTime"]) - FIRST) // 3000: int(row["Charge"] or 0) for row in rows}


RUNS = [Run(number) for number in range(3)]
TELLS = ("submitted", "begun", "ended", "ended_late", "named", "record", "record", "file", "create")
STEPS = st.lists(
    st.tuples(st.sampled_from(TELLS), st.sampled_from(RUNS)), min_size=3, max_size=9,
)  # fmt: skip
REQUEST = st.none() | st.tuples(
    st.sampled_from(((), ("State",), ("SubmitTime",), ("SubmitTime", "State"))),
    st.sampled_from(sorted(AROUND)),
)


@examples(40)
@given(REQUEST, st.none() | st.sampled_from(RUNS), STEPS)
@example(None, RUNS[0], [("record", RUNS[1]), ("submitted", RUNS[1]), ("submitted", RUNS[0])])
@example(None, RUNS[1], [("record", RUNS[0]), ("submitted", RUNS[0]), ("submitted", RUNS[1])])
@example(None, None, [("ended_late", RUNS[0]), ("record", RUNS[1]), ("ended", RUNS[1])])
@example(None, RUNS[0], [(does, run) for does in ("record", "named") for run in RUNS[:2]])
@example((("SubmitTime",), "alone"), None, [("record", RUNS[1]), ("submitted", RUNS[1])])
def test_each_run_is_there_once_with_what_it_was_charged_whoever_tells_of_it(
    request_, running, steps
):
    with tempfile.TemporaryDirectory() as directory, Site(Path(directory, "s.db")) as site:
        is_known = running is not None or {does for does, _ in steps} != {"record"}
        if request_ is not None or not is_known:
            site.request(*(request_ or ((), "alone")))
        if running is not None:
            site.running(running)
        for does, run in steps:
            getattr(site, does)(run)
        for run in RUNS:
            site.record(run)
        assert site.found() == {run.number: site.charges[run.number] for run in RUNS}
        with site.jobs.service.stores.use() as kept:
            assert list(kept.check()) == []
