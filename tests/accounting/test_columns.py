"""What is read of a whole column is what is read of each of its texts."""

import re
from itertools import chain, product

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.errors import InvalidValue
from sssjob.records import clock, find
from sssjob.records.clock import Clock
from sssjob.records.texts import Plain
from sssjob.systems.slurm.accounting import header
from sssjob.systems.slurm.accounting.table import STEP_ID

FORMATS = ("slurm", "pbs", "sge", "lsf", "slurm-jobcomp")
# fmt: off
TEXTS = (
    # numbers and sizes
    "0", "7", "16", "007", "-1", "1.5", "1.500000", "2.499999", "59.500000", "7.000000",
    "0.000000", "1024.000000",
    "999999999999999999999", "512K", "0K", "012K", "100",
    "K", "512M", "1.5G", "16?", "3000Mc", "2048kb", "0kb",
    "12kw", "\u0663",
    # times and durations
    "1700000000", "4294967296", "2026-11-20T14:29:34", "2026-11-20T14:59:59",
    "2026-11-20T14:29:60",
    "2026-11-20T24:00:00", "2026-10-25T01:30:00", "2026-10-25T02:30:00", "2026-03-29T01:30:00",
    "2026-11-20 14:29:34", "20261120T14:29:34.5", "2026-11-20T14:29:34+05:00",
    "1969-12-31T23:59:59", "2026-11-20T14:29:3\u0663",
    "00:00:10", "12:34.5", "12:34.499", "61:34.500", "12:60.5", "00:12:34.5", "1-00:00:00",
    "1-00:00:60", "x-00:00:10",
    "800:00:00", "1-02:03", "-00:00:10",
    # words, ids, lists
    "Unknown", "None", "UNLIMITED", "NONE", "INVALID", "a b", "a\u2003b", "a" * 401, "<&>",
    "4_7", "4_", "_4", "4_7_1", "4", "4.batch", "4_7.0", "4.", ".batch", "4.a b", "4_[1,3]",
    "4+1",
    "n1", "n[1-3,5]", "n[3-1]", "n[08-10]x", "n[1-9999]", "n[1-3],m",
    # requests
    "-l h_rt=60,h_vmem=2G -pe mpi 8", "-u amy -l h_rt=1:0:0 -l h_rt=9,mem_free=1G -pe a 1-4",
    "-pe a 4", "-l gpu=2 -pe a 4",
    "-l h_rt=60 -soft -l h_vmem=1G -hard -l mem_free=2G", "-soft -l h_rt=60",
    "-l h_vmem=lots,h_rt=60", "-q x", "-l h_rt", "-pe -l h_rt=60",
)
# fmt: on


def read(row, text):
    try:
        return row.read(text)
    except InvalidValue:
        return InvalidValue


def rows(mark):
    """The rows whose readers have a faster way for many texts."""
    for name in FORMATS:
        layout = find(name).load()
        columns = layout.known.columns
        told = chain(layout.rows((*columns, "(progress)")), layout.rows((*columns, STEP_ID)))
        for row in clock.by(Clock("Europe/London"), told):
            if hasattr(row.read, mark) and not row.beside:
                yield pytest.param(row, id=f"{name} {row.column} {row.element}")


@pytest.mark.parametrize("row", [*rows("many")])
def test_many_texts_are_read_as_each_of_them(row):
    known = {text: read(row, text) for text in TEXTS}
    count = 0
    for texts in product(TEXTS, repeat=2):
        found = row.read.many(texts)
        if found is not None:
            count += 1
            assert [*found] == [known[text] for text in texts]
    assert count


@pytest.mark.parametrize("row", [*rows("parts")])
def test_parts_together_are_what_is_read_of_the_whole(row):
    for text in TEXTS:
        parts = row.read.parts(text)
        apart = [piece for part in parts for piece in row.read(part) or ()]
        assert apart == [*(row.read(text) or ())]
    assert any(len(row.read.parts(text)) > 1 for text in TEXTS)


ASCII = [text for text in TEXTS if text.isascii() and text.isprintable()]  # as ``Plain`` has them
_ITEMS = ("h_rt=60", "h_rt=7:00", "h_rt", "xh_rt=5", "h_vmem=2G", "mem_free=1.5G", "arch=lx-amd64",
          "bigmem", "s_core=0", "gpu=1", "a-pe", "", "hostname=n1", "h_rt=lots")  # fmt: skip
_CATEGORY = st.lists(
    st.one_of(
        st.lists(st.sampled_from(_ITEMS), min_size=1, max_size=4).map(
            lambda items: f"-l {','.join(items)}"
        ),
        st.sampled_from(["-U grp -u amy", "-pe mpi 8", "-pe smp 2-4", "-pe", "-soft", "-hard",
                         "-q all.q", "-l", "x-l", ""]),
    ),
    max_size=4,
).map(" ".join)  # fmt: skip


@pytest.mark.parametrize("row", [*rows("apart")])
@examples(300)
@given(texts=st.lists(st.one_of(_CATEGORY, st.sampled_from(ASCII)), min_size=1, max_size=6))
def test_columns_together_are_what_is_read_of_the_whole(row, texts):
    pa = pytest.importorskip("pyarrow")
    columns = row.read.apart(Plain(pa.array(texts)))
    for text, *parts in zip(texts, *columns, strict=True):
        apart = [piece for part in parts if part for piece in row.read(part) or ()]
        assert apart == [*(row.read(text) or ())] if text else not any(parts)


@pytest.mark.parametrize("shape", header._PROOFS)
def test_what_is_proved_of_a_column_holds_for_each_text(shape):
    fits = header._Fits(re.compile(shape))
    found = set()
    for texts in product(("", *TEXTS), repeat=2):
        are_all = all(fits._fullmatch(text) for text in texts)
        found.add(fits.all(texts))
        assert fits.all(texts) == are_all
        assert are_all or not header._PROOFS[shape](texts)
    assert any(header._PROOFS[shape](texts) for texts in product(TEXTS, repeat=2))
    assert found == {True, False}


@pytest.mark.parametrize(
    "texts, are_read",
    [
        pytest.param(["1000000000", "1700000000"], True, id="seconds"),
        pytest.param(["1700000000", "4294967295"], True, id="the last that there is"),
        pytest.param(["1700000000", "4294967296"], False, id="one more"),
        pytest.param(["1700000000", "0999999999"], False, id="a zero in front"),
        pytest.param(["1700000000", "170000000"], False, id="one digit less"),
        pytest.param(["1700000000", "170000000x"], False, id="no number"),
    ],
)
def test_a_column_of_seconds_is_read_at_once_while_all_are_times(texts, are_read):
    pa = pytest.importorskip("pyarrow")
    found = Clock("UTC").bulk(Plain(pa.array(texts)))
    assert (found is not None) == are_read
    assert found is None or [*found] == texts
