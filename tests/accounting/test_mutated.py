"""Records with another text in the place of a value: both builders, and parts of any size, agree.

Whatever becomes of such a record, every other one becomes what it would have become alone.
"""

import gzip
import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from records import DATA, errors

from sssjob.document import dumps
from sssjob.errors import UnusableInput
from sssjob.formats import swf
from sssjob.records import find, parts, read_records
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cutting import Part
from sssjob.records.parts import Cutting, convert
from sssjob.records.record import Bad, Converted, Counts, Noted, Options

# fmt: off
SOURCES = {
    "slurm":         ("slurm/22.05/all-steps-epoch.txt", "slurm/quirks/odd.txt",
                      "slurm/quirks/truncated.txt"),
    "pbs":           ("accounting/pbs/quirks/openpbs.txt", "accounting/pbs/quirks/odd.txt"),
    "sge":           ("accounting/sge/8.1.9.txt", "accounting/sge/quirks/versions.txt",
                      "accounting/sge/quirks/slaves.txt"),
    "lsf":           ("accounting/lsf/quirks/texts.txt", "accounting/lsf/quirks/versions.txt"),
    "slurm-jobcomp": ("accounting/slurm-jobcomp/22.05.txt",),
    "blah":          ("records/blah/log.txt",),
    "swf":           ("records/swf/log.txt",),
    "apel":          ("records/apel/individual.txt",),
    "ur":            ("records/ur/plain.xml", "records/ur/odd.xml"),
    "car":           ("records/car/records.xml",),
    "condor":        ("condor/condor_history.long", "records/condor/lines.jsonl"),
    "slurm-json":    ("slurm/24.11/sacct.json.gz", "records/slurm-json/older.json"),
}
CUT = ("slurm", "pbs", "sge", "lsf", "slurm-jobcomp", "blah")  # of which there are parts
ODD = (b"", b" ", b"abc", b"-1", b"0", b"1.5", b"7", b"16?", b"Unknown", b"NONE", b"99999999999999",
       b"\xff", b"RUNNING", b"a:b", b"a|b", b"<&>", b'"')
# fmt: on
LINES = 40  # that are taken of a file at once
_WORD = re.compile(rb"[^|:;=,\s\"<>]+")


def read(name):
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


READ = {name: read(name) for names in SOURCES.values() for name in names}


@st.composite
def mutated(draw, format_):
    """The begin of a file with other texts in some places."""
    data = READ[draw(st.sampled_from(SOURCES[format_]))]
    if format_ in CUT:
        data = b"\n".join(data.split(b"\n")[:LINES])
    words = [found.span() for found in _WORD.finditer(data)]
    places = draw(st.lists(st.integers(0, len(words) - 1), min_size=1, max_size=4, unique=True))
    for place in sorted(places, reverse=True):
        begin, end = words[place]
        data = data[:begin] + draw(st.sampled_from(ODD)) + data[end:]
    return data.rstrip(b"\n") + b"\n"


def outcomes(format_, data, builder):
    try:
        return list(read_records(find(format_), io.BytesIO(data), Options(), builder))
    except UnusableInput as error:
        return [str(error)]


@pytest.mark.parametrize("format_", SOURCES)
@settings(max_examples=40)
@given(st.data())
def test_both_builders_agree_and_every_document_is_valid(format_, data):
    raw = data.draw(mutated(format_))
    found = outcomes(format_, raw, OBJECTS)
    jobs = [item.job for item in found if isinstance(item, Converted)]
    assert outcomes(format_, raw, TEXTS) == [
        item._replace(job=dumps(item.job)) if isinstance(item, Converted) else item
        for item in found
    ]
    for job in jobs:
        assert errors(job) == []


def flat(results):
    """Documents, counts and remarks; where what is said once was said first does not matter."""
    counts, data, remarks = Counts(), [], []
    for result in results:
        counts.include(result.counts)
        data.append(result.data)
        remarks += result.remarks
    said = {(0 if getattr(it, "once", False) else it.line, told(it)) for it in remarks}
    return b"".join(data), counts, sorted(said)


def told(item):
    return item.message if isinstance(item, Noted) else item.reason


@pytest.mark.parametrize("format_", CUT)
@settings(max_examples=30)
@given(st.data(), st.integers(1, 3000))
def test_parts_of_any_size_become_what_the_whole_does(format_, data, size):
    raw = data.draw(mutated(format_))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "SIZE", size)
        try:
            cutting = Cutting(io.BytesIO(raw), format_, Options())
            found = flat(convert(format_, part) for part in cutting)
        except UnusableInput:
            with pytest.raises(UnusableInput):
                convert(format_, Part(raw, 1, Options()))
            return
    assert found == flat([convert(format_, Part(raw, 1, Options()))])


# fmt: off
# What a record cannot do without, and what it can: the text in its place, and what must be said.
COSTS = [
    pytest.param("pbs", "accounting/pbs/quirks/odd.txt", b"Resource_List.nodect=1 ",
                 b"Resource_List.nodect=1:ppn=24:gpu=4 ", "", id="pbs nodect"),
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
