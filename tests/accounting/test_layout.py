"""A layout declares how records of one job are folded, and all builders and parts follow it."""

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cuts import Lines
from sssjob.records.engine import Engine
from sssjob.records.folding import Fold, Folding
from sssjob.records.layout import Layout, NoRecord, Record, alone, table
from sssjob.records.parts import cutter
from sssjob.records.record import JOB, Bad, Converted, Counts, Field, Options, Skipped

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
        is_plain=lambda line: b" - one " in line,
        folds=folds,
        alone="a part alone",
    )
    rows = table((Field("id", JOB, "Id"), Field("name", JOB, "Name"),
                  Field("priority", JOB, "Priority")))  # fmt: skip
    return Layout(type="Made up", cut=Lines(), reader=alone(record), rows=rows, folding=folding)


TOTAL = Fold("priority", lambda texts: str(sum(map(int, texts))))
ALL = Fold("part", lambda texts: ",".join(text for text in texts if text != "-"), "name")


def told(layout, data, builder=OBJECTS, first=1, front=()):
    return list(Engine(layout, Options(), builder).outcomes(io.BytesIO(data), first, front))


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
            found += told(layout, part.data, TEXTS, part.line, part.front)
    part, _ = cut.cut(b"", line, final=True)
    if part is not None:
        found += told(layout, part.data, TEXTS, part.line, part.front)
    assert sorted(map(str, found)) == sorted(map(str, whole))
    counts = Counts()
    jobs = [item for item in counts.counting(found) if isinstance(item, Converted)]
    assert counts.records == sum(text not in BLANK for text in lines)
    assert len(jobs) == counts.converted
