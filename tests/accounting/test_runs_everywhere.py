"""Twice is once, by one rule: reports, what is converted, ledgers and stores count the same."""

import json
import re
import shutil

import pytest
from click.testing import CliRunner
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from same_jobs import MADE, made
from summed import call, sums

from sssjob import jobs
from sssjob.cli import sssjob

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS"
FROM_OTHERS = ("apel", "ur", "car", "swf")  # no records of a batch system, or of no known one


LOOKS = ("RUNNING", 10), ("RUNNING", 30), ("COMPLETED", 50), ("COMPLETED", 51)


@st.composite
def looks(draw):
    """What sacct told of a few jobs when it was asked again and again, and in which order."""
    rows = []
    for job, run, look in draw(
        st.lists(
            st.tuples(st.integers(1, 2), st.integers(0, 2), st.sampled_from(LOOKS)),
            min_size=1, max_size=7,
        )
    ):  # fmt: skip
        start = f"{1000 + 100 * run}" if run else "Unknown"
        state, wall = look if run else ("PENDING", 0)
        end = f"{1050 + 100 * run}" if state == "COMPLETED" else "Unknown"
        row = f"{job}|c|amy|{state}|900|{start}|{end}|{wall}|1"
        # What was corrected is not told again: a store takes that for older. # decision 517
        if state != "COMPLETED" or row not in rows:
            rows.append(row)
    return rows


def counting(rows):
    """What the sums of these rows are, by the rule as the page has it."""
    best, begun = {}, set()
    for place, row in enumerate(rows):
        job, _, _, state, _, start, _, wall, _ = row.split("|")
        rank = ("PENDING", "RUNNING", "COMPLETED").index(state)
        told = rank, int(wall) * (state == "RUNNING"), place, int(wall)
        best[job, start] = max(told, best.get((job, start), told))
        begun |= {job} if rank else set()
    counts = [wall for (job, _), (rank, _, _, wall) in best.items() if rank or job not in begun]
    return len(counts), sum(counts)


@st.composite
def half_told(draw):
    """Rows of sacct of a few runs, of which some tell neither the cluster nor the submission."""
    runs = draw(st.lists(
        st.tuples(
            st.integers(1, 3), st.sampled_from("ab"), st.integers(900, 901), st.integers(1, 2)
        ),
        min_size=1, max_size=5, unique=True,
    ))  # fmt: skip
    rows = []
    for job, cluster, submit, run in draw(st.lists(st.sampled_from(runs), min_size=1, max_size=8)):
        state, wall = draw(st.sampled_from(LOOKS))
        is_alone = [(each[0], each[3]) for each in runs].count((job, run)) == 1
        shown = [
            each if not is_alone or draw(st.booleans()) else "" for each in (cluster, f"{submit}")
        ]
        end = f"{1050 + 100 * run}" if state == "COMPLETED" else "Unknown"
        row = f"{job}|{shown[0]}|amy|{state}|{shown[1]}|{1000 + 100 * run}|{end}|{wall}|1"
        rows.append(((job, cluster, submit, run), row))
    return rows


@given(half_told(), st.integers(0, 8))
@examples(4, deadline=None)
def test_what_one_of_two_records_of_a_run_does_not_tell_decides_nothing(
    tmp_path_factory, told, cut
):
    folder = tmp_path_factory.mktemp("half")
    best = {}
    for place, (run, row) in enumerate(told):
        state, wall = row.split("|")[3], int(row.split("|")[7])
        rank = state == "COMPLETED", wall * (state == "RUNNING"), place
        best[run] = max((rank, wall), best.get(run, (rank, wall)))
    expected = len(best), sum(wall for _, wall in best.values())
    parts = [part for part in (told[:cut], told[cut:]) if part]
    files = [
        written(folder, f"part{at}", [row for _, row in part], apart=False)[0]
        for at, part in enumerate(parts)
    ]
    assert sums("report", *files) == expected
    assert sums("report", "--workers", 2, *files) == expected
    for name, some in ("usage", [files]), ("apart", [[file] for file in files]):
        for each in some:
            call("ledger", "ingest", folder / name, *each)
        assert sums("ledger", "report", "--book", "end", folder / name) == expected
    call("convert", "-o", folder / "jobs.sss", *files)
    assert sums("report", folder / "jobs.sss") == expected
    assert (folder / "jobs.sss").read_text().count("<Job>") == expected[0]


# Runs of a job in a log without Start: they share a Submit, and are told by their ends.
# One that used nothing ended as it waited, perhaps in the second in which it was requeued.
ENDS = (
    ("REQUEUED", "1050", 40), ("CANCELLED", "1050", 0),
    ("COMPLETED", "1150", 30), ("CANCELLED", "1250", 0),
)  # fmt: skip
OPEN = ("PENDING", "Unknown", 0), ("RUNNING", "Unknown", 15), ("RUNNING", "Unknown", 25)
WITHOUT_START = st.tuples(st.integers(1, 2), st.sampled_from([*OPEN, *ENDS]))


@given(st.lists(WITHOUT_START, min_size=1, max_size=7), st.integers(0, 7))
@examples(4, deadline=None)
def test_runs_of_which_no_start_is_told_are_known_by_their_ends(tmp_path_factory, told, cut):
    folder = tmp_path_factory.mktemp("ends")
    over = {(job, end, wall) for job, (_, end, wall) in told if end.isdigit()}
    rest = {job for job, _ in told} - {job for job, *_ in over}
    longest = [max(wall for job, (*_, wall) in told if job == each) for each in rest]
    expected = len(over) + len(rest), sum(wall for *_, wall in over) + sum(longest)
    header = HEADER.replace("Start|", "")
    rows = [f"{job}|c|amy|{state}|900|{end}|{wall}|1" for job, (state, end, wall) in told]
    parts = [part for part in (rows[:cut], rows[cut:]) if part]
    files = [
        written(folder, f"part{at}", part, apart=False, header=header)[0]
        for at, part in enumerate(parts)
    ]
    assert sums("report", *files) == expected
    assert sums("report", "--workers", 2, *files) == expected
    call("convert", "-o", folder / "jobs.sss", *files)
    assert sums("report", folder / "jobs.sss") == expected
    assert sums("report", *files, folder / "jobs.sss") == expected
    for name, some in ("whole", [files]), ("apart", [[file] for file in files]):
        store, ledger = folder / f"{name}.db", folder / name
        call("store", "init", store)
        for each in some:
            call("ledger", "ingest", ledger, *each)
            call("store", "import", store, *each)
        assert sums("ledger", "report", "--book", "end", ledger) == expected
        assert sums("report", store) == expected


# decision 979
@pytest.mark.parametrize("wall, gap", [(0, 1), (1, 0), (2, 2)])
@pytest.mark.parametrize(
    "lacking",
    ["", "End", "Start", "State End", "Submit Start", "Cluster Submit", "Cluster Submit State End"],
)
def test_a_run_of_a_second_or_two_counts_beside_the_next_whatever_a_log_lacks(
    tmp_path, lacking, wall, gap
):
    columns = HEADER.split("|")
    header = "|".join(name for name in columns if name not in lacking.split())
    rows = (
        f"1|c|amy|NODE_FAIL|900|1000|{1000 + wall}|{wall}|1",
        f"1|c|amy|COMPLETED|{1000 + wall}|{1000 + wall + gap}|{1050 + wall + gap}|50|1",
    )
    files = []
    for at, row in enumerate(rows):
        shown = zip(columns, row.split("|"), strict=True)
        text = "|".join(value for name, value in shown if name not in lacking.split())
        files += written(tmp_path, f"run{at}", [text], apart=False, header=header)
    for name, some in ("forth.db", files), ("back.db", files[::-1]):
        assert sums("report", *some) == (2, 50 + wall)
        for file in some:
            call("store", "import", tmp_path / name, file)
        assert sums("report", tmp_path / name) == (2, 50 + wall)


@given(looks(), st.booleans(), st.randoms(use_true_random=False))
@examples(4, deadline=None)
def test_each_run_counts_once_by_the_same_record_wherever_it_is_read(
    tmp_path_factory, rows, apart, random
):
    folder = tmp_path_factory.mktemp("looks")
    expected = counting(rows)
    files = written(folder, "log", rows, apart)
    for name in "usage", "other":
        call("ledger", "init", folder / name)
    call("ledger", "ingest", folder / "usage", *files)
    assert sums("ledger", "report", "--book", "end", folder / "usage") == expected
    assert sums("report", *files) == expected
    assert sums("report", "--workers", 2, *files) == expected
    assert sums("report", "-", given="".join(
        file.read_text() for file in files
    )) == expected  # fmt: skip
    for options in (), ("--workers", "2"):
        call("convert", *options, "-o", folder / "jobs.sss", *files)
        assert sums("report", folder / "jobs.sss") == expected
        assert (folder / "jobs.sss").read_text().count("<Job>") == expected[0]
    piped = folder / "piped.sss"
    piped.write_text(call("convert", "--to", "sss", *files).stdout)
    total = jobs(*files).report().total
    assert (total.jobs, total.wall or 0) == expected
    call("store", "import", folder / "jobs.db", *files)
    call("store", "import", folder / "later.db", folder / "jobs.sss")
    for file in files:
        call("store", "import", folder / "apart.db", file)
    for name in "jobs.db", "apart.db", "later.db":
        assert sums("report", folder / name) == expected
    ended = [row for row in rows if "|COMPLETED|" in row]
    if len({*ended}) > len({row.rsplit("|", 2)[0] for row in ended}):
        return  # of two that end alike a pipe has got the first, and the later one counts
    for both in (piped,), (piped, *files), (*files, piped):
        assert sums("report", *both) == expected
    assert sums("report", "--workers", 2, piped, *files) == expected
    random.shuffle(rows)
    files = written(folder, "mixed", rows, apart)
    call("ledger", "ingest", folder / "other", *files)
    assert sums("report", *files) == expected
    assert sums("ledger", "report", "--book", "end", folder / "other") == expected
    for file in files:
        call("store", "import", folder / "mixed.db", file)
    assert sums("report", folder / "mixed.db") == expected


def written(folder, name, rows, apart, header=HEADER):
    """The rows as one log, or as one for each."""
    parts = [[row] for row in rows] if apart else [rows]
    files = [folder / f"{name}-{at}.txt" for at in range(len(parts))]
    for file, some in zip(files, parts, strict=True):
        file.write_text("\n".join([header, *some, ""]))
    return files


@pytest.mark.parametrize("format_name", MADE)
def test_a_log_beside_the_documents_that_it_became_counts_once(tmp_path, format_name):
    program, name, _ = MADE[format_name]
    log, documents = tmp_path / "log", tmp_path / "log.sss"
    log.write_bytes(made(program, name))
    options = ("--from", format_name.removesuffix("-long"))
    call("convert", *options, "-o", documents, log)
    once = sums("report", *options, log)
    assert once[0]
    assert sums("report", documents) == once
    if format_name != "slurm-json":  # an array of which the reader is not asked for
        assert sums("report", log, documents) == once
        assert sums("report", documents, log) == once
    assert sums("report", documents, documents) == once
    texts = [
        call("convert", "--from", "sss", *some, documents, documents).stdout
        for some in ((), ("--workers", "2"))
    ]
    assert texts == [documents.read_text()] * 2


# Messages of APEL need CPU time, which Slurm's log of completed jobs does not tell.
NO_MESSAGES = ("slurm-jobcomp",)


@pytest.mark.parametrize("format_name", [name for name in MADE if name not in FROM_OTHERS])
def test_a_run_that_is_read_by_several_roads_is_one_run_everywhere(tmp_path, format_name):
    program, name, _ = MADE[format_name]
    log, system = tmp_path / "log", format_name.removesuffix("-long")
    log.write_bytes(made(program, name))
    roads = {"sss": (), "ur": (), "car": ("--site", "here"), "apel": ("--site", "here")}
    for target, options in roads.items():
        file = tmp_path / target
        call("convert", "--from", system, "--to", target, *options, "-o", file, log)
    files = [log, *(tmp_path / target for target in roads)]
    for order in files, files[::-1]:
        check_that_all_are_once(tmp_path, order, sums("report", "--from", system, log))
    for target in roads:
        if (target, format_name) != ("apel", *NO_MESSAGES):
            audited(log, tmp_path / target)


USER = re.compile(rb"(LocalUserId(?:>|: ))([^<\n]+)")
SPELLINGS = rb"\1\2@example.org", rb"\g<1>4711", rb"\1/DC=org/CN=\2", rb"\1None", rb"\1EXAMPLE\\\2"


@pytest.mark.parametrize("format_name", [name for name in MADE if name not in FROM_OTHERS])
def test_a_user_who_is_spelled_otherwise_or_not_told_has_the_same_runs(tmp_path, format_name):
    program, name, _ = MADE[format_name]
    log, system = tmp_path / "log", format_name.removesuffix("-long")
    log.write_bytes(made(program, name))
    files = [log]
    for target, options in ("ur", ()), ("car", ("--site", "here")), ("apel", ("--site", "here")):
        text = (
            CliRunner()
            .invoke(sssjob, ["convert", "--from", system, "--to", target, *options, str(log)])
            .stdout_bytes
        )
        for at, spelling in enumerate(SPELLINGS):
            files.append(tmp_path / f"{target}{at}")
            files[-1].write_bytes(USER.sub(spelling, text))
    check_that_all_are_once(tmp_path, files, sums("report", "--from", system, log))


def check_that_all_are_once(folder, files, expected):
    """Each run is once in a ledger, a report and a store of all these files."""
    for name in "usage", "jobs.db":
        if (folder / name).is_dir():
            shutil.rmtree(folder / name)
        (folder / name).unlink(missing_ok=True)
    call("ledger", "ingest", folder / "usage", *files)
    call("store", "import", folder / "jobs.db", *files)
    assert sums("ledger", "report", "--book", "end", folder / "usage")[0] == expected[0]
    assert sums("report", *files)[0] == expected[0]
    assert sums("report", folder / "jobs.db")[0] == expected[0]


def audited(read, listed):
    """Nothing is missing and nothing not listed, where one file is held against the other."""
    found = CliRunner().invoke(sssjob, ["audit", "--json", "--against", str(listed), str(read)])
    total = json.loads(found.stdout)["total"]
    assert (total["missing"], total["unlisted"], total["truncated"]) == (0, 0, 0), total
    assert total["listed"] == total["read"] > 0


AD = (
    '{{"GlobalJobId":"{0}#1.0#900","ClusterId":1,"ProcId":0,"Owner":"amy","JobStatus":4,'
    '"QDate":900,"JobCurrentStartDate":1000,"CompletionDate":1050,"RemoteWallClockTime":50,'
    '"CpusProvisioned":1}}'
)
LINE = "{0}#1.0#900|amy|50|1|1|1000|1050|1|1|1|"  # as a script for APEL prints it


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((f"{AD.format('s1')}\n{AD.format('s2')}\n",), 2),
        ((AD.format("s1"), LINE.format("s1")), 1),
        ((LINE.format("s1"), AD.format("s1")), 1),
        ((LINE.format("s1"), AD.format("s2"), LINE.format("s2")), 2),
    ],
    ids=["two schedds", "its line later", "its line before", "both"],
)
def test_a_job_of_HTCondor_is_told_by_its_GlobalJobId(tmp_path, texts, expected):
    files = [tmp_path / f"{at}.log" for at in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(f"{text}\n")
    wanted = expected, 50 * expected
    call("ledger", "ingest", tmp_path / "usage", *files)
    call("convert", "-o", tmp_path / "jobs.sss", *files)
    for file in files:
        call("ledger", "ingest", tmp_path / "nights", file)
    assert sums("ledger", "report", tmp_path / "nights") == wanted
    for name, some in (("one.db", [files]), ("apart.db", [[each] for each in files])):
        for each in some * 2:  # what was read before changes nothing
            call("store", "import", tmp_path / name, *each)
    call("store", "import", tmp_path / "later.db", tmp_path / "jobs.sss")
    assert sums("ledger", "report", tmp_path / "usage") == wanted
    stores = [[tmp_path / name] for name in ("one.db", "apart.db", "later.db")]
    for source in files, [tmp_path / "jobs.sss"], [tmp_path / "usage"], *stores:
        assert sums("report", *source) == wanted
    audited(tmp_path / "usage", tmp_path / "jobs.sss")
    if expected == 1:
        audited(*files)
        audited(*reversed(files))


@pytest.mark.parametrize("keeps", ["store", "document"])
def test_a_record_goes_to_the_job_of_its_GlobalJobId(tmp_path, keeps):
    both = tmp_path / "both.json"
    both.write_text(f"{AD.format('s1')}\n{AD.format('s2')}\n")
    jobs_ = tmp_path / ("jobs.db" if keeps == "store" else "jobs.sss")
    if keeps == "store":
        call("store", "import", jobs_, both)
    else:
        call("convert", "--to", "sss", "-o", jobs_, both)
    for schedd, expected in ("s1", 1), ("s2", 1), ("s3", 0):
        line = tmp_path / schedd
        line.write_text(f"{LINE.format(schedd)}\n")
        in_place = ("--in-place",) if keeps == "document" else ()
        words = "deliver", *in_place, "--record", line, "--from", "condor", jobs_
        found = CliRunner().invoke(sssjob, [*map(str, words)])
        assert found.exit_code == (0 if expected else 1), found.output
        query = f"//Job[GlobalId='{schedd}#1.0#900'][Delivered/Swap]"
        counted = CliRunner().invoke(sssjob, ["query", "--count", query, str(jobs_)])
        assert counted.stdout == f"{expected}\n"


def untimed(id_, user, look):
    """A document without SubmitTime, as hooks and its user leave it one after the other."""
    start = f"<StartTime>{1000 if user == 'amy' else 1007}</StartTime>"
    wall = "<Delivered><Duration>{0}</Duration></Delivered>"
    told = (
        "<Requested><Processors>1</Processors></Requested>",
        "<Requested><Processors>2</Processors></Requested><State>Idle</State>",
        f"{start}{wall.format(20)}",
        f"{start}<EndTime>1050</EndTime>{wall.format(50)}",
    )
    return f"<Job><Id>{id_}</Id><User>{user}</User>{told[look]}</Job>"


UNTIMED = st.tuples(st.sampled_from("AB"), st.sampled_from(("amy", "bob")), st.integers(0, 3))


@given(st.lists(UNTIMED, min_size=1, max_size=6, unique=True), st.booleans())
@examples(4, deadline=None)
def test_what_waits_without_any_time_is_no_run_beside_the_one_that_it_became(
    tmp_path_factory, looks, apart
):
    folder, best = tmp_path_factory.mktemp("untimed"), {}
    for id_, user, look in looks:
        best.setdefault((id_, user), []).append(look)
    counts = [[0, 0] if max(some) < 2 else [1, max(some) * 30 - 40] for some in best.values()]
    counts += [[1, 0] for some in best.values() if max(some) < 2 for _ in some]
    expected = tuple(map(sum, zip(*counts, strict=True)))
    files = []
    for at, look in enumerate(looks):
        files.append(folder / f"{at}.xml")
        files[-1].write_text(untimed(*look))
    call("ledger", "init", folder / "usage")
    for some in [[file] for file in files] if apart else [files]:
        call("ledger", "ingest", folder / "usage", *some)
    assert sums("ledger", "report", "--book", "end", folder / "usage") == expected
    assert sums("report", *files) == expected
    assert sums("report", "--workers", 2, *files) == expected
    call("convert", "-o", folder / "jobs.sss", *files)
    assert sums("report", folder / "jobs.sss") == expected
    assert (folder / "jobs.sss").read_text().count("<Job>") == expected[0]


HEAD = "JobID|Cluster|User|State|Start|End|ElapsedRaw|NCPUS"  # without Submit


@pytest.mark.parametrize("order", [1, -1])
def test_a_log_that_tells_no_submission_has_the_same_rule(tmp_path, order):
    rows = (
        "1|c|amy|PENDING|Unknown|Unknown|0|1", "1|c|amy|RUNNING|1000|Unknown|20|1",
        "2|c|amy|PENDING|Unknown|Unknown|0|1", "1|c|bob|PENDING|Unknown|Unknown|0|1",
    )  # fmt: skip
    file = tmp_path / "log"
    file.write_text("\n".join([HEAD, *rows[::order], ""]))
    call("ledger", "ingest", tmp_path / "usage", file)
    assert sums("report", file) == (3, 20)
    assert sums("ledger", "report", "--book", "end", tmp_path / "usage") == (3, 20)
    assert sums("report", tmp_path / "usage") == (3, 20)
