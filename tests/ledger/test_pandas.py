"""A command does not import what it has no need of; a program still gets DataFrames of pandas."""

import subprocess
import sys

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pandas")

from ledger_runs import FIRST

from sssjob.ledger import ledger

PROGRAM = """
import sys
import pyarrow
from sssjob import own_process
from sssjob.cli.ledger.shared import opened
with own_process.claimed(), opened(sys.argv[1]) as kept:
    assert [run["id"] for run in kept.runs(["7"])] == ["7"]
assert not sys.modules.keys() & {"duckdb", "lxml", "sssjob.document.tree", "sssjob.records.layout"}
from sssjob.ledger.tables import Runs
with opened(sys.argv[1]) as kept:
    found = Runs(kept)
    assert found.report("user").total.jobs == 1
assert "pandas" not in sys.modules
frame = found.to_pandas("id")
assert list(frame["id"]) == ["7"]
assert pyarrow.array(frame["id"]).to_pylist() == ["7"]
"""


def test_a_command_leaves_pandas_out_and_a_data_frame_can_be_had(tmp_path):
    ledger.create(tmp_path / "usage").add([FIRST])
    words = [sys.executable, "-c", PROGRAM, str(tmp_path / "usage")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
