"""Twice is once: a run that a record was read of before is left out, and told."""

import io
import itertools
import re

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st
from records import DATA
from same_jobs import MADE, made

from sssjob.records import clock as clocks
from sssjob.records import find, read_records, runs
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.record import Converted, Noted, Options, RecordCounts, Skipped
from sssjob.records.runs import (
    BEGAN,
    ENDED,
    INSTEAD,
    NEW,
    NO_KEYS,
    TWICE,
    UNTOLD,
    WAITS,
    ListedRuns,
    RunKeys,
    SeenRuns,
    end_of,
    run_of,
)

HEADER = "Cluster|JobID|State|Submit|Start|End|ElapsedRaw|NodeList\n"
DONE = "c|7|COMPLETED|100|200|300|100|n1\n"


def read(format_name, *logs, **options):
    return read_with(SeenRuns(), logs, format_name, **options)


def read_with(seen, logs, format_name="slurm", **options):
    found = []
    for log in logs:
        data = log if isinstance(log, bytes) else log.encode()
        found += read_records(find(format_name), io.BytesIO(data), Options(**options), TEXTS, seen)
    return found


def counted(found):
    counts = RecordCounts()
    for item in found:
        counts.add(item)
    return counts.converted, counts.skipped


def notices(found):
    return [
        item.message for item in found if isinstance(item, Noted) and "read before" in item.message
    ]


def sacct(*rows):
    return HEADER + "".join(rows)


@pytest.mark.parametrize("format_name", MADE)
def test_the_same_log_given_twice_counts_once(format_name):
    program, name, _ = MADE[format_name]
    log = made(program, name)
    once = read(format_name.removesuffix("-long"), log)
    twice = read(format_name.removesuffix("-long"), log, log)
    assert [it.job for it in twice if isinstance(it, Converted)] == [
        it.job for it in once if isinstance(it, Converted)
    ]
    jobs, skipped = counted(twice)
    steps = sum(it.steps for it in once if isinstance(it, Converted))
    assert (jobs, skipped[runs.AGAIN]) == (counted(once)[0], counted(once)[0] + steps)
    assert len(notices(twice)) == jobs


@pytest.mark.parametrize("format_name", ["car", "ur"])
@pytest.mark.parametrize("names", [("r1", "r1"), ("r1", "r2"), ("", "")])
def test_a_usage_record_without_times_is_known_by_its_identity(format_name, names):
    """Of one that has neither, nothing tells whether it is another."""
    ns, root = {
        "car": ("http://eu-emi.eu/namespaces/2012/11/computerecord", "UsageRecord"),
        "ur": ("http://schema.ogf.org/urf/2003/09/urf", "JobUsageRecord"),
    }[format_name]
    log = "".join(
        f"<{root}><RecordIdentity recordId='{name}'/><JobIdentity><LocalJobId>7</LocalJobId>"
        f"</JobIdentity><Status>completed</Status><WallDuration>PT9S</WallDuration></{root}>"
        for name in names
    )
    found = read(format_name, f"<UsageRecords xmlns='{ns}'>{log}</UsageRecords>")
    once = names == ("r1", "r1")
    assert counted(found) == ((1, {runs.AGAIN: 1}) if once else (2, {}))


def test_windows_of_sacct_overlap():
    first = sacct("c|6|FAILED|90|91|92|1|n1\n", DONE)
    second = sacct(DONE, DONE.replace("7", "8"))
    assert counted(read("slurm", first, second)) == (3, {runs.AGAIN: 1})


RESIZED = DONE.replace("|300|100|", "|400|200|")
RUNNING = DONE.replace("COMPLETED", "RUNNING").replace("|300|", "|Unknown|")
CANCELLED = "c|7|CANCELLED by 1|100|Unknown|150|0|None assigned\n"
NEVER = CANCELLED.replace("c|7", "c|9")
PENDING = "c|7|PENDING|100|Unknown|Unknown|0|None assigned\n"

# fmt: off
# Rows, how many jobs they are, and what is said of those that are not new.
RUNS = {
    "resized":         ([DONE, RESIZED], 1, "counts instead"),
    "resized-twice":   ([DONE, RESIZED, DONE, RESIZED], 1, "counts instead"),
    "another-machine": ([DONE, DONE.replace("c|", "d|")], 2, ""),
    "machine-later":   ([DONE.replace("c|", "|"), DONE, DONE.replace("c|", "d|")], 2, "counts"),
    "another-run":     ([DONE, DONE.replace("|200|", "|250|")], 2, ""),
    "requeued":        ([DONE, DONE.replace("|100|200|", "|110|200|")], 2, ""),
    "ran":             ([RUNNING, DONE], 1, "counts instead"),
    "ran-before":      ([DONE, RUNNING], 1, "counts once"),
    "runs":            ([RUNNING, RUNNING.replace("|100|n1", "|170|n1")], 1, "counts instead"),
    "ran-longer":      ([RUNNING.replace("|100|n1", "|170|n1"), RUNNING], 1, "counts once"),
    "never-began":     ([CANCELLED, CANCELLED], 1, "counts once"),
    "ended-apart":     ([CANCELLED, CANCELLED.replace("|150|", "|160|")], 2, ""),
    "waited":          ([PENDING, CANCELLED], 1, ""),
    "waits-again":     ([CANCELLED, PENDING], 1, "counts once"),
    "waited-and-ran":  ([PENDING, DONE], 1, ""),
    "waits-behind":    ([DONE, PENDING], 1, "counts once"),
    "without-times":   ([PENDING.replace("|100|", "||")] * 2, 2, ""),
}
# fmt: on


def settled(*logs, format_name="slurm"):
    """What is read of logs by who can begin anew."""
    seen = SeenRuns()
    found = read_with(seen, logs, format_name)
    return read_with(seen.second(), logs, format_name) if seen.is_undecided else found


@pytest.mark.parametrize(("rows", "jobs", "said"), RUNS.values(), ids=RUNS)
def test_a_run_is_known_by_its_machine_id_submission_and_start(rows, jobs, said):
    for logs in [sacct(row) for row in rows], [sacct(*rows)]:
        found = settled(*logs)
        assert counted(found)[0] == jobs
        assert len(rows) == sum(counted(found)[1].values()) + jobs
        assert bool(notices(read("slurm", *logs))) == bool(said)
        assert not said or said in notices(read("slurm", *logs))[0]


def test_the_record_that_tells_more_counts_whatever_the_order():
    for rows in itertools.permutations([PENDING, RUNNING, DONE]):
        (job,) = [it.job for it in settled(*map(sacct, rows)) if isinstance(it, Converted)]
        assert "COMPLETED" in job


def test_of_two_that_tell_as_much_the_later_one_counts():
    """The record of a job may be looked at before it is whole."""
    early, late = DONE.replace("|100|n1", "|90|n1"), DONE
    for rows, elapsed in (([early, late], 100), ([late, early], 90)):
        (job,) = [it.job for it in settled(*map(sacct, rows)) if isinstance(it, Converted)]
        assert f"<Duration>{elapsed}</Duration>" in job


def test_what_cannot_be_taken_back_is_written_beside_what_counts():
    found = read("slurm", sacct(RUNNING), sacct(DONE))
    assert counted(found) == (2, {})
    assert counted(read("slurm", sacct(DONE), sacct(RUNNING))) == (1, {runs.AGAIN: 1})


def test_what_tells_no_times_is_never_taken_for_the_same():
    found = read("slurm", "JobID|State\n7|COMPLETED\n7|COMPLETED\n")
    assert counted(found) == (2, {})


# Printed by Son of Grid Engine 8.1.9 for a job that was rescheduled before it began.
RESCHEDULED = (
    "short.q:localhost:alice:alice:rerunme:27:sge:0:0:0:0:25:0:0:0.000000:0.000000:0.000000:0:0:0:0"
    ":0:0:0:0.000000:0:0:0:0:0:0:NONE:defaultdepartment:NONE:1:0:0.000000:0.000000:0.000000:NONE"
    ":0.000000:NONE:0.000000:0:0\n"
)


def test_a_record_of_Grid_Engine_without_any_time_is_known_by_all_that_it_says():
    other = RESCHEDULED.replace(":27:", ":28:")
    found = read("sge", RESCHEDULED + other, RESCHEDULED)
    assert counted(found) == (2, {runs.AGAIN: 1})


def test_steps_go_with_their_job():
    step = "c|7.batch|COMPLETED||200|300|100|n1\n"
    found = read("slurm", sacct(DONE, step), sacct(DONE, step))
    first, second, third = found[-3:]
    assert (first, second) == (Skipped(2, runs.AGAIN), Skipped(3, runs.AGAIN))
    assert (third.line, third.once) == (2, True)


def test_jobs_that_were_not_asked_for_are_not_met():
    found = read("slurm", sacct(RUNNING), sacct(DONE), ended_only=True)
    assert counted(found) == (1, {"not ended": 1})
    assert notices(found) == []


@pytest.mark.parametrize("element", ["Duration", "CpuDuration"])
@pytest.mark.parametrize("format_name", MADE)
def test_how_long_a_run_goes_on_is_read_of_columns_as_of_its_job(format_name, element, monkeypatch):
    """Only runs that go on are asked; what is read does not depend on that."""
    program, name, _ = MADE[format_name]
    log = made(program, name)
    found, taken = {}, runs.Once._keys

    def keys(self, batch):
        rows = [*clocks.by(self._clock, self._layout.rows(batch.names))]
        walls_of = runs._seconds_read(rows, batch.names, element)
        walls = walls_of(batch.columns, range(len(batch.lines)))
        found.update(zip(batch.lines, walls, strict=True))
        return taken(self, batch)

    monkeypatch.setattr(runs.Once, "_keys", keys)
    chosen = find(format_name.removesuffix("-long"))
    read = read_records(chosen, io.BytesIO(log), Options(), OBJECTS, SeenRuns())
    of_jobs = {
        it.line: runs._seconds_given(it.job, element) for it in read if isinstance(it, Converted)
    }
    assert any(of_jobs.values()) or element != "Duration"
    assert {line: wall for line, wall in found.items() if line in of_jobs} == {
        line: of_jobs[line] for line in found if line in of_jobs
    }
    assert found or format_name == "condor"


SOME = {
    "Cluster": ["c", ""], "JobID": ["7", "7_1", "7+1"], "JobIDRaw": ["", "9"], "User": ["amy", ""],
    "State": ["COMPLETED", "RUNNING", "PENDING", "CANCELLED by 1"],
    "Submit": ["100", "", "Unknown"], "Start": ["200", "", "Unknown"], "End": ["300", "", "None"],
    "ElapsedRaw": ["100", "0", ""], "TotalCPU": ["00:30", "00:00", ""],
}  # fmt: skip


def keys_by_line(log, builder, monkeypatch):
    """What tells the runs of a log of sacct, by its columns, and what becomes of it."""
    found, taken = {}, runs.Once._keys

    def keys(self, batch):
        of = taken(self, batch)
        found.update(zip(batch.lines, zip(of.runs, of.jobs, of.ends, strict=True), strict=True))
        return of

    monkeypatch.setattr(runs.Once, "_keys", keys)
    seen = SeenRuns()
    return found, seen, [*read_records(find("slurm"), io.BytesIO(log), Options(), builder, seen)]


@examples(60)
@given(st.lists(st.tuples(*map(st.sampled_from, SOME.values())), min_size=1, max_size=30))
def test_columns_tell_of_a_run_what_its_job_tells(rows):
    log = "\n".join("|".join(row) for row in ([*SOME], *rows)).encode() + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        found, seen, read_all = keys_by_line(log, OBJECTS, patch)
    jobs = {each.line: each.job for each in read_all if isinstance(each, Converted)}
    assert jobs
    for line, job in jobs.items():
        assert found[line] == runs.of_job(job, seen), log.splitlines()[line - 1]


# Of each record its job, whether and as which run it began, and its end, or how long it ran so far.
records = st.lists(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 3), st.sampled_from(["", "1", "2", 3, 7]))
    ),
    max_size=12,
)


def keys_of(batch):
    """What tells records, as numbers; job 0 tells none."""
    told = []
    for job, run, end in batch:
        about = (end, ENDED) if isinstance(end, str) and end else ("", WAITS)
        if run and about[1] == WAITS:
            about = runs._goes_on(end or None), BEGAN
        told.append((job * 10 + run if job else UNTOLD, job, end_of((*about, ("", ""), "", ""))))
    if not told:
        return NO_KEYS
    return RunKeys(*map(list, zip(*told, strict=True)), any(end & 3 == WAITS for *_, end in told))


def counting(batches):
    """The places of the records that count, by the rule as the page has it."""
    best, begun, places = {}, set(), []
    for place, (job, run, end) in enumerate(itertools.chain(*batches)):
        if not job:
            places.append(place)
            continue
        wall = end if isinstance(end, int) else 0
        rank = (2, 0) if end and not wall else (1, wall) if run else (0, 0)
        begun |= {job} if run else set()
        if rank >= best.get((job, run), (rank, 0))[0]:
            best[job, run] = rank, place
    places += [
        place for (job, run), ((rank, _), place) in best.items()
        if rank or run or job not in begun
    ]  # fmt: skip
    return sorted(places)


@given(records, st.integers(0, 5), st.integers(1, 1 << 6))
@example([[(1, 1, ""), (1, 0, "")], [(1, 0, "1")], [(2, 0, ""), (2, 0, "")]], 0, 1)
def test_what_counts_is_told_wherever_it_is_kept(batches, recent, in_memory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_RECENT", recent)
        patch.setattr(runs, "_SLOTS", 2)
        patch.setattr(runs, "_IN_MEMORY", in_memory)
        seen = SeenRuns()
        found = taken(seen, batches)
        assert len(seen._runs) <= recent + 1 + max(map(len, batches), default=0)
        if seen.is_undecided:
            found = taken(seen.second(), batches)
        assert [place for place, verdict in enumerate(found) if verdict != TWICE] == counting(
            batches
        )


def taken(met, batches):
    """What is said of records that come in batches."""
    found = []
    for keys in map(keys_of, batches):
        found += [NEW] * len(keys.runs) if met.are_new(keys) else met.take(keys)
    return found


@given(records)
def test_runs_are_new_where_each_is(batches):
    """Together they are, where one by one each would be the first, and none gives way."""
    seen, alone = SeenRuns(), SeenRuns()
    for keys in map(keys_of, batches):
        are_new = {*alone.take(keys)} <= {NEW} and not alone.is_undecided
        assert seen.are_new(keys) == are_new
        if not are_new:
            break


ENDS = st.integers(0, 9) | st.integers(0, 9).map(lambda end: (end + 1 << runs._HALF) + end)


@examples(60)
@given(st.lists(st.tuples(st.integers(1, 9) | st.integers(-9, -1), ENDS), max_size=30))
def test_a_table_of_runs_has_the_last_end_of_each(told):
    table, expected = runs._RunTable(4), {}
    for run, end in told:
        table = table.having(run, end)
        expected[run] = end
        assert {each: table.get(each) for each in expected} == expected
    assert table.count == len(expected)
    for run in range(-10, 11):
        assert (run in table) is table.has_any([run]) is (run in expected)


def test_few_runs_are_in_the_dictionary_and_many_in_a_file(monkeypatch):
    monkeypatch.setattr(runs, "_RECENT", 1000)
    monkeypatch.setattr(runs, "_IN_MEMORY", 1 << 10)
    seen = SeenRuns()

    def keys(first, behind):
        numbers = [*range(8 * first, 8 * behind, 8)]
        return RunKeys(numbers, [UNTOLD] * len(numbers), [number | ENDED for number in numbers])

    for first in range(1, 20_001, 500):
        assert seen.are_new(keys(first, first + 500))
        assert len(seen._runs) <= 1001
    assert 2 * seen._table.count <= seen._table._slots <= 8 * seen._table.count
    every = keys(1, 20_001)
    assert not seen.are_new(every)
    assert set(seen.take(every)) == {TWICE}
    assert set(seen.take(every._replace(ends=[ENDED] * 20_000))) == {INSTEAD}


def listing(probed, cut=0):
    """The runs of the rows of a log, listed for whom ``probed`` tells of.

    So many bytes of it are cut off.
    """
    listed = ListedRuns(probed)
    log = sacct(
        DONE,
        CANCELLED.replace("c|7", "c|9"),
        PENDING.replace("|100|", "||"),
        DONE.replace("c|7", "c|8"),
    )
    data = log.encode()[: len(log) - cut]
    for _ in read_records(find("slurm"), io.BytesIO(data), Options(), TEXTS, listed):
        pass
    return listed.runs


@pytest.mark.parametrize("row", [DONE, RUNNING, PENDING, CANCELLED])
def test_whether_a_run_waits_is_the_same_where_runs_are_seen_and_where_they_are_listed(row):
    read_all = read_records(find("slurm"), io.BytesIO(sacct(row).encode()), Options(), OBJECTS)
    jobs = [each.job for each in read_all if isinstance(each, Converted)]
    for met in SeenRuns(), ListedRuns(runs.probe()), ListedRuns(runs.probe() + 1):
        assert runs.of_jobs(jobs, met).has_waiting is (row is PENDING)


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
def test_a_copy_of_a_process_lists_hashes_and_any_other_one_what_is_hashed(cut):
    hashes, texts = listing(runs.probe(), cut), listing(runs.probe() + 1, cut)
    assert (hashes.ends[-1] == listing(runs.probe()).ends[-1]) is (cut == 0)
    assert [*hashes.runs] == [*map(run_of, texts.runs)]
    assert [*hashes.jobs] == [*map(hash, texts.jobs)]
    assert [*hashes.ends] == [*map(end_of, texts.ends)]
    for known, told in itertools.product((hashes, texts), repeat=2):
        seen = SeenRuns()
        assert seen.are_new_in(known)
        assert not seen.are_new_in(told)


RUN = (
    "11/20/2026 14:29:34;E;8.srv;user=amy ctime=1700000000 start=1700000100 end=1700000700 "
    "exec_host=n1/0 resources_used.walltime={}\n"
)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("copies", ["bg", "bgg", "gbg", "bbg", "gb", "bb", "ggb", "bgbg"])
def test_a_bad_record_hides_no_good_one_of_its_run(copies, apart):
    """In one stream, and in a stream for each: the run counts once, if a record of it is good."""
    texts = [RUN.format({"b": "abc", "g": "00:10:00"}[each]).encode() for each in copies]
    seen, found = SeenRuns(), []
    for data in texts if apart else [b"".join(texts)]:
        found += read_records(find("pbs"), io.BytesIO(data), Options(), TEXTS, seen)
    counts = RecordCounts()
    for each in found:
        counts.add(each)
    good = copies.count("g")
    assert counts.converted == min(good, 1)
    assert (counts.bad, counts.skipped.get(runs.AGAIN, 0)) == (copies.count("b"), max(good - 1, 0))


WAITING = PENDING.replace("c|7", "c|8")
BAD = {"began": DONE.replace("c|7", "c|8").replace("|100|n1", "|x|n1"),
       "waits": RUNNING.replace("c|7", "c|8").replace("|200|", "|later|")}  # fmt: skip


@pytest.mark.parametrize("is_listed", [False, True])
@pytest.mark.parametrize("bad", BAD)
def test_nor_does_it_hide_one_of_its_job(bad, is_listed):
    """What waits waits for a run that began, and what began gives way to nothing that was bad."""
    behind = WAITING if bad == "began" else DONE.replace("c|7", "c|8")
    seen, found = SeenRuns(), []
    for row in (BAD[bad], behind):
        log = io.BytesIO(sacct(DONE if row is not behind else "", row).encode())
        met = ListedRuns(runs.probe()) if is_listed else seen
        found += read_records(find("slurm"), log, Options(), TEXTS, met)
        assert not is_listed or seen.are_new_in(met.runs)
    assert counted(found) == (2, {})
    assert (seen.is_undecided, seen.has_written_both) == (False, False)


TIMES = re.compile(rb"\b(?:1[0-9]{9}|20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]{8})\b")
OF_LINES = ("slurm", "slurm-jobcomp", "pbs", "sge", "lsf", "condor")


@pytest.mark.parametrize("format_name", OF_LINES)
def test_what_tells_a_run_is_the_same_whatever_stands_beside_it(format_name, monkeypatch):
    """Those beside it are bad, or have other times, none, or some that are beyond all times."""
    program, name, _ = MADE[format_name]
    log = made(program, name.removesuffix("-steps"))
    line = log.splitlines(keepends=True)[-1]
    count = len(TIMES.findall(line))
    assert count > 1
    taken = runs.Once._keys

    def told(data):
        found = {}

        def keys(self, batch):
            of = taken(self, batch)
            found.update(zip(batch.lines, zip(of.runs, of.jobs, of.ends, strict=True), strict=True))
            return of

        monkeypatch.setattr(runs.Once, "_keys", keys)
        read_all = read_records(find(format_name), io.BytesIO(data), Options(), TEXTS, SeenRuns())
        assert any(isinstance(each, Converted) for each in read_all)
        return found

    known = told(log)
    for text in (b"later", b"", b"0", b"0171", b"17000000000", b"2026-11-20T14:29:34+01:00"):
        for place in range(count):
            numbers = itertools.count()
            other = TIMES.sub(lambda it: text if next(numbers) == place else it[0], line)  # noqa: B023
            found = told(log + other)
            assert {at: found.get(at) for at in known} == known, (text, place)


@pytest.mark.parametrize("copies", ["wc", "cw", "cwc", "wcw", "ccw", "wcc"])
def test_a_record_that_was_cut_gives_way_to_a_whole_one(copies):
    """Of a time of 00:10:00 the cut line has 00:1."""
    whole = RUN.format("00:10:00")
    texts = [whole.removesuffix("0:00\n") if each == "c" else whole for each in copies]
    (job,) = [it.job for it in settled(*texts, format_name="pbs") if isinstance(it, Converted)]
    assert "<Duration>600</Duration>" in job
    table = sacct(DONE.replace("n1", "n12"))
    texts = [table.removesuffix("2\n") if each == "c" else table for each in copies]
    (job,) = [it.job for it in settled(*texts) if isinstance(it, Converted)]
    assert "<Node>n12</Node>" in job


def test_a_line_that_was_cut_and_is_no_record_casts_no_doubt_on_the_one_before():
    """Else another one of its run, which was cut itself, would count instead."""
    whole = RUN.format("00:10:00")
    found = read("pbs", whole + "half a li", whole.removesuffix("0:00\n"))
    assert counted(found) == (1, {runs.AGAIN: 1})


STEPS = """\
JobID|JobName|Cluster|User|State|Submit|Start|End|ElapsedRaw|TotalCPU|MaxRSS|NodeList
41|a|c|amy|COMPLETED|90|100|160|60|00:30||n1
41.batch|batch||||100|100|160|60|00:30|5K|n1
7|b|c|amy|COMPLETED|100|160|260|100|03:30||n12
7.batch|batch||||160|160|260|100|00:30|10K|n12
7.0|b||||170|170|260|90|03:00|2000K|n12
"""
AD = """\
ClusterId = 46
ProcId = 0
Owner = "amy"
JobStartDate = 1700000000
CompletionDate = 1700000600
RemoteWallClockTime = 600.0
RemoteUserCpu = 57.0
RequestCpus = 4

"""
SLAVES = (DATA / "accounting/sge/quirks/slaves.txt").read_text()
LOGS = {
    "slurm": STEPS,
    "pbs": RUN.format("00:10:00").replace("8.srv", "7.srv") + RUN.format("00:20:00"),
    "condor": AD.replace("46", "41") + AD,
    "sge": "".join(SLAVES.splitlines(keepends=True)[:6]),
}


@pytest.mark.parametrize("every", ["even", "odd"])
@pytest.mark.parametrize("order", ["whole first", "cut first"])
@pytest.mark.parametrize("format_name", LOGS)
def test_wherever_a_log_is_cut_the_whole_one_counts(format_name, order, every):
    """Behind a line end nothing tells that it was."""
    whole = LOGS[format_name]
    wanted = [it.job for it in settled(whole, format_name=format_name) if isinstance(it, Converted)]
    assert wanted
    for end in range(len(whole) // 2 + (every == "odd"), len(whole), 2):
        if whole[end - 1] == "\n":
            continue
        logs = [whole, whole[:end]][:: 1 if order == "whole first" else -1]
        found = settled(*logs, format_name=format_name)
        jobs = [it.job for it in found if isinstance(it, Converted)]
        assert sorted(job for job in jobs if job in wanted) == sorted(wanted), whole[:end][-90:]
        # A job whose times were cut away may be another one: it used nothing.
        assert not any("EndTime" in job for job in jobs if job not in wanted), whole[:end][-90:]


UNTIMED = "ClusterId = 44\nJobStatus = 4\n"
WHOLE_AD = 'ClusterId = 46\nProcId = 0\nJobStartDate = 1700000000\nJobStatus = 4\nOwner = "amy"\n'


@pytest.mark.parametrize("first", [UNTIMED, UNTIMED.removesuffix("\n"), WHOLE_AD])
@pytest.mark.parametrize("cut", ["", '\nClusterId = 46\nOwner = "a'])
@pytest.mark.parametrize("whole", ["first", "last"])
def test_no_job_is_lost_where_a_record_is_cut(first, cut, whole):
    """Nor one without times, which has not begun because its record is cut; it may be another."""
    ad = first if first.endswith("\n") else f"{first}\n"
    logs = [f"{ad}\n{WHOLE_AD}", f"{first}{cut}"]
    logs = logs[:: 1 if whole == "first" else -1]
    told = [it.job for it in settled(*logs, format_name="condor") if isinstance(it, Converted)]
    for number in ("44.0", "46.0") if first != WHOLE_AD else ("46.0",):
        assert sum(f"<Id>{number}</Id>" in job for job in told) in (
            (1, 2) if "44" in number else (1,)
        )


def test_times_that_are_written_otherwise_tell_the_same_run():
    columns = "JobID|Cluster|State|Submit|Start|End|ElapsedRaw\n"
    iso = "7|c|COMPLETED|2023-11-14T22:00:00|2023-11-14T22:10:00|2023-11-14T22:20:00|600\n"
    seconds = "7|c|COMPLETED|1699999200|1699999800|1700000400|600\n"
    for zone, written, converted in (("", iso, 1), ("+01:00", iso.replace("T22", "T23"), 1),
                                     ("+01:00", iso, 2)):  # fmt: skip
        found = counted(read("slurm", columns + written, columns + seconds, zone=zone))
        assert found[0] == converted
