"""Rows built column by column are those of the job objects, whatever the records say."""

import io
from itertools import product

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from mutated_records import SOURCES, mutated

pytest.importorskip("duckdb")

from sssjob.accounting import column_values
from sssjob.errors import UnusableInput
from sssjob.ledger import building, columns
from sssjob.ledger.building import RowsBuilder
from sssjob.model import Attributes, Delivered, Job, Property, Requested
from sssjob.records import find, property_columns, read_records
from sssjob.records.builders import OBJECTS
from sssjob.records.property_columns import NamedTexts
from sssjob.records.record import Bad, Converted, Options


def rows(format_, data, builder, row):
    """The rows of records with their lines, and what is wrong with others."""
    try:
        found = list(read_records(find(format_), io.BytesIO(data), Options(steps=False), builder))
    except UnusableInput as error:
        return [str(error)]
    return [
        (item.line, row(item.job)) if isinstance(item, Converted) else item
        for item in found
        if isinstance(item, Converted | Bad)
    ]


def both(format_, data, builder=None):
    """The rows by either way."""
    wanted = rows(format_, data, OBJECTS, lambda job: columns.row(job)[:-2])
    assert rows(format_, data, builder or RowsBuilder().remembering(), tuple) == wanted
    return wanted


@pytest.mark.parametrize("format_", SOURCES)
@examples(12)
@given(st.data())
def test_rows_of_columns_are_those_of_the_jobs(format_, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_values, "FEW", data.draw(st.sampled_from([0, column_values.FEW])))
        both(format_, data.draw(mutated(format_)))


HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS|ReqMem|MaxRSS|TotalCPU"


def sacct(*records):
    return "\n".join((HEADER, *records, "")).encode()


def test_texts_that_are_no_plain_digits_are_read_one_by_one():
    """Among numbers in one column: of 19 digits, none, below 0, beyond 64 bits in bytes."""
    both("slurm", sacct(*(
        f"{number}|c| amy |COMPLETED|1|2|{end}|3|{cores}|{asked}|{most}|00:00:0{number}"
        for number, (end, cores, asked, most) in enumerate([
            ("5", "4", "1G", "7K"), ("Unknown", "0", "", ""), ("1", "", "0", "0"),
            ("9999999999", "4", "99999999999999T", "999999999999999999K"),
            ("99999999999", "1000000000000000000", "-1G", "1.5K"), ("x", "7", "4Gc", "\u0663"),
        ])
    )))  # fmt: skip


ATTRIBUTES = [{}, {"units": "PB"}, {"metric": "Max"}, {"context": "Used"}]
DIGITS = [("0", "1"), ("7", "99999999999"), ("9" * 18, "007"), ("9" * 19, "1"), ("9" * 30, "0")]


@pytest.mark.parametrize("name", ["SubmitTime", "ExitCode", "NodeCount", "Duration", "Memory"])
def test_digits_of_any_length_are_what_the_job_says(name):
    for attributes, texts, is_own in product(ATTRIBUTES, DIGITS, [True, False]):
        ids = [(Property("Id", text),) for text in texts]
        column = NamedTexts(name, Attributes(attributes), texts)
        own, delivered = ([ids, column], []) if is_own else ([ids], [column])
        told = building.RowsBuilder().jobs(own, [], delivered, [()] * len(texts))
        for row, text, (id_,) in zip(told, texts, ids, strict=True):
            value = Property(name, text, attributes)
            job = Job((id_, value) if is_own else (id_, Delivered((value,))))
            assert row == columns.row(job)[:-2]


def test_a_builder_that_met_more_than_it_remembers_gives_the_same(monkeypatch):
    for module in (column_values, property_columns):
        monkeypatch.setattr(module, "REMEMBERED", 3)
    builder = building.RowsBuilder().remembering()
    records = [f"{n}|c|u{n % 7}|COMPLETED|1|2|{3 + n}|3|{n % 5}|{n}M|{n}K|00:01" for n in range(50)]
    for _ in range(2):
        both("slurm", sacct(*records), builder)
    known = [reader.known for reader in builder._readers]
    memories = [memory for each in known for memory in each._memories.values()]
    kept = memories, [each._memories for each in known], [each._keys_of for each in known]
    assert max(len(each) for some in kept for each in some) == 3


PARTS = slice(0, 1), slice(1, None)


def test_a_request_that_is_weighed_is_that_of_the_job_object():
    """What was asked twice, or under conditions, is decided by all of the request."""
    builder = building.RowsBuilder()
    plain = Property("Memory", "1", {"units": "GB"})
    requests = {
        "twice": (plain, Property("Memory", "2", {"units": "GB", "op": "LE"})),
        "either": (
            Property("Memory", "1", {"units": "GB", "conj": "Or", "group": "+"}),
            Property("Memory", "4", {"units": "GB", "conj": "Or", "group": "-"}),
        ),
        "one or the other": (
            Property("Memory", "1", {"units": "GB", "conj": "Or", "group": "+"}),
            Property("Processors", "4", {"group": "-"}),
        ),
        "twice, where nothing can be had": (
            plain,
            plain,
            Property("Processors", "2"),
            Property("Processors", "3"),
        ),
        "plain": (plain,),
        "nothing": (),
        "against each other": (plain, Property("Processors", "2"), Property("Processors", "3")),
    }
    own = [(Property("Id", name),) for name in requests]
    given_ = [(Property("Memory", str(4 << 20), {"units": "KB"}),)] * len(own)
    wanted = [
        columns.row(Job((*mine, Requested(asked), Delivered(given_[0]))))[:-2]
        for mine, asked in zip(own, requests.values(), strict=True)
    ]
    together = builder.jobs([own], [[*requests.values()]], [given_], [()] * len(own))
    first, rest = ([asked[part] for asked in requests.values()] for part in PARTS)
    apart = builder.jobs([own], [first, rest], [given_], [()] * len(own))
    assert together == apart == wanted
