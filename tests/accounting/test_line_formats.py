"""Formats of which each line is a record: what real systems printed, and one file for each quirk.

``quirks/NAME.txt`` are records written by hand, and ``NAME.outcomes`` what must become of each.
"""

import io
import json
import re
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from records import as_line

from sssjob.check.findings import check as findings
from sssjob.document import dumps, to_tree
from sssjob.records import FORMATS, read_records
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.record import Bad, Converted, Noted, Options, RecordCounts
from sssjob.systems.gridengine import accounting as gridengine
from sssjob.systems.gridengine.accounting.columns import ENDED, NEWEST, STARTED, WALL

DATA = Path(__file__).parent.parent / "data" / "accounting"
QUIRKS = sorted(DATA.glob("*/quirks/*.txt"))
SAMPLES = sorted(DATA.glob("*/*.txt"))
LINE_FORMATS = ("pbs", "sge", "lsf", "slurm-jobcomp")

# fmt: off
# For each sample: its records, those converted, those folded into them, the bad ones.
COUNTS = {
    "sge/8.1.9":           (36, 34, 2, 0),
    "slurm-jobcomp/22.05": (54, 54, 0, 0),
    "slurm-jobcomp/24.11": (53, 53, 0, 0),
}
# fmt: on


def name(path):
    place = path.parent if path.parent.name != "quirks" else path.parent.parent
    return f"{place.name}/{path.stem}"


def outcomes(format_, data, builder=OBJECTS, **options):
    return list(read_records(FORMATS[format_], io.BytesIO(data), Options(**options), builder))


def written(found):
    return [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in found
    ]


def lines(found):
    for item in written(found):
        steps = item.steps if isinstance(item, Converted) else 0
        yield as_line(item) + (f" + {steps}" if steps else "")


every_file = pytest.mark.parametrize("path", SAMPLES + QUIRKS, ids=name)


@pytest.mark.parametrize("path", QUIRKS, ids=name)
def test_each_quirk_becomes_the_documents_beside_it(path):
    expected = path.with_suffix(".outcomes").read_text(encoding="utf-8").splitlines()
    assert list(lines(outcomes(name(path).split("/")[0], path.read_bytes()))) == expected


@pytest.mark.parametrize("path", SAMPLES, ids=name)
def test_every_record_of_a_sample_is_counted_once(path):
    counts = RecordCounts()
    for item in outcomes(name(path).split("/")[0], path.read_bytes()):
        counts.add(item)
    assert (counts.records, counts.converted, counts.steps, counts.bad) == COUNTS[name(path)]


@every_file
def test_every_converted_document_is_valid(path):
    for item in outcomes(name(path).split("/")[0], path.read_bytes()):
        if isinstance(item, Converted):
            errors = [str(it) for it in findings(to_tree(item.job)) if it.severity == "error"]
            assert errors == []


@every_file
def test_both_builders_lead_to_the_same_bytes(path):
    format_, data = name(path).split("/")[0], path.read_bytes()
    assert outcomes(format_, data, TEXTS) == written(outcomes(format_, data))


@every_file
def test_every_line_is_counted_once(path):
    format_, data = name(path).split("/")[0], path.read_bytes()
    counts = RecordCounts()
    for item in outcomes(format_, data):
        counts.add(item)
    records = [line for line in data.split(b"\n") if line.strip() and not line.startswith(b"#")]
    # Grid Engine ignores lines of one character, which are no records.
    assert counts.records == len([it for it in records if format_ != "sge" or len(it) > 1])


UNIVA = [
    line
    for name_ in ("versions", "colons", "unstarted")
    for line in (DATA / "sge" / "quirks" / f"{name_}.txt").read_bytes().splitlines()
    if line.count(b":") > 44 or name_ == "unstarted"
]


@pytest.mark.parametrize("line", UNIVA)
def test_records_of_one_version_are_read_alike_one_by_one_and_column_by_column(line):
    """A line that is no record among them makes a batch be read row by row."""
    by_columns = outcomes("sge", line + b"\n" + line + b"\n")
    *one_by_one, bad = outcomes("sge", line + b"\n" + line + b"\na:b:c\n")
    assert one_by_one == by_columns
    assert isinstance(bad, Bad)


@pytest.mark.parametrize("text", [b"sge", b"NONE:0.000000", b"qsub"])
def test_a_hopeless_number_of_colons_takes_little_time(monkeypatch, text):
    """A user chooses an account, a request and a command: joining fields is a square of them."""
    line = max(UNIVA, key=lambda it: it.count(b":"))
    tried = []
    fits = gridengine.may_begin
    monkeypatch.setattr(gridengine, "may_begin", lambda *told: tried.append(1) or fits(*told))
    data = line.replace(text, text + b":5.5:7" * 3000, 1)
    found = outcomes("sge", data + b"\n" + line + b"\n")
    assert sum(isinstance(item, Converted) for item in found) >= 1
    assert len(tried) < 500


LINES = {
    format_: sorted({
        line
        for path in SAMPLES + QUIRKS
        if name(path).split("/")[0] == format_
        for line in path.read_bytes().split(b"\n")
    })
    for format_ in LINE_FORMATS
}  # fmt: skip


DAMAGE = [b"", b"", b"", b"\x00", b"\xff", b"\r", b" ", b":", b'"', b"=", b";", b"</Name><x>",
          b"0", b"-1", b"\xef\xbf\xbf"]  # fmt: skip


@st.composite
def damaged(draw, format_):
    """Records of a format, some of them with another text in one place, or cut."""
    found = []
    for line in draw(st.lists(st.sampled_from(LINES[format_]), max_size=8)):
        at = draw(st.integers(0, len(line)))
        more = draw(st.sampled_from(DAMAGE))
        end = at + draw(st.sampled_from([0, 0, 0, 1, 3]))
        found.append(line[:at] + more + line[end:])
    return b"\n".join(found)


@pytest.mark.parametrize("format_", LINE_FORMATS)
@examples(80)
@given(st.data())
def test_damage_is_reported_in_its_line_and_both_builders_agree(format_, data):
    raw = data.draw(damaged(format_))
    found = outcomes(format_, raw)
    assert outcomes(format_, raw, TEXTS) == written(found)
    counts = RecordCounts()
    for item in counts.counting(found):
        if isinstance(item, Converted):
            assert not [it for it in findings(to_tree(item.job)) if it.severity == "error"]
    assert counts.records <= len(raw.split(b"\n"))


@pytest.mark.parametrize("format_", LINE_FORMATS)
def test_a_line_of_ten_megabytes_is_one_bad_record_and_the_next_is_read(format_):
    line = max(SAMPLES + QUIRKS, key=lambda path: (name(path).startswith(format_), path.stem))
    good = line.read_bytes().split(b"\n")
    first, *rest = outcomes(format_, b"x" * 10_000_000 + b"\n" + b"\n".join(good))
    assert isinstance(first, Bad)
    assert "longer than" in first.reason
    assert any(isinstance(item, Converted) for item in rest)


@pytest.mark.parametrize("format_", LINE_FORMATS)
def test_no_record_waits_for_others_to_be_read(format_):
    """Ten times the lines give ten times the outcomes: nothing is kept between blocks."""
    path = next(path for path in QUIRKS if name(path).startswith(format_))
    data = path.read_bytes().strip() + b"\n"
    once, often = outcomes(format_, data), outcomes(format_, data * 500)
    assert sum(isinstance(item, Converted) for item in often) == 500 * sum(
        isinstance(item, Converted) for item in once
    )


JOBCOMP = (DATA / "slurm-jobcomp" / "24.11.txt").read_text("utf-8").splitlines()[0].rstrip()


def of_jobcomp(line):
    """What a line of jobcomp becomes, and what is told of it."""
    (found,) = (
        each for each in outcomes("slurm-jobcomp", line.encode())
        if isinstance(each, Converted | Bad)
    )  # fmt: skip
    return found


@pytest.mark.parametrize("more, noted", [
    ("", ""), (" Restarts=1", "Restarts"), (" ExitCodes=-1 Q=", "ExitCodes, Q"),
])  # fmt: skip
def test_what_Slurm_may_add_to_a_line_moves_no_key_into_the_directory(more, noted):
    assert dumps(of_jobcomp(JOBCOMP + more).job) == dumps(of_jobcomp(JOBCOMP).job)
    found = outcomes("slurm-jobcomp", (JOBCOMP + more).encode())
    told = [item.message for item in found if "not read" in getattr(item, "message", "")]
    assert told == [f"keys of a job that are not read: {noted}"] * bool(noted)


@pytest.mark.parametrize("key", ["ReservationName", "Tres", "QOS", "DerivedExitCode", "ExitCode"])
def test_a_value_of_any_form_hides_no_key_before_or_behind_it(key):
    properties = re.compile("<(InitialWorkingDirectory|SubmitTime|EligibleTime|Project)>([^<]*)")
    odd = re.sub(rf" {key}=\S*", f" {key}=-1:x", JOBCOMP)
    found, plain = (dumps(of_jobcomp(line).job) for line in (odd, JOBCOMP))
    assert properties.findall(found) == properties.findall(plain) != []


@pytest.mark.parametrize("more", [" Comment=a b", " QOS=twice"])
def test_a_line_of_which_keys_may_be_values_is_bad(more):
    assert "several ways" in of_jobcomp(JOBCOMP + more).reason


@examples(200)
@given(st.text("17:a", min_size=1, max_size=6), st.text("17:a", min_size=1, max_size=6))
def test_colons_in_a_name_and_an_account_give_no_other_job(name, account):
    """Either the job is what it was, or the record is bad: never one of another id."""
    line = (DATA / "sge" / "quirks" / "colons.txt").read_text().splitlines()[2]
    fields = line.split(":")
    fields[4:7] = name, "77", account
    (found,) = (
        each
        for each in outcomes("sge", ":".join(fields).encode())
        if isinstance(each, Converted | Bad)
    )
    if isinstance(found, Converted):
        assert (found.job.id, found.job["Name"].text) == ("77", name)


def one_job(format_, line):
    """The job of the only record, and what is said of it."""
    found = outcomes(format_, line.encode() + b"\n")
    (job,) = (each.job for each in found if isinstance(each, Converted))
    return job, [each.message for each in found if isinstance(each, Noted)]


PBS_LINE = "11/20/2026 14:29:34;E;8.srv;user=amy start=1700000100 end=1700000700 exec_host=n/0-3 "


@pytest.mark.parametrize("nodes, gpus, said", [
    ("2:ppn=4:gpus=2", "4", ""), ("2:ppn=4:gpus=2#shared", "4", ""),
    ("2:ppn=4:gpus=x", "", "number of GPUs"),
])  # fmt: skip
def test_a_number_of_GPUs_of_PBS_is_counted_or_told(nodes, gpus, said):
    job, told = one_job("pbs", f"{PBS_LINE}Resource_List.nodes={nodes}")
    assert [each.text for each in job.delivered if each.name == "Resource"] == [gpus] * bool(gpus)
    assert [said in each for each in told] == [True] * bool(said)


@pytest.mark.parametrize("key, text, asked, said", [
    ("nodes", "nodect=1:ppn=24:gpu=4", {}, "nodes such as"),
    ("nodes", "x=1:ppn=2:gpus=1", {}, "nodes such as"),
    ("nodes", "1:ppn=24:gpu=4", {"NodeCount": "1", "Processors": "24"}, "number of GPUs"),
    ("nodes", "2:ppn=-4", {"NodeCount": "2"}, "nodes such as"),
    ("nodes", "1:ppn=x:gpus=2", {"NodeCount": "1", "Resource": "2"}, "nodes such as"),
    ("nodes", "n1:ppn=x", {"NodeCount": "1", "Node": "n1"}, "nodes such as"),
    ("nodes", "n1:ppn=4", {"NodeCount": "1", "Node": "n1", "Processors": "4"}, ""),
    ("select", "x:ncpus=4:ngpus=1", {}, "chunks such as"), ("select", "n1", {}, "chunks such as"),
    ("select", "ncpus=4:host=n1:ngpus=2", {"Node": "n1", "Resource": "2"}, ""),
])  # fmt: skip
def test_a_request_of_PBS_that_cannot_be_read_is_told_and_kept(key, text, asked, said):
    job, told = one_job("pbs", f"{PBS_LINE}Resource_List.{key}={text}")
    assert [said in each for each in told] == [True] * bool(said)
    assert {each.name: each.text for each in job.requested} == asked
    kept = [each.text for each in job.properties if each.attributes.get("name", "").endswith(key)]
    assert kept == [text]


def test_a_request_of_PBS_that_cannot_be_read_hides_no_lack_of_processors():
    line = PBS_LINE.replace("exec_host=n/0-3 ", "")
    _, told = one_job("pbs", f"{line}Resource_List.nodes=1:ppn=x")
    assert ["nodes such as" in told[0], "no number of processors" in told[1]] == [True, True]


@pytest.mark.parametrize("place, text, id, wall, said", [
    (39, "-l gpu=x", "3", "600", "number of GPUs"), (35, "x", "3", "600", "number of a task"),
    (35, "4", "3.4", "600", ""), (13, "-1", "3", "600", ""), (13, "", "3", "600", ""),
    (13, "599", "3", "599", ""),
])  # fmt: skip
def test_an_odd_value_of_Grid_Engine_costs_that_value(place, text, id, wall, said):
    line = (DATA / "sge" / "quirks" / "colons.txt").read_text().splitlines()[2].split(":")
    line[place] = text
    job, told = one_job("sge", ":".join(line))
    assert (job.id, job.delivered["Duration"].text) == (id, wall)
    assert [said in each for each in told] == [True] * bool(said)


@pytest.mark.parametrize("columns, texts, wall, processors", [
    ("Start|End|NCPUS", "1700000000|1700003600|4", "3600", "4"),
    ("Start|End|Elapsed|Suspended|NCPUS", "1700000000|1700003600||00:10:00|4", "3000", "4"),
    ("Start|End|Elapsed|NCPUS|AllocTRES", "1700000000|1700003600|00:00:05|Unknown|cpu=8", "5", "8"),
    ("Start|End|ElapsedRaw|AllocTRES", "1700000000|1700003600|INVALID|cpu=16,node=2", "3600", "16"),
    ("Start|End|Elapsed|NCPUS", "1700000000|1700093600|INVALID|2", "93600", "2"),
])  # fmt: skip
def test_what_sacct_used_is_told_by_another_column_where_one_is_not_there(
    columns, texts, wall, processors
):
    for state in ("COMPLETED", "completed", " COMPLETED "):
        job, _ = one_job("slurm", f"JobID|State|{columns}\n7|{state}|{texts}")
        told = job.delivered["Duration"].text, job.delivered["Processors"].text
        assert told == (wall, processors)


def lasted(format_, wall, again="1"):
    """A record of a job that ran for 600 s, with this wall time."""
    if format_ == "pbs":
        told = f"0{wall // 3600}:{wall // 60 % 60:02}:{wall % 60:02}"
        return (
            "11/20/2026 14:29:34;E;12.srv;user=amy queue=q ctime=1700000000 start=1700000100 "
            f"exec_host=n1/0*4 end=1700000700 Exit_status=0 run_count={again} "
            f"resources_used.walltime={told}\n"
        )
    if format_ == "condor":
        told = {
            "ClusterId": 7, "ProcId": 0, "Owner": "amy", "JobStatus": 4, "QDate": 1700000000,
            "JobStartDate": 1700000100, "CompletionDate": 1700000700, "CpusProvisioned": 1,
            "RemoteWallClockTime": wall, "NumJobStarts": int(again),
        }  # fmt: skip
        return json.dumps(told) + "\n"
    path = DATA / format_ / "quirks" / "versions.txt"
    versions = path.read_text(encoding="utf-8").splitlines()
    if format_ == "lsf":
        line = next(line for line in versions if line.startswith('"JOB_FINISH" "9.1"'))
        return line.replace(' "" 580 "sub" ', f' "" {wall} "sub" ') + "\n"
    fields = next(fields for line in versions if len(fields := line.split(":")) == NEWEST)
    fields[STARTED], fields[ENDED], fields[WALL] = "1700000100", "1700000700", str(wall)
    return ":".join(fields) + "\n"


@pytest.mark.parametrize("builder", [OBJECTS, TEXTS])
@pytest.mark.parametrize("count", [1, 900])
@pytest.mark.parametrize("format_, rounded", [("pbs", 1), ("lsf", 1), ("sge", 2), ("condor", 60)])
def test_a_wall_time_that_is_longer_than_the_time_from_start_to_end_is_told(
    format_, rounded, count, builder
):
    sound = "".join(lasted(format_, 600 - number % 500) for number in range(count))
    for wall, is_told in ((0, 0), (9, 0), (600 + rounded, 0), (601 + rounded, 1), (30_000, 1)):
        data = f"{sound}{lasted(format_, wall)}{sound}".encode()
        found = outcomes(format_, data, builder)
        assert sum(isinstance(each, Converted) for each in found) == 2 * count + 1
        notes = [each for each in found if isinstance(each, Noted)]
        told = [each.line for each in notes if "is not the duration" in each.message]
        assert told == [count + 1] * is_told


@pytest.mark.parametrize("format_", ["pbs", "condor"])
def test_a_wall_time_of_several_runs_may_be_longer_than_the_last_one(format_):
    assert "is not the duration" in str(outcomes(format_, lasted(format_, 30_000).encode()))
    found = outcomes(format_, lasted(format_, 30_000, "2").encode())
    assert "is not the duration" not in str(found)
