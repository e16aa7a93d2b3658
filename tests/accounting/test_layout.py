"""A layout declares how records of one job are folded, and all builders and parts follow it."""

import io
from dataclasses import replace
from types import MappingProxyType

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.model import Job, Property
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cuts import CustomPieces, Lines
from sssjob.records.engine import RecordEngine
from sssjob.records.folding import Fold, Folding
from sssjob.records.layout import (
    Layout,
    MadeJob,
    NoRecord,
    Record,
    RecordBatch,
    Stretch,
    alone,
    mapping,
)
from sssjob.records.parts import cutter
from sssjob.records.record import JOB, Bad, Converted, Field, Noted, Options, RecordCounts, Skipped

NAMES = ("id", "part", "name", "priority")


def record(line, text):
    """``id part name priority``: the part of the job itself is -."""
    fields = text.split()
    if len(fields) != len(NAMES):
        raise NoRecord(f"{len(fields)} fields")
    return Record(line, NAMES, fields)


def declared(*folds):
    folding = Folding(
        part=lambda record: record.fields[1].removeprefix("-"),
        key=lambda record: record.fields[0],
        goes_on=lambda record: record.fields[2] == "more",
        follows=lambda part, job: True,
        are_jobs=lambda lines: [b" - one " in line for line in lines],
        folds=folds,
        alone="a part alone",
    )
    rows = mapping((Field("id", JOB, "Id"), Field("name", JOB, "Name"),
                  Field("priority", JOB, "Priority")))  # fmt: skip
    return Layout(type="Made up", cut=Lines(), reader=alone(record), rows=rows, folding=folding)


TOTAL = Fold("priority", "sum")
ALL = Fold("part", lambda texts: ",".join(text for text in texts if text != "-"), "name")


def told(layout, data, builder=OBJECTS, first=1, front=(), settled=MappingProxyType({})):
    engine = RecordEngine(layout, Options(), builder)
    return list(engine.outcomes(io.BytesIO(data), first, front, settled=settled))


@pytest.mark.parametrize(
    "folds, name, priority",
    [
        pytest.param((), "one", "10", id="none"),
        pytest.param((TOTAL,), "one", "60", id="one"),
        pytest.param((TOTAL, ALL), "a,b", "60", id="two"),
    ],
)
def test_parts_are_folded_into_their_job_by_as_many_columns_as_are_declared(folds, name, priority):
    data = b"7 a x 20\n8 - one 10\n7 b x 30\n7 - one 10\n9 a x 1\nodd\n"
    other, job, bad, lost = told(declared(*folds), data)
    assert (other.line, other.steps, job.line, job.steps) == (2, 0, 4, 2)
    assert (job.job.get("Name"), job.job.get("Priority")) == (name, priority)
    assert bad == Bad(6, "1 fields")
    assert lost == Skipped(5, "a part alone")


@pytest.mark.parametrize(
    "how, texts, priority",
    [
        pytest.param("first", ("", "20", "30", "10"), "20", id="the first that is not empty"),
        pytest.param("last", ("20", "30", "10"), "10", id="the last is the job's own"),
        pytest.param("last", ("20", "30", ""), "30", id="the last part's of a job without"),
        pytest.param("first", ("", ""), "", id="none"),
        pytest.param(
            "sum", ("20", "", "30", "10"), "60", id="a sum, to which an empty adds nothing"
        ),
        pytest.param("sum", ("0.5", "1e1", "1.50"), "12.00", id="a sum is exact"),
        pytest.param("max", ("20", "9", "100", "10"), "100", id="the largest as a number"),
        pytest.param("max", ("-20", "-9", "-10"), "-9", id="the largest below 0"),
        pytest.param("set", ("b", "a", "", "b", "c"), "b,a,c", id="each once, in their order"),
        pytest.param("sum", ("odd", "1", "2"), "odd", id="what is no number is told"),
        pytest.param("max", ("1e999", "1"), "1e999", id="nor what no column holds"),
    ],
)
def test_a_word_says_how_texts_become_one(how, texts, priority):
    assert Fold("priority", how).together(texts) == priority


@pytest.mark.parametrize("how", ["sum", "max"])
@pytest.mark.parametrize("own", ["", "odd", "1e999"])
def test_a_job_that_tells_no_number_keeps_what_it_tells(how, own):
    with pytest.raises(InvalidValue):
        Fold("priority", how).together(("5", own))


def test_words_fold_the_records_of_a_job():
    data = b"7 a x 20\n7 b y 30\n7 - one 10\n"
    (job,) = told(
        declared(Fold("priority", "sum"), Fold("name", "set"), Fold("part", "last")), data
    )
    assert (job.job.get("Name"), job.job.get("Priority")) == ("x,y,one", "60")


def test_a_word_that_is_not_known_is_refused_where_it_is_declared():
    with pytest.raises(
        ValueError, match="'total' is no way to fold: write first, last, sum, max, set"
    ):
        declared(Fold("priority", "total"))


@pytest.mark.parametrize("are_jobs", [
    pytest.param(lambda lines: [b" one " not in line for line in lines], id="no part"),
    pytest.param(lambda lines: [not line.startswith(b"step") for line in lines], id="another word"),
    pytest.param(lambda lines: [True] * len(lines), id="always"),
    pytest.param(lambda lines: [not line for line in lines], id="an empty line"),
    pytest.param(lambda lines: [bool(line) for line in lines], id="all but an empty line"),
])  # fmt: skip
def test_a_folding_that_takes_a_blank_line_for_a_job_is_refused_where_it_is_declared(are_jobs):
    folding = declared(TOTAL).folding
    with pytest.raises(ValueError, match="must be False of what is no record"):
        replace(folding, are_jobs=are_jobs)


lines = st.builds(
    "{} {} {} {}\n".format,
    st.integers(1, 3), st.sampled_from("--ab"), st.sampled_from(["one", "more"]), st.integers(1, 9),
)  # fmt: skip


BLANK = ("\n", " \n", "\0\n")


@example(["1 - more 1\n", "\0\n", "1 a one 2\n"], 60)
@given(st.lists(lines | st.sampled_from(("odd\n", *BLANK))), st.integers(1, 60))
def test_parts_of_a_stream_of_any_size_tell_what_the_whole_does(lines, size):
    layout = declared(TOTAL, ALL)
    data = "".join(lines).encode()
    whole = told(layout, data, TEXTS)
    found, rest, line, cut = [], b"", 1, cutter(layout, Options())
    for begin in range(0, len(data), size):
        rest += data[begin : begin + size]
        part, taken = cut.cut(rest, line, final=begin + size >= len(data))
        rest, line = rest[taken:], line + rest[:taken].count(b"\n")
        if part is not None:
            found += told(layout, part.data, TEXTS, part.line, part.front, part.settled)
    part, _ = cut.cut(b"", line, final=True)
    if part is not None:
        found += told(layout, part.data, TEXTS, part.line, part.front, part.settled)
    assert sorted(map(str, found)) == sorted(map(str, whole))
    counts = RecordCounts()
    jobs = [item for item in counts.counting(found) if isinstance(item, Converted)]
    assert counts.records == sum(text not in BLANK for text in lines)
    assert len(jobs) == counts.converted


class Columns:
    """Folds nothing: those whose name is "one" are given as a batch, all else as it is."""

    def folder(self, options, plans):
        return self

    def take(self, found):
        places = [place for place, item in enumerate(found)
                  if isinstance(item, Record) and item.fields[2] == "one"]  # fmt: skip
        rest = [None if place in places else item for place, item in enumerate(found)]
        if not places:
            return Stretch.of(rest)
        batch = RecordBatch.of(places, [found[place] for place in places])
        return Stretch.of(rest)._replace(batches=[*Stretch.of(rest).batches, batch])

    def close(self):
        return Stretch(())


@pytest.mark.parametrize("ended_only", [False, True])
@pytest.mark.parametrize("builder", [OBJECTS, TEXTS])
def test_a_folder_gives_columns_and_each_outcome_stands_in_its_place(builder, ended_only):
    def read(line, text):
        found = record(line, text)
        noted = (Noted(line, "even"),) if line % 2 == 0 else ()
        more = (Property("Extension", text, {"name": "whole"}),) if line % 3 == 0 else ()
        return found._replace(ended=found.fields[1] == "-", notes=noted, more=more,
                              folded=[(100 + line, "part")] if line % 4 == 0 else ())  # fmt: skip

    rows = declared().rows
    alone_ = Layout(type="Made up", cut=Lines(), reader=alone(read), rows=rows)
    columns = replace(alone_, folding=Columns())
    lines = [f"{number} {'-a'[number % 5 == 0]} {'one' if number % 7 else 'more'} {number}\n"
             for number in range(1, 60)]  # fmt: skip
    lines[10], lines[20], lines[30] = "odd\n", "30 - one x\n", " - one 7\n"
    data = "".join(lines).encode()

    def all_told(layout):
        return list(
            RecordEngine(layout, Options(ended_only=ended_only), builder).outcomes(io.BytesIO(data))
        )

    found = all_told(columns)
    assert found == all_told(alone_)
    assert {type(item) for item in found} >= {Bad, Converted, Noted}


def test_of_two_stretches_the_second_stands_behind_the_first():
    first = Stretch.of([Record(1, NAMES, ["1", "-", "a", "1"]), Bad(2, "odd")])
    second = Stretch.of(
        [Bad(3, "odd"), Record(4, NAMES, ["4", "-", "b", "4"]), MadeJob(5, Job(()))]
    )
    both = first.then(second)
    assert [[*batch.places] for batch in both.batches] == [[0], [3]]
    assert both.made == [4]
    assert [item.line for item in both.items] == [1, 2, 3, 4, 5]


def test_a_piece_is_read_before_the_next_one_is_found():
    done = []

    def pieces(stream, first):
        for number in range(600):
            done.append(f"found {number}")
            yield number, str(number)

    def read(line, value):
        done.append(f"read {line}")
        return Skipped(line, value)

    layout = Layout(type="T", cut=CustomPieces(pieces), reader=lambda options, clock: read)
    outcomes = [*RecordEngine(layout, Options(), OBJECTS).outcomes(io.BytesIO())]
    assert outcomes == [Skipped(number, str(number)) for number in range(600)]
    assert done == [each for number in range(600) for each in (f"found {number}", f"read {number}")]
