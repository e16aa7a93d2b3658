"""What is done only in a process of ours: of others nothing that they remember is decided."""

import subprocess
import sys

import pytest

from sssjob import own_process


def test_a_process_is_claimed_while_what_it_ends_with_runs():
    assert not own_process.is_claimed()
    with own_process.claimed(), own_process.claimed():
        assert own_process.is_claimed()
    assert not own_process.is_claimed()


def test_in_a_program_of_others_pyarrow_is_not_told_that_there_is_no_pandas(monkeypatch):
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # to import it would fail
    own_process.leave_pandas_out()


SEEN = """
import sys
from sssjob import own_process
from sssjob.records import regular
with own_process.claimed():
    assert regular.ROAD.is_open(0, 1 << 30)
    assert "pyarrow" not in sys.modules
    assert regular.regular(b"a|b\\n" * 100, "|", 2, set()) is not None
    assert "pandas" not in sys.modules
"""


def test_pyarrow_is_imported_by_who_has_columns_and_not_by_who_has_many_bytes():
    pytest.importorskip("pyarrow")
    done = subprocess.run([sys.executable, "-c", SEEN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
