"""The columns that JSON of Slurm tells, whatever stands in the places of them."""

import json
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from sssjob.errors import InvalidValue
from sssjob.records.lines import legal
from sssjob.systems.slurm.accounting import json_table
from sssjob.systems.slurm.accounting.json_table import RowReading, at
from sssjob.systems.slurm.status import table

DATA = Path(__file__).parents[1] / "data"
JOBS = json.loads((DATA / "lcginfo/slurm-24.11/squeue.json").read_bytes())["jobs"]
# What may stand anywhere, as versions differ and servers err.
ODD = (
    None, "", 0, 1, -1, 2.5, float("inf"), True, False, [], {}, "a", "a\x1b", "\ud800", ["RUNNING"],
    {"set": True, "infinite": False, "number": 7}, {"set": True, "infinite": True, "number": 0},
    {"set": False}, {"number": "x"}, {"set": True, "number": [1]}, "cpu=4,node=2", ",cpu=3,,cpu=5",
    "xcpu=9,node=1", {"return_code": {"set": True, "number": 3}, "signal": {"id": 9}}, "Infinity",
)  # fmt: skip


def read_one_by_one(rows, names, tree):
    """Each column by itself: the first place that tells something."""
    found = dict.fromkeys(names, "")
    for column, path, read in rows:
        if found[column] == "":
            try:
                found[column] = read(at(tree, path))
            except InvalidValue as wrong:
                found[column] = legal(wrong.text)
    return [*found.values()]


@pytest.mark.parametrize("seed", range(300))
def test_columns_are_told_together_as_each_is_by_itself(seed):
    random = Random(seed)
    job = dict(random.choice(JOBS))
    paths = [row.path[0] for row in table.JSON if row.path] + ["array_job_id", "het_job_id"]
    for path in random.sample(paths, random.choice((1, 3, 40))):
        if random.random() < 0.2:
            job.pop(path, None)
        else:
            job[path] = random.choice(ODD)
    together = RowReading(table.JSON, names=table.JSON_NAMES)
    assert together(job) == read_one_by_one(table.JSON, table.JSON_NAMES, job)


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_texts_of_accounting_are_what_the_reader_of_a_text_says(odd):
    rows = [row for row in json_table.JOB if row.read is json_table.text]
    for row in rows:
        tree = odd
        for name in reversed(row.path):
            tree = {name: tree}
        names = [row.column for row in rows]
        found = dict(zip(names, RowReading(rows, names=names)(tree), strict=True))
        assert found[row.column] == json_table.text(odd)


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("place", ["type", "name", "count"])
def test_amounts_of_resources_are_read_whatever_their_type_name_and_count_are(place, odd):
    item = {"type": "gres", "name": "gpu", "count": 4} | {place: odd}
    with suppress(InvalidValue):  # a count that no text can be refuses the record
        for name, count in json_table.amounts([item, 7, None, odd]).items():
            assert legal(name) == name
            assert legal(count) == count


@pytest.mark.parametrize(
    "state", ["TIMEOUT", ["TIMEOUT"], {"current": "TIMEOUT"}, {"current": ["TIMEOUT"]}]
)
def test_a_state_is_read_in_whatever_form_a_version_has_it(state):
    assert json_table.state_of_job({"state": state}) == "TIMEOUT"


def test_seconds_below_zero_make_no_CPU_time():
    assert json_table.cpu({"seconds": -1, "microseconds": 1_000_000}) == ""
    assert json_table.cpu({"seconds": 0, "microseconds": 1_000_000}) == "00:00:01"
    assert json_table.cpu({"microseconds": 500_000}) == "00:00:00.500000"
