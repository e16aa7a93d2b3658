"""Header lines of several writers in one file, and records of each of them behind any other."""

import gzip
import io

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from records import converted, counts, told

from sssjob.document.sources import NamedSource
from sssjob.records import parts
from sssjob.records.cutting import Part
from sssjob.records.parts import Cutting, convert
from sssjob.records.record import Options
from sssjob.records.regular import ROAD
from sssjob.systems.slurm.accounting.headers import LIMIT
from sssjob.verbs.convert import Conversion

LAYOUTS = (
    "JobID User State Submit Start End ElapsedRaw NCPUS JobName",
    "JobID User State ElapsedRaw NCPUS",
    "JobName JobIDRaw State Start Comment",
    "JobID State ElapsedRaw NCPUS User JobName WorkDir",
)
USUAL = {
    "User": "amy", "State": "COMPLETED", "Submit": "100", "Start": "200", "End": "260",
    "ElapsedRaw": "60", "NCPUS": "4", "JobName": "sim", "Comment": "c", "WorkDir": "/w",
}  # fmt: skip
ODD = ("a|b", "x;y", "p\x1fq", "new\nline", "7;amy", "JobID;State", "", "771|amy|COMPLETED|9|9")
OPTIONS = Options(zone="UTC")


def header(layout, delimiter):
    return delimiter.join(layout.split())


def row(layout, delimiter, number, **odd):
    texts = {**USUAL, "JobID": str(number), "JobIDRaw": str(number), **odd}
    return delimiter.join(texts[name] for name in layout.split())


@st.composite
def tables(draw, *, clean=False):
    """Lines of several writers: headers, each behind others, and rows of any header so far.

    Those of ``clean`` tables have no odd texts, and a delimiter for each header. With the lines
    comes the number of rows.
    """
    marks = draw(st.permutations("|;\x1f")) if clean else draw(st.lists(
        st.sampled_from("|;\x1f"), min_size=1, max_size=4
    ))  # fmt: skip
    heads, lines, rows = [], [], 0
    for mark in marks:
        heads.append((draw(st.sampled_from(LAYOUTS)), mark))
        lines.append(header(*heads[-1]))
        for _ in range(draw(st.integers(0, 6))):
            rows += 1
            odd = {}
            if not clean and draw(st.integers(0, 3)) == 0:
                odd = {draw(st.sampled_from(("JobName", "Comment"))): draw(st.sampled_from(ODD))}
            line = row(*draw(st.sampled_from(heads)), rows, **odd)
            if not clean and draw(st.integers(0, 9)) == 0:
                line = line[: draw(st.integers(0, len(line)))]
            lines.append(line)
    return lines, rows


def read(found):
    """What parts became: documents, counts, and what is told."""
    found = [*found]
    texts = b"".join(bytes(each.data) for each in found)
    numbers = [(each.counts.converted, each.counts.bad) for each in found]
    said = {str(item) for each in found for item in each.remarks}
    return texts, [*map(sum, zip(*numbers, strict=True))], said


def in_one(data):
    return read([convert("slurm", Part(data, 1, OPTIONS))])


def in_parts(data, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SIZE", size)
        return read(convert("slurm", part) for part in Cutting(io.BytesIO(data), "slurm", OPTIONS))


def in_runs(data, ends):
    """As it grows, with what each run has to know of those before."""
    found, place = [], None
    for end in (*ends, len(data)):
        start = place.offset if place else 0
        grows = end < len(data)
        cutting = Cutting(io.BytesIO(data[start:end]), "slurm", OPTIONS, place, held=grows)
        found += [convert("slurm", part) for part in cutting]
        place = cutting.place
    return read(found)


@examples(150)
@given(tables(), st.data())
def test_records_of_several_headers_are_the_same_wherever_a_file_is_cut(table, data):
    raw = ("\n".join(table[0]) + "\n").encode()
    whole = in_one(raw)
    assert in_parts(raw, data.draw(st.integers(1, 400))) == whole
    ends = data.draw(st.lists(st.integers(1, len(raw) - 1), max_size=3))
    assert in_runs(raw, sorted(ends)) == whole


@examples(100)
@given(tables(clean=True))
def test_a_whole_record_is_a_job_behind_whichever_header_it_stands(table):
    lines, rows = table
    _, found, _ = in_one(("\n".join(lines) + "\n").encode())
    assert found == [rows, 0]


@examples(100)
@given(
    st.lists(st.sampled_from(LAYOUTS), min_size=2, max_size=4), st.randoms(use_true_random=False)
)
def test_of_headers_with_one_delimiter_a_record_is_a_job_or_bad(layouts, random):
    """One of too few fields may be the begin of another, and one of too many have texts with
    delimiters in them: what may be both is bad.
    """
    lines = [header(layout, "|") for layout in layouts]
    rows = [row(random.choice(layouts), "|", number) for number in range(1, 8)]
    _, (jobs, bad), _ = in_one(("\n".join([*lines, *rows]) + "\n").encode())
    assert jobs + bad == len(rows)


@pytest.mark.parametrize("is_open", [False, True], ids=["lines", "columns"])
@pytest.mark.parametrize("ways", ["one process", "two processes", "compressed"])
@pytest.mark.parametrize("mark", [";", "\x1f", "||", "\t"])
@pytest.mark.parametrize("goes_on", ["the first", "the second", "both in turn"])
def test_a_second_header_takes_nothing_from_the_first(
    goes_on, mark, ways, is_open, tmp_path, monkeypatch
):
    monkeypatch.setattr(parts, "SIZE", 3000)
    ROAD.open(is_open=is_open)
    layout = LAYOUTS[0]
    turns = {"the first": ["|"], "the second": [mark], "both in turn": ["|", mark]}[goes_on]
    rows = [row(layout, turns[number % len(turns)], number) for number in range(200)]
    data = ("\n".join([header(layout, "|"), header(layout, mark), *rows]) + "\n").encode()
    file = tmp_path / "log"
    file.write_bytes(gzip.compress(data) if ways == "compressed" else data)
    try:
        work = Conversion(
            [NamedSource("log", file)], "slurm", OPTIONS,
            processes=2 if ways == "two processes" else 1,
        )  # fmt: skip
        found = b"".join(work.parts(lines=True))
    finally:
        ROAD.reset()
    tally = work.reading.counts
    assert (tally.converted, tally.bad, tally.skipped) == (200, 0, {"header": 1})
    assert found.count(b"<Name>sim</Name>") == 200


@pytest.mark.parametrize("again", [[], ["|"], [";", "|"]], ids=["none", "the same", "another"])
def test_columns_of_one_block_are_those_of_each_of_its_tables(again):
    """Each header line begins a table, whose columns are by themselves."""
    layout, numbers = LAYOUTS[0], iter(range(10_000))
    lines = [header(layout, "|"), *(row(layout, "|", next(numbers)) for _ in range(600))]
    for mark in again:
        lines += [header(layout, mark), *(row(layout, mark, next(numbers)) for _ in range(600))]
    data = ("\n".join(lines) + "\n").encode()
    found = []
    for is_open in (True, False):
        ROAD.open(is_open=is_open)
        try:
            found.append([*told("slurm", data)])
        finally:
            ROAD.reset()
    assert found[0] == found[1]
    assert sum("<Job>" in each for each in found[0]) == 600 * (1 + len(again))


@pytest.mark.parametrize("names", [
    "JobID|State|JobName", "JobID|State|NewColumn|JobName", "JobID|New|JobName",
])  # fmt: skip
def test_a_header_with_columns_that_nobody_knows_is_one_behind_others_too(names):
    """Of one that is there again, and where most of them are known."""
    told = {"State": "COMPLETED", "JobName": "sim"}
    rows = ["|".join([number, *(told.get(each, "x") for each in names.split("|")[1:])])
            for number in "123"]  # fmt: skip
    first = ["JobID|State|JobName", "7|COMPLETED|sim"] if "New|J" not in names else []
    data = "\n".join([*first, names, *rows, names, *rows]) + "\n"
    found = counts("slurm", data.encode())
    assert (found.converted, found.bad) == (6 + len(first) // 2, 0)


@pytest.mark.parametrize("beside", [[], ["NaN"], ["1700000000"], [""]], ids=str)
@pytest.mark.parametrize("odd", ["99999999999999999999", "4294967296", "17000000000"])
def test_what_is_no_time_is_none_whatever_stands_beside_it(odd, beside):
    lines = ["JobID|Cluster|Submit|State"]
    lines += [f"{n}|c|{text}|COMPLETED" for n, text in enumerate([odd, *beside], 1)]
    jobs = converted("slurm", ("\n".join(lines) + "\n").encode())
    assert jobs[0].properties.text("GlobalId") == "c/1"


def test_a_text_holds_no_delimiter_of_another_header():
    lines = [header(LAYOUTS[0], "|"), header(LAYOUTS[0], "\x1f"), row(LAYOUTS[0], "\x1f", 1),
             row(LAYOUTS[0], "|", 2, JobName="a\x1fb")]  # fmt: skip
    data = "\n".join(lines).encode() + b"\n"
    assert [job.properties.text("Name") for job in converted("slurm", data)] == ["sim", "ab"]


def test_a_record_that_two_headers_may_have_is_bad_and_told():
    data = (
        b"JobID|User|State|ElapsedRaw|NCPUS|JobName\nJobID|User|State|JobName\n"
        b"1|amy|COMPLETED|sim\n2|amy|COMPLETED|60|4|sim\n"
    )
    skipped, job, bad = told("slurm", data)
    assert skipped == "2: skipped: header"
    assert "<Id>1</Id>" in job
    assert bad == "4: error: a record of an earlier header, or one with a delimiter in a text"


def test_a_header_within_a_text_costs_no_other_record():
    """Whoever names a job so wins nothing by it."""
    evil = "a\nJobID;JobName\n"
    lines = [
        header(LAYOUTS[0], "|"),
        row(LAYOUTS[0], "|", 1),
        row(LAYOUTS[0], "|", 2, JobName=evil),
    ]
    lines += [row(LAYOUTS[0], "|", number) for number in range(3, 9)]
    jobs = converted("slurm", ("\n".join(lines) + "\n").encode())
    assert [job.id for job in jobs] == [*map(str, range(1, 9))]


def test_so_many_headers_are_remembered():
    lines = [header("JobID State NCPUS", "|")]
    lines += [header("JobID State NCPUS", mark) for mark in ";!$&*/+"]
    assert len(lines) == LIMIT
    last = row("JobID State NCPUS", "|", 7)
    assert counts("slurm", ("\n".join([*lines, last]) + "\n").encode()).converted == 1
    lines.append(header("JobID State NCPUS", "="))
    assert counts("slurm", ("\n".join([*lines, last]) + "\n").encode()).bad == 1
