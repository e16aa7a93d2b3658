import ast
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.lcginfo import lrmsinfo
from sssjob.lcginfo.snapshot import (
    SERVING,
    STATES,
    Pool,
    QueuedJob,
    QueueRules,
    Scheduling,
    SlotReservation,
    Snapshot,
)

DATA = Path(__file__).parents[1] / "data" / "lcginfo"
LINE = "{'queue': 'atlas', 'state': 'queued', 'group': 'atlsgm', 'qtime': 1.0}\n"
TIMES = st.floats(0, 2e9).map(lambda time: round(time, 1))
WORDS = st.text(min_size=1, max_size=12)

COUNTS = st.integers(0, 10**6)
# A name of a queue has no comma, where several of them are one.
QUEUES = st.lists(WORDS.filter(lambda text: "," not in text), max_size=3).map(tuple)
SCHEDULING = st.builds(
    Scheduling,
    pools=st.lists(
        st.builds(Pool, QUEUES, COUNTS, st.none() | COUNTS).map(
            lambda pool: pool if pool.free is None else pool._replace(slots=pool.slots + pool.free)
        ),
        max_size=2,
    ).map(tuple),
    queues=st.lists(
        st.builds(
            QueueRules, st.text(min_size=1), st.none() | TIMES, st.none() | TIMES,
            st.none() | COUNTS, st.floats(-1e6, 1e6), st.sampled_from(("", *SERVING)),
        ),
        max_size=2,
    ).map(tuple),
    reserved=st.lists(
        st.builds(SlotReservation, st.text(), TIMES, TIMES, COUNTS, QUEUES), max_size=2
    ).map(tuple),
)  # fmt: skip


def _entries(moments):
    return st.builds(
        QueuedJob,
        queue=WORDS,
        group=WORDS,
        state=st.sampled_from(STATES),
        jobid=st.text(max_size=9),
        user=st.text(max_size=9),
        name=st.text(),
        qtime=st.none() | moments,
        start=st.none() | moments,
        maxwalltime=st.none() | TIMES,
        cpucount=st.integers(1, 10**6),
        walltime=st.none() | TIMES,
        priority=st.none() | st.integers(-(10**6), 10**9) | st.floats(-1e9, 1e9),
        reservation=st.text(max_size=9),
    ).map(lambda job: job._replace(start=None) if job.state in ("queued", "pending") else job)


def _snapshots(moments):
    """Of one clock: its own, or one that counts from 1970."""
    return st.builds(
        Snapshot,
        jobs=st.lists(_entries(moments), max_size=5).map(tuple),
        nactive=st.none() | st.integers(10**6, 10**7),
        nfree=st.none() | COUNTS,
        now=st.none() | moments.map(float.__trunc__).map(float),
        cycle=st.none() | st.integers(0, 10**4).map(float),
        scheduling=SCHEDULING,
    )


SNAPSHOTS = _snapshots(st.floats(0, 9e8).map(lambda time: round(time, 1))) | _snapshots(
    st.floats(1e9, 2e9).map(lambda time: round(time, 1))
)


def read(text):
    remarks = []
    data = text if isinstance(text, bytes) else text.encode()
    return lrmsinfo.read(io.BytesIO(data), remarks.append), remarks


def written(snapshot):
    stream = io.StringIO()
    lrmsinfo.write(snapshot, stream)
    return stream.getvalue()


def test_the_example_of_the_text_reads_as_it_stands():
    snapshot, remarks = read((DATA / "text" / "lrmsinfo").read_bytes())
    assert not remarks
    assert (snapshot.nactive, snapshot.nfree) == (240, 191)
    assert (snapshot.now, snapshot.cycle) == (1119073982, 120)
    assert [job.queue for job in snapshot.jobs] == ["atlas", "qlong", "atlas", "qlong", "dzero"]
    assert snapshot.jobs[0] == QueuedJob(
        "atlas", "atlsgm", "running", "", "atlsm003", "", 1119073781.0, 1119073982.0, 345600.0
    )


@given(SNAPSHOTS)
def test_what_is_written_reads_back(snapshot):
    again, remarks = read(written(snapshot))
    assert again == snapshot
    assert not [remark for remark in remarks if remark.severity == "error"]


@given(SNAPSHOTS)
def test_what_is_written_is_read_by_the_programs_before(snapshot):
    for line in written(snapshot).splitlines():
        # Their patterns: a whole number behind a name, or braces with no brace between them.
        header = re.match(r"^\s*(\w+)\s+(\d+)\s*$", line)
        job = re.match(r"^\s*(\{[^}]+\})\s*$", line)
        if header or job:
            assert header or isinstance(ast.literal_eval(job[1]), dict)
        else:  # they pass over what is neither
            assert line.split(" {")[0] in ("pool", "queue", "reservation", "scheduler")


@pytest.mark.parametrize(
    "line",
    [
        "pool {'queues': 'a'}", "pool {'slots': -1}", "pool {'slots': 'many'}", "pool {",
        "queue {}", "queue {'name': ''}", "reservation {'name': 'r', 'slots': 1, 'start': 1}",
        "reservation {'slots': True, 'start': 1, 'end': 2}",
    ],
)  # fmt: skip
def test_a_line_about_queues_that_cannot_be_used_is_reported_and_left_out(line):
    snapshot, remarks = read(f"nactive 4\n{line}\npool {{'slots': 4, 'queues': 'a,b'}}\n")
    assert snapshot.scheduling == Scheduling((Pool(("a", "b"), 4),))
    assert [remark.line for remark in remarks if remark.severity == "error"] == [2]


@pytest.mark.parametrize("line, message", [
    pytest.param("{'queue': 'a', 'state': 'queued'}", "the job has no group", id="no-group"),
    pytest.param("{'queue': '', 'group': 'g', 'state': 'queued'}", "no queue", id="empty-queue"),
    pytest.param("{'queue': 'a', 'group': 'g'}", "the job has no state", id="no-state"),
    pytest.param("{'queue': 3, 'group': 'g', 'state': 'queued'}", "'3'", id="a-number-as-queue"),
    pytest.param("{'queue': 'a', 'group': 'g', 'state': 'que", "at column", id="cut-off"),
    pytest.param("{'name': 'it's', 'queue': 'a'}", "at column", id="unescaped-quote"),
    pytest.param("{" + "x" * lrmsinfo.LINE_LIMIT + "}", "a line of more than", id="too-long"),
])  # fmt: skip
def test_a_bad_line_is_reported_with_its_number_and_the_rest_goes_on(line, message):
    snapshot, (remark,) = read(LINE + line + "\n" + LINE)
    assert len(snapshot.jobs) == 2
    assert (remark.line, remark.severity) == (2, "error")
    assert message in remark.message


@pytest.mark.parametrize("pair, field, value, message", [
    pytest.param("'state': 'sleeping'", "state", "sleeping", "is not one of", id="unknown-state"),
    pytest.param("'qtime': 'soon'", "qtime", None, "no time", id="text-as-time"),
    pytest.param("'qtime': 1e300", "qtime", None, "no time", id="beyond-any-clock"),
    pytest.param("'qtime': True", "qtime", None, "no time", id="truth-as-time"),
    pytest.param("'maxwalltime': -1", "maxwalltime", None, "no time", id="negative-limit"),
    pytest.param("'cpucount': 0", "cpucount", 1, "number of slots", id="no-slots"),
    pytest.param("'cpucount': 'two'", "cpucount", 1, "number of slots", id="text-as-slots"),
])  # fmt: skip
def test_a_bad_value_is_reported_and_left_out(pair, field, value, message):
    snapshot, (remark,) = read(LINE.replace("}", f", {pair}}}"))
    assert getattr(snapshot.jobs[0], field) == value
    assert remark.severity == "warning"
    assert message in remark.message


@pytest.mark.parametrize("text, field, value", [
    pytest.param("NACTIVE 3", "nactive", 3, id="any-case"),
    pytest.param("nfree 3.7", "nfree", 3, id="floats-are-cut"),
    pytest.param("\tnow   7.5  \r", "now", 7.5, id="spaces"),
    pytest.param("schedCycle\t0", "cycle", 0, id="zero-cycle"),
    pytest.param("nfree -1", "nfree", None, id="negative-is-unknown"),
    pytest.param("nfree many", "nfree", None, id="no-number"),
])  # fmt: skip
def test_headers(text, field, value):
    assert getattr(read(text + "\n")[0], field) == value


def test_duplicate_ids_are_reported_but_blank_ones_are_not():
    text = LINE.replace("}", ", 'jobid': '7'}") * 2 + LINE.replace("}", ", 'jobid': ''}") * 2
    snapshot, (remark,) = read(text)
    assert len(snapshot.jobs) == 4
    assert (remark.line, remark.message) == (2, "jobid '7' appears again")


def test_a_header_that_says_another_number_than_before_is_reported():
    found, remarks = read("nfree 0\nnfree 0\nnfree 3\nnactive 4\n")
    assert found.nfree == 3
    assert [(each.line, each.message) for each in remarks] == [
        (3, "nfree appears again; 3 is taken")
    ]


def test_a_start_after_now_is_read_as_it_stands():
    snapshot, remarks = read(
        "now 10\n" + LINE.replace("queued", "running").replace("}", ", 'start': 99}")
    )
    assert snapshot.jobs[0].start == 99
    assert not remarks


def _job(state, **times):
    pairs = "".join(f", '{key}': {value}" for key, value in times.items())
    return f"{{'queue': 'a', 'group': 'g', 'state': '{state}'{pairs}}}\n"


NO_START = "a running job without start"


@pytest.mark.parametrize("head, state, times, left, told", [
    ("now 1700000000\n", "running", {"qtime": 1.6e9, "start": 0}, (1.6e9, None),
     ["start 0 is no time of a clock that counts from 1970", NO_START]),
    ("now 1700000000\n", "running", {"qtime": 0, "start": 1.6e9}, (None, 1.6e9),
     ["qtime 0 is no time of a clock that counts from 1970"]),
    ("now 1700000000\n", "queued", {"qtime": 1.6e9, "start": -1}, (1.6e9, None),
     ["start -1 is no time of a clock that counts from 1970"]),
    ("now 1700000000\n", "queued", {"qtime": 86400.5}, (None, None),
     ["qtime 86400.5 is no time of a clock that counts from 1970"]),
    ("", "running", {"qtime": 1.6e9, "start": 0}, (1.6e9, None),
     ["start 0 is no time of a clock that counts from 1970", NO_START]),
    ("now 5000\n", "running", {"qtime": 0, "start": 0}, (0, 0), []),  # any zero point
    ("now 1700000000\n", "running", {"qtime": 1.6e9, "start": 1.4e9}, (1.6e9, 1.4e9),
     ["start 1400000000 is before qtime 1600000000"]),
    ("now 1700000000\n", "running", {"qtime": 1.6e9, "start": 1.6e9 - 60}, (1.6e9, 1.6e9 - 60), []),
    ("", "running", {"qtime": -5, "start": 0}, (-5, 0), []),
])  # fmt: skip
def test_a_time_that_is_none_of_the_clock_is_told_and_not_known(head, state, times, left, told):
    for text in (head + _job(state, **times), _job(state, **times) + head):
        snapshot, remarks = read(text)
        [job] = snapshot.jobs
        assert (job.qtime, job.start) == left
        assert [each.message for each in remarks] == told


@pytest.mark.parametrize("text, known, told", [
    ("now 1700000000000\nnfree 10\n", (None, 10),
     ["now 1700000000000 is more than any; a time is in seconds"]),
    ("nactive 3\nnfree 10\n", (3, 3), ["nfree 10 is more than nactive 3, and is taken as that"]),
    ("nfree 10\nnactive 3\n", (3, 3), ["nfree 10 is more than nactive 3, and is taken as that"]),
    ("nactive 3\nnfree 3\n", (3, 3), []), ("nfree 10\n", (None, 10), []),
])  # fmt: skip
def test_no_more_slots_are_free_than_there_are(text, known, told):
    snapshot, remarks = read(text)
    assert (snapshot.nactive, snapshot.nfree) == known
    assert [each.message for each in remarks] == told


def test_other_lines_mean_nothing_and_are_noticed():
    snapshot, (remark,) = read("warning: licence expires\n\n" + LINE)
    assert len(snapshot.jobs) == 1
    assert (remark.line, remark.severity) == (1, "notice")


@given(st.binary())
def test_no_bytes_break_the_reader(data):
    read(data)
    read(LINE.encode() + data)


def test_nfree_follows_from_nactive():
    running = LINE.replace("queued", "running").replace("}", ", 'start': 1.0, 'cpucount': 3}")
    assert read("nactive 8\n" + running + LINE)[0].free == 5
    assert read("nactive 2\n" + running)[0].free == 0
    assert read(running)[0].free is None


def test_a_negative_amount_of_a_queue_is_reported_and_not_known():
    snapshot, remarks = read(
        "queue {'name': 'a', 'maxwalltime': -5, 'maxrunning': -2, 'priority': -3}\n"
        "pool {'slots': 5, 'free': 9}\n"
    )
    assert snapshot.scheduling == Scheduling((Pool((), 5, 5),), (QueueRules("a", priority=-3),))
    assert remarks[-1].message == "free 9 is more than slots 5, and is taken as that"
    assert len(remarks) == 3
