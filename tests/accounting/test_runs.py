"""Twice is once: a run that a record was read of before is left out, and told."""

import io
import itertools
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from same_jobs import MADE, made

from sssjob.records import find, read_records, runs
from sssjob.records.builders import TEXTS
from sssjob.records.record import Converted, Counts, Noted, Options, Skipped
from sssjob.records.runs import CHANGED, NEW, TWICE, UNTOLD, ListedRuns, SeenRuns

HEADER = "Cluster|JobID|State|Submit|Start|End|ElapsedRaw|NodeList\n"
DONE = "c|7|COMPLETED|100|200|300|100|n1\n"
NOT_TOLD = ("swf",)  # counts jobs of one log, and names no machine


def read(format_name, *logs, **options):
    seen, found = SeenRuns(), []
    for log in logs:
        data = log if isinstance(log, bytes) else log.encode()
        found += read_records(find(format_name), io.BytesIO(data), Options(**options), TEXTS, seen)
    return found


def counted(found):
    counts = Counts()
    for item in found:
        counts.add(item)
    return counts.converted, counts.skipped


def notices(found):
    return [
        item.message for item in found if isinstance(item, Noted) and "read before" in item.message
    ]


def sacct(*rows):
    return HEADER + "".join(rows)


@pytest.mark.parametrize("format_name", [name for name in MADE if name not in NOT_TOLD])
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


def test_windows_of_sacct_overlap():
    first = sacct("c|6|FAILED|90|91|92|1|n1\n", DONE)
    second = sacct(DONE, DONE.replace("7", "8"))
    assert counted(read("slurm", first, second)) == (3, {runs.AGAIN: 1})


RESIZED = DONE.replace("|300|100|", "|400|200|")
RUNNING = DONE.replace("COMPLETED", "RUNNING").replace("|300|", "|Unknown|")
CANCELLED = "c|7|CANCELLED by 1|100|Unknown|150|0|None assigned\n"
PENDING = "c|7|PENDING|100|Unknown|Unknown|0|None assigned\n"

# fmt: off
# Rows, how many jobs they are, and what is said of those that are not new.
RUNS = {
    "resized":         ([DONE, RESIZED], 2, "another end"),
    "resized-twice":   ([DONE, RESIZED, DONE, RESIZED], 2, "read before"),
    "another-machine": ([DONE, DONE.replace("c|", "d|")], 2, ""),
    "another-run":     ([DONE, DONE.replace("|200|", "|250|")], 2, ""),
    "requeued":        ([DONE, DONE.replace("|100|200|", "|110|200|")], 2, ""),
    "ran":             ([RUNNING, DONE], 2, "another end"),
    "ran-before":      ([DONE, RUNNING], 1, "counts once"),
    "never-began":     ([CANCELLED, CANCELLED], 1, "counts once"),
    "waited":          ([PENDING, CANCELLED], 2, ""),
    "without-times":   ([PENDING.replace("|100|", "||")] * 2, 2, ""),
}
# fmt: on


@pytest.mark.parametrize(("rows", "jobs", "said"), RUNS.values(), ids=RUNS)
def test_a_run_is_known_by_its_machine_id_submission_and_start(rows, jobs, said):
    found = read("slurm", *(sacct(row) for row in rows))
    assert counted(found)[0] == jobs
    assert len(rows) == sum(counted(found)[1].values()) + jobs
    assert bool(notices(found)) == bool(said)
    assert all(said in text for text in notices(found))
    assert counted(read("slurm", sacct(*rows)))[0] == jobs


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
    first, second, third = read("slurm", sacct(DONE, step), sacct(DONE, step))[1:]
    assert (first, second) == (Skipped(2, runs.AGAIN), Skipped(3, runs.AGAIN))
    assert (third.line, third.once) == (2, True)


def test_jobs_that_were_not_asked_for_are_not_met():
    found = read("slurm", sacct(RUNNING), sacct(DONE), ended_only=True)
    assert counted(found) == (1, {"not ended": 1})
    assert notices(found) == []


runs_and_ends = st.lists(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["", "0", "1", "2"]))), max_size=12
)


@given(runs_and_ends, st.integers(0, 5), st.integers(1, 1 << 6))
def test_what_was_met_is_known_wherever_it_is_kept(batches, recent, in_memory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "_RECENT", recent)
        patch.setattr(runs, "_SLOTS", 2)
        patch.setattr(runs, "_IN_MEMORY", in_memory)
        seen, model = SeenRuns(), {}
        for batch in batches:
            expected = []
            for key, end in batch:
                ends = model.setdefault(key, []) if key != UNTOLD else []
                if not ends:
                    expected.append(NEW)
                else:
                    expected.append(TWICE if end in ("", "0", *ends) else CHANGED)
                ends.append(end)
            keys, ends = [key for key, _ in batch], [hash(end) for _, end in batch]
            assert seen.are_new(keys, ends) or [*seen.take(keys, ends)] == expected
            assert len(seen._runs) <= recent + 1 + len(batch)


@given(runs_and_ends)
def test_runs_are_new_where_each_is(batches):
    seen, met = SeenRuns(), set()
    for batch in batches:
        keys = [key for key, _ in batch if key != UNTOLD]
        are_new = len({*keys}) == len(keys) and met.isdisjoint(keys)
        assert seen.are_new([key for key, _ in batch], [hash(end) for _, end in batch]) == are_new
        if not are_new:
            break
        met.update(keys)


def test_few_runs_are_in_the_dictionary_and_many_in_a_file(monkeypatch):
    monkeypatch.setattr(runs, "_RECENT", 1000)
    monkeypatch.setattr(runs, "_IN_MEMORY", 1 << 10)
    seen = SeenRuns()
    for first in range(0, 20_000, 500):
        keys = range(first + 1, first + 501)
        assert seen.are_new(keys, keys)
        assert len(seen._runs) <= 1001
    assert 2 * seen._table.count <= seen._table._slots <= 8 * seen._table.count
    keys = range(1, 20_001)
    assert not seen.are_new(keys, keys)
    assert set(seen.take(keys, keys)) == {TWICE}


def listing(probed):
    """The runs of the rows of a log, listed for whom ``probed`` tells of."""
    listed = ListedRuns(probed)
    log = sacct(DONE, CANCELLED, PENDING.replace("|100|", "||"), DONE.replace("c|7", "c|8"))
    for _ in read_records(find("slurm"), io.BytesIO(log.encode()), Options(), TEXTS, listed):
        pass
    return listed.runs


def test_a_copy_of_a_process_lists_hashes_and_any_other_one_what_is_hashed():
    hashes, texts = listing(runs.probe()), listing(runs.probe() + 1)
    assert [*hashes[0]] == [*map(hash, texts[0])]
    assert [*hashes[1]] == [*map(hash, texts[1])]
    assert len(pickle.dumps(hashes)) < len(pickle.dumps(texts))
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
    counts = Counts()
    for each in found:
        counts.add(each)
    good = copies.count("g")
    assert counts.converted == min(good, 1)
    assert (counts.bad, counts.skipped.get(runs.AGAIN, 0)) == (copies.count("b"), max(good - 1, 0))


def test_times_that_are_written_otherwise_tell_the_same_run():
    columns = "JobID|Cluster|State|Submit|Start|End|ElapsedRaw\n"
    iso = "7|c|COMPLETED|2023-11-14T22:00:00|2023-11-14T22:10:00|2023-11-14T22:20:00|600\n"
    seconds = "7|c|COMPLETED|1699999200|1699999800|1700000400|600\n"
    for zone, written, converted in (("", iso, 1), ("+01:00", iso.replace("T22", "T23"), 1),
                                     ("+01:00", iso, 2)):  # fmt: skip
        found = counted(read("slurm", columns + written, columns + seconds, zone=zone))
        assert found[0] == converted
