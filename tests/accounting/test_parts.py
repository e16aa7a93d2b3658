"""Records cut into parts become the same bytes, counts and remarks as in one piece."""

import copy
import io
import json
import multiprocessing
import pickle
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from draws import examples
from hypothesis import example, given
from hypothesis import strategies as st

from sssjob.document.files import span
from sssjob.document.sources import NamedSource
from sssjob.errors import UnusableInput
from sssjob.records import parts, plan, recognition
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cutting import LineCutter, NotAlone, Part, StreamPlace
from sssjob.records.parts import Cutting, StreamRest, convert
from sssjob.records.plan import Plan
from sssjob.records.record import JOB, Field, Options
from sssjob.verbs.convert import Conversion, converter

DATA = Path(__file__).parent.parent / "data"
FILES = {
    "slurm": sorted((DATA / "slurm").glob("*/*.txt")),
    **{
        name: sorted((DATA / "accounting" / name).rglob("*.txt"))
        for name in ("pbs", "sge", "lsf", "slurm-jobcomp")
    },
    "blah": sorted((DATA / "records" / "blah").glob("*.txt")),
    "lrmsinfo": sorted((DATA / "records" / "lrmsinfo").glob("*.txt")),
}
CASES = [pytest.param(name, path, id=f"{name}-{path.parent.name}-{path.stem}")
         for name, paths in FILES.items() for path in paths
         if path.stem != "no-header"]  # fmt: skip


def whole(format_, data):
    """What the records become in one piece, without the note about the end of a file."""
    return flat([convert(format_, Part(data, 1, Options()))])


def cut(format_, data, size, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", size)
    cutting = Cutting(io.BytesIO(data), format_, Options())
    builder = TEXTS.remembering()  # as a worker does
    return flat(convert(format_, part, builder=builder) for part in cutting)


def flat(results):
    results = list(results)
    remarks = []
    for result in results:
        for item in result.remarks:
            once = getattr(item, "once", False)
            if not (once and any(item.message == getattr(it, "message", "") for it in remarks)):
                remarks.append(item)
    counts = [result.counts for result in results]
    skipped = {}
    for found in counts:
        for reason, number in found.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + number
    names = ("converted", "steps", "bad")
    numbers = tuple(sum(getattr(it, name) for it in counts) for name in names)
    data = b"".join(result.data for result in results)
    # What is said once is said of the whole input.
    lines = [(0 if getattr(it, "once", False) else it.line, it) for it in remarks]
    said = [(line, getattr(it, "message", "") or it.reason) for line, it in lines]
    return data, numbers, skipped, sorted(said)


@pytest.mark.parametrize(("format_", "path"), CASES)
@pytest.mark.parametrize("size", [50, 700, 5000])
def test_parts_of_any_size_become_the_same(format_, path, size, monkeypatch):
    data = path.read_bytes().rstrip(b"\n") + b"\n"
    assert cut(format_, data, size, monkeypatch) == whole(format_, data)


def test_parts_of_a_file_become_smaller_towards_its_end_and_more_for_more_processes(tmp_path):
    path = tmp_path / "accounting"
    size = 24 * parts.SIZE
    path.write_bytes(b"\n" * size)

    def sizes(processes):
        with path.open("rb") as stream:
            cutting = Cutting(
                stream, "pbs", Options(), file=span(path, stream), processes=processes
            )  # fmt: skip
            return [part.size / parts.SIZE for part in cutting]

    two, many = sizes(2), sizes(100)
    assert two == sorted(two, reverse=True)
    assert (two[:3], sum(two)) == ([parts.LARGER] * 3, 24)
    assert (two[-1] <= 1, many) == (True, [1] * 24)


@pytest.mark.parametrize("given", ["bytes", "file"])
def test_processes_keep_the_order(given, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 3000)
    path = FILES["slurm"][0]
    source = NamedSource("log", path if given == "file" else io.BytesIO(path.read_bytes()))
    work = Conversion([source], "slurm", processes=2)
    found = b"".join(work.parts(lines=True))
    assert (found, work.reading.counts.converted) == (
        whole("slurm", path.read_bytes())[0], whole("slurm", path.read_bytes())[1][0]
    )  # fmt: skip


@examples(100)
@given(st.data(), st.integers(1, 400))
def test_slave_tasks_find_their_job_wherever_the_records_are_cut(data, size):
    quirks = DATA / "accounting/sge/quirks"
    rows = [line for path in quirks.glob("slaves*.txt") for line in path.read_bytes().splitlines()]
    raw = b"\n".join(data.draw(st.lists(st.sampled_from(rows), max_size=12))) + b"\n"
    with pytest.MonkeyPatch.context() as patch:
        assert cut("sge", raw, size, patch) == whole("sge", raw)


SACCT = (
    "JobID|AllocTRES|ReqTRES|ConsumedEnergyRaw",
    "JobID|State|Reason|Start|End",
    "JobID|JobName|State",
    "JobName|JobIDRaw|State|Start|Comment",
    "4|cpu=1,nonsense||0",
    "4|cpu=1|cpu=2|0",
    "5|COMPLETED|None|2026-11-20T14:29:34|2026-11-20T14:39:34",
    "5.batch|COMPLETED||2026-11-20T14:29:34|2026-11-20T14:39:34",
    "771|a|COMPLETED",
    "771.0|a|COMPLETED",
    "771|a|b|COMPLETED",
    "3|c",
    "a|9|COMPLETED|2026-11-20T14:29:34|text",
    "a|9|COMPLETED|later|",
    "a|9|COMPL",
    "|||||||",
    "no record",
    "  ",
    "",
)


@examples(400)
@given(
    st.sampled_from(SACCT[:4]), st.lists(st.sampled_from(SACCT), max_size=14),
    st.integers(1, 400), st.data(),
)  # fmt: skip
@example(SACCT[0], [SACCT[1], SACCT[4], SACCT[2], SACCT[8], SACCT[11], "4|d|COMPLETED"], 50, None)
def test_rows_of_sacct_are_the_same_wherever_they_are_cut(head, rows, size, data):
    """Bad ones, headers, blank lines and lines that were cut among them."""
    if data is not None and rows:
        at = data.draw(st.integers(0, len(rows) - 1))
        rows[at] = rows[at][: data.draw(st.integers(0, len(rows[at])))]
    raw = "\n".join((head, *rows, "")).encode()
    with pytest.MonkeyPatch.context() as patch:
        assert cut("slurm", raw, size, patch) == whole("slurm", raw)


@pytest.mark.parametrize("size", [1, 300, 900, 5000])
@pytest.mark.parametrize("between", [b"", b"\n", b"# a comment\n", b"\x01\n"])
def test_groups_of_slave_tasks_are_cut_around_other_jobs_and_comments(size, between, monkeypatch):
    """Also around a comment that would be a record, were there no # in front of it."""
    slave, plain, other, job, *_ = (
        DATA / "accounting/sge/quirks/slaves.txt"
    ).read_bytes().splitlines()  # fmt: skip
    group = [slave, other, job]
    eighth = [line.replace(b":7:sge", b":8:sge") for line in group]
    records = [
        plain, *group, plain, b"#" + plain, *eighth, *group, eighth[0], plain, job, eighth[1],
        b"#" + slave, plain, plain, eighth[2], plain, plain, slave, job, slave,
    ]  # fmt: skip
    data = b"".join(line + b"\n" + between for line in records)
    assert cut("sge", data, size, monkeypatch) == whole("sge", data)
    assert whole("sge", data)[1] == whole("sge", data.replace(b"#", b"# "))[1]


ONE = '{{"job_id": {}, "name": "a"}}'
TALL = '  {{\n    "job_id": {},\n    "name": "a"\n  }}'
SHARED = '{{"job_id": {},\n  "name": "a"}}'  # its braces share the lines of what is in it
OPENED = '{{\n  "job_id": {},\n  "name": "a"}}'
FLAT = '{{\n"job_id": {},\n"list": [\n{{"a": 1}}\n]\n}}'
SHAPES = {  # of JSON that grows: what begins and ends a document, and an object in it
    "a document for each job": ('{"jobs": [\n', TALL, '\n]}\n', 1),
    "documents of three jobs": ('{"meta": [1], "jobs": [\n', TALL, '\n], "errors": []}\n', 3),
    "documents of lines":      ('{"jobs": [\n', ONE, '\n]\n}\n', 3),
    "one document":            ('{"jobs": [\n', TALL, '\n]}\n', 60),
    "arrays":                  ("[\n", TALL, "\n]\n", 3),
    "one array":               ("[\n", ONE, "\n]\n", 60),
    "a document on a line":    ('{"jobs": [', ONE, ']}\n', 1),
    "an array on a line":      ("[", ONE, "]\n", 1),
    "braces share a line":     ("[", SHARED, "]\n", 60),
}  # fmt: skip


@pytest.mark.parametrize("begins, each, ends, many", SHAPES.values(), ids=SHAPES)
def test_json_that_grows_is_read_on_from_wherever_a_part_ended(
    begins, each, ends, many, monkeypatch
):
    monkeypatch.setattr(parts, "SIZE", 400)
    groups = [range(first, min(first + many, 60)) for first in range(0, 60, many)]
    data = "".join(begins + ",\n".join(map(each.format, group)) + ends for group in groups).encode()

    def jobs(place=None):
        stream = io.BytesIO(data[place.offset if place else 0 :])
        cutting = Cutting(stream, "slurm-json", Options(), place, held=True)
        for part in cutting:
            yield len(re.findall(rb"job_id", part.data)), cutting.place

    counted = [*jobs()]
    assert len(counted) > 3
    assert sum(count for count, _ in counted) == 60
    for number, (_, place) in enumerate(counted[:-1], 1):
        later = sum(count for count, _ in counted[number:])
        assert sum(count for count, _ in jobs(place)) == later


def held_parts(data, place):
    """What a run makes of a log that may still grow, and where the next run goes on."""
    start = place.offset if place else 0
    cutting = Cutting(io.BytesIO(data[start:]), "slurm-json", Options(), place, held=True)
    found, several = [], iter(cutting)
    for part in several:
        try:
            found.append(convert("slurm-json", part))
        except NotAlone:
            rest = StreamRest("slurm-json", part, several)
            found += (convert("slurm-json", each) for each in rest)
    return found, cutting.place


def ids(found):
    return [int(job) for one in found for job in re.findall(rb"<Id>(\d+)", bytes(one.data))]


@pytest.mark.parametrize("between", [",\n", "\n,\n", " ,\r\n", ", "])
@pytest.mark.parametrize("each", [ONE, TALL, ONE.replace('"a"', "[{{}}]"), SHARED, FLAT, OPENED])
@pytest.mark.parametrize("begins, ends", [
    ("[\n", "\n]\n"), ("[", "]\n"), ("[\n", "]\n"), ('{"jobs": [\n', '\n]}\n'),
    ('{"jobs": [\n', '\n], "errors": [], "meta": {}}\n'), ('{"jobs": [\n', ']}\n'),
    ('{"jobs":[', ']}\n'), ('{"meta": {}, "jobs": [', '], "errors": [], "warnings": []}\n'),
    ('{"jobs": [\n', '\n]\n}\n'), ('{\n  "jobs": [\n', '\n  ],\n  "meta": {\n  }\n}\n'),
    ('{\n"jobs": [\n', '\n],\n"meta": {\n}\n}\n'),
])  # fmt: skip
@pytest.mark.parametrize("closed", [(True, True, True), (False, True, True), (True, False, False)])
def test_an_array_that_was_closed_and_goes_on_is_read_on_from_its_last_object(
    begins, ends, each, between, closed
):
    place, said, read = None, b"", []
    for count, is_closed in zip((5, 8, 12), closed, strict=True):
        inner = between.join(each.format(number) for number in range(1, count + 1))
        goes_on = between if "\n" in between else between + "\n"
        data = (begins + inner + (ends if is_closed else goes_on)).encode()
        start = place.offset if place else 0
        assert data[:start] == said[:start]  # of which it is known as the same log
        found, place = held_parts(data, place)
        assert not any(one.counts.bad for one in found)
        read.append(ids(found))
        said = data
    assert read == [[*range(1, 6)], [*range(6, 9)], [*range(9, 13)]]


@pytest.mark.parametrize("begins, ends", [("[", "]\n"), ('{"jobs":[', "]}\n")])
@pytest.mark.parametrize("size", [400, parts.SIZE])
def test_an_array_on_one_line_is_read_on_however_long_it_is(begins, ends, size, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", size)
    place, read = None, []
    for count in (1, 3000, 9000):
        inner = ",".join(ONE.format(number) for number in range(1, count + 1))
        found, place = held_parts((begins + inner + ends).encode(), place)
        read += ids(found)
    assert read == [*range(1, 9001)]
    assert place.offset > 4 * recognition.HEAD


@pytest.mark.parametrize("begins, ends", [("[\n", "\n]\n"), ('{"jobs": [\n', "\n]}\n")])
@pytest.mark.parametrize("each", [ONE, TALL, SHARED])
@pytest.mark.parametrize("wrong", ["7", "{x}", '{"a": nothing, "b": 1}', '{"job_id" 7,\n "b": 1}'])
@pytest.mark.parametrize("at", [0, 2, 4])
def test_what_is_wrong_in_an_array_that_grows_is_told_and_the_others_are_read(
    begins, ends, each, wrong, at
):
    place, read, bad = None, [], 0
    for count in (4, 8):
        inner = [each.format(number) for number in range(1, count + 1)]
        inner.insert(at, wrong)
        found, place = held_parts((begins + ",\n".join(inner) + ends).encode(), place)
        read += ids(found)
        bad += sum(one.counts.bad for one in found)
    assert (read, bad > 0) == ([*range(1, 9)], True)


def test_a_part_of_a_growing_file_stays_behind_until_it_is_known_to_be_whole():
    sacct = (
        b"JobID|State|JobName\n1|COMPLETED|a\n1.0|COMPLETED|s\n2|COMPLETED|b\n"
        b"3|COMPLETED|c\n3.0|COM"
    )
    cutting = Cutting(io.BytesIO(sacct), "slurm", Options(), held=True)
    (part,) = cutting
    assert part.data.endswith(b"2|COMPLETED|b\n")
    rest = io.BytesIO(sacct[cutting.place.offset :] + b"PLETED|s\n4|FAILED|d\n5|FAILED|e\n")
    (second,) = Cutting(rest, "slurm", Options(), cutting.place, held=True)
    assert second.line == 5
    assert convert("slurm", second).counts.steps == 1


def test_a_line_without_an_end_is_not_kept_in_memory(monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 1 << 16)
    monkeypatch.setattr(parts, "LIMIT", 1 << 22)
    data = b"x" * (1 << 23) + b"\n11/20/2026 14:29:34;Q;1.srv;queue=a\n"
    cutting = Cutting(io.BytesIO(data), "pbs", Options())
    found = flat(convert("pbs", part) for part in cutting)
    assert found[1:3] == ((0, 0, 1), {"Q: queued": 1})
    assert cutting.place.offset == len(data)


def test_a_document_that_is_written_as_a_whole_does_not_grow():
    with pytest.raises(UnusableInput, match="does not grow"):
        Cutting(io.BytesIO(b"<UsageRecords/>\n"), "ur", Options(), held=True)


JOBS = [{"job_id": number, "name": "{}\n]"[number % 3 :]} for number in range(1, 40)]
FORMS = {
    "indented": json.dumps({"meta": {"a": {}}, "jobs": JOBS, "errors": []}, indent=1),
    "a job on a line": '{"jobs": [\n' + ",\n".join(map(json.dumps, JOBS)) + "\n]}",
    "one line": json.dumps({"jobs": JOBS}),
    "braces share lines": json.dumps({"jobs": JOBS}, indent=1).replace("},\n  {", "}, {"),
    "with a bad one": '{"jobs": [\n' + ",\n".join([*map(json.dumps, JOBS), "{x}\n", "7"]) + "\n]}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [20, 90, 400, 5000])
def test_json_is_cut_where_objects_end(form, size, monkeypatch):
    """What follows an array may look like its objects; the parts from there on are read anew."""
    data = FORMS[form].encode()
    monkeypatch.setattr(parts, "SIZE", size)
    cutting = iter(Cutting(io.BytesIO(data), "slurm-json", Options(), guessed=True))
    found, number, again = [], 0, 0
    for part in cutting:
        number += 1
        try:
            found.append(convert("slurm-json", part))
        except NotAlone:
            again += 1
            found += (
                convert("slurm-json", each) for each in StreamRest("slurm-json", part, cutting)
            )
    assert flat(found) == flat([convert("slurm-json", Part(data, 1, Options()))])
    assert again <= 1
    assert number > 5 or form == "one line" or size > 90


def test_an_array_that_grows_is_read_on_from_its_last_object():
    data = FORMS["a job on a line"].encode()
    cutting = Cutting(io.BytesIO(data[:700]), "slurm-json", Options(), held=True)
    first = [convert("slurm-json", part) for part in cutting]
    stream = io.BytesIO(data)
    stream.seek(cutting.place.offset)
    rest = Cutting(stream, "slurm-json", Options(), cutting.place)
    found = [*first, *(convert("slurm-json", part) for part in rest)]
    assert cutting.place.offset < 700
    assert flat(found) == flat([convert("slurm-json", Part(data, 1, Options()))])


def test_the_format_is_recognised_before_records_are_cut():
    cutting = Cutting(io.BytesIO(FILES["sge"][0].read_bytes()), "auto", Options())
    assert cutting.sign == "recognised as sge by lines of 43 or more fields with colons"
    assert sum(convert(cutting.format, part).counts.records for part in cutting) == 36


def test_what_is_taken_for_records_is_refused_before_it_is_cut_where_it_begins():
    """The rest of a log that was read before may look like anything."""
    server = b"11/20/2026 14:29:34;0100;PBS_Server;Job;1.srv;enqueuing\n"
    with pytest.raises(UnusableInput, match="a log of the server"):
        Cutting(io.BytesIO(server), "pbs", Options())
    Cutting(io.BytesIO(server), "pbs", Options(), StreamPlace(900, 9))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_what_a_part_became_comes_back_by_any_protocol_of_pickle(kind, protocol):
    data = b"JobID|State\n7|COMPLETED\n8\n"
    made = convert("slurm", Part(data, 1, Options()))
    assert made.data
    found = pickle.loads(pickle.dumps(made._replace(data=kind(made.data)), protocol))
    assert (bytes(found.data), *found[1:]) == (made.data, *made[1:])


def test_a_copy_of_what_a_part_became_is_the_same():
    made = convert("slurm", Part(b"JobID|State\n7|COMPLETED\n", 1, Options()))
    assert copy.copy(made) == copy.deepcopy(made) == made


_POOLS = {
    "multiprocessing": lambda: multiprocessing.get_context("fork").Pool(2),
    "concurrent.futures": lambda: ProcessPoolExecutor(2, multiprocessing.get_context("fork")),
}


@pytest.mark.parametrize("pool", _POOLS.values(), ids=_POOLS)
def test_parts_are_converted_by_processes_of_ones_own(pool, tmp_path, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 1000)
    file = tmp_path / "jobs.txt"
    file.write_text("JobID|State\n" + "".join(f"{id}|COMPLETED\n" for id in range(500)))
    work = Conversion([NamedSource("jobs.txt", file)], "slurm")
    tasks = list(work.cut(work.sources))
    assert len(tasks) > 1
    with pool() as processes:
        found = list(processes.map(_converted, tasks))
    here = [_converted(task) for task in tasks]
    assert [bytes(each.data) for each in found] == [each.data for each in here]
    assert [each.counts for each in found] == [each.counts for each in here]


def _converted(task):
    return converter(True, None)(task)


def test_a_place_is_where_the_next_part_begins():
    cutting = Cutting(io.BytesIO(b"a\nb\nc"), "pbs", Options(), held=True)
    assert [part.line for part in cutting] == [1]
    assert cutting.place == StreamPlace(4, 3)
    assert LineCutter(Options()).front == ()


def test_a_builder_that_remembers_asks_for_a_text_once_however_many_parts_have_it():
    asked = []

    def read(text):
        asked.append(text)
        return text.upper()

    rows = [Field("user", JOB, "User", read)]
    for builder in (TEXTS, OBJECTS):
        asked.clear()
        remembering = builder.remembering()
        assert builder.memories is None
        assert remembering.remembering() is remembering
        made = [Plan(rows, ["user"], remembering, "T").jobs([("amy", "bob")]) for _ in range(3)]
        assert made == [Plan(rows, ["user"], builder, "T").jobs([("amy", "bob")])] * 3
        assert asked == ["amy", "bob"] * 2


def test_what_a_road_remembers_is_bounded_however_many_tables_take_it(monkeypatch):
    monkeypatch.setattr(plan, "_COLUMNS", 5)
    builder = TEXTS.remembering()
    for number in range(50):
        rows = [Field("user", JOB, "User", lambda text, number=number: f"{text}{number}")]
        assert Plan(rows, ["user"], builder, "T").jobs([("a", "b")])[0] == (
            f"<Job><User>a{number}</User></Job>"
        )
        assert len(builder.memories) <= 5


def test_a_log_that_was_rotated_is_cut_where_objects_end_whatever_its_size(monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 500)
    monkeypatch.setattr(parts, "LIMIT", 2000)
    data = json.dumps({"jobs": [{"job_id": number} for number in range(1, 200)]}, indent=1).encode()
    cutting = Cutting(io.BytesIO(data), "slurm-json", Options(), is_log=True)
    found = [convert("slurm-json", part) for part in cutting]
    assert len(found) > 3
    assert sum(one.counts.converted for one in found) == 199
