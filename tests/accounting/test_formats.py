"""Every record format: what becomes of each record, by both builders, and counts that add up."""

import codecs
import gzip
import io
from contextlib import suppress

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from records import DATA, RECORDS, converted, counts, errors, outcomes, told

from sssjob.document import dumps, from_tree, to_tree
from sssjob.errors import UnreadableDocument, UnusableInput
from sssjob.records import AUTO, FORMATS, find, json_objects, lines, parts, read_records
from sssjob.records.builders import TEXTS
from sssjob.records.record import Bad, Converted, Noted, Options
from sssjob.systems.condor.accounting import ads

WRITTEN = sorted(
    path
    for path in RECORDS.glob("*/*")
    if path.suffix not in (".outcomes", ".md")
)  # fmt: skip

# fmt: off
# What real systems printed: format, records, jobs, skipped, bad ones.
PRINTED = {
    "slurm/22.05/sacct.json.gz":     ("slurm-json", 111, 51, 0, 0),
    "slurm/24.11/sacct.json.gz":     ("slurm-json", 111, 51, 0, 0),
    "condor/condor_history.json":    ("condor", 24, 24, 0, 0),
    "condor/condor_history.long":    ("condor", 24, 24, 0, 0),
    "condor/condor_history.xml":     ("condor", 24, 24, 0, 0),
    "condor/condor_q.json":          ("condor", 5, 5, 0, 0),
    "condor/condor_q.new":           ("condor", 5, 5, 0, 0),
    "condor/condor_status.json":     ("condor", 2, 0, 2, 0),
    "condor/history.4.0":            ("condor", 1, 1, 0, 0),
    "lcginfo/text/lrmsinfo":         ("lrmsinfo", 5, 5, 0, 0),
}
# fmt: on


def printed(name):
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_each_record_becomes_what_stands_beside_it(path):
    expected = path.with_suffix(".outcomes").read_text(encoding="utf-8").splitlines()
    assert list(told(path.parent.name, path.read_bytes())) == expected


@pytest.mark.parametrize(
    "path", [*WRITTEN, *sorted((DATA / "accounting").glob("*/*/*.txt"))],
    ids=lambda path: f"{path.parent.name}-{path.name}",
)  # fmt: skip
def test_a_byte_order_mark_is_no_part_of_the_first_value(path):
    data = path.read_bytes()
    name = path.parent.name if path in WRITTEN else path.parents[1].name
    marked = codecs.BOM_UTF8 + data.removeprefix(codecs.BOM_UTF8)
    assert [*told(name, marked)] == [*told(name, data)]


@pytest.mark.parametrize("name", PRINTED)
def test_every_record_that_a_real_system_printed_is_counted_once(name):
    format_name, records, jobs, skipped, bad = PRINTED[name]
    found = counts(format_name, printed(name))
    all_skipped = sum(found.skipped.values())
    assert (found.records, found.converted, all_skipped, found.bad) == (records, jobs, skipped, bad)


SOURCES = [
    *(pytest.param(path.parent.name, path.read_bytes(), id=f"{path.parent.name}-{path.name}")
      for path in WRITTEN),
    *(pytest.param(row[0], printed(name), id=name) for name, row in PRINTED.items()),
]  # fmt: skip


@pytest.mark.parametrize("format_name, data", SOURCES)
def test_every_document_is_valid_and_reads_back(format_name, data):
    for job in converted(format_name, data):
        assert errors(job) == []
        assert dumps(from_tree(to_tree(job))) == dumps(job)


@pytest.mark.parametrize("format_name, data", SOURCES)
def test_both_builders_give_the_same_bytes(format_name, data):
    format_ = find(format_name)
    texts = list(read_records(format_, io.BytesIO(data), Options(), TEXTS))
    assert texts == [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in outcomes(format_name, data)
    ]


@pytest.mark.parametrize("format_name, data", SOURCES)
def test_auto_recognises_a_format_by_its_first_bytes_and_says_so(format_name, data):
    if b"RecordIdentity" in data and b"computerecord" not in data:
        format_name = "ur"
    notice, *rest = outcomes("auto", data)
    assert isinstance(notice, Noted)
    assert notice.severity == "notice"
    assert notice.message.startswith(f"recognised as {format_name} by ")
    assert rest == outcomes(format_name, data)


# Of these formats every line is a record of its own, or none.
@pytest.mark.parametrize("format_name", ["blah", "swf", "lrmsinfo"])
@given(lines=st.lists(st.binary(max_size=60).map(lambda raw: raw.replace(b"\n", b" "))))
def test_whatever_stands_on_a_line_it_is_counted_and_the_next_is_read(format_name, lines):
    good = {
        "blah": b'"timestamp=2012-05-20 23:59:47" "lrmsID=7"',
        "swf": b"1 0 10 100 4 25.5 1000 4 200 2000 1 3 2 7 1 2 -1 -1",
        "lrmsinfo": b"{'queue': 'q', 'state': 'queued', 'group': 'g', 'jobid': '7'}",
    }[format_name]
    data = b"\n".join((*lines, good))
    last = [item for item in outcomes(format_name, data) if not isinstance(item, Noted)][-1]
    assert isinstance(last, Converted)
    assert last.line == len(lines) + 1


@pytest.mark.parametrize("format_name", [name for name in FORMATS if name != "auto"])
@given(data=st.binary(max_size=200))
def test_no_bytes_stop_a_reader_but_with_a_reason(format_name, data):
    try:
        found = outcomes(format_name, data)
    except UnusableInput as error:
        found = [Bad(error.line, error.reason)]
    assert all(item.reason for item in found if isinstance(item, Bad))


@pytest.mark.parametrize(
    "format_name, before, after",
    [
        ("swf", b"", b"\n1 0 10 100 4 25.5 1000 4 200 2000 1 3 2 7 1 2 -1 -1\n"),
        ("blah", b'"lrmsID=1', b'"\n"timestamp=2012-05-20 23:59:47" "lrmsID=7"\n'),
        ("apel", b"APEL-individual-job-message: v0.3\nLocalJobId: 1", b"\n%%\nLocalJobId: 7\n%%\n"),
        ("lrmsinfo", b"{'name': '",
         b"'}\n{'queue': 'q', 'state': 'queued', 'group': 'g', 'jobid': '7'}\n"),
        ("condor", b"ClusterId = 1\nCmd = \"", b'"\n\nClusterId = 7\nProcId = 0\n'),
        ("condor", b'{"ClusterId": 1,\n"Cmd": "',
         b'",}\n{"ClusterId": 7, "ProcId": 0}\n'),
        ("slurm-json", b'{"jobs": [\n{"job_id": 1,\n"name": "', b'",},\n{"job_id": 7}\n]}'),
        ("ur", b"<UsageRecords><UsageRecord><JobName>",
         b"</JobName></UsageRecord><UsageRecord><JobIdentity><LocalJobId>7</LocalJobId>"
         b"</JobIdentity></UsageRecord></UsageRecords>"),
    ],
)  # fmt: skip
def test_a_record_of_ten_megabytes_is_bad_and_the_next_is_read(format_name, before, after):
    data = before + b"x" * 10_000_000 + after
    bad, good, *more = outcomes(format_name, data)
    assert isinstance(bad, Bad)
    assert isinstance(good, Converted)
    assert good.job.id in ("7", "7.0", "1")
    assert not [item for item in more if not isinstance(item, Noted)]


# fmt: off
CUT = [
    pytest.param("slurm-json", b'{"jobs": [\n{"job_id": 1, "state": "FAILED"},\n', 1,
                 Bad(3, "the input ends inside an array"), id="between jobs"),
    pytest.param("slurm-json", b'{"jobs": [', 0,
                 Bad(1, "the input ends inside an array"), id="before jobs"),
    pytest.param("slurm-json", b'{"jobs": [\n{"job_id": 1, "state": "FAILED"},\n{"job_', 1,
                 Bad(3, "the input ends inside an object"), id="in a job"),
    pytest.param("condor", b'[\n{"ClusterId": 1, "JobStatus": 4}\n,\n', 1,
                 Bad(4, "the input ends inside an array"), id="between ads"),
    pytest.param("condor", b'ClusterId = 1\nJobStatus = 4\nProcId = 0\nCmd = "x"', 1,
                 Noted(4, "the last line has no line end: it may be cut short", doubts=True),
                 id="in an ad"),
    pytest.param("ur", b"<UsageRecords>\n<UsageRecord><JobIdentity><LocalJobId>7</LocalJobId>"
                 b"</JobIdentity></UsageRecord>\n", 1,
                 Bad(3, "the input ends before </UsageRecords>"), id="between usage records"),
]
# fmt: on


@pytest.mark.parametrize("format_name, data, jobs, told", CUT)
def test_a_stream_that_ends_early_is_told_from_a_whole_one(format_name, data, jobs, told):
    *found, last = outcomes(format_name, data)
    assert [type(item) for item in found] == [Converted] * jobs
    assert last == told


@pytest.mark.parametrize("path", ["condor/condor_history.long", "records/condor/apel.text"])
@pytest.mark.parametrize("first", [b"x|y|827\n", b"ClusterId 7\n", b"\x00\xff\n"])
def test_ads_of_which_the_first_line_is_damaged_are_read_behind_it(path, first):
    whole = outcomes("condor", data := (DATA / path).read_bytes())
    again = outcomes("condor", first + data)
    bad = [item for item in again if isinstance(item, Bad) and item.line == 1]
    assert len(bad) == 1
    of_long = path.endswith("long")  # where the line is one of the first ad
    jobs = [[item.job for item in items if isinstance(item, Converted)] for items in (whole, again)]
    assert jobs[1] == jobs[0][of_long:]


def test_documents_of_sacct_may_follow_one_another():
    one = b'{"meta": {}, "jobs": [\n{"job_id": 1, "state": "FAILED"}], "errors": [{"error": '
    one += b'"no such file", "error_number": 2, "source": "slurmdbd"}]}\n'
    assert [job.id for job in converted("slurm-json", one + one)] == ["1", "1"]
    for more in (b"x", b'{"other": [}'):
        job, complaint, bad = outcomes("slurm-json", one + more)
        assert job.job.id == "1"
        assert complaint.message == "errors of the system: no such file; slurmdbd"
        assert (bad.line, type(bad)) == (3, Bad)


def test_a_stream_that_is_empty_has_no_records():
    assert outcomes("blah", b"") == outcomes("condor", b"") == outcomes("swf", b"\n") == []
    with pytest.raises(UnreadableDocument, match="the document is empty"):
        outcomes("auto", b"\n \n")


def test_a_suspension_below_zero_lengthens_no_job():
    ad = b"ClusterId = 7\nProcId = 0\nRemoteWallClockTime = 5.0\nCumulativeSuspensionTime = -10\n"
    [job] = converted("condor", ad + b"JobStartDate = 1000\n")
    assert job.delivered.text("Duration") == "5"


def test_a_stream_that_gives_a_byte_at_a_time_is_read_the_same():
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.rest = data

        def read(self, size=-1):
            first, self.rest = self.rest[:1], self.rest[1:]
            return first

    whole = (RECORDS / "condor" / "ads.long").read_bytes()
    for data in (whole, codecs.BOM_UTF8 + whole):
        found, expected = (
            list(read_records(find("condor"), stream(data), Options(), TEXTS))
            for stream in (Slow, io.BytesIO)
        )
        assert found == expected
    found = read_records(find("auto"), Slow(whole), Options(), TEXTS)
    assert list(found) == list(read_records(find("auto"), io.BytesIO(whole), Options(), TEXTS))


def test_what_nobody_recognises_is_refused_with_what_was_found():
    with pytest.raises(UnusableInput, match="no known format of records begins with 'Dear Sir'"):
        outcomes("auto", b"Dear Sir\n")


class Endless(io.RawIOBase):
    """A stream without an end, and without a line end; whoever reads on and on is told."""

    def __init__(self, most, begin=b""):
        self._left, self._begin = most, begin

    def readable(self):
        return True

    def readinto(self, buffer):
        if begin := self._begin:
            self._begin = b""
            buffer[: len(begin)] = begin
            return len(begin)
        self._left -= len(buffer)
        assert self._left > 0, "nothing stops who reads it"
        buffer[:] = bytes(len(buffer))
        return len(buffer)


@pytest.mark.parametrize("name", [name for name, row in FORMATS.items() if row is not AUTO])
def test_a_stream_without_an_end_is_no_stream_of_records(name, monkeypatch):
    monkeypatch.setattr(lines, "ENDLESS", 1 << 22)
    stream = io.BufferedReader(Endless(1 << 26))
    found = []
    with suppress(UnusableInput):
        found += read_records(find(name), stream, Options(), TEXTS)
    assert {*map(type, found)} <= {Bad}


BEGUN = {
    "an array": ("slurm-json", b'{"jobs": ['),
    "an object": ("slurm-json", b'{"jobs": [{"job_id": 1, "name": "'),
    "an object on lines": ("slurm-json", b'{"jobs": [\n  {\n    "name": "'),
    "what stands behind one": ("slurm-json", b'{"jobs": [{"job_id": 1, "state": "FAILED"}, '),
    "objects": ("condor", b'{"Owner": "'),
    "objects in an array": ("condor", b'[{"Owner": "'),
    "a value of an ad": ("condor", b'Owner = "'),
    "an ad of XML": ("condor", b'<?xml version="1.0"?><classads><c><a n="Owner"><s>'),
    "a member beside the jobs": ("flux", b'{"more": "'),
    "a job of Flux": ("flux", b'{"jobs": [{"id": 1, "name": "'),
    "a usage record": ("ur", b"<UsageRecords><JobUsageRecord><JobName>"),
}


@pytest.mark.parametrize("begun", BEGUN)
def test_what_begins_as_records_and_has_no_end_is_read_no_further(begun, monkeypatch):
    monkeypatch.setattr(lines, "ENDLESS", 1 << 25)
    monkeypatch.setattr(json_objects, "OBJECT_LIMIT", 1 << 20)
    name, begin = BEGUN[begun]
    stream = io.BufferedReader(Endless(1 << 27, begin))
    found = []
    with suppress(UnusableInput):
        found += read_records(find(name), stream, Options(), TEXTS)
    assert Converted not in {*map(type, found)}


@pytest.mark.parametrize("name", ["sge", "slurm", "pbs"])
def test_nor_is_it_cut_for_several_processes(name, monkeypatch):
    monkeypatch.setattr(lines, "ENDLESS", 1 << 26)
    stream = io.BufferedReader(Endless(1 << 28))
    with pytest.raises(UnusableInput, match="no line end in 64 MiB"):
        list(parts.Cutting(stream, name, Options()))


_FIELDS = (
    (
        "s#7.0#100",
        "s#07.0#0100",
        "a b#7.0#100",
        "s#7#100",
        "s#7.0#0",
        "/s#7.0#100",
        "",
        "s|7.0#100",
    ),
    ("amy", "/amy", "a\tb", "", "a#b", "zo\u00eb"),
    *[("0", "7", "150", "007", "1.5", "-1", "undefined", "", "x", "9" * 15, "9" * 16)] * 3,
    *[("100", "150", "200", "0", "undefined", "1e3", "99999999999")] * 2,
    *[("0", "7", "007", "-1", "undefined")] * 2,
    ("1", "4", "04", "0", "-4", "x", "undefined", ""),
)


@examples(300)
@given(st.data(), st.sampled_from(["", "|", "|1.5|", "||", " "]))
def test_a_usual_line_of_HTCondor_becomes_what_its_parts_do(data, end):
    """Most fields are usual ones: the first of each, or the time behind the one before."""
    usual = ("s#7.0#100", "amy", "50", "7", "1", "100", "200", "10", "20", "4")
    odd = data.draw(st.sets(st.integers(0, 9), max_size=3))
    told = [
        data.draw(st.sampled_from(texts)) if at in odd else known
        for at, (texts, known) in enumerate(zip(_FIELDS, usual, strict=True))
    ]
    raw = "\n".join(["|".join(usual), "|".join(told) + end, ""]).encode()
    with pytest.MonkeyPatch.context() as patch:
        found = [*map(repr, outcomes("condor", raw))]
        patch.setattr(ads, "_usual", lambda text: None)
        assert found == [*map(repr, outcomes("condor", raw))]
