"""What variables of a configuration stand for, beside HTCondor's own library."""

import json
import os
import subprocess
import sys

import pytest
from waiting import HANG

from sssjob.systems.condor.configured import BY_ITSELF, Configured

pytest.importorskip("htcondor2", reason="the bindings of HTCondor are not installed")

PROGRAM = """
import htcondor2, json, sys
print(json.dumps({name: htcondor2.param.get(name) for name in sys.argv[1:]}))
"""
HEAD = "LOCAL_DIR = /tmp\nRELEASE_DIR = /usr\n"
TEXTS = {
    "itself": "PREEMPT = $(PREEMPT) || X\nSTART = $(START) && X\nWANT_HOLD = $(WANT_HOLD) || Y\n",
    "itself twice": "KILL = a\nKILL = $(KILL)$(kill)b\n",
    "a default": "A = $(KILL:3) $(NOSUCH:3)\nB = $(NOSUCH:a(b)c)\nC = $(NOSUCH:$(NONE:4)) > 2\n",
    "names of any case": "start = $(Kill)\nKILL = x\nStArT = $(START)y\n",
    "lines until an end": "A @=x\n 1 +\n# no line\n\n  2\n@x\nB = 3\n",
    "lines that go on": "A = 1 + \\\n 2 \\  \n + 3\nB = a\\\nb\nC = a\\\n b\nD = a  \\\n  b\n",
    "an old sign": "KILL : x\n",
    "branches": "if defined KILL\nA = 1\nelse\nA = 2\nendif\nIF True\nB = 1\nENDIF\n",
    "a dollar": "A = $(DOLLAR)x\nB = $$(X)\n",
    "a warning": "warning : it is late\nA = 1\n",
    "nothing": "A = $(NOSUCH)\nB = x$(NOSUCH)y\n",
}


def theirs(path, names):
    """What the library makes of a file of variables."""
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *names], capture_output=True, check=True, timeout=HANG,
        env={**os.environ, "CONDOR_CONFIG": str(path)},
    )  # fmt: skip
    return json.loads(ran.stdout)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_variables_stand_for_what_they_do_in_htcondor(text, tmp_path):
    path = tmp_path / "config"
    path.write_text(HEAD + text)
    told = Configured.read(text)
    wanted = {name: str(value) if value is not None else "" for name, value in
              theirs(path, told.values).items()}  # fmt: skip
    assert {name: told.get(name) for name in told.values} == {
        name: value.strip() for name, value in wanted.items()
    }


def test_what_htcondor_knows_by_itself_is_what_it_says(tmp_path):
    path = tmp_path / "config"
    names = {f"X_{name}": name for name in BY_ITSELF}
    path.write_text(HEAD + "".join(f"{of} = $({name})\n" for of, name in names.items()))
    found = theirs(path, names)
    assert {name: str(found[of]) for of, name in names.items()} == BY_ITSELF
