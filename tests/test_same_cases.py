"""A property test of ``make test`` tries the same cases in every run."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import itertools, sys
import conftest
from draws import examples
from hypothesis import given, strategies as st

count = itertools.count()

class Node:
    def __hash__(self):  # as an address may be that of another object or not
        return next(count) if sys.argv[1] == "apart" else 1

@examples(300)
@given(st.data())
def tried(data):
    for _ in range(3):
        nodes = [Node() for _ in range(5)]
        print(nodes.index(data.draw(st.sampled_from(nodes))), end="")

tried()
"""


@pytest.fixture(scope="module")
def cases():
    """What is tried where objects have hashes of their own, and where they have one."""
    command = [sys.executable, "-c", PROGRAM]
    home = Path(__file__).parent
    return [
        subprocess.run([*command, how], cwd=home, capture_output=True, check=True).stdout
        for how in ("apart", "alike")
    ]


def test_cases_do_not_depend_on_the_hashes_of_what_is_drawn(cases):
    apart, alike = cases
    assert len(apart) > 100
    assert apart == alike
