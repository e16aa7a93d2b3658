"""Slurm records become job objects; what cannot be converted is reported, never guessed."""

import io
from datetime import datetime
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from records import as_line

from sssjob import records, spec
from sssjob.check.findings import check as findings
from sssjob.document import dumps, from_tree, to_tree
from sssjob.errors import InvalidValue, Severity, UnusableInput
from sssjob.records import parts
from sssjob.records.builders import TEXTS
from sssjob.records.layout import NO_START
from sssjob.records.parts import Cutting, convert
from sssjob.records.record import COMPARED, Bad, Converted, Noted, Options, RecordCounts, Skipped
from sssjob.systems.slurm.accounting import sacct as slurm
from sssjob.systems.slurm.accounting import steps as slurm_steps
from sssjob.systems.slurm.accounting import table as slurm_table
from sssjob.systems.slurm.accounting.header import Header

DATA = Path(__file__).parent.parent / "data" / "slurm"
QUIRKS = sorted((DATA / "quirks").glob("*.txt"))
SAMPLES = sorted((DATA / "22.05").glob("*.txt")) + sorted((DATA / "24.11").glob("*.txt"))

# fmt: off
# For each sample of 22.05: its records, those converted, the steps among them, the bad ones.
COUNTS = {
    "all-steps-epoch":        (111, 51, 60, 0),
    "all-steps-us-delimiter": (111, 51, 60, 0),
    "allocations":            (51, 51, 0, 0),
    "cancelled-pending":      (54, 54, 0, 0),
    "noconvert":              (111, 51, 60, 0),
    "format-all-job5":        (5, 1, 4, 0),
    "cgroup-out-of-memory":   (5, 2, 3, 0),
}
# fmt: on


def outcomes(data, **options):
    return list(records.jobs("slurm", io.BytesIO(data), Options(**options)))


def texts(data, **options):
    """The outcomes of the other builder, where a job is a text."""
    return list(
        records.read_records(records.find("slurm"), io.BytesIO(data), Options(**options), TEXTS)
    )


def written(found):
    """Outcomes with the text of each job."""
    return [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in found
    ]


def converted(data, **options):
    return [item.job for item in outcomes(data, **options) if isinstance(item, Converted)]


def one(data, **options):
    (job,) = converted(data, **options)
    return job


def sample(name):
    return {job.id: job for job in converted((DATA / name).read_bytes())}


def quirk(path):
    """The outcomes of a quirk's records, as the file beside it has them."""
    data, options = path.read_bytes(), {}
    if data.startswith(b"# "):
        first, data = data.split(b"\n", 1)
        given = dict(part.split("=") for part in first.decode()[2:].split())
        columns = tuple(filter(None, given.get("columns", "").split(",")))
        options = {"zone": given.get("tz", ""), "columns": columns}
    return map(as_line, outcomes(data, **options))


@pytest.mark.parametrize("path", QUIRKS, ids=lambda path: path.stem)
def test_each_quirk_becomes_the_documents_beside_it(path):
    expected = path.with_suffix(".outcomes").read_text(encoding="utf-8").splitlines()
    assert list(quirk(path)) == expected


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_record_of_a_sample_is_counted_once(path):
    counts = RecordCounts()
    for _ in counts.counting(outcomes(path.read_bytes())):
        pass
    assert (counts.records, counts.converted, counts.steps, counts.bad) == COUNTS[path.stem]
    assert not counts.skipped


@pytest.mark.parametrize(
    "path", SAMPLES + QUIRKS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_every_converted_document_is_valid_and_reads_back(path):
    options = {"columns": ("JobID", "User", "State")} if path.stem == "no-header" else {}
    for job in converted(path.read_bytes(), **options):
        tree = to_tree(job)
        errors = [str(item) for item in findings(tree) if item.severity == "error"]
        assert errors == []
        assert dumps(from_tree(tree)) == dumps(job)


@pytest.mark.parametrize(
    "path", SAMPLES + QUIRKS, ids=lambda path: f"{path.parent.name}-{path.stem}"
)
@pytest.mark.parametrize("options", [{}, {"zone": "Europe/Berlin", "steps": False}])
def test_both_builders_lead_to_the_same_bytes(path, options):
    data = path.read_bytes().removeprefix(b"# columns=JobID,User,State\n")
    if path.stem == "no-header":
        options = options | {"columns": ("JobID", "User", "State")}
    assert texts(data, **options) == written(outcomes(data, **options))


def test_the_delimiter_of_a_sample_makes_no_difference_but_to_texts_in_doubt():
    plain = sample("22.05/all-steps-epoch.txt")
    rare = sample("22.05/all-steps-us-delimiter.txt")
    assert list(plain) == list(rare)
    for id, job in rare.items():
        told = job.items
        if id in ("15", "41"):
            texts = ("Comment", "AdminComment", "SystemComment", "Container")
            told = [
                item for item in told if getattr(item, "attributes", {}).get("name") not in texts
            ]
            assert len(told) == len(job.items) - 1
        assert dumps(plain[id]) == dumps(job.holding(told))


def test_texts_in_doubt_are_left_out_with_a_warning_at_their_line():
    found = outcomes((DATA / "22.05" / "all-steps-epoch.txt").read_bytes())
    notes = [it for it in found if isinstance(it, Noted) and it.severity == Severity.WARNING]
    assert [note.line for note in notes] == [51, 98]
    assert {note.message for note in notes} == {
        "a text has the delimiter in it: left out, since they cannot be told apart: "
        "Comment, AdminComment, SystemComment, Container"
    }


def test_the_texts_of_a_sample_are_whole():
    jobs = sample("22.05/all-steps-us-delimiter.txt")
    assert jobs["15"].get("Name") == "we|rd `name` <é&> ;x"
    comments = jobs["16"].properties.all("Extension", name="Comment")
    assert [item.text for item in comments] == ["two\nlines\tand tab"]
    lines = jobs["13"].properties.all("Extension", name="SubmitLine")
    assert lines[0].text.endswith('x[i]=1\ntime.sleep(20)"')


def test_delimiters_in_names_and_comments_are_told_apart_where_the_columns_allow():
    """The texts of record 15 of 22.05, among columns of which each stands alone."""
    job = one(
        "JobID|JobName|User|UID|State|Comment|Priority\n"
        "15|we|rd `name` <é&> ;x|alice|1001|COMPLETED|"
        'co|mment with "quotes", <tags> & pipe|1\n'.encode()
    )
    assert job.get("Name") == "we|rd `name` <é&> ;x"
    assert job.properties.text("Priority") == "1"
    comment = job.properties.get("Extension", name="Comment")
    assert comment.text == 'co|mment with "quotes", <tags> & pipe'


def test_steps_are_folded_into_their_job_and_kept_as_its_task_groups():
    job = sample("22.05/all-steps-epoch.txt")["6"]
    assert [group.id for group in job.task_groups] == ["batch", "0"]
    assert [group.get("TaskCount") for group in job.task_groups] == ["1", "6"]
    assert job.delivered.get("Memory", metric="Max").text == "10524"
    assert job.task_groups[1].delivered.get("Memory", metric="Total").text == "19136"


def test_steps_need_not_be_kept():
    data = (DATA / "22.05" / "all-steps-epoch.txt").read_bytes()
    jobs = converted(data, steps=False)
    assert not any(job.task_groups for job in jobs)
    assert jobs[0].delivered.get("Memory", metric="Max").text == "3248"


def test_units_in_the_output_do_not_depend_on_those_that_sacct_chose():
    exact = sample("22.05/noconvert.txt")
    usual = sample("22.05/all-steps-epoch.txt")
    for id, job in usual.items():
        assert exact[id].requested.text("Memory") == job.requested.text("Memory")
        if found := job.delivered.get("Memory", metric="Max"):
            assert exact[id].delivered.get("Memory", metric="Max").bytes == found.bytes


def test_a_requeued_job_is_two_jobs_with_two_global_ids():
    data = (DATA / "22.05" / "all-steps-epoch.txt").read_bytes()
    runs = [job for job in converted(data) if job.id == "37"]
    assert len(runs) == 2
    assert len({run.get("GlobalId") for run in runs}) == 2


def test_cpu_time_is_never_the_time_that_was_allocated():
    job = sample("22.05/all-steps-epoch.txt")["4"]
    assert job.get("CpuDuration") == "7"
    assert "CpuDuration" not in sample("22.05/allocations.txt")["4"].properties.names()


@pytest.mark.parametrize("measured, listed, joules", [
    ("", "energy=5000", "5000"), ("0", "energy=5000", "5000"), ("70", "energy=5000", "70"),
    ("1.5K", "energy=1500", "1500"), ("", "cpu=1", None), ("0", "energy=0", None),
])  # fmt: skip
def test_energy_is_what_either_column_tells(measured, listed, joules):
    head = "JobID|State|Start|End|ConsumedEnergyRaw|AllocTRES"
    (job,) = converted(f"{head}\n1|COMPLETED|1700000000|1700000010|{measured}|{listed}\n".encode())
    found = job.delivered.get("Resource", name="Energy")
    assert (found and found.text) == joules


@pytest.mark.parametrize("columns, counts, memory", [
    ("NNodes", "3", {"n": "144000"}), ("NNodes|ReqNodes", "3|", {"n": "144000"}),
    ("NNodes|ReqNodes", "3|0", {"n": "144000"}), ("NNodes|ReqNodes", "3|2", {"n": "96000"}),
    ("AllocNodes|NNodes|ReqNodes", "3||0", {"n": "144000"}),
    ("NCPUS", "8", {"c": "384000"}), ("NCPUS|ReqCPUS", "8|", {"c": "384000"}),
    ("AllocCPUS|ReqCPUS", "8|0", {"c": "384000"}), ("NCPUS|ReqCPUS", "8|4", {"c": "192000"}),
    ("NCPUS|NNodes|ReqCPUS|ReqNodes", "8|3||", {"c": "384000", "n": "144000", "": "48000"}),
    ("ReqNodes", "", {"n": None, "c": None}),
    ("NCPUS|NNodes|ReqCPUS|ReqNodes", "8|3|abc|abc", {"c": "384000", "n": "144000"}),
    ("NCPUS|NNodes|AllocNodes|ReqNodes", "8|abc|3|-2", {"c": "384000", "n": "144000"}),
    ("NNodes|ReqNodes", "abc|1.5", {"n": None, "": "48000"}),
])  # fmt: skip
@pytest.mark.parametrize("count", [1, 600])
def test_memory_of_a_unit_counts_for_the_units_that_any_column_tells(
    columns, counts, memory, count
):
    rows = "".join(f"{{id}}|COMPLETED|60|{counts}|48000M{unit}\n" for unit in memory)
    lines = "".join(rows.format(id=number) for number in range(count))
    jobs = converted(f"JobID|State|ElapsedRaw|{columns}|ReqMem\n{lines}".encode())
    found = [[each.text for each in job.requested if each.name == "Memory"] for job in jobs]
    assert found == [[each] if each else [] for each in memory.values()] * count


@pytest.mark.parametrize("start, end, wall, away, state, is_told", [
    ("14:00:00", "14:10:00", "00:10:00", "00:00:00", "COMPLETED", False),
    ("14:00:00", "14:10:00", "00:09:59", "", "COMPLETED", False),
    ("14:00:00", "14:10:00", "00:09:00", "00:01:00", "COMPLETED", False),
    ("14:00:00", "14:10:00", "00:09:00", "00:00:00", "COMPLETED", True),
    ("14:00:00", "14:10:00", "16:40:00", "00:00:00", "FAILED", True),
    ("14:00:00", "14:10:00", "00:00:00", "00:00:00", "COMPLETED", True),
    ("14:00:00", "14:10:00", "01:10:00", "00:00:00", "COMPLETED", False),  # a clock put forward
    ("14:10:00", "14:00:00", "00:10:00", "00:00:00", "COMPLETED", False),  # told as that
    ("14:00:00", "14:10:00", "00:09:00", "00:00:00", "RUNNING", False),
])  # fmt: skip
@pytest.mark.parametrize("count", [1, 900])
@pytest.mark.parametrize("more", ["", "é"])
def test_times_that_contradict_the_time_that_passed_are_told(
    start, end, wall, away, state, is_told, count, more
):
    day = "2026-11-20T"
    sound = f"{{}}|COMPLETED|{day}14:00:00|{day}14:05:00|00:05:00||4|x{more}\n"
    lines = "".join(sound.format(number) for number in range(count))
    odd = f"7000|{state}|{day}{start}|{day}{end}|{wall}|{away}|4|y\n"
    head = "JobID|State|Start|End|Elapsed|Suspended|NCPUS|JobName\n"
    for columns, walls in ((head, odd), (head.replace("Elapsed", "ElapsedRaw"), "")):
        if not walls:  # the same in seconds
            plain = str(
                sum(int(a) * b for a, b in zip(wall.split(":"), (3600, 60, 1), strict=True))
            )
            walls, lines = odd.replace(wall, plain, 1), lines.replace("00:05:00|", "300|")
        for read in (outcomes, texts):
            found = read(f"{columns}{lines}{walls}{lines}".encode())
            notes = [each for each in found if isinstance(each, Noted)]
            told = [each.line for each in notes if "is not the duration" in each.message]
            assert told == [count + 2] * is_told


@pytest.mark.parametrize("start, end, wall, away, is_told", [
    pytest.param("1700000000", "1700000600", 300, None, False, id="no column of suspensions"),
    pytest.param("1700000000", "1700000600", 300, "", False, id="nothing about a suspension"),
    pytest.param("1700000000", "1700000600", 300, "00:00:00", True, id="none, as it says"),
    pytest.param("1700000000", "1700000600", 602, None, True, id="longer, no column"),
    pytest.param("1700000000", "1700000600", 602, "", True, id="longer, no suspension told"),
    pytest.param("1700000000", "1700000600", 601, None, False, id="longer by the rounding"),
    pytest.param("1700000000", "1700000600", 4200, "00:00:00", True, id="an hour, in seconds"),
    pytest.param("1700000000", "1700000600", 4200, None, True, id="an hour, no column"),
    pytest.param("1700000000", "1700003600", 0, "00:00:00", True, id="an hour less, in seconds"),
    pytest.param("2026-03-29T01:30:00+0100", "2026-03-29T03:30:00+0200", 3600, "00:00:00", False,
                 id="a clock put forward, with zones"),
    pytest.param("2026-03-29T01:30:00+0100", "2026-03-29T03:30:00+0200", 7200, "00:00:00", True,
                 id="an hour, with zones"),
    pytest.param("2026-03-29T01:30:00", "2026-03-29T03:30:00", 3600, "00:00:00", False,
                 id="a clock put forward, without"),
    pytest.param("2026-03-29T01:30:00", "2026-03-29T03:30:00", 10_800, None, False,
                 id="an hour, without"),
])  # fmt: skip
@pytest.mark.parametrize("count", [0, 900])
@pytest.mark.parametrize("more", ["", "é"])
def test_a_time_is_contradicted_only_by_what_is_told(start, end, wall, away, is_told, count, more):
    columns = "JobID|State|Start|End|ElapsedRaw|NCPUS|JobName"
    row = f"{{}}|COMPLETED|{start}|{end}|{{}}|4|x{more}"
    if away is not None:
        columns, row = f"{columns}|Suspended", f"{row}|{{}}"
    sound = [row.format(at, _between(start, end), "00:00:00") for at in range(count)]
    lines = [columns, *sound, row.format(7000, wall, away), *sound]
    for read in (outcomes, texts):
        found = read("".join(f"{line}\n" for line in lines).encode())
        notes = [each for each in found if isinstance(each, Noted)]
        told = [each.line for each in notes if "is not the duration" in each.message]
        assert told == [count + 2] * is_told


def _between(start, end):
    begun, over = (
        int(text) if text.isdecimal() else datetime.fromisoformat(text).timestamp()
        for text in (start, end)
    )
    return int(over - begun)


def test_only_ended_jobs_are_given_when_only_those_are_wanted():
    data = (DATA / "22.05" / "all-steps-epoch.txt").read_bytes()
    counts = RecordCounts()
    jobs = [item for item in counts.counting(outcomes(data, ended_only=True))]
    assert counts.skipped == {"not ended": 3}
    assert counts.records == 111
    assert all("EndTime" in item.job.properties.names() for item in jobs if hasattr(item, "job"))


def test_jobs_that_go_on_have_not_ended_whatever_end_sacct_prints():
    """``sacct --truncate`` prints the end of the window."""
    data = (DATA / "quirks" / "truncated.txt").read_bytes()
    found = outcomes(data, ended_only=True)
    ended = [item.job.id for item in found if isinstance(item, Converted)]
    assert ended == ["6", "7", "8", "11"]
    assert sum(isinstance(item, Skipped) for item in found) == 8


def test_odd_values_of_steps_are_told_without_the_steps_too():
    rows = b"JobID|State|TotalCPU|MaxRSS\n7|COMPLETED||\n7.0|COMPLETED|soon|12X\n"
    for kept in (True, False):
        whole, *notes = outcomes(rows, steps=kept)
        assert whole.steps == 1
        assert {note.message.partition(";")[0] for note in notes} == {
            "'soon' is not a duration such as 1-02:24:13: TotalCPU",
            "'12X' is not a size such as 438.50M: MaxRSS",
        }


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(b"", "not even a header line", id="empty"),
        pytest.param(b"1|alice|COMPLETED\n", "line 1: no header line", id="no header"),
        pytest.param(b"User|State\nalice|COMPLETED\n", "line 1: no header line", id="no id"),
        pytest.param("JobID|State\n".encode("utf-16"), "line 1: no header line", id="utf-16"),
        pytest.param(b"\n\n<Jobs/>\n", "line 3: no header line", id="another format"),
        pytest.param(
            b"JobID           JobName  Partition\n------------ ---------- ----\n",
            "line 1: columns aligned by blanks.* sacct --parsable2",
            id="for people",
        ),
    ],
)
def test_input_without_a_header_is_no_input(data, expected):
    with pytest.raises(UnusableInput, match=expected):
        outcomes(data)


def test_unknown_zones_and_columns_are_refused():
    with pytest.raises(InvalidValue, match="'Mars' is not a time zone"):
        outcomes(b"JobID|State\n", zone="Mars")
    with pytest.raises(UnusableInput, match="columns"):
        outcomes(b"", columns=("User", "State"))


def test_a_record_of_any_length_takes_bounded_memory_and_the_next_one_is_read():
    data = b"JobID|JobName|State\n1|" + b"x" * (5 << 20) + b"|COMPLETED\n2|b|COMPLETED\n"
    bad, good = outcomes(data)
    assert isinstance(bad, Bad)
    assert bad.reason.startswith("no record of at most 1048576 bytes or 1000 lines")
    assert good.job.id == "2"


@pytest.mark.parametrize("lines", [999, 5000])
def test_a_record_of_many_lines_ends_at_its_limit(lines):
    data = b"JobID|State|SubmitLine\n1|FAILED|sbatch" + b"\nx" * lines + b"\n2|FAILED|sbatch\n"
    first, *bad, second = (each for each in outcomes(data) if not isinstance(each, Noted))
    assert (first.job.id, second.job.id) == ("1", "2")
    assert [each.line for each in bad] == ([] if lines < 1000 else [3])


def test_junk_behind_a_whole_record_does_not_lose_it():
    junk = b"foo|bar\n" * 1500
    data = b"JobID|User|State|JobName\n1|amy|COMPLETED|a\n" + junk + b"2|amy|COMPLETED|b\n"
    first, bad, second = (each for each in outcomes(data) if not isinstance(each, Noted))
    assert (first.job.id, second.job.id) == ("1", "2")
    assert (bad.line, bad.reason) == (
        3, "more than 1048576 bytes or 1000 lines behind a record, and none begins another one: "
        "left out",
    )  # fmt: skip


WORDS = ("?", "unknown", "(null)", "16", "COMPLETED?", "CANCELLED by", "x y")
LAST = "JobID|Cluster|State|Submit|Start|End|ElapsedRaw|NCPUS|JobName"


@pytest.mark.parametrize("word", WORDS)
def test_a_line_whose_state_nobody_knows_is_a_record_and_no_part_of_a_name(word):
    lines = [
        f"{n}|c|{state}|100|200|300|100|2|b" for n, state in enumerate(("FAILED", word, "FAILED"))
    ]
    found = outcomes("\n".join((LAST, *lines)).encode())
    jobs = [each.job for each in found if isinstance(each, Converted)]
    assert [(job.id, job.get("Name")) for job in jobs] == [("0", "b"), ("1", "b"), ("2", "b")]
    assert any("is not a known state" in each.message for each in found if isinstance(each, Noted))


@pytest.mark.parametrize("at", range(1, 8))
def test_one_odd_value_hides_no_record_in_the_name_before_it(at):
    def line(n, *odd):
        fields = [n, "c", "FAILED", "100", "200", "300", "100", "2", "b"]
        for place in odd:
            fields[place] = "?!"
        return "|".join(fields)

    found = outcomes("\n".join((LAST, line("1"), line("2", at), line("3"))).encode())
    told = {each.job.id for each in found if isinstance(each, Converted)}
    told |= {str(each.line - 1) for each in found if isinstance(each, Bad)}
    assert told == {"1", "2", "3"}


@pytest.mark.parametrize("start", ["Unknown", "", "INVALID", "None"])
def test_a_job_that_ran_and_says_no_start_keeps_what_it_used_and_is_told(start):
    head = b"JobID|State|Start|End|ElapsedRaw|NCPUS|TotalCPU\n"
    found = outcomes(head + f"7|COMPLETED|{start}|1700000200|100|4|03:20\n".encode())
    told = "no start, and it ran, as its wall or CPU time says: what it used counts"
    assert Noted(2, told, once=True) in found
    (job,) = (each.job for each in found if isinstance(each, Converted))
    delivered = {each.name: each.text for each in job.delivered}
    assert delivered == {"Duration": "100", "Processors": "4"}
    assert (job.get("CpuDuration"), job.get("StartTime")) == ("200", "")
    (never,) = outcomes(head + f"7|COMPLETED|{start}|1700000200|0|4|00:00:00\n".encode())
    assert not never.job.delivered


def test_processors_are_whole_or_shortened_with_a_letter():
    head = b"JobID|State|ElapsedRaw|NCPUS\n"
    (bad,) = outcomes(head + b"7|COMPLETED|60|1.5\n")
    assert bad == Bad(2, "'1.5' is not a whole number: NCPUS")
    (found,) = outcomes(head + b"7|COMPLETED|60|1.50K\n")
    assert found.job.delivered.text("Processors") == "1536"


def test_reading_does_not_depend_on_where_the_input_is_cut_into_blocks():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    names = "22.05/all-steps-us-delimiter", "quirks/bytes", "quirks/odd", "quirks/swallowed"
    for name in names:
        data = (DATA / f"{name}.txt").read_bytes()
        assert list(records.jobs("slurm", Slow(data))) == outcomes(data)


def test_every_column_that_sacct_knows_has_a_row():
    for version in ("22.05", "24.11"):
        header = (DATA / version / "format-all-job5.txt").read_text().splitlines()[0]
        assert set(header.split("|")) <= set(slurm_table.COLUMNS)


def test_every_row_names_an_element_that_may_stand_in_its_place():
    for row in slurm_table.ALLOCATION:
        if row.element and row.place != COMPARED:
            container = "Job" if row.place == "Job" else row.place
            assert row.element in spec.properties(container) or row.element == "Extension"


HEADER = b"JobID|JobName|User|State|Start|End|Comment|NCPUS|SubmitLine\n"
LINE = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([
        b"1|a|u|COMPLETED|1|2||4|sbatch", b"1.batch|batch||COMPLETED|1|2||4|", b"2|x|y", b"3|",
        b"JobID|JobName", HEADER[:-1], b"7|a|u|RUNNING|1|Unknown|c", b"|4|srun", b"",
        b"8|p|q|u|FAILED|1|2||4|sbatch",
    ]),
)  # fmt: skip


@examples(75)
@given(st.lists(LINE, max_size=30))
def test_noise_is_counted_and_never_stops_the_reading(lines):
    counts = RecordCounts()
    seen = 0
    for item in counts.counting(outcomes(HEADER + b"\n".join(lines))):
        seen += not isinstance(item, Noted)
        if isinstance(item, Converted):
            seen += item.steps
            assert not [found for found in findings(to_tree(item.job)) if found.severity == "error"]
    assert counts.records == seen
    assert seen <= len(lines) * 2


@examples(75)
@given(st.lists(LINE, max_size=30))
def test_both_builders_lead_to_the_same_bytes_whatever_the_input(lines):
    data = HEADER + b"\n".join(lines)
    assert texts(data) == written(outcomes(data))


def test_a_delimiter_that_no_document_can_hold_is_replaced_in_texts():
    job = one(b"JobID\x1fState\x1fComment\n7\x1fFAILED\x1fa\x1fb\n")
    assert job.properties.text("Extension") == "FAILED"
    assert job.properties.get("Extension", name="Comment").text == "a\ufffdb"


@examples(75)
@given(
    st.lists(
        st.tuples(
            st.text("ab |\n\t;é<&", max_size=12).filter(lambda text: text.strip()),
            st.sampled_from(["COMPLETED", "FAILED", "CANCELLED by 5"]),
        ),
        max_size=6,
    )
)
def test_texts_between_typed_columns_come_back_or_are_reported(records):
    rows = [f"{n}|{n}|{name}|{state}|1" for n, (name, state) in enumerate(records, start=1)]
    data = "JobID|JobIDRaw|JobName|State|Priority\n" + "\n".join(rows) + "\n"
    given_back = outcomes(data.encode())
    jobs = [item.job for item in given_back if isinstance(item, Converted)]
    found = {job.id: job.properties.get("Name").text for job in jobs}
    for number, (name, _) in enumerate(records, start=1):
        assert found.get(str(number), name) == name
    assert len(found) == len(records) or any(isinstance(item, Bad) for item in given_back)


def readings(head, fields):
    """Every way to join fields so that each column has a value of its kind, one by one."""
    width = len(head.names)
    for cuts in combinations(range(1, len(fields)), width - 1):
        parts = [fields[a:b] for a, b in pairwise((0, *cuts, len(fields)))]
        if all(
            head.fits(index, part[0] + head.delimiter if part[1:] else part[0])
            and (head.shapes[index] is None or not part[1:])
            for index, part in enumerate(parts)
        ):
            yield [head.delimiter.join(part) for part in parts]


@examples(75)
@given(
    st.lists(
        st.sampled_from(["Comment", "JobName", "State", "Priority", "WorkDir", "User", "Extra"]),
        min_size=1, max_size=4, unique=True,
    ),
    st.lists(st.sampled_from(["", "7", "FAILED", "/home", "a b"]), min_size=2, max_size=9),
)  # fmt: skip
def test_a_column_has_what_all_readings_give_it_and_is_in_doubt_where_they_differ(names, texts):
    head = Header(("JobID", *names), "|")
    fields = ["7", *texts]
    known = list(readings(head, fields))
    split = head.resplit(fields) if len(fields) >= len(head.names) else None
    assert (split is None) == (not known)
    for index, texts in enumerate(map(set, zip(*known, strict=True))):
        assert (index in split.doubtful) == (len(texts) > 1)
        assert split.fields[index] in texts


def test_a_hopeless_number_of_delimiters_takes_little_time():
    texts = [name for name in slurm_table.COLUMNS if name not in ("JobID", "State")]
    line = "7|FAILED|" + "|" * (len(texts) + 190)
    found = outcomes(f"JobID|State|{'|'.join(texts)}\n{line}\n".encode() * 20)
    assert sum(isinstance(item, Bad) for item in found) == 20


def test_nothing_is_said_of_the_end_of_a_job_that_is_not_wanted():
    data = b"JobID|State|Start|End\n7|RUNNING|1|9\n7.0|COMPLETED|1|9\n"
    assert outcomes(data, ended_only=True) == [Skipped(2, "not ended"), Skipped(3, "not ended")]


@pytest.mark.parametrize("end", ["Unknown", "", "0"])
def test_the_state_decides_whether_a_job_has_ended_that_tells_no_end(end):
    rows = "".join(f"{n}|{state}|5|{end}\n" for n, state in enumerate(("COMPLETED", "RUNNING"), 7))
    found = outcomes(f"JobID|State|Start|End\n{rows}".encode(), ended_only=True)
    assert [type(item) for item in found] == [Converted, Skipped]


@pytest.mark.parametrize("start", ["Unknown", "0"])
def test_a_job_that_ran_and_tells_no_start_is_told(start):
    found = outcomes(f"JobID|State|Start|End|ElapsedRaw\n7|COMPLETED|{start}|9|4\n".encode())
    assert any(isinstance(item, Noted) and item.message == NO_START for item in found)


def test_steps_beyond_the_limit_are_summed_and_not_kept(monkeypatch):
    monkeypatch.setattr(slurm, "STEP_LIMIT", 3)
    header = "JobID|State|Start|End|TotalCPU|MaxRSS|AveRSS|NTasks|NCPUS\n"
    job = "7|COMPLETED|1|9|00:00:00||||1\n"
    steps = [f"7.{n}|COMPLETED|1|9|00:01:00|{n + 1}K|{n + 1}K|1|1\n" for n in range(6)]
    steps[4] = "7.4|COMPLETED|1|9|00:01:00|soon|||1\n"
    whole, note, odd = outcomes((header + job + "".join(steps)).encode())
    assert odd == Noted(7, "'soon' is not a size such as 438.50M: MaxRSS; left out", once=True)
    assert (whole.steps, len(whole.job.task_groups)) == (6, 3)
    assert whole.job.delivered.get("Memory", metric="Max").text == "6"
    assert whole.job.delivered.get("Memory", metric="Average").bytes == round(16 * 1024 / 5)
    assert note == Noted(6, "job 7 has more than 3 steps: the rest is only summed")


@pytest.mark.parametrize("limit", [1, 2, 3, 4096])
@pytest.mark.parametrize("own", ["00:00:30", "00:00:00", "", "soon"])
def test_steps_are_summed_alike_however_many_of_them_are_kept(own, limit, monkeypatch):
    """Each row comes by itself, so that a job goes on over many batches."""
    header = "JobID|State|TotalCPU|MaxRSS|AveRSS|NTasks\n"
    texts = ["00:01:00|9K|4K|3", "bad|7K||", "00:02:00|odd|1K|few", "|3K|5K|1", "00:00:01|12K|6K|2"]
    names = ["0", "1", "extern", "2", "batch"]
    steps = [f"7.{name}|COMPLETED|{text}\n" for name, text in zip(names, texts, strict=True)]
    data = f"{header}7|COMPLETED|{own}|||\n{''.join(steps)}8|COMPLETED|00:00:07|||\n".encode()
    whole = outcomes(data)

    class Rows(io.RawIOBase):
        def __init__(self):
            self.lines = data.splitlines(keepends=True)

        def read(self, size=-1):
            return self.lines.pop(0) if self.lines else b""

    monkeypatch.setattr(slurm_steps, "_ROWS_LIMIT", limit)
    assert list(records.jobs("slurm", Rows(), Options())) == whole
    assert sum(isinstance(item, Converted) for item in whole) == 2


def test_steps_beyond_the_limit_go_the_way_of_their_job(monkeypatch):
    monkeypatch.setattr(slurm, "STEP_LIMIT", 1)
    rows = "JobID|State|ElapsedRaw\n7|RUNNING|{}\n7.0|RUNNING|1\n7.1|RUNNING|1\n"
    skipped = outcomes(rows.format("1").encode(), ended_only=True)
    assert sorted(item.line for item in skipped if isinstance(item, Skipped)) == [2, 3, 4]
    bad = outcomes(rows.format("soon").encode())
    assert sorted(item.line for item in bad if isinstance(item, Bad)) == [2, 3, 4]


GIVEN = {"ElapsedRaw": "941", "NCPUS": "16", "NNodes": "2", "CPUTimeRAW": "15056",
         "AllocTRES": "billing=16,cpu=16,mem=4G,node=2"}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("steps", ["", "7.batch"])
def test_a_part_that_is_lost_of_an_amount_is_told_by_what_others_say(name, steps):
    """Each way in which some letters may be missing and leave a number."""

    def told(given):
        row = {"JobID": "7", "State": "COMPLETED", "Start": "100", "End": "1041", **given}
        lines = ["|".join(row), "|".join(row.values())]
        if steps:
            lines.append(
                "|".join({**row, "JobID": steps, "AllocTRES": "", "CPUTimeRAW": ""}.values())
            )
        found = outcomes("\n".join([*lines, ""]).encode())
        assert sum(isinstance(item, Converted) for item in found) == 1
        return [item for item in found if isinstance(item, Noted) and "may be lost" in item.message]

    assert told(GIVEN) == []
    text, *_ = [each for each in GIVEN[name].split(",") if each != "billing=16"][:1]
    digits = text.partition("=")[2] or text
    for begin, end in combinations(range(len(digits) + 1), 2):
        less = digits[:begin] + digits[end:]
        if less:
            assert told({**GIVEN, name: GIVEN[name].replace(f"cpu={digits}", f"cpu={less}")
                         if "=" in text else less})  # fmt: skip
    assert told({key: value for key, value in GIVEN.items() if key != name}) == []


NAMED = ("JobID", "State", "ElapsedRaw", "NCPUS", "JobName", "Account")


@pytest.mark.parametrize("last", ["JobName", "Account", "State"])
@pytest.mark.parametrize("odd", [0, 1, 3])
@pytest.mark.parametrize("size", [60, 10_000])
def test_a_delimiter_behind_each_line_is_part_of_no_value(last, odd, size, monkeypatch):
    """As with a header; the odd one has a text with a delimiter at its end."""
    columns = (*(name for name in NAMED if name != last), last)
    rows = [
        {"JobID": f"{number}", "State": "COMPLETED", "ElapsedRaw": "60", "NCPUS": "4",
         "JobName": "a|" if number == odd else "sim", "Account": ""}
        for number in range(1, 6)
    ]  # fmt: skip
    monkeypatch.setattr(parts, "SIZE", size)
    for end in ("|", ""):
        lines = [f"{'|'.join(row[name] for name in columns)}{end}\n" for row in rows]
        options = Options(columns=columns)
        named = outcomes("".join(lines).encode(), columns=columns)
        headed = outcomes(f"{'|'.join(columns)}{end}\n{''.join(lines)}".encode())
        found = [
            [each.job for each in some if isinstance(each, Converted)] for some in (named, headed)
        ]
        assert found[0] == found[1]
        assert len(found[0]) == 5
        cut = Cutting(io.BytesIO("".join(lines).encode()), "slurm", options)
        texts = b"".join(convert("slurm", part).data for part in cut)
        assert texts.decode().splitlines() == [dumps(job) for job in found[0]]
