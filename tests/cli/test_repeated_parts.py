"""Twice as many of one part of a job cost a command twice as much: counted calls, and no clock.

Here is what once cost more; ``tests/long/doubling.py`` asks all commands about all parts.
"""

import pytest
from document_commands import COMMANDS
from repeated_parts import REPEATED, grows

from sssjob.expression.asked_names import AskedNames, excluded_by, is_matched_and_not

BY_ID = {each.id: each.values[0] for each in COMMANDS}
COUNT = 250


@pytest.mark.parametrize("command, part", [
    ("match", "users"), ("match", "job and group feat"), ("match", "job and group res"),
    ("condor ad", "nodes"), ("condor ad", "nodes nand"),
    ("translate", "nodes not"), ("translate", "nodes nand"), ("translate", "features Nand"),
    ("translate", "groups and"),
])  # fmt: skip
def test_twice_as_many_parts_cost_twice_as_much(command, part):
    assert grows(BY_ID[command], REPEATED[part], COUNT) is None


class Compared(str):
    """A text that counts how often it is compared."""

    times = 0

    def __eq__(self, other):
        Compared.times += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("excluded", [[], ["x7"]])
def test_patterns_are_looked_up_and_not_compared_with_each_other(excluded):
    names = [Compared(f"x{each}") for each in range(1000)]
    asked = [AskedNames(pattern=each) for each in names]
    asked += [AskedNames((), str.isspace, True, Compared(each)) for each in excluded]
    Compared.times = 0
    assert is_matched_and_not(asked) == bool(excluded)
    assert Compared.times < 3 * len(names)


def test_names_that_are_excluded_are_looked_up_however_many():
    names = [Compared(f"x{each}") for each in range(1000)]
    is_excluded = excluded_by(AskedNames((), each.__eq__, True, excluded=(each,)) for each in names)
    Compared.times = 0
    assert [each for each in ("x0", "x999", "y", "") if is_excluded(each)] == ["x0", "x999"]
    assert Compared.times < 10


def test_patterns_are_asked_so_often_whether_they_exclude_a_name(monkeypatch):
    monkeypatch.setattr("sssjob.expression.asked_names.ASKED", 5)
    asked = [AskedNames((), "a".__eq__, True, "a"), AskedNames((), "b".__eq__, True, "b")]
    is_excluded = excluded_by([*asked, AskedNames((), "c".__eq__, True, excluded=("c",))])
    assert [is_excluded(each) for each in "abac"] == [True, True, False, True]
