"""Two records on one physical line, of which the first may be cut short, are never one job.

A line end is lost where a writer is killed, or a disk is full, and writes on behind it.
"""

import io

import pytest
from records import DATA

from sssjob.records import find, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.lines import TWO_RECORDS
from sssjob.records.record import Bad, Converted, Noted, Options

APEL = ("JobID,JobName,User,Group,Start,End,Elapsed,CPUTimeRAW,Partition,NCPUS,NNodes,NodeList,"
        "MaxRSS,MaxVMSize,State")  # fmt: skip
NAMED = "JobID,Cluster,User,Submit,Start,End,ElapsedRaw,NCPUS,State,JobName"
TIMES = "2023-11-14T23:03:32|2023-11-14T23:19:13|00:15:41|941"
LATER = "2023-11-15T23:03:32|2023-11-15T23:19:23|00:15:51|951"
ACCOUNTING = DATA / "accounting"


def quirk(name, line):
    return (ACCOUNTING / name).read_text().splitlines()[line]


# The format, its columns, one record, and another one: amy's and bob's.
PAIRS = {
    "sacct as APEL asks": ("slurm", APEL,
        f"4100001|wrf|amy|g|{TIMES}|long|1|1|n1|54614K|99596K|COMPLETED",
        f"4100002|v|bob|h|{LATER}|long|1|1|n2|1362994K|2702451K|COMPLETED"),
    "sacct with names last": ("slurm", NAMED,
        "4100001|c|amy|1700000000|1700000100|1700000200|100|4|COMPLETED|wrf",
        "4100002|c|bob|1700000000|1700000100|1700000900|800|8|COMPLETED|v"),
    "pbs": ("pbs", "",
        "11/14/2023 23:19:13;E;1.srv;user=amy ctime=1700000000 start=1700000100 exec_host=n1/0 "
        "Resource_List.neednodes=1:ppn=1 end=1700000200 resources_used.walltime=00:01:40",
        "11/15/2023 03:02:51;E;2.srv;user=bob ctime=1700000007 start=1700000711 "
        "exec_host=n2/0 end=1700017371 resources_used.walltime=04:37:40"),
    "sge": ("sge", "", quirk("sge/quirks/versions.txt", 1),
        quirk("sge/quirks/versions.txt", 1).replace(":amy:", ":bob:")),
    "jobcomp": ("slurm-jobcomp", "",
        quirk("slurm-jobcomp/quirks/kinds.txt", 0),
      quirk("slurm-jobcomp/quirks/kinds.txt", 0).replace("amy", "bob").replace("Cnt=8", "Cnt=98")),
    "lsf": ("lsf", "", quirk("lsf/quirks/ends.txt", 0),
        quirk("lsf/quirks/ends.txt", 0).replace('"amy"', '"bob"')),
    "condor": ("condor", "", "s#1.0#1700000004|amy|941|470|19|1700003012|1700003953|54614|99596|1|",
        "s#2.0#1700000007|bob|16660|8000|652|1700000711|1700017371|1362994|2702451|1|"),
}  # fmt: skip


def read(format_, columns, text):
    options = Options(
        columns=tuple(columns.split(",")) if columns else (), delimiter="|" * bool(columns)
    )
    return [*read_records(find(format_), io.BytesIO(text.encode()), options, OBJECTS)]


def read_jobs(format_, columns, text):
    return [each.job for each in read(format_, columns, text) if isinstance(each, Converted)]


def used(job):
    delivered = job.delivered
    return [delivered.text(name) for name in ("User", "Duration", "Processors", "NodeCount")]


@pytest.mark.parametrize("name", PAIRS)
def test_two_whole_records_on_one_line_are_bad(name):
    format_, columns, one, other = PAIRS[name]
    for text in (one, other):
        assert [type(each) for each in read(format_, columns, f"{text}\n")][-1] is Converted
    found = read(format_, columns, f"{one}\n{one}{other}\n{other}\n")
    assert Bad(2, TWO_RECORDS) in found
    assert sum(isinstance(each, Converted) for each in found) == 2


@pytest.mark.parametrize("name", PAIRS)
def test_a_record_that_was_cut_gets_nothing_of_the_next_one_in_silence(name):
    """Cut behind its id, wherever that is; within it nothing tells."""
    format_, columns, one, other = PAIRS[name]
    begin = {"slurm": 8, "slurm-jobcomp": 8, "pbs": 30, "sge": 60, "lsf": 40, "condor": 6}[format_]
    for size in range(begin, len(one)):
        found = read(format_, columns, f"{one[:size]}{other}\n")
        jobs = [each.job for each in found if isinstance(each, Converted)]
        for job in jobs:
            told = any(isinstance(each, Noted) and "another job" in each.message for each in found)
            assert told or (job.id, job.delivered.text("User")) != ("4100001", "bob"), size
            assert format_ == "slurm" or "amy" not in str(job), size


@pytest.mark.parametrize("name", PAIRS)
def test_a_record_gets_nothing_of_one_that_lost_its_beginning(name):
    """A block was lost, from within one record to within the next."""
    format_, columns, one, other = PAIRS[name]
    for begin in range(1, len(other) - 20):
        for job in read_jobs(format_, columns, f"{one}{other[begin:]}\n"):
            (alone,) = read_jobs(format_, columns, f"{one}\n")
            assert used(job) == used(alone), begin


def test_a_record_of_lsf_without_one_of_its_fields_is_bad():
    format_, columns, one, _ = PAIRS["lsf"]
    assert read_jobs(format_, columns, f"{one}\n")
    for text, without in ((' 0 4 "', ' 04 "'), ('"amy" ', ""), ('"normal" ', "")):
        assert text in one, text
        assert not read_jobs(format_, columns, f"{one.replace(text, without, 1)}\n"), text


def test_a_number_in_a_name_is_no_id_of_another_job():
    columns, one = PAIRS["sacct as APEL asks"][1:3]
    (found,) = (
        each for each in read("slurm", columns, one.replace("wrf", "step1|step2") + "\n")
        if not isinstance(each, Noted) or "another job" in each.message
    )  # fmt: skip
    assert found.job.get("Name") == "step1|step2"


NARROW = (  # of two columns, in lines of many more
    "2.0||00:00:00|12.batch|12|billing=8,cpu=8|12.batch|billing=8,cpu=8",
    "7|7_3||102400K|x|x|102400K|12|7_3",
    "4.0||cpu=00:00:00,energy=0|cpu=1,mem=1M,node=1|7_3|00:00:00|00:00:00|12|billing=8,cpu=8",
)


@pytest.mark.parametrize("line", NARROW)
def test_a_line_of_more_fields_than_two_records_have_is_bad_and_the_rest_go_on(line):
    text = f"JobID|AllocTRES\n1|cpu=1\n{line}\n9|cpu=2\n"
    found = [*read_records(find("slurm"), io.BytesIO(text.encode()), Options(), OBJECTS)]
    assert [item.line for item in found if isinstance(item, Bad)] == [3]
    assert sum(isinstance(item, Converted) for item in found) == 2
