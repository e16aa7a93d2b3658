"""What is done only in a process of ours: of others nothing that they remember is decided."""

import sys

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
