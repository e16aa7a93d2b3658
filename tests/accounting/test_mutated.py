"""Records with another text in the place of a value: both builders, and parts of any size, agree.

Whatever becomes of such a record, every other one becomes what it would have become alone.
"""

import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutated_records import GUESSED, LINED, READ, SOURCES, mutated, mutated_text
from records import errors
from same_jobs import made

from sssjob.accounting.document_rows import DocumentRows, DocumentRowsBuilder
from sssjob.accounting.writers.lines import JSONBuilder, line_of
from sssjob.document import dumps
from sssjob.errors import UnusableInput
from sssjob.formats import swf
from sssjob.records import find, parts, read_records
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cutting import NotAlone, Part
from sssjob.records.parts import Cutting, StreamRest, convert
from sssjob.records.record import Bad, Converted, Noted, Options, RecordCounts
from sssjob.systems.pbs import accounting as pbs


def outcomes(format_, data, builder):
    try:
        return list(read_records(find(format_), io.BytesIO(data), Options(), builder))
    except UnusableInput as error:
        return [str(error)]


@pytest.mark.parametrize("format_", SOURCES)
@given(st.data())
def test_both_builders_agree_and_every_document_is_valid(format_, data):
    raw = data.draw(mutated(format_))
    found = outcomes(format_, raw, OBJECTS)
    jobs = [item.job for item in found if isinstance(item, Converted)]
    assert outcomes(format_, raw, TEXTS) == [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in found
    ]
    lines = outcomes(format_, raw, JSONBuilder())
    assert [item.job.text for item in lines if isinstance(item, Converted)] == [*map(line_of, jobs)]
    of_stores = outcomes(format_, raw, DocumentRowsBuilder())
    for item, job in zip((it for it in of_stores if isinstance(it, Converted)), jobs, strict=True):
        known = DocumentRows.of(job)
        assert item.job == (known.text, (*known.rows,), (*known.used,))
        assert [*map(type, item.job.rows[0])] == [*map(type, known.rows[0])]
    for job in jobs:
        assert errors(job) == []


def flat(results):
    """Documents, counts and remarks; where what is said once was said first does not matter."""
    counts, data, remarks = RecordCounts(), [], []
    for result in results:
        counts.include(result.counts)
        data.append(result.data)
        remarks += result.remarks
    said = {(0 if getattr(it, "once", False) else it.line, told(it)) for it in remarks}
    return b"".join(data), counts, sorted(said)


def told(item):
    return item.message if isinstance(item, Noted) else item.reason


def in_parts(format_, raw):
    """What the parts become, guessed where that is faster, as several processes take them."""
    cutting = iter(Cutting(io.BytesIO(raw), format_, Options(), guessed=format_ in GUESSED))
    for part in cutting:
        try:
            yield convert(format_, part)
        except NotAlone:
            yield from (convert(format_, each) for each in StreamRest(format_, part, cutting))


@pytest.mark.parametrize("format_", SOURCES)
@given(st.data(), st.integers(1, 3000))
def test_parts_of_any_size_become_what_the_whole_does(format_, data, size):
    raw = data.draw(mutated(format_))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SIZE", size)
        try:
            found = flat(in_parts(format_, raw))
        except UnusableInput:
            with pytest.raises(UnusableInput):
                convert(format_, Part(raw, 1, Options()))
            return
    assert found == flat([convert(format_, Part(raw, 1, Options()))])


class LineByLine(io.BytesIO):
    """What gives a line at a time, however much is asked for."""

    def read(self, size=-1):
        return self.readline()


def column_by_column(format_, raw, zone):
    """Outcomes by their lines; of what is said once, where it was said first does not matter."""
    return found_in(io.BytesIO(raw), format_, zone)


def record_by_record(format_, raw, zone):
    """The same where every batch has one record, whose values are read one by one."""
    return found_in(LineByLine(raw), format_, zone)


def found_in(stream, format_, zone):
    found, said = [], set()
    for item in read_records(find(format_), stream, Options(zone=zone), TEXTS):
        if getattr(item, "once", False):
            said.add(item.message)
        else:
            found.append((item.line, item))
    return found, said


@pytest.fixture(scope="session")
def regular():
    """Logs as batch systems write them, which the readers of columns take as they are."""
    names = {"slurm": "slurm-steps", "sge": "sge", "pbs": "pbs", "lsf": "lsf"}
    return {format_: made("_site_records.py", name) for format_, name in names.items()}


@pytest.mark.parametrize("format_", [*LINED, "swf"])
@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.data(), st.sampled_from(("", "Europe/London")))
def test_column_by_column_and_record_by_record_are_the_same(regular, format_, data, zone):
    sources = [READ[name] for name in SOURCES[format_]]
    if format_ in regular:
        sources.append(regular[format_])
    raw = data.draw(st.sampled_from(sources).flatmap(lambda it: mutated_text(it, format_)))
    try:
        expected = record_by_record(format_, raw, zone)
    except UnusableInput:
        with pytest.raises(UnusableInput):
            column_by_column(format_, raw, zone)
        return
    assert column_by_column(format_, raw, zone) == expected


# fmt: off
# What a record cannot do without, and what it can: the text in its place, and what must be said.
COSTS = [
    pytest.param("pbs", "accounting/pbs/quirks/odd.txt", b"exec_host=n1 ",
                 b"exec_host=n1 Resource_List.nodect=1:ppn=24:gpu=4 ", "", id="pbs nodect"),
    pytest.param("pbs", "accounting/pbs/quirks/odd.txt", b"end=1700000700", b"end=late",
                 "'late' is not a time", id="pbs end"),
    pytest.param("slurm", "slurm/quirks/odd.txt", b"|100|n1|", b"|100| |", "", id="NodeList"),
    pytest.param("slurm", "slurm/quirks/odd.txt", b"|100|n1|", b"|long|n1|",
                 "'long' is not a whole number", id="ElapsedRaw"),
]
# fmt: on


@pytest.mark.parametrize(("format_", "name", "before", "after", "refused"), COSTS)
def test_an_odd_value_costs_itself_and_the_usage_costs_the_record(
    format_, name, before, after, refused
):
    """Of the last record of a file."""
    head, _, last = READ[name].rpartition(before)
    whole = outcomes(format_, READ[name], OBJECTS)
    found = outcomes(format_, head + after + last, OBJECTS)
    if refused:
        assert refused in next(it.reason for it in reversed(found) if isinstance(it, Bad))
        assert sum(isinstance(it, Converted) for it in whole) == 1 + sum(
            isinstance(it, Converted) for it in found
        )
    else:
        assert isinstance(found[-1], Noted)
        assert isinstance(found[-2], Converted)
        assert len(found) == len(whole) + 1


def test_a_batch_of_odd_values_is_read_again_by_column_and_not_record_by_record(monkeypatch):
    calls = []

    def counted(text):
        calls.append(text)
        return swf.known(text)

    columns = tuple(
        row._replace(read=counted) if row.column == "User ID" else row for row in swf.COLUMNS
    )
    monkeypatch.setattr(swf, "COLUMNS", columns)
    lines = [b"%d 0 10 100 4 25.5 1000 4 200 2000 1 u%d 2 7 1 2 -1 -1" % (n, n) for n in range(256)]
    found = outcomes("swf", b"\n".join(lines), TEXTS)
    assert sum(isinstance(it, Converted) for it in found) == len(lines)
    assert len(calls) <= 2 * len(lines)


def test_lines_of_pbs_become_the_same_with_a_pattern_and_without(monkeypatch):
    """Of jobs, of elements of arrays, and of ids of other forms."""
    data = made("_site_records.py", "pbs")
    data += data.replace(b"].pbs", b"-3].pbs").replace(b"[", b"[]", 2)
    monkeypatch.setattr(pbs, "_SEEN", pbs._LinePatterns())
    monkeypatch.setattr(pbs, "_KEYS_LIMIT", 0)
    expected = column_by_column("pbs", data, "")
    monkeypatch.setattr(pbs, "_KEYS_LIMIT", 200)
    monkeypatch.setattr(pbs, "_OFTEN", 1)
    assert column_by_column("pbs", data, "") == expected
    assert len(pbs._SEEN.patterns) == 1
