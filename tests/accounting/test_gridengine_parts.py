"""Grid Engine's accounting becomes the same in one process, in parts of any size, and resumed."""

import io
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import DATA

from sssjob.records import find, folding, parts, read_records
from sssjob.records.builders import TEXTS
from sssjob.records.cutting import NotAlone
from sssjob.records.lines import LINE_LIMIT, TOO_LONG
from sssjob.records.parts import Cutting, Following
from sssjob.records.record import Bad, Converted, Options, Skipped

ROW = (DATA / "accounting/sge/quirks/slaves.txt").read_text().splitlines()[1].split(":")
OLDEST = 43  # fields
# What Univa's versions write behind what all others do: a job class, and on to the command.
CLASSED = ["NONE"]
COMMANDED = [*CLASSED, "NONE", "466342912", "409871700", "submit1", "NONE", "qsub run"]
CLOCKED = [*COMMANDED, "9.5"]

# What is odd of a line, or what stands in its place.
ODD = {
    "": lambda row: ":".join(row),
    "a comment": lambda row: "#" + ":".join(row),
    "a comment behind a NUL": lambda row: "\0#" + ":".join(row),
    "a NUL in a word": lambda row: ":".join(row).replace("NONE", "NO\0NE"),
    "the oldest version": lambda row: ":".join(row[:OLDEST]),
    "a version of Univa": lambda row: ":".join([*row, *CLASSED]),
    "a later one": lambda row: ":".join([*row, *COMMANDED]),
    "one that tells the wall clock": lambda row: ":".join([*row, *CLOCKED]),
    "of Univa, and a colon in its name": lambda row: ":".join(
        [*row[:4], "a:b", *row[5:], *COMMANDED]
    ),
    "of Univa, and six of them": lambda row: ":".join(
        [*row[:4], "a:b:c:d:e:f:g", *row[5:], *CLASSED]
    ),
    "a colon in its name": lambda row: ":".join([*row[:4], "a:b", *row[5:]]),
    "fields of two versions": lambda row: ":".join([*row[:4], "a:b:c", *row[5:OLDEST]]),
    "a field of no version": lambda row: ":".join([*row, "NONE"]),
    "no number": lambda row: ":".join([*row[:36], "odd", *row[37:]]),
    "no time": lambda row: ":".join([*row[:10], "odd", *row[11:]]),
    "a line end of DOS": lambda row: ":".join(row) + "\r",
    "blank": lambda row: "",
    "nothing but a control character": lambda row: "\1",
    "a letter": lambda row: "x",
    "no record": lambda row: "no:record",
}


def row(job, slave="NONE", pe="mpi", start=5, odd="", task=0):
    """A line about a job, or a slave task of it, that ran for nine seconds."""
    fields = [
        *ROW[:5],
        str(job),
        *ROW[6:9],
        f"170000{start:04}",
        f"170000{start + 9:04}",
        *ROW[11:13],
        "9",
        *ROW[14:],
    ]
    fields[33], fields[35], fields[41] = pe, str(task), slave
    return ODD[odd](fields)


rows = st.builds(
    row, st.integers(1, 3), st.sampled_from(["NONE", "NONE", "1.n1", "2.n2"]),
    st.sampled_from(["mpi", "mpi", "NONE"]), st.sampled_from([5, 5, 30]),
    st.just("") | st.just("") | st.sampled_from([*ODD]), st.integers(0, 1),
)  # fmt: skip


def told(found):
    """The jobs in their order, and all else."""
    found = list(found)
    jobs = [item for item in found if isinstance(item, Converted)]
    return jobs, sorted(str(item) for item in found if not isinstance(item, Converted))


def whole(data):
    return told(read_records(find("sge"), io.BytesIO(data), Options(), TEXTS, None))


def in_parts(data):
    for part in Cutting(io.BytesIO(data), "sge", Options()):
        yield from parts.outcomes("sge", part, TEXTS)


def guessed(data):
    """As several processes do it: parts that are guessed, of which some are done again."""
    following = Following()
    for part in Cutting(io.BytesIO(data), "sge", Options(), guessed=True):
        try:
            found, is_alone = [*parts.outcomes("sge", part, TEXTS)], True
        except NotAlone:
            found, is_alone = [], False
        if again := following.mended("sge", part, is_alone=is_alone):
            found = [*parts.outcomes("sge", again, TEXTS)]
        yield from found


def resumed(data, size):
    """As a log that grows by so many bytes from run to run, and is rotated away in the end."""
    place = None
    for end in range(size, len(data) + size, size):
        stream = io.BytesIO(data[:end])
        stream.seek(place.offset if place else 0)
        cutting = Cutting(stream, "sge", Options(), place, held=end < len(data))
        for part in cutting:
            yield from parts.outcomes("sge", part, TEXTS)
        place = cutting.place
    again = Cutting(io.BytesIO(), "sge", Options(), place)  # as of the same log, compressed
    assert not [*again]


def check(lines, size, *, ended=True, limit=folding.PARTS_LIMIT):
    data = ("\n".join(lines) + "\n" * ended).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SIZE", size)
        patch.setattr(folding, "PARTS_LIMIT", limit)
        found = whole(data)
        assert told(in_parts(data)) == found
        assert told(guessed(data)) == found
        assert told(resumed(data, size)) == found


@given(st.lists(rows, min_size=1, max_size=14), st.integers(100, 1500), st.booleans(),
       st.sampled_from([1, 3, 100]))  # fmt: skip
def test_a_log_becomes_the_same_wherever_it_is_cut(lines, size, ended, limit):
    check(lines, size, ended=ended, limit=limit)


SLAVE = row(1, "1.n1")
# fmt: off
FOUND = [
    pytest.param([row(1), row(2, "1.n1"), SLAVE, row(1), row(2)],
                 id="another job's slave task behind a job, and then one of its key"),
    pytest.param([row(1), SLAVE, row(2, "1.n1"), SLAVE, row(1), row(2)],
                 id="the same between slave tasks"),
    pytest.param([row(2), SLAVE], id="a slave task alone, at the end"),
    pytest.param([row(1), row(3, odd="a comment behind a NUL"), SLAVE, row(1)],
                 id="a comment behind a NUL"),
    pytest.param([row(2, pe="NONE"), row(1, "1.n1", odd="fields of two versions"), row(1)],
                 id="a slave task whose fields look like those of another version"),
    pytest.param([row(1), *[SLAVE] * 9, row(2), row(1)], id="many slave tasks behind their job"),
    pytest.param([row(1), "", SLAVE, "\1", SLAVE, "# ", SLAVE], id="blank lines and a comment"),
]
# fmt: on


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("ended", [True, False])
@pytest.mark.parametrize("lines", FOUND)
def test_what_was_told_otherwise_in_parts(lines, ended, limit):
    for size in range(100, 1800, 170):
        check(lines, size, ended=ended, limit=limit)
        check([row(3, pe="NONE"), *lines, row(3)], size, ended=ended, limit=limit)


def test_slave_tasks_that_are_too_many_are_skipped_wherever_the_log_is_cut(monkeypatch):
    monkeypatch.setattr(folding, "PARTS_LIMIT", 2)
    lines = [row(1, "1.n1"), row(2, "1.n1"), row(3, "1.n1"), row(1), row(2), row(3)]
    jobs, skipped = whole("\n".join([*lines, ""]).encode())
    assert [job.steps for job in jobs] == [0, 1, 1]
    assert skipped == [str(Skipped(1, "slave task whose job does not follow"))]
    for size in range(100, 1500, 30):
        check(lines, size, limit=2)


@pytest.mark.parametrize("filled", ["x", "é", "\0"])
@pytest.mark.parametrize("more", [0, 1])
def test_a_line_is_too_long_by_its_bytes_wherever_the_log_is_cut(filled, more):
    fields = SLAVE.split(":")
    room = LINE_LIMIT + more - len(SLAVE) + len(fields[4])
    fields[4] = filled * (room // len(filled.encode())) + "x" * (room % len(filled.encode()))
    line = ":".join(fields)
    assert len(line.encode()) == LINE_LIMIT + more
    lines = [row(1), row(2, "1.n1"), line, row(1), row(2)]
    for size in (1 << 18, 1 << 22):
        check(lines, size)
    _, rest = whole("\n".join([*lines, ""]).encode())
    assert (str(Bad(3, TOO_LONG)) in rest) == bool(more)


def test_what_is_held_where_a_log_is_cut_stays_where_it_stands(monkeypatch):
    """No line is changed, so that a part of a file travels as its place."""
    monkeypatch.setattr(parts, "SIZE", 700)
    data = (
        "\n".join([row(2, "1.n1"), SLAVE, row(3), row(1), row(2), row(1), SLAVE]) + "\n"
    ).encode()
    found = [*Cutting(io.BytesIO(data), "sge", Options())]
    assert b"".join(part.data for part in found) == data
    assert len(found) > 3
    alone = [replace(part, front=(), settled={}) for part in found]
    assert told(it for part in alone for it in parts.outcomes("sge", part, TEXTS)) != whole(data)


@pytest.mark.parametrize(
    "version",
    [
        "the oldest version",
        "",
        "a version of Univa",
        "a later one",
        "one that tells the wall clock",
    ],
)
def test_rows_of_jobs_of_every_version_are_cut_for_several_processes(version, monkeypatch):
    """Each part surely stands alone, so that nobody has to follow what is before it."""
    monkeypatch.setattr(parts, "SIZE", 2000)
    data = "".join(f"{row(number, odd=version)}\n" for number in range(1, 60)).encode()
    found = [*Cutting(io.BytesIO(data), "sge", Options(), guessed=True)]
    assert len(found) > 3
    assert all(part.guess.sure for part in found)
    following = Following()
    assert not any(following.mended("sge", part, is_alone=True) for part in found)


@pytest.mark.parametrize("empty", [(), (11,), (34,), (11, 34)])  # failed, and slots
@pytest.mark.parametrize("more", [[], ["7"], ["7", "NONE"]])  # ioops, and bound_cores
@pytest.mark.parametrize("command", ["a:5", "qsub -t 1:5", "7:8", "qsub -l h_rt=0:1:0", "NONE:1:0"])
def test_no_piece_of_a_command_is_a_wall_time_also_where_a_value_is_missing(command, more, empty):
    fields = [*row(1).split(":"), *COMMANDED[:-1], command, "9.500", *more]
    for place in empty:
        fields[place] = ""
    jobs, rest = whole((":".join(fields) + "\n").encode())
    assert all("<Duration>9<" in job.job or "<Duration>10<" in job.job for job in jobs)
    assert jobs or "Bad" in str(rest)
